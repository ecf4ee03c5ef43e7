"""What the manifests of the W3C's SPARQL suites say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urljoin

import pyoxigraph
from pyoxigraph import NamedNode, Quad, RdfFormat, Store

from tests.realdata import realdata

HOME: Final = "https://w3c.github.io/rdf-tests/sparql/"
"""Where the suites are published; relative IRIs of queries and data are resolved below it."""

MF: Final = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
QT: Final = "http://www.w3.org/2001/sw/DataAccess/tests/test-query#"
UT: Final = "http://www.w3.org/2009/sparql/tests/test-update#"
RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
LABEL: Final = "http://www.w3.org/2000/01/rdf-schema#label"

FROM: Final = re.compile(r"\bFROM\s+(?:NAMED\s+)?<([^>]*)>", re.IGNORECASE)

Node = pyoxigraph.NamedNode | pyoxigraph.BlankNode | pyoxigraph.Literal | pyoxigraph.Triple


@dataclass(frozen=True, slots=True)
class Graph:
    """
    A file of data that a test has in its dataset.

    Attributes:
        name: IRI of the graph.
        source: IRI of the file.
    """

    name: str
    source: str


@dataclass(frozen=True, slots=True)
class Case:
    """
    One test of a suite.

    Attributes:
        id: Folder of the suite, `#`, and the test's own name.
        kind: Local name of its class, such as QueryEvaluationTest.
        text: IRI of the file with the query or update; empty where the manifest describes requests instead.
        default: Files that make its default graph.
        named: Its named graphs.
        result: IRI of the expected result, or None.
        lax: Whether a solution may come less often than the expected result has it, as long as it comes.
    """

    id: str
    kind: str
    text: str
    default: tuple[Graph, ...]
    named: tuple[Graph, ...]
    result: str | None
    lax: bool

    def query(self) -> str:
        """The query or update as it stands in its file."""
        return file_of(self.text).read_text("utf-8")

    def names_dataset(self) -> bool:
        """Whether the query says FROM or FROM NAMED."""
        return FROM.search(self.query()) is not None


class Manifest:
    """One manifest, to be walked along its properties."""

    def __init__(self, suite: str, name: str = "manifest.ttl") -> None:
        self.suite = suite
        self._store = Store()
        iri = f"{HOME}{suite}/{name}"
        self._store.bulk_load(file_of(iri).read_bytes(), RdfFormat.TURTLE, base_iri=iri)

    def entries(self) -> Iterator[Node]:
        """Yield the tests in their order."""
        for head in self._store.quads_for_pattern(None, NamedNode(f"{MF}entries"), None):
            yield from self.list(head.object)

    def all(self, node: Node, *properties: str) -> list[Node]:
        """The values of any of these properties."""
        subject = node if not isinstance(node, pyoxigraph.Literal) else None
        assert subject is not None
        quads = (self._store.quads_for_pattern(subject, NamedNode(iri), None) for iri in properties)
        return [quad.object for found in quads for quad in found]

    def one(self, node: Node, *properties: str) -> Node | None:
        """The value of these properties, or None."""
        return next(iter(self.all(node, *properties)), None)

    def text(self, node: Node, *properties: str) -> str:
        """The value of these properties as text; empty when there is none."""
        found = self.one(node, *properties)
        assert not isinstance(found, pyoxigraph.Triple)
        return "" if found is None else found.value

    def list(self, head: Node) -> Iterator[Node]:
        """Yield the members of a list."""
        while (first := self.one(head, f"{RDF}first")) is not None:
            yield first
            rest = self.one(head, f"{RDF}rest")
            assert rest is not None
            head = rest


def cases(suite: str) -> list[Case]:
    """The tests of a suite, in the order of its manifest."""
    manifest = Manifest(suite)
    return [_case(manifest, entry) for entry in manifest.entries()]


def _case(manifest: Manifest, entry: Node) -> Case:
    action = manifest.one(entry, f"{MF}action")
    assert isinstance(entry, NamedNode)
    direct = isinstance(action, NamedNode)
    defaults = [] if direct or action is None else manifest.all(action, f"{QT}data", f"{UT}data")
    named = [] if direct or action is None else manifest.all(action, f"{QT}graphData", f"{UT}graphData")
    result = manifest.one(entry, f"{MF}result")
    return Case(
        id=case_id(manifest.suite, entry),
        kind=manifest.text(entry, f"{RDF}type").rpartition("#")[2],
        text=_text(manifest, action),
        default=tuple(Graph(node.value, node.value) for node in defaults if isinstance(node, NamedNode)),
        named=tuple(graph_of(manifest, node) for node in [*named, *manifest.all(entry, f"{UT}graphData")]),
        result=result.value if isinstance(result, NamedNode) else None,
        lax=manifest.one(entry, f"{MF}resultCardinality") == NamedNode(f"{MF}LaxCardinality"),
    )


def case_id(suite: str, entry: Node) -> str:
    """How a test is called in `known.toml` and in messages."""
    assert isinstance(entry, NamedNode)
    return f"{suite}#{entry.value.rpartition('#')[2]}"


def _text(manifest: Manifest, action: Node | None) -> str:
    if action is None or isinstance(action, NamedNode):
        return "" if action is None else action.value
    return manifest.text(action, f"{QT}query", f"{UT}request")


def graph_of(manifest: Manifest, node: Node) -> Graph:
    """The named graph that a node of a manifest describes."""
    if isinstance(node, NamedNode):
        return Graph(node.value, node.value)
    source = manifest.text(node, f"{QT}graph", f"{UT}graph")
    return Graph(manifest.text(node, LABEL) or source, source)


def file_of(iri: str) -> Path:
    """The file that is published under an IRI."""
    return realdata() / "w3c/sparql" / iri.removeprefix(HOME)


def graphs_of(cases: Iterable[Case]) -> set[Graph]:
    """The graphs that tests have in their datasets, those that their queries name included."""
    found: set[Graph] = set()
    for case in cases:
        found.update(case.default, case.named)
        if case.text.endswith(".rq"):
            names = (urljoin(case.text, name) for name in FROM.findall(case.query()))
            found.update(Graph(name, name) for name in names if name.startswith(HOME) and file_of(name).is_file())
    return found


def quads_of(graph: Graph) -> Iterator[Quad]:
    """Yield the statements of a file in their graph; its blank nodes are no other file's."""
    format = RdfFormat.from_extension(graph.source.rpartition(".")[2])
    data = file_of(graph.source).read_bytes()
    for quad in pyoxigraph.parse(data, format, base_iri=graph.source, rename_blank_nodes=True):
        yield Quad(quad.subject, quad.predicate, quad.object, NamedNode(graph.name))
