"""What an engine answers, as an error with its address and reason."""

from __future__ import annotations

import base64
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from sparql.errors import EngineLost, RequestError, StoreError
from sparql.store.address import Dialect, EngineAddress
from sparql.store.engine import Engine

RIGHT = "Basic " + base64.b64encode(b"me:secret").decode()
EMPTY = b'{"head":{},"boolean":true}'


class _Handler(BaseHTTPRequestHandler):
    server: Answering

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        status, body = self.server.answer
        if self.server.guarded and self.headers["Authorization"] != RIGHT:
            status, body = 401, b"who are you?"
        self.send_response(status)
        self.send_header("Content-Type", "application/sparql-results+json")
        self.send_header("Content-Length", str(len(body) + self.server.missing))
        self.end_headers()
        self.wfile.write(body)

    def version_string(self) -> str:
        return self.server.named

    def log_message(self, format: str, *args: object) -> None:
        """The tests' output stays clean."""


class Answering(ThreadingHTTPServer):
    """Plays an engine that always says the same."""

    daemon_threads = True
    answer = (200, EMPTY)
    guarded = False
    named = "Apache Jena Fuseki (5.5.0)"
    missing = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


@pytest.fixture
def played() -> Iterator[Answering]:
    server = Answering(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def engine(played: Answering, **more: str) -> Engine:
    return Engine(EngineAddress(f"{played.url}/q", f"{played.url}/u", f"{played.url}/s", **more))


@pytest.mark.parametrize("scheme", ["basic"])
def test_credentials_come_from_the_environment(played: Answering, monkeypatch: pytest.MonkeyPatch, scheme: str) -> None:
    """Wrong ones are refused with the names of the settings, and without the secret."""
    played.guarded = True
    asked = engine(played, user="me", password="STORE_PASSWORD")
    monkeypatch.setenv("STORE_PASSWORD", "wrong-secret")
    for call in (lambda: asked.ask("ASK {}"), lambda: asked.update("CLEAR ALL"), asked.identify):
        with pytest.raises(StoreError, match=r"HTTP 401: who are you\?; look at store\.user") as refused:
            call()
        assert "wrong-secret" not in refused.value.message
    monkeypatch.setenv("STORE_PASSWORD", "secret")
    assert asked.identify() is Dialect.FUSEKI
    asked.update("CLEAR ALL")


@pytest.mark.parametrize(
    ("named", "dialect"), [("Apache Jena Fuseki (5.5.0)", "fuseki"), ("Virtuoso/07.20", "virtuoso"), ("nginx", "other")]
)
def test_engines_are_known_by_their_headers(played: Answering, named: str, dialect: str) -> None:
    """Others are `other`."""
    played.named = named
    assert engine(played).identify() == dialect


def test_rdf4j_is_known_by_its_addresses(played: Answering) -> None:
    """Its server is named in no header."""
    played.named = "Jetty(9.4.57)"
    found = engine(played)
    at = replace(found.address, query=found.address.query.replace("/q", "/rdf4j-server/repositories/q"))
    assert Engine(at).identify() is Dialect.RDF4J


def test_what_an_engine_refuses_has_its_words(played: Answering) -> None:
    """400 of a query is the query's fault; any other refusal is the store's."""
    played.answer = (400, b"Parse error: line 1")
    with pytest.raises(RequestError, match="/q answered HTTP 400: Parse error: line 1"):
        engine(played).ask("ASK {}")
    with pytest.raises(StoreError, match="/u answered HTTP 400: Parse error"):
        engine(played).update("INSERT")
    played.answer = (507, b"x" * 1000)
    with pytest.raises(StoreError, match=f"HTTP 507: {300 * 'x'} "):
        engine(played).update("INSERT")


@pytest.mark.parametrize("body", [b"<html>", b'{"head":'], ids=["a page", "cut off"])
def test_an_answer_that_is_no_result(played: Answering, body: bytes) -> None:
    """As of a proxy before it."""
    played.answer = (200, body)
    with pytest.raises(StoreError, match="/q sent a result that cannot be read"):
        engine(played).ask("ASK {}")


def test_an_engine_that_is_not_there(played: Answering) -> None:
    """The reason is that of the network."""
    played.shutdown()
    played.server_close()
    with pytest.raises(EngineLost, match="/q gave no answer: "):
        engine(played).ask("ASK {}")
