"""Another SPARQL endpoint on loopback, for SERVICE."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_ANSWER = b'{"head":{"vars":["x"]},"results":{"bindings":[{"x":{"type":"literal","value":"from afar"}}]}}'


class Elsewhere(ThreadingHTTPServer):
    """
    An endpoint with one answer.

    Attributes:
        asked: The bodies of all requests.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[str] = []

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.server_port}/sparql"


class _Handler(BaseHTTPRequestHandler):
    server: Elsewhere

    def do_POST(self) -> None:
        self.server.asked.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
        self.send_response(200)
        self.send_header("Content-Type", "application/sparql-results+json")
        self.send_header("Content-Length", str(len(_ANSWER)))
        self.end_headers()
        self.wfile.write(_ANSWER)

    def log_message(self, *_: object) -> None:
        """The tests' output stays clean."""


@contextmanager
def answering() -> Iterator[Elsewhere]:
    """A running endpoint, ended with the block."""
    server = Elsewhere()
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
