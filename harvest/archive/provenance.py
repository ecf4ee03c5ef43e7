"""
A provenance log: what one crawl downloaded, in N-Quads.

It begins with the agent, the crawl and the log before. Every download follows in a graph of its own, first as Preston
writes it and in its order, then what a rebuild needs besides; then the notes of the pipeline. The same crawl always
gives the same bytes, so that a log that a crash kept from being indexed is written again as it was.

Source: Preston, `ActivityUtil.emitDownloadActivity` for the order of statements; PROV-O.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Final
from urllib.parse import quote
from uuid import NAMESPACE_URL, UUID, uuid4, uuid5

from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, Triple, parse, serialize

from harvest.archive.index import HAS_VERSION, PREVIOUS_VERSION, ROOT
from harvest.archive.layout import HashName
from harvest.model import Capture, CrawlLog, Download, Note
from sparql.rdf import DCTERMS, GENID, HARVEST, PROV, RDF, XSD, as_iri

AGENT: Final = NamedNode("https://w3id.org/sparql-harvest")
USED_BY: Final = PROV + "usedBy"
INVALIDATED: Final = PROV + "invalidatedAtTime"
"""Of bytes that were removed from the archive on purpose."""

RESERVED: Final = (USED_BY, HAS_VERSION, PREVIOUS_VERSION)
"""Terms by which readers of logs find logs and bytes; no note may hold them."""

_A: Final = RDF + "type"
_DATE_TIME: Final = NamedNode(XSD + "dateTime")
_ANY_URI: Final = NamedNode(XSD + "anyURI")

Statement = tuple[NamedNode, str, NamedNode | Literal]


def new_activity() -> str:
    """An IRI for an activity that never was before."""
    return f"urn:uuid:{uuid4()}"


def activity_after(activity: str) -> str:
    """The IRI of the crawl whose log begins with this activity."""
    return f"urn:uuid:{uuid5(UUID(activity.removeprefix('urn:uuid:')), 'crawl')}"


def log_lines(crawl: CrawlLog, base_url: str) -> Iterator[bytes]:
    """The log of a crawl, in pieces."""
    yield _serialised(crawl.activity, _of_crawl(crawl))
    for download in crawl.downloads:
        yield _serialised(download.activity, _of_download(download, crawl, base_url))
    for note in crawl.notes:
        yield _serialised(note.activity, _of_note(note, crawl))


def facts_of(statements: list[Triple]) -> str:
    """
    Statements as a note keeps them.

    Raises:
        ValueError: A term in them is reserved.
    """
    for statement in statements:
        if statement.predicate.value in RESERVED:
            term = statement.predicate.value
            raise ValueError(f"a note may not use <{term}>: readers would take it for a log or a download")
    return (serialize(statements, format=RdfFormat.N_TRIPLES) or b"").decode()


def _of_crawl(crawl: CrawlLog) -> Iterator[Statement]:
    """Agent, crawl and the log before."""
    activity, archive = NamedNode(crawl.activity), NamedNode(f"urn:uuid:{ROOT}")
    yield AGENT, _A, NamedNode(PROV + "SoftwareAgent")
    yield AGENT, _A, NamedNode(PROV + "Agent")
    yield AGENT, DCTERMS + "description", _english("SPARQL Harvest is software that harvests linked open data.")
    yield activity, _A, NamedNode(PROV + "Activity")
    yield activity, DCTERMS + "description", _english("A crawl that downloads what providers publish.")
    yield activity, PROV + "startedAtTime", _time(crawl.began)
    yield activity, PROV + "endedAtTime", _time(crawl.ended)
    yield activity, PROV + "wasStartedBy", AGENT
    yield AGENT, USED_BY, activity
    yield AGENT, _A, NamedNode("http://purl.org/dc/dcmitype/Software")
    yield AGENT, DCTERMS + "bibliographicCitation", _english(f"SPARQL Harvest (Version {_release()}) [Software].")
    yield archive, _A, NamedNode(PROV + "Entity")
    yield archive, DCTERMS + "description", _english("An archive of linked open data.")
    if crawl.previous is not None:
        yield NamedNode(HashName(crawl.previous).uri), USED_BY, activity


def _of_download(download: Download, crawl: CrawlLog, base_url: str) -> Iterator[Statement]:
    """A download as Preston writes it; then what Preston does not record."""
    activity, source = NamedNode(download.activity), _iri(download.url)
    capture = download.capture
    if capture is None or capture.digest is None:
        content = NamedNode(f"{base_url}{GENID}{uuid5(NAMESPACE_URL, download.activity)}")
    else:
        content = NamedNode(HashName(capture.digest).uri)
    yield content, PROV + "wasGeneratedBy", activity
    yield content, PROV + "qualifiedGeneration", activity
    yield activity, PROV + "generatedAtTime", _time(download.ended)
    yield activity, _A, NamedNode(PROV + "Generation")
    yield activity, PROV + "wasInformedBy", _iri(download.informed or crawl.activity)
    yield activity, PROV + "used", source
    yield source, HAS_VERSION, content
    yield activity, PROV + "startedAtTime", _time(download.began)
    if source.value != download.url:
        yield activity, HARVEST + "url", _url(download.url)
    if download.status is not None:
        yield activity, HARVEST + "status", Literal(download.status)
    if download.reason is not None:
        yield activity, HARVEST + "reason", _text(download.reason)
    if capture is not None:
        yield from _of_capture(activity, capture)


def _of_capture(activity: NamedNode, capture: Capture) -> Iterator[Statement]:
    """What the server said of the bytes."""
    for redirect in capture.redirects:
        yield activity, HARVEST + "redirect", _url(redirect)
    yield activity, HARVEST + "finalUrl", _url(capture.final_url)
    yield activity, HARVEST + "answered", _time(capture.at)
    yield activity, HARVEST + "bytes", Literal(capture.length)
    if capture.media_type is not None:
        yield activity, DCTERMS + "format", _text(capture.media_type)
    if capture.validators.etag is not None:
        yield activity, HARVEST + "etag", _text(capture.validators.etag)
    if capture.validators.last_modified is not None:
        yield activity, HARVEST + "lastModified", _text(capture.validators.last_modified)


def _of_note(note: Note, crawl: CrawlLog) -> Iterator[Statement]:
    activity = NamedNode(note.activity)
    yield activity, _A, NamedNode(PROV + "Activity")
    yield activity, PROV + "wasInformedBy", NamedNode(crawl.activity)
    yield activity, PROV + "endedAtTime", _time(note.at)
    for quad in parse(note.facts, format=RdfFormat.N_TRIPLES, lenient=True):
        yield quad.subject, quad.predicate.value, quad.object


def _serialised(graph: str, statements: Iterator[Statement]) -> bytes:
    name = NamedNode(graph)
    quads = (Quad(s, NamedNode(p), o, name) for s, p, o in statements)
    return serialize(quads, format=RdfFormat.N_QUADS) or b""


def _iri(url: str) -> NamedNode:
    """The node of a URL; of what is none, one that says so, since a log has to be written all the same."""
    try:
        return NamedNode(as_iri(url))
    except ValueError:
        return NamedNode(f"about:invalid#{quote(url, safe='', errors='replace')}")


def _url(url: str) -> Literal:
    return Literal(_encodable(url), datatype=_ANY_URI)


def _text(text: str) -> Literal:
    return Literal(_encodable(text))


def _encodable(text: str) -> str:
    """Headers may hold bytes that are no text; Python keeps them as surrogates, which UTF-8 has not."""
    return text.encode("utf-8", "replace").decode()


def _english(text: str) -> Literal:
    return Literal(text, language="en")


def _time(moment: datetime) -> Literal:
    text = moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return Literal(text, datatype=_DATE_TIME)


def _release() -> str:
    try:
        return version("sparql-harvest")
    except PackageNotFoundError:
        return "0"
