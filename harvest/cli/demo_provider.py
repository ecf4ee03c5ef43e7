"""
The demo's provider: a fleet of research ships that publishes successive releases of its logbook on loopback.

    1  full       every ship, with its berths as blank nodes
    2  partial    one ship renamed, one new
    3  full       with many syntax errors
    4  full       the same, mended
    5  full       half of the ships are missing
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

NAMES = (
    "Albatross", "Beagle", "Calypso", "Discovery", "Endurance", "Fram", "Gauss", "Heimdal", "Investigator",
    "Janthina", "Kairei", "Lance", "Meteor", "Nautilus", "Oden", "Polarstern", "Quest", "Resolution", "Sonne",
    "Thalassa", "Urania", "Vema", "Walther Herwig", "Xuelong",
)  # fmt: skip

TURTLE = "text/turtle"

PREFIXES = """@prefix ship: <http://fleet.example/ship/> .
@prefix fleet: <http://fleet.example/terms#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""

VOID = """@prefix void: <http://rdfs.org/ns/void#> .
@prefix dcterms: <http://purl.org/dc/terms/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .

<#logbook> a void:Dataset ;
    dcterms:title "The fleet's logbook" ;
    dcterms:modified "{modified}"^^xsd:dateTime ;
    void:feature <http://schema.geolink.org/dev/voc/harvester#{feature}> ;
    void:dataDump <{dump}> .
"""


@dataclass(frozen=True, slots=True)
class Release:
    """
    One release.

    Attributes:
        sentence: What the provider says of it, for the demo's output.
        feature: `FullDump` or `PartialDump`.
        dump: Turtle.
    """

    sentence: str
    feature: str
    dump: str


def releases() -> tuple[Release, ...]:
    """The releases, in order."""
    whole = [_ship(number, name) for number, name in enumerate(NAMES, 1)]
    renamed = [_ship(3, "Calypso II"), _ship(len(NAMES) + 1, "Yamal")]
    mended = [*whole[:2], renamed[0], *whole[3:], renamed[1], _ship(len(NAMES) + 2, "Zarya")]
    broken = re.sub(r'rdfs:label "([M-Z]\w*)"', r"rdfs:label \1", "".join(mended))
    return (
        Release(f"a full dump of {len(whole)} ships", "FullDump", PREFIXES + "".join(whole)),
        Release("a partial dump: one ship renamed, one new", "PartialDump", PREFIXES + "".join(renamed)),
        Release("a full dump in which many labels lack their quotes", "FullDump", PREFIXES + broken),
        Release("the same dump, mended", "FullDump", PREFIXES + "".join(mended)),
        Release("a full dump that lost half of the ships", "FullDump", PREFIXES + "".join(mended[::2])),
    )


def _ship(number: int, name: str) -> str:
    berths = ", ".join(f'[ fleet:deck "{deck}" ; fleet:beds {number % 4 + 2} ]' for deck in ("A", "B"))
    return (
        f'ship:{number} a fleet:Ship ;\n    rdfs:label "{name}" ;\n    fleet:length {40 + number * 3} ;\n'
        f"    fleet:berths {berths} .\n"
    )


class FleetServer(ThreadingHTTPServer):
    """The provider's web server; it serves one release at a time."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self._lock = threading.Lock()
        self._pages: dict[str, tuple[bytes, str]] = {}
        self._number = 0

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.server_port}"

    def publish(self, release: Release) -> None:
        """Put the next release up, and announce it."""
        with self._lock:
            self._number += 1
            dump = f"/logbook-{self._number}.ttl"
            modified = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
            void = VOID.format(modified=modified, feature=release.feature, dump=dump)
            self._pages |= {dump: (release.dump.encode(), TURTLE), "/void.ttl": (void.encode(), TURTLE)}

    def put(self, path: str, body: bytes, media_type: str) -> None:
        """Put up a page of another kind."""
        with self._lock:
            self._pages[path] = body, media_type

    def page(self, path: str) -> tuple[bytes | None, str]:
        """Body and media type of a page; no body where there is none."""
        with self._lock:
            return self._pages.get(path, (None, TURTLE))


class _Handler(BaseHTTPRequestHandler):
    server: FleetServer

    def do_GET(self) -> None:
        """Answer with a page, or with 304 to who has it."""
        body, media_type = self.server.page(self.path)
        tag = f'"{hashlib.sha256(body or b"").hexdigest()[:16]}"'
        fresh = body is not None and self.headers.get("If-None-Match") == tag
        self.send_response(404 if body is None else 304 if fresh else 200)
        self.send_header("ETag", tag)
        if body is not None and not fresh:
            self.send_header("Content-Type", media_type)
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if body is not None and not fresh:
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Requests are not printed; what comes of them is."""


@contextmanager
def fleet() -> Iterator[FleetServer]:
    """A running provider, ended with the block."""
    server = FleetServer()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
