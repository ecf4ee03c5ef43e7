"""
What is known of seeds and documents, as statements of the metadata graph.

    {base_url}/documents/{hash}            a harvest:Seed; status, uri, relative, interval, processed
    {base_url}/documents/{hash}            a harvest:Document, of a download, an entry or a clean document; what it is
                                           as a text, what it comes from, its problems and how many of each kind
    {base_url}/documents/{hash}#http-1     a harvest:Exchange; one request and its answer
    {base_url}/documents/{hash}#problem-1  a harvest:Problem; kind, message, place
    {base_url}/documents/{hash}#count-syntax  a harvest:Count; how many problems of a kind

Source: LOD Laundromat 2, "The cleaning process"; PROV-O section 3; DCAT 3 section 6.8; HTTP in RDF 1.0 for the names.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime

from pyoxigraph import Literal, NamedNode

from sparql.rdf import DCAT, DCTERMS, HARVEST, PROV, RDF, RDFS, SPDX, VOID, XSD, as_iri
from sparql.reports import CleanReport, DocumentReport, ExchangeReport, SeedReport, iso

Fact = tuple[NamedNode, str, NamedNode | Literal]
_A = RDF + "type"
_CLASSES = {"download": "Download", "entry": "Entry", "clean": "CleanDocument"}


class SeedFacts:
    """
    The statements about seeds and documents; each takes the report of one.

    Attributes:
        base_url: Public address of the instance.
    """

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url

    def of_seed(self, seed: SeedReport) -> Iterator[Fact]:
        """What is known of a registered URI."""
        node = self.node(seed.hash)
        yield node, _A, NamedNode(HARVEST + "Seed")
        yield node, DCTERMS + "identifier", Literal(seed.hash)
        yield node, HARVEST + "uri", Literal(seed.uri, datatype=NamedNode(XSD + "anyURI"))
        yield node, HARVEST + "status", Literal(seed.status)
        yield node, HARVEST + "relative", Literal(seed.relative)
        yield node, HARVEST + "listed", Literal(seed.listed)
        yield node, HARVEST + "interval", _seconds(seed.interval)
        yield node, DCTERMS + "created", _time(seed.added)
        if seed.processed:
            yield node, HARVEST + "processed", _time(seed.processed)
        if not seed.relative:
            yield from _of_address(node, seed.uri)
        if seed.provider:
            yield node, HARVEST + "provider", Literal(seed.provider)
        if seed.download:
            yield node, HARVEST + "lastDownload", self.node(seed.download)

    def of_document(self, item: DocumentReport) -> Iterator[Fact]:
        """What is known of a download, an entry or a clean document."""
        node = self.node(item.hash)
        yield node, _A, NamedNode(PROV + "Entity")
        yield node, _A, NamedNode(HARVEST + "Document")
        yield node, _A, NamedNode(HARVEST + _CLASSES[item.type])
        yield node, DCTERMS + "identifier", Literal(item.hash)
        yield node, HARVEST + "status", Literal(item.status)
        yield node, HARVEST + "seed", self.node(item.seed)
        origin = item.origin
        source = origin.dirty if isinstance(origin, CleanReport) else origin.parent
        yield node, PROV + "wasDerivedFrom", self.node(source)
        began, ended = origin.timestamp
        yield node, HARVEST + "began", _time(began)
        if ended:
            yield node, PROV + "generatedAtTime", _time(ended)
        yield from self._of_source(node, item)
        yield from _of_text(node, item)
        yield from _of_problems(node, item)
        for number, exchange in enumerate(() if isinstance(origin, CleanReport) else origin.http, 1):
            yield from _of_exchange(node, number, exchange)

    def _of_source(self, node: NamedNode, item: DocumentReport) -> Iterator[Fact]:
        """Where its bytes and its statements are."""
        if item.sha256:
            yield node, SPDX + "checksumValue", Literal(item.sha256, datatype=NamedNode(XSD + "hexBinary"))
            yield node, DCAT + "downloadURL", NamedNode(f"{self.base_url}/content/{item.sha256}")
        origin = item.origin
        if isinstance(origin, CleanReport):
            if origin.graph:
                yield node, HARVEST + "graph", NamedNode(origin.graph)
                yield node, HARVEST + "loaded", Literal(origin.loaded)
            return
        if origin.final_url:
            yield from _of_address(node, origin.final_url)
        if origin.name is not None:
            yield node, DCTERMS + "title", Literal(origin.name)
        if origin.media_type:
            yield node, HARVEST + "mediaType", Literal(origin.media_type)
        if origin.clean:
            yield node, HARVEST + "clean", self.node(origin.clean)

    def node(self, hash: str) -> NamedNode:
        """The IRI of a seed or document."""
        return NamedNode(f"{self.base_url}/documents/{hash}")


def _of_address(node: NamedNode, uri: str) -> Iterator[Fact]:
    """Where it comes from, if that can be said: `a://::` was registered, and is no IRI."""
    with suppress(ValueError):
        yield node, DCTERMS + "source", NamedNode(as_iri(uri))


def _of_text(node: NamedNode, item: DocumentReport) -> Iterator[Fact]:
    """What it is as a text, and as RDF."""
    content = item.origin.content
    named: tuple[tuple[str, str | int | bool | None], ...] = (
        (DCAT + "byteSize", content.number_of_bytes),
        (HARVEST + "chars", content.number_of_chars),
        (HARVEST + "lines", content.number_of_lines),
        (HARVEST + "newline", content.newline),
        (HARVEST + "encoding", item.encoding),
        (DCTERMS + "format", item.format),
        (VOID + "triples", item.statements if item.type == "clean" else None),
        (HARVEST + "statements", item.statements),
        (HARVEST + "dropped", item.dropped),
        (HARVEST + "whole", item.whole),
    )
    for predicate, value in named:
        if value is not None:
            yield node, predicate, Literal(value)


def _of_problems(node: NamedNode, item: DocumentReport) -> Iterator[Fact]:
    for kind, number in item.counts.items():
        count = NamedNode(f"{node.value}#count-{kind}")
        yield node, HARVEST + "count", count
        yield count, _A, NamedNode(HARVEST + "Count")
        yield count, HARVEST + "kind", Literal(kind)
        yield count, HARVEST + "number", Literal(number)
    for number, problem in enumerate(item.problems, 1):
        place = NamedNode(f"{node.value}#problem-{number}")
        yield node, HARVEST + "problem", place
        yield place, _A, NamedNode(HARVEST + "Problem")
        yield place, HARVEST + "kind", Literal(problem.kind)
        yield place, RDFS + "comment", Literal(problem.message)
        where = (("line", problem.line), ("column", problem.column), ("excerpt", problem.excerpt))
        for term, value in where:
            if value is not None:
                yield place, HARVEST + term, Literal(value)


def _of_exchange(node: NamedNode, number: int, exchange: ExchangeReport) -> Iterator[Fact]:
    """One HTTP_META."""
    place = NamedNode(f"{node.value}#http-{number}")
    version = exchange.version
    yield node, HARVEST + "http", place
    yield place, _A, NamedNode(HARVEST + "Exchange")
    yield place, HARVEST + "uri", Literal(exchange.uri, datatype=NamedNode(XSD + "anyURI"))
    yield place, HARVEST + "statusCode", Literal(exchange.status)
    yield place, HARVEST + "httpVersion", Literal(f"{version.major}.{version.minor}")
    yield place, HARVEST + "walltime", _seconds(exchange.walltime)
    yield place, HARVEST + "position", Literal(number)
    for name, value in exchange.headers.items():
        yield place, HARVEST + "header", Literal(f"{name}: {value}")


def _time(moment: datetime) -> Literal:
    return Literal(iso(moment), datatype=NamedNode(XSD + "dateTime"))


def _seconds(value: float) -> Literal:
    """Seconds as xsd:decimal: a double would be written with an exponent."""
    return Literal(f"{value:f}".rstrip("0").rstrip("."), datatype=NamedNode(XSD + "decimal"))
