"""A provider on loopback: documents that a test puts and changes, served with validators."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

VOID = """@prefix void: <http://rdfs.org/ns/void#> . @prefix dcterms: <http://purl.org/dc/terms/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> . @prefix gl: <http://schema.geolink.org/dev/voc/harvester#> .
"""


@dataclass
class Page:
    body: bytes
    media_type: str
    status: int = 200


class ProviderServer(ThreadingHTTPServer):
    """
    Serves `pages`; remembers every request.

    Attributes:
        pages: By path.
        links: Link headers, by path.
        caching: Cache-Control headers, by path.
        locations: Location headers, by path; `redirect` puts them.
        requests: (path, status) of every answer, in order, but for a robots.txt that there is none of.
        gate: Cleared, every request waits until it is set.
        gates: As `gate`, for single paths.
    """

    daemon_threads = True
    request_queue_size = 256

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.pages: dict[str, Page] = {}
        self.links: dict[str, str] = {}
        self.caching: dict[str, str] = {}
        self.locations: dict[str, str] = {}
        self.requests: list[tuple[str, int]] = []
        self.gates: dict[str, threading.Event] = {}
        self.gate = threading.Event()
        self.gate.set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def put(self, path: str, body: str | bytes, media_type: str = "text/turtle", status: int = 200) -> str:
        self.pages[path] = Page(body.encode() if isinstance(body, str) else body, media_type, status)
        return self.url + path

    def redirect(self, path: str, to: str, body: str = "") -> str:
        """Answer a path with 302 and where its document is."""
        self.locations[path] = to
        return self.put(path, body, "text/html", 302)

    def describe(
        self, path: str, modified: str | None, dumps: list[str], *, partial: bool = False, iri: str | None = None
    ) -> str:
        """Put a VoID file with one dataset."""
        return self.put(path, VOID + dataset(iri or self.url + path + "#d", modified, dumps, partial=partial))

    def asked(self, path: str) -> list[int]:
        """The statuses that a path was answered with."""
        return [status for asked, status in self.requests if asked == path]


def dataset(iri: str, modified: str | None, dumps: list[str], *, partial: bool = False) -> str:
    """A void:Dataset in Turtle."""
    date = f'; dcterms:modified "{modified}"^^xsd:dateTime' if modified else ""
    feature = "gl:PartialDump" if partial else "gl:FullDump"
    named = "".join(f"; void:dataDump <{dump}>" for dump in dumps)
    return f"<{iri}> a void:Dataset; void:feature {feature} {date} {named} .\n"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ProviderServer

    def do_GET(self) -> None:
        self.server.gate.wait(300)
        if self.path in self.server.gates:
            self.server.gates[self.path].wait(300)
        page = self.server.pages.get(self.path, Page(b"not here", "text/plain", 404))
        tag = '"' + hashlib.sha256(page.body).hexdigest()[:16] + '"'
        status = 304 if page.status == 200 and self.headers.get("If-None-Match") == tag else page.status
        if self.path != "/robots.txt" or self.path in self.server.pages:
            self.server.requests.append((self.path, status))
        self.send_response(status)
        self.send_header("ETag", tag)
        self.send_header("Content-Type", page.media_type)
        if self.path in self.server.locations:
            self.send_header("Location", self.server.locations[self.path])
        if self.path in self.server.caching:
            self.send_header("Cache-Control", self.server.caching[self.path])
        if self.path in self.server.links and status != 304:
            self.send_header("Link", self.server.links[self.path])
        body = b"" if status == 304 else page.body
        if status != 304:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """The tests' output stays clean."""


@contextmanager
def serving(server: ProviderServer | None = None) -> Iterator[ProviderServer]:
    """A running provider, a new one unless it is given; ended with the block."""
    server = server or ProviderServer()
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
