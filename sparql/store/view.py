"""An engine as those read it who read a generation of the embedded store: with the methods that a reader uses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from pyoxigraph import BlankNode, DefaultGraph, NamedNode, Quad, QueryBoolean, QuerySolutions, Store, Triple

from sparql.store.address import Dialect, EngineAddress
from sparql.store.engine import Engine

NO_GRAPH: Final = "urn:x-harvest:no-graph"
"""Stands for no graph at all: Virtuoso and RDF4J take every graph where a dataset names none."""

_HIDDEN: Final = re.compile(
    r"http://www\.openlinksw\.com/schemas/virtrdf#|http://(?:localhost:\d+|localuriqaserver)/|urn:\w+:virtrdf"
    r"|http://www\.w3\.org/(?:2002/07/owl|ns/ldp)#|.*#side-\d+-(?:delete|insert)$"
)
"""Names of graphs that Virtuoso brings along, and of those that hold what is on its way there (`sending.py`)."""

_OPEN: Final = (Dialect.VIRTUOSO, Dialect.RDF4J)
"""Engines whose default graph, where a request names none, is the union of all graphs."""

_FROM: Final = re.compile(r"\bFROM\b", re.IGNORECASE)

JENA_UNION: Final = "urn:x-arq:UnionGraph"
"""The union of all named graphs. Source: Apache Jena, TDB, "Dynamic Datasets"."""


class EngineView:
    """
    What is in an engine, read only.

    Queries are read here first, as those over the embedded store are: the same ones are refused, with the same words.
    """

    def __init__(self, address: EngineAddress) -> None:
        self._engine = Engine(address)
        self._dialect = address.dialect
        self._nothing = Store()
        self._graphs: list[NamedNode] | None = None

    def query(
        self,
        query: str,
        *,
        base_iri: str | None = None,
        default_graph: Sequence[NamedNode | BlankNode | DefaultGraph] | None = None,
        named_graphs: Sequence[NamedNode] | None = None,
        use_default_graph_as_union: bool = False,
    ) -> QuerySolutions | QueryBoolean | Iterator[Triple]:
        """
        The result of a query, read as it is taken.

        Raises:
            SyntaxError: It is no SPARQL query.
            RequestError: The engine refuses it.
            StoreError: The engine does not answer.
        """
        kind = self._nothing.query(query, base_iri=base_iri)
        text = query if base_iri is None else f"BASE <{base_iri}>\n{query}"
        parameters = [
            ("default-graph-uri", graph.value) for graph in default_graph or () if isinstance(graph, NamedNode)
        ]
        parameters += [("named-graph-uri", graph.value) for graph in named_graphs or ()]
        if use_default_graph_as_union:
            parameters += self._union()
        elif default_graph is not None and named_graphs is None:
            parameters += [("named-graph-uri", graph.value) for graph in self.named_graphs()]
        if self._dialect in _OPEN and not use_default_graph_as_union and (parameters or not _FROM.search(query)):
            parameters = self._closed(parameters)
        if isinstance(kind, QueryBoolean):
            return self._engine.ask(text, parameters)
        if isinstance(kind, QuerySolutions):
            return self._engine.select(text, parameters)
        return self._engine.construct(text, parameters)

    def named_graphs(self) -> Iterator[NamedNode]:
        """The graphs that hold something; asked for once, as a generation has the graphs of its edition."""
        if self._graphs is None:
            hidden = _HIDDEN.match if self._dialect is Dialect.VIRTUOSO else lambda _: None
            self._graphs = [NamedNode(name) for name in self._engine.graphs() if not hidden(name)]
        return iter(self._graphs)

    def contains_named_graph(self, graph: NamedNode) -> bool:
        """Whether a graph holds something."""
        return bool(self._engine.ask(f"ASK {{ GRAPH {graph} {{ ?s ?p ?o }} }}"))

    def quads_for_pattern(self, subject: None, predicate: None, object: None, graph: NamedNode) -> Iterator[Quad]:
        """All quads of a graph."""
        triples = self._engine.triples(graph.value)
        return (Quad(triple.subject, triple.predicate, triple.object, graph) for triple in triples)

    def _union(self) -> list[tuple[str, str]]:
        """The parameters that make the union of all graphs the default graph, in which each graph can be named, too."""
        if self._dialect is Dialect.OXIGRAPH:
            return [("union-default-graph", "")]
        if self._dialect is Dialect.RDF4J:
            return []
        graphs = [graph.value for graph in self.named_graphs()]
        default = [JENA_UNION] if self._dialect is Dialect.FUSEKI else graphs
        return [*(("default-graph-uri", name) for name in default), *(("named-graph-uri", name) for name in graphs)]

    def _closed(self, parameters: list[tuple[str, str]]) -> list[tuple[str, str]]:
        """The parameters with what says that there are no other graphs; where there are none, each can be named."""
        given = parameters or [("named-graph-uri", graph.value) for graph in self.named_graphs()]
        kinds = {name for name, _ in given}
        return given + [(kind, NO_GRAPH) for kind in ("default-graph-uri", "named-graph-uri") if kind not in kinds]
