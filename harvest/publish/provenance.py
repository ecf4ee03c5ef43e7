"""
The metadata graph: who was harvested when, from what, with what outcome, as RDF.

Terms of PROV, VoID, DCAT and Dublin Core where they have one, of the project's own vocabulary where they have none
(state, outcome, version, counts, findings). Everything is about IRIs that the web front answers for.

    <graph>                      a void:Dataset; harvest:state, harvest:version, void:triples, dcterms:modified
                                 and, once counted, void:distinctSubjects, void:properties, void:classes, and
                                 void:classPartition, void:propertyPartition of the most frequent ones
    <providers/NAME#run-7>       a prov:Activity; started, ended, outcome, prov:used the dumps
    <providers/NAME/versions/3.nq>   a prov:Entity; prov:wasGeneratedBy the run, prov:wasRevisionOf version 2
    <content/SHA256>             a prov:Entity, dcat:Distribution; the dump as filed
    <providers/NAME#run-7-finding-1>   a harvest:Finding; kind, message, place
    <providers/NAME#dataset-HASH>      a harvest:Dataset, tracked by the graph; harvest:dataset its own IRI, state,
                                       harvest:reason, dates, and since when and in how many tries it went wrong

Source: PROV-O section 3; VoID section 2; DCAT 3 section 6.8.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from hashlib import sha256
from heapq import nsmallest
from typing import Final

from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, serialize

from harvest.model import Statistics
from sparql.rdf import DCAT, DCTERMS, HARVEST, PREFIXES, PROV, RDF, RDFS, SPDX, VOID, XSD, as_iri
from sparql.reports import DatasetReport, DumpReport, Finding, ProviderReport, RunReport, VersionReport, iso

Node = NamedNode | Literal
MOST: Final = 50
"""Classes, and properties, that are written of each graph: the most frequent ones."""
_A = RDF + "type"

MOST_DATASETS: Final = 200
"""Datasets of a provider that are written, those in trouble first; the provider's JSON has all of them."""

TRACKS: Final = HARVEST + "tracks"
"""From a graph to its datasets."""


class ProviderFacts:
    """
    The statements about one provider's harvests.

    Attributes:
        base_url: Public address of the instance.
        provider: The provider.
    """

    def __init__(self, base_url: str, provider: ProviderReport) -> None:
        self.base_url = base_url
        self.provider = provider
        self.page = f"{base_url}/providers/{provider.name}"
        self.graph = NamedNode(provider.graph)

    def of_provider(self) -> Iterator[tuple[NamedNode, str, Node]]:
        """What the graph is like now."""
        provider, graph = self.provider, self.graph
        yield graph, _A, NamedNode(VOID + "Dataset")
        yield graph, DCTERMS + "identifier", Literal(provider.name)
        yield graph, HARVEST + "state", Literal(str(provider.state))
        yield graph, HARVEST + "version", Literal(provider.version)
        yield graph, VOID + "triples", Literal(provider.triples)
        if provider.baseline:
            yield graph, HARVEST + "baseline", Literal(provider.baseline)
        if provider.statistics:
            yield graph, VOID + "distinctSubjects", Literal(provider.statistics.subjects)
            yield graph, VOID + "properties", Literal(provider.statistics.properties)
            yield graph, VOID + "classes", Literal(provider.statistics.classes)
        yield graph, DCAT + "landingPage", NamedNode(self.page)
        if provider.modified:
            yield graph, DCTERMS + "modified", _time(provider.modified)
        if provider.url:
            yield graph, DCTERMS + "source", NamedNode(as_iri(provider.url))
        if provider.version:
            yield graph, DCAT + "distribution", NamedNode(f"{self.base_url}/exports/{provider.name}.nq.gz")
            yield graph, PROV + "specializationOf", self.version(provider.version)
        if provider.last_run:
            yield graph, HARVEST + "lastRun", self.run(provider.last_run.id)
        for dataset in sorted(provider.datasets, key=lambda each: each.since is None)[:MOST_DATASETS]:
            yield from self._of_dataset(dataset)

    def _of_dataset(self, dataset: DatasetReport) -> Iterator[tuple[NamedNode, str, Node]]:
        """Where a dataset stands."""
        node = self.dataset(dataset.iri)
        yield self.graph, TRACKS, node
        yield node, _A, NamedNode(HARVEST + "Dataset")
        yield node, HARVEST + "graph", self.graph
        yield node, HARVEST + "dataset", NamedNode(as_iri(dataset.iri))
        yield node, HARVEST + "datasetState", Literal(str(dataset.state))
        yield node, HARVEST + "described", Literal(dataset.described)
        yield node, HARVEST + "reason", Literal(dataset.reason)
        for term, moment in (
            (DCTERMS + "modified", dataset.modified),
            (HARVEST + "committed", dataset.committed),
            (HARVEST + "since", dataset.since),
            (HARVEST + "lastTry", dataset.last_try),
            (HARVEST + "nextTry", dataset.next_try),
        ):
            if moment:
                yield node, term, _time(moment)
        if dataset.tries:
            yield node, HARVEST + "tries", Literal(dataset.tries)
        if dataset.run:
            yield node, HARVEST + "lastRun", self.run(dataset.run)
        for finding in dataset.findings:
            yield node, HARVEST + "kind", Literal(finding.kind)
            yield node, RDFS + "comment", Literal(finding.message)

    def of_figures(self, statistics: Statistics) -> Iterator[tuple[NamedNode, str, Node]]:
        """The most frequent classes and properties of the graph."""
        for kind, counts, unit in (
            ("class", statistics.classes, "entities"),
            ("property", statistics.properties, "triples"),
        ):
            most = nsmallest(MOST, counts.items(), key=lambda item: (-item[1], item[0]))
            for number, (iri, count) in enumerate(most, 1):
                part = self._part(kind, number)
                yield self.graph, f"{VOID}{kind}Partition", part
                yield part, VOID + kind, NamedNode(iri)
                yield part, VOID + unit, Literal(count)

    def _part(self, kind: str, number: int) -> NamedNode:
        return NamedNode(f"{self.page}#{kind}-{number}")

    def of_run(self, run: RunReport) -> Iterator[tuple[NamedNode, str, Node]]:
        """What a run did."""
        node = self.run(run.id)
        yield node, _A, NamedNode(PROV + "Activity")
        yield node, _A, NamedNode(HARVEST + "Run")
        yield node, HARVEST + "graph", self.graph
        yield node, PROV + "startedAtTime", _time(run.started)
        if run.ended:
            yield node, PROV + "endedAtTime", _time(run.ended)
        if run.outcome:
            yield node, HARVEST + "outcome", Literal(str(run.outcome))
        yield node, HARVEST + "added", Literal(run.added)
        yield node, HARVEST + "removed", Literal(run.removed)
        yield node, HARVEST + "vanishedSubjects", Literal(run.vanished_subjects)
        for term in ("written", "requests"):
            for value in (step.figures[term] for step in run.steps if term in step.figures):
                yield node, HARVEST + term, Literal(value)
        if run.dataset:
            yield node, HARVEST + "dataset", NamedNode(run.dataset)
        if run.modified:
            yield node, DCTERMS + "modified", _time(run.modified)
        for dump in run.dumps:
            yield node, PROV + "used", self.content(dump)
        for number, finding in enumerate(run.findings, 1):
            yield from self._of_finding(node, number, finding)

    def _of_finding(self, run: NamedNode, number: int, finding: Finding) -> Iterator[tuple[NamedNode, str, Node]]:
        node = NamedNode(f"{run.value}-finding-{number}")
        yield run, HARVEST + "finding", node
        yield node, _A, NamedNode(HARVEST + "Finding")
        yield node, HARVEST + "kind", Literal(finding.kind)
        yield node, RDFS + "comment", Literal(finding.message)
        where = (("url", finding.url), ("line", finding.line), ("column", finding.column), ("excerpt", finding.excerpt))
        for term, value in where:
            if value is not None:
                yield node, HARVEST + term, Literal(value)

    def of_dumps(self, run: RunReport) -> Iterator[tuple[NamedNode, str, Node]]:
        """What the downloaded dumps are."""
        for dump in run.dumps:
            node = self.content(dump)
            yield node, _A, NamedNode(PROV + "Entity")
            yield node, _A, NamedNode(DCAT + "Distribution")
            yield node, DCAT + "downloadURL", NamedNode(as_iri(dump.url))
            yield node, DCAT + "byteSize", Literal(dump.bytes)
            yield node, SPDX + "checksumValue", Literal(dump.sha256, datatype=NamedNode(XSD + "hexBinary"))

    def of_version(self, version: VersionReport) -> Iterator[tuple[NamedNode, str, Node]]:
        """What a version is and where it comes from."""
        node = self.version(version.n)
        yield node, _A, NamedNode(PROV + "Entity")
        yield node, PROV + "wasGeneratedBy", self.run(version.run)
        yield node, PROV + "generatedAtTime", _time(version.at)
        yield node, HARVEST + "version", Literal(version.n)
        yield node, HARVEST + "graph", self.graph
        yield node, VOID + "triples", Literal(version.triples)
        yield node, HARVEST + "change", NamedNode(f"{self.page}/changes/{version.n}.nqud")
        if version.n > 1:
            yield node, PROV + "wasRevisionOf", self.version(version.n - 1)

    def run(self, id: int) -> NamedNode:
        """The IRI of a run."""
        return NamedNode(f"{self.page}#run-{id}")

    def dataset(self, iri: str) -> NamedNode:
        """The IRI by which the metadata graph describes a dataset, which has an IRI of its provider's own."""
        return NamedNode(f"{self.page}#dataset-{sha256(iri.encode()).hexdigest()[:16]}")

    def version(self, n: int) -> NamedNode:
        """The IRI of a version."""
        return NamedNode(f"{self.page}/versions/{n}.nq")

    def content(self, dump: DumpReport) -> NamedNode:
        """The IRI of filed bytes."""
        return NamedNode(f"{self.base_url}/content/{dump.sha256}")


def n_quads(facts: Iterator[tuple[NamedNode, str, Node]], graph: str) -> bytes:
    """Statements as canonical N-Quads in a graph, in no order."""
    name = NamedNode(graph)
    quads = (Quad(s, NamedNode(p), o, name) for s, p, o in facts)
    return serialize(quads, format=RdfFormat.N_QUADS) or b""


def turtle(facts: Iterator[tuple[NamedNode, str, Node]]) -> bytes:
    """Statements as Turtle, for people."""
    quads = (Quad(s, NamedNode(p), o) for s, p, o in facts)
    return serialize(quads, format=RdfFormat.TURTLE, prefixes=PREFIXES) or b""


def _time(moment: datetime) -> Literal:
    return Literal(iso(moment), datatype=NamedNode(XSD + "dateTime"))
