"""
A provider's changes as a Linked Data Event Stream: one page or more a version, which never changes again.

A member is a version of an entity, that is of a subject: of each subject that a version changed, all that the version
says of it. Its statements stand as they are, in a graph named by the member, for what they say could not be told from
what the stream says of the member otherwise. Made of the filed change and the version while it is sent.

Source: TREE hypermedia specification, sections "Relations" and "The member extraction algorithm" (named graphs);
Linked Data Event Streams, sections "Version objects" and "Deletions"; Activity Streams 2.0 (Create, Update, Delete).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from itertools import chain, islice
from tempfile import SpooledTemporaryFile
from typing import Final

from flask import Blueprint, Response, abort, request
from werkzeug.http import is_resource_modified

from sparql.rdf import DCTERMS, PROV, RDF, XSD
from sparql.reports import VersionReport
from sparql.web.catalog import Catalog
from sparql.web.dropped import no_version
from sparql.web.sending import CHUNK
from sparql.web.site import context, found, preferred
from sparql.web.stream_reading import Readings, StreamReading, all_of, changed

ldes = Blueprint("ldes", __name__)

MEMBERS: Final = 10_000
"""Members of a page."""

SPOOLED: Final = 1 << 20
"""Bytes of one member that are held in memory; more of it goes to a file until it is sent."""

LDES: Final = "https://w3id.org/ldes#"
TREE: Final = "https://w3id.org/tree#"
ACTIVITY: Final = "https://www.w3.org/ns/activitystreams#"
N_QUADS: Final = "application/n-quads"
TRIG: Final = "application/trig"

_VERSION_OF: Final = f"{DCTERMS}isVersionOf"
_AT: Final = f"{PROV}generatedAtTime"
_PART: Final = re.compile(r"(from-)?([1-9]\d{0,8})")


@dataclass(frozen=True, slots=True)
class Place:
    """
    A page of the stream.

    Attributes:
        stream: Address of the stream.
        address: Its own.
        graph: The provider's graph.
        version: The version that its members are of.
        further: Address of the page that goes on with this version, or None.
    """

    stream: str
    address: str
    graph: str
    version: VersionReport
    further: str | None


@ldes.get("/providers/<name:name>/ldes")
def stream(name: str) -> Response:
    """The stream: what its members are, and where the pages of each version begin."""
    provider = found(context().catalog.provider(name), name)
    versions = context().catalog.versions(name)
    address = f"{context().site.base_url}/providers/{name}/ldes"
    baseline = provider.baseline or 0
    lines = [*_described(address), _triple(address, RDF + "type", f"{TREE}Node")]
    for version in versions:
        part = f"from-{version.n}" if version.n == baseline else str(version.n)
        lines += _relations(address, f"{address}/{part}/1", version)
    body = "".join(lines).encode()
    response = Response(body, content_type=_type())
    response.vary.add("Accept")
    response.headers["Cache-Control"] = "no-cache"
    response.set_etag(hashlib.sha256(body).hexdigest())
    response.make_conditional(request)
    return response


@ldes.get("/providers/<name:name>/ldes/<part>/<int:page>")
def members(name: str, part: str, page: int) -> Response:
    """A page of members of a version: of what it changed, or with `from-` of all that it holds."""
    matched = _PART.fullmatch(part)
    if matched is None or page < 1:
        abort(404, f"There is no page {part}/{page} of this stream; /providers/{name}/ldes names its pages.")
    n = int(matched[2])
    provider, catalog = found(context().catalog.provider(name), name), context().catalog
    version = next((record for record in catalog.versions(name) if record.n == n), None)
    is_whole = matched[1] is not None
    filed = None if is_whole else catalog.change(name, n)
    if version is None or (filed is None and not is_whole):
        no_version(name, n, "version" if is_whole else "change")
    if is_whole and n != provider.baseline:
        abort(404, f"Version {n} of {name} is not its baseline; its members are at /providers/{name}/ldes/{n}/1.")
    response = Response(content_type=_type())
    response.vary.add("Accept")
    response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
    base = f"{context().site.base_url}/providers/{name}/ldes"
    name_of = partial("{} {} {} {}".format, base, part, version)
    response.set_etag(_name(name_of(page).encode()))
    if not is_resource_modified(request.environ, response.headers["ETag"]):
        response.status_code = 304
        return response
    reading = _READINGS.take(name_of(page))
    if reading is None:
        whole = partial(_whole, catalog, name, n)
        changes = changed(filed.path) if filed else all_of(whole())
        reading = StreamReading(islice(changes, (page - 1) * MEMBERS, None), whole())
    chosen = reading.ahead(MEMBERS + 1)
    if not chosen:
        abort(404, f"Version {n} of {name} has no page {page} in this stream.")
    further = f"{base}/{part}/{page + 1}" if len(chosen) > MEMBERS else None
    place = Place(base, f"{base}/{part}/{page}", provider.graph, version, further)
    if request.method == "GET":
        response.response = _chunks(_sent(place, reading, name_of(page + 1)))
    else:
        _READINGS.keep(name_of(page), reading)
    return response


_READINGS: Final = Readings()


def _sent(place: Place, reading: StreamReading, after: str) -> Iterator[bytes]:
    """Yield a page, and keep the reading for the next one."""
    yield from _page(place, reading)
    if place.further:
        _READINGS.keep(after, reading)


def _type() -> str:
    """N-Quads is TriG, too."""
    return TRIG if preferred(N_QUADS, TRIG) == TRIG else N_QUADS


def _page(place: Place, reading: StreamReading) -> Iterator[bytes]:
    """Yield the lines of a page."""
    head = [*_described(place.stream), _triple(place.address, RDF + "type", f"{TREE}Node")]
    if place.further:
        head += _relations(place.address, place.further, place.version)
    yield "".join(head).encode()
    ending = f" <{place.graph}> .\n".encode()
    for change in reading.changes(MEMBERS):
        while reading.subject is not None and reading.subject < change.subject:
            reading.step()
        member = f"{place.stream.removesuffix('ldes')}versions/{place.version.n}#{_name(change.subject)}"
        graph = f" <{member}> .\n".encode()
        count = 0
        # What a member is comes before what it says, of which there may be millions of lines.
        with SpooledTemporaryFile(SPOOLED) as said:
            for line in reading.lines if reading.subject == change.subject else ():
                said.write(line.removesuffix(ending) + graph)
                count += 1
            kind = "Delete" if not count else ("Create" if count == change.added and not change.removed else "Update")
            yield _member(place, member, change.subject.decode(), kind)
            said.seek(0)
            yield from iter(partial(said.read, CHUNK), b"")


def _member(place: Place, member: str, subject: str, kind: str) -> bytes:
    """What the stream says of a member."""
    return "".join(
        (
            _triple(place.stream, f"{TREE}member", member),
            f"<{member}> <{_VERSION_OF}> {subject}.\n",
            f"<{member}> <{_AT}> {_time(place.version)} .\n",
            _triple(member, RDF + "type", ACTIVITY + kind),
        )
    ).encode()


def _described(address: str) -> Iterator[str]:
    """What the stream is; it is its own view."""
    yield _triple(address, f"{TREE}view", address)
    yield _triple(address, RDF + "type", f"{LDES}EventStream")
    yield _triple(address, f"{LDES}timestampPath", _AT)
    yield _triple(address, f"{LDES}versionOfPath", _VERSION_OF)
    for kind in ("Create", "Update", "Delete"):
        yield _triple(address, f"{LDES}version{kind}Object", ACTIVITY + kind)


def _relations(address: str, page: str, version: VersionReport) -> Iterator[str]:
    """That a page has members of a version: none before its time, and none after it."""
    for number, kind in enumerate(("GreaterThanOrEqualToRelation", "LessThanOrEqualToRelation")):
        node = f"_:r{version.n}x{number}"
        yield f"<{address}> <{TREE}relation> {node} .\n"
        yield f"{node} <{RDF}type> <{TREE}{kind}> .\n{node} <{TREE}node> <{page}> .\n"
        yield f"{node} <{TREE}path> <{_AT}> .\n{node} <{TREE}value> {_time(version)} .\n"


def _triple(subject: str, predicate: str, term: str) -> str:
    return f"<{subject}> <{predicate}> <{term}> .\n"


def _time(version: VersionReport) -> str:
    """When a version was filed; some microseconds later, so that no two versions have the same time."""
    at = version.at + timedelta(microseconds=version.n)
    return f'"{at:%Y-%m-%dT%H:%M:%S.%fZ}"^^<{XSD}dateTime>'


def _name(subject: bytes) -> str:
    return hashlib.sha256(subject).hexdigest()[:32]


def _whole(catalog: Catalog, name: str, n: int) -> Iterator[bytes]:
    """The lines of a version."""
    return _lines(catalog.version(name, n) or no_version(name, n))


def _lines(chunks: Iterator[bytes]) -> Iterator[bytes]:
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        yield from (line + b"\n" for line in lines)


def _chunks(pieces: Iterator[bytes]) -> Iterator[bytes]:
    waiting, size = [], 0
    for piece in chain(pieces, (b"",)):
        waiting.append(piece)
        size += len(piece)
        if size >= CHUNK or not piece:
            yield b"".join(waiting)
            waiting, size = [], 0
