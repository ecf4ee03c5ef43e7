"""
What the exports are, as data: `index.json` and the VoID description beside them.

Source: VoID, sections 3.2 (data dumps), 4.4 (subsets), 4.5 (class and property partitions) and 4.6 (statistics).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from pathlib import Path

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, RdfFormat, serialize

from harvest.model import About, Statistics
from sparql.rdf import DCAT, DCTERMS, FOAF, PREFIXES, PROV, RDF, SPDX, VOID, XSD

ALL = "all"
"""The export of all providers together; a provider of that name is refused by the registry."""

MOST = 200
"""Properties, and classes, that are written of each graph: the most frequent ones; their numbers are those of all."""


@dataclass(frozen=True, slots=True)
class ExportedGraph:
    """
    What is to be exported.

    Attributes:
        name: Provider name.
        graph: Graph IRI.
        version: Its current version.
        triples: In that version.
        modified: Latest dcterms:modified, ISO 8601, or None.
        snapshot: Gives the snapshot file of that version; called only if it is needed.
        statistics: Of that version, or None.
        digest: SHA-256 of its canonical N-Quads; None where the snapshot was not made yet.
        about: What its description says of each of its datasets.
    """

    name: str
    graph: str
    version: int
    triples: int
    modified: str | None
    snapshot: Callable[[], Path]
    statistics: Statistics | None = None
    digest: str | None = None
    about: tuple[About, ...] = ()


@dataclass(frozen=True, slots=True)
class ExportEntry:
    """
    One exported file, as `index.json` has it.

    Attributes:
        file: Its name.
        graph: Graph IRI, or None for all graphs.
        version: The version it holds; for all graphs the sum of the versions.
        triples: In it.
        bytes: Its size.
        sha256: Its digest, 64 lower-case hex digits.
        content_sha256: Digest of the N-Quads inside, or None for all graphs.
        at: When it was written, ISO 8601.
    """

    file: str
    graph: str | None
    version: int
    triples: int
    bytes: int
    sha256: str
    content_sha256: str | None
    at: str


def void(base_url: str, subjects: Sequence[ExportedGraph], entries: Mapping[str, ExportEntry]) -> bytes:
    """The VoID description of the exports, as Turtle: one dataset for all, with a subset for each provider."""
    return serialize(_statements(base_url, subjects, entries), format=RdfFormat.TURTLE, prefixes=PREFIXES) or b""


def _statements(base_url: str, subjects: Sequence[ExportedGraph], entries: Mapping[str, ExportEntry]) -> Iterator[Quad]:
    whole = NamedNode(f"{base_url}/.well-known/void#all")
    yield from _dataset(base_url, whole, entries[ALL])
    yield Quad(whole, NamedNode(VOID + "sparqlEndpoint"), NamedNode(f"{base_url}/sparql"))
    for subject in subjects:
        if subject.name not in entries:
            continue
        graph = NamedNode(subject.graph)
        yield Quad(whole, NamedNode(VOID + "subset"), graph)
        yield from _dataset(base_url, graph, entries[subject.name])
        yield Quad(graph, NamedNode(DCTERMS + "identifier"), Literal(subject.name))
        if subject.modified:
            yield Quad(graph, NamedNode(DCTERMS + "modified"), moment(subject.modified))
        yield from origin(graph, subject.about)
        if subject.statistics:
            yield from _figures(graph, subject.name, subject.statistics)


def _dataset(base_url: str, node: NamedNode, entry: ExportEntry) -> Iterator[Quad]:
    dump = NamedNode(f"{base_url}/exports/{entry.file}")
    yield Quad(node, NamedNode(RDF + "type"), NamedNode(VOID + "Dataset"))
    yield Quad(node, NamedNode(VOID + "feature"), NamedNode("http://www.w3.org/ns/formats/N-Quads"))
    yield Quad(node, NamedNode(VOID + "dataDump"), dump)
    yield Quad(node, NamedNode(VOID + "triples"), Literal(entry.triples))
    yield Quad(dump, NamedNode(DCAT + "byteSize"), Literal(entry.bytes))
    yield Quad(dump, NamedNode(SPDX + "checksumValue"), Literal(entry.sha256, datatype=NamedNode(XSD + "hexBinary")))
    yield Quad(dump, NamedNode(DCTERMS + "issued"), moment(entry.at))


def origin(graph: NamedNode, about: Sequence[About]) -> Iterator[Quad]:
    """What the provider's description says of each dataset; of the graph as well, where there is but one."""
    if len(about) == 1:
        yield from _for_people(graph, about[0])
    for each in about:
        dataset = _iri(each.iri)
        if isinstance(dataset, NamedNode) and dataset != graph:
            yield Quad(graph, NamedNode(PROV + "wasDerivedFrom"), dataset)
            yield from _for_people(dataset, each)


def _for_people(node: NamedNode, about: About) -> Iterator[Quad]:
    for predicate, text in (
        ("title", about.title),
        ("description", about.description),
        ("license", about.licence),
        ("publisher", about.publisher),
    ):
        if text:
            is_words = predicate in ("title", "description")
            yield Quad(node, NamedNode(DCTERMS + predicate), Literal(text) if is_words else _iri(text))
    for name in about.creators:
        yield Quad(node, NamedNode(DCTERMS + "creator"), Literal(name))
    for term, text in (
        (DCTERMS + "bibliographicCitation", about.citation),
        (DCTERMS + "issued", about.issued),
        (DCAT + "version", about.version),
    ):
        if text:
            yield Quad(node, NamedNode(term), Literal(text))
    if about.doi:
        doi = Literal(f"https://doi.org/{about.doi}", datatype=NamedNode(XSD + "anyURI"))
        yield Quad(node, NamedNode(DCTERMS + "identifier"), doi)
    if about.homepage and isinstance(homepage := _iri(about.homepage), NamedNode):
        yield Quad(node, NamedNode(FOAF + "homepage"), homepage)


def _iri(text: str) -> NamedNode | Literal:
    """An absolute IRI as such, all else as words: a name may have a colon in it."""
    try:
        return NamedNode(text) if re.match(r"\w+://|urn:|mailto:", text) else Literal(text)
    except ValueError:
        return Literal(text)


def _figures(graph: NamedNode, name: str, statistics: Statistics) -> Iterator[Quad]:
    yield Quad(graph, NamedNode(VOID + "distinctSubjects"), Literal(statistics.subjects))
    yield Quad(graph, NamedNode(VOID + "properties"), Literal(len(statistics.properties)))
    yield Quad(graph, NamedNode(VOID + "classes"), Literal(len(statistics.classes)))
    for kind, counts, unit in (
        ("property", statistics.properties, "triples"),
        ("class", statistics.classes, "entities"),
    ):
        most = nsmallest(MOST, counts.items(), key=lambda item: (-item[1], item[0]))
        for number, (iri, count) in enumerate(most):
            # Labels that stay: a description that says nothing new is not written again.
            part = BlankNode(f"{name}-{kind}-{number}")
            yield Quad(graph, NamedNode(f"{VOID}{kind}Partition"), part)
            yield Quad(part, NamedNode(VOID + kind), NamedNode(iri))
            yield Quad(part, NamedNode(VOID + unit), Literal(count))


def moment(text: str) -> Literal:
    """A time in ISO 8601 as a literal."""
    return Literal(text.replace("+00:00", "Z"), datatype=NamedNode(XSD + "dateTime"))
