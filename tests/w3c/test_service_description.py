"""The W3C's SPARQL 1.1 Service Description suite: three tests, described in words by its manifest."""

from __future__ import annotations

from typing import Final

import pytest
from pyoxigraph import BlankNode, Dataset, Literal, NamedNode, RdfFormat

from sparql.protocol.description import SD
from sparql.protocol.results import GRAPHS, ResultFormat
from tests.w3c.endpoint import Endpoint
from tests.w3c.manifests import RDF, cases
from tests.w3c.solutions import read_graph, same
from tests.w3c.suites import REQUESTS

SUITE: Final = "sparql11/service-description"

PROPERTIES: Final = {
    "endpoint": ("Service", ""),
    "feature": ("Service", "Feature"),
    "defaultEntailmentRegime": ("Service", "EntailmentRegime"),
    "defaultSupportedEntailmentProfile": ("Service", "EntailmentProfile"),
    "entailmentRegime": ("NamedGraph", "EntailmentRegime"),
    "supportedEntailmentProfile": ("NamedGraph", "EntailmentProfile"),
    "extensionFunction": ("Service", "Function"),
    "extensionAggregate": ("Service", "Aggregate"),
    "languageExtension": ("Service", "Feature"),
    "supportedLanguage": ("Service", "Language"),
    "propertyFeature": ("Service", "Feature"),
    "defaultDataset": ("Service", "Dataset"),
    "availableGraphs": ("Service", "GraphCollection"),
    "resultFormat": ("Service", ""),
    "inputFormat": ("Service", ""),
    "defaultGraph": ("Dataset", "Graph"),
    "namedGraph": ("GraphCollection", "NamedGraph"),
    "name": ("NamedGraph", ""),
    "graph": ("NamedGraph", "Graph"),
}
"""Domain and range of each property; empty for any resource. Source: SPARQL 1.1 Service Description, section 3.4."""

INSTANCES: Final = {
    "Language": {"SPARQL10Query", "SPARQL11Query", "SPARQL11Update"},
    "Feature": {
        "DereferencesURIs",
        "UnionDefaultGraph",
        "RequiresDataset",
        "EmptyGraphs",
        "BasicFederatedQuery",
    },
}
"""Sections 3.2.2 and 3.3 of the same."""

CLASSES: Final = {"Service", "Dataset", "GraphCollection", "Graph", "NamedGraph"}


def _described(endpoint: Endpoint, accept: str | None = None) -> tuple[str, Dataset]:
    """The media type of a description, and its triples."""
    answer = endpoint.send("GET", "/sparql/", {"Accept": accept} if accept else {}, None)
    media_type = answer.headers["Content-Type"].partition(";")[0]
    format = RdfFormat.from_media_type(media_type)
    assert answer.status_code == 200 and format is not None, f"{answer.status_code} {media_type}"
    return media_type, read_graph(answer.content, format, endpoint.url)


def test_the_suite_is_the_one_that_is_tested_here() -> None:
    """A test that is added to the suite has to be added here."""
    names = sorted(case.id.partition("#")[2] for case in cases(SUITE))
    assert names == ["conforms-to-schema", "has-endpoint-triple", "returns-rdf"]
    assert len(names) == REQUESTS[SUITE]


def test_a_get_of_the_endpoint_returns_rdf(endpoint: Endpoint) -> None:
    """returns-rdf: whatever the client accepts, or nothing said. Source: Service Description, section 2."""
    assert len(_described(endpoint)[1]) > 10
    assert len(_described(endpoint, "*/*")[1]) > 10


def test_the_description_names_the_endpoint_that_gave_it(endpoint: Endpoint) -> None:
    """has-endpoint-triple: so that a client can join descriptions of several endpoints."""
    graph = _described(endpoint)[1]
    named = [quad.object for quad in graph if quad.predicate == NamedNode(f"{SD}endpoint")]
    assert named == [NamedNode(endpoint.url)]


def test_the_description_conforms_to_the_schema(endpoint: Endpoint) -> None:
    """conforms-to-schema: known terms only, each property between resources of its domain and range."""
    graph = _described(endpoint)[1]
    terms = {node.value for quad in graph for node in quad if isinstance(node, NamedNode)}
    used = {term.removeprefix(SD) for term in terms if term.startswith(SD)}
    assert used <= CLASSES | set(PROPERTIES) | set().union(*INSTANCES.values())
    for quad in graph:
        if quad.predicate.value.startswith(SD):
            domain, range = PROPERTIES[quad.predicate.value.removeprefix(SD)]
            assert _is_a(graph, quad.subject, domain), f"{quad} has a subject that is no sd:{domain}"
            assert not isinstance(quad.object, Literal), f"{quad} has a literal where a resource is due"
            assert not range or _is_a(graph, quad.object, range), f"{quad} has an object that is no sd:{range}"


@pytest.mark.parametrize("form", GRAPHS, ids=[form.media_type for form in GRAPHS])
def test_the_description_comes_as_the_client_accepts_it(endpoint: Endpoint, form: ResultFormat) -> None:
    """The description has the same triples in every format for graphs."""
    found, graph = _described(endpoint, form.media_type)
    assert found == form.media_type
    assert same(graph, _described(endpoint)[1], ordered=False, lax=False)


def _is_a(graph: Dataset, node: object, name: str) -> bool:
    if isinstance(node, NamedNode) and node.value.removeprefix(SD) in INSTANCES.get(name, ()):
        return True
    if not isinstance(node, NamedNode | BlankNode):
        return False
    types = {quad.object for quad in graph.quads_for_subject(node) if quad.predicate == NamedNode(f"{RDF}type")}
    wanted = {name, "Dataset"} if name == "GraphCollection" else {name}  # A dataset is a collection of graphs.
    return any(NamedNode(SD + one) in types for one in wanted)
