"""
The metadata graph: who was harvested when, from what, with what outcome, as RDF.

Terms of PROV, VoID, DCAT and Dublin Core where they have one, of the project's own vocabulary where they have none
(state, outcome, version, counts, findings). Everything is about IRIs that the web front answers for.

    <graph>                      a void:Dataset; harvest:state, harvest:version, void:triples, dcterms:modified
                                 and, once counted, void:distinctSubjects, void:properties, void:classes
    <providers/NAME#run-7>       a prov:Activity; started, ended, outcome, prov:used the dumps
    <providers/NAME/versions/3.nq>   a prov:Entity; prov:wasGeneratedBy the run, prov:wasRevisionOf version 2
    <content/SHA256>             a prov:Entity, dcat:Distribution; the dump as filed
    <providers/NAME#run-7-finding-1>   a harvest:Finding; kind, message, place

Source: PROV-O section 3; VoID section 2; DCAT 3 section 6.8.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, serialize

from sparql.rdf import DCAT, DCTERMS, HARVEST, PREFIXES, PROV, RDF, RDFS, SPDX, VOID, XSD, as_iri

Node = NamedNode | Literal
_A = RDF + "type"


class Facts:
    """
    The statements about one provider's harvests.

    Attributes:
        base_url: Public address of the instance.
        provider: The provider's JSON object (`harvest.status.provider_object`).
    """

    def __init__(self, base_url: str, provider: Mapping[str, Any]) -> None:
        self.base_url = base_url
        self.provider = provider
        self.page = f"{base_url}/providers/{provider['name']}"
        self.graph = NamedNode(provider["graph"])

    def of_provider(self) -> Iterator[tuple[NamedNode, str, Node]]:
        """What the graph is like now."""
        provider, graph = self.provider, self.graph
        yield graph, _A, NamedNode(VOID + "Dataset")
        yield graph, DCTERMS + "identifier", Literal(provider["name"])
        yield graph, HARVEST + "state", Literal(str(provider["state"]))
        yield graph, HARVEST + "version", Literal(provider["version"])
        yield graph, VOID + "triples", Literal(provider["triples"])
        statistics = provider.get("statistics") or {}
        for term, figure in (("distinctSubjects", "subjects"), ("properties", "properties"), ("classes", "classes")):
            if figure in statistics:
                yield graph, VOID + term, Literal(statistics[figure])
        yield graph, DCAT + "landingPage", NamedNode(self.page)
        if provider["modified"]:
            yield graph, DCTERMS + "modified", _time(provider["modified"])
        if provider["url"]:
            yield graph, DCTERMS + "source", NamedNode(as_iri(provider["url"]))
        if provider["version"]:
            yield graph, DCAT + "distribution", NamedNode(f"{self.base_url}/exports/{provider['name']}.nq.gz")
            yield graph, PROV + "specializationOf", self.version(provider["version"])
        if provider["last_run"]:
            yield graph, HARVEST + "lastRun", self.run(provider["last_run"])

    def of_run(self, run: Mapping[str, Any]) -> Iterator[tuple[NamedNode, str, Node]]:
        """What a run did."""
        node = self.run(run)
        yield node, _A, NamedNode(PROV + "Activity")
        yield node, _A, NamedNode(HARVEST + "Run")
        yield node, HARVEST + "graph", self.graph
        yield node, PROV + "startedAtTime", _time(run["started"])
        if run["ended"]:
            yield node, PROV + "endedAtTime", _time(run["ended"])
        if run["outcome"]:
            yield node, HARVEST + "outcome", Literal(str(run["outcome"]))
        for name in ("added", "removed", "vanished_subjects"):
            yield node, HARVEST + _camel(name), Literal(run[name])
        if run["dataset"]:
            yield node, HARVEST + "dataset", NamedNode(run["dataset"])
        if run["modified"]:
            yield node, DCTERMS + "modified", _time(run["modified"])
        for dump in run["dumps"]:
            yield node, PROV + "used", self.content(dump)
        for number, finding in enumerate(run["findings"], 1):
            yield from self._of_finding(node, number, finding)

    def _of_finding(
        self, run: NamedNode, number: int, finding: Mapping[str, Any]
    ) -> Iterator[tuple[NamedNode, str, Node]]:
        node = NamedNode(f"{run.value}-finding-{number}")
        yield run, HARVEST + "finding", node
        yield node, _A, NamedNode(HARVEST + "Finding")
        yield node, HARVEST + "kind", Literal(finding["kind"])
        yield node, RDFS + "comment", Literal(finding["message"])
        for name in ("url", "line", "column", "excerpt"):
            if finding[name] is not None:
                yield node, HARVEST + name, Literal(finding[name])

    def of_dumps(self, run: Mapping[str, Any]) -> Iterator[tuple[NamedNode, str, Node]]:
        """What the downloaded dumps are."""
        for dump in run["dumps"]:
            node = self.content(dump)
            yield node, _A, NamedNode(PROV + "Entity")
            yield node, _A, NamedNode(DCAT + "Distribution")
            yield node, DCAT + "downloadURL", NamedNode(as_iri(dump["url"]))
            yield node, DCAT + "byteSize", Literal(dump["bytes"])
            yield node, SPDX + "checksumValue", Literal(dump["sha256"], datatype=NamedNode(XSD + "hexBinary"))

    def of_version(self, version: Mapping[str, Any], run: Mapping[str, Any]) -> Iterator[tuple[NamedNode, str, Node]]:
        """What a version is and where it comes from."""
        node = self.version(version["n"])
        yield node, _A, NamedNode(PROV + "Entity")
        yield node, PROV + "wasGeneratedBy", self.run(run)
        yield node, PROV + "generatedAtTime", _time(version["at"])
        yield node, HARVEST + "version", Literal(version["n"])
        yield node, HARVEST + "graph", self.graph
        yield node, VOID + "triples", Literal(version["triples"])
        yield node, HARVEST + "change", NamedNode(f"{self.page}/changes/{version['n']}.nqud")
        if version["n"] > 1:
            yield node, PROV + "wasRevisionOf", self.version(version["n"] - 1)

    def run(self, run: Mapping[str, Any]) -> NamedNode:
        """The IRI of a run."""
        return NamedNode(f"{self.page}#run-{run['id']}")

    def version(self, n: int) -> NamedNode:
        """The IRI of a version."""
        return NamedNode(f"{self.page}/versions/{n}.nq")

    def content(self, dump: Mapping[str, Any]) -> NamedNode:
        """The IRI of filed bytes."""
        return NamedNode(f"{self.base_url}/content/{dump['sha256']}")


def n_quads(facts: Iterator[tuple[NamedNode, str, Node]], graph: str) -> bytes:
    """Statements as canonical N-Quads in a graph, in no order."""
    name = NamedNode(graph)
    quads = (Quad(s, NamedNode(p), o, name) for s, p, o in facts)
    return serialize(quads, format=RdfFormat.N_QUADS) or b""


def turtle(facts: Iterator[tuple[NamedNode, str, Node]]) -> bytes:
    """Statements as Turtle, for people."""
    quads = (Quad(s, NamedNode(p), o) for s, p, o in facts)
    return serialize(quads, format=RdfFormat.TURTLE, prefixes=PREFIXES) or b""


def _time(text: str) -> Literal:
    return Literal(text, datatype=NamedNode(XSD + "dateTime"))


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
