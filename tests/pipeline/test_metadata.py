"""The metadata graph: SPARQL can ask which provider changed when, and which are failing."""

from __future__ import annotations

from collections.abc import Callable

import pyoxigraph

from harvest.pipeline import METADATA
from sparql.store.generations import Generations
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_semantics import A1, A2, release
from tests.provider import ProviderServer

PREFIXES = """PREFIX harvest: <https://w3id.org/sparql-harvest/ns#> PREFIX prov: <http://www.w3.org/ns/prov#>
PREFIX dcterms: <http://purl.org/dc/terms/> PREFIX void: <http://rdfs.org/ns/void#> PREFIX dcat: <http://www.w3.org/ns/dcat#>
PREFIX spdx: <http://spdx.org/rdf/terms#> """


def ask(instance: TemporaryInstance, query: str) -> list[tuple[str, ...]]:
    """The rows of a query over the published generation, every term as its value."""
    generations = Generations(instance.settings.data_dir / "store")
    current = generations.current()
    assert current is not None
    with generations.hold(current):
        store = pyoxigraph.Store.read_only(str(current.path))
        found = store.query(PREFIXES + query, use_default_graph_as_union=True)
        assert isinstance(found, pyoxigraph.QuerySolutions)
        return [tuple(term.value for term in row) for row in found]  # type: ignore[union-attr]  # no unbound variable


def test_the_state_of_providers_can_be_asked(
    instance: TemporaryInstance, provider: ProviderServer, registered: Callable[..., None]
) -> None:
    """Idle after a good harvest, failing after a broken dump, idle again when it is mended."""
    state = "SELECT ?name ?state { ?g dcterms:identifier ?name ; harvest:state ?state }"
    registered()
    release(provider, 1, A1)
    instance.tick("p")
    assert ask(instance, state) == [("p", "idle")]
    provider.put("/2.ttl", "broken")
    provider.describe("/void.ttl", "2026-01-02T00:00:00Z", ["/2.ttl"])
    instance.tick("p")
    assert ask(instance, state) == [("p", "failing")]
    why = ask(instance, "SELECT ?kind ?line { ?run harvest:finding [ harvest:kind ?kind ; harvest:line ?line ] }")
    assert why == [("wash", "1")]
    release(provider, 3, A2)
    instance.tick("p")
    assert ask(instance, state) == [("p", "idle")]


def test_the_most_frequent_classes_and_properties_can_be_asked(
    instance: TemporaryInstance, provider: ProviderServer, registered: Callable[..., None]
) -> None:
    """Without counting; those of the current version, also after a harvest that failed."""
    classes = "SELECT ?c ?n { ?g harvest:state ?s ; void:classPartition [ void:class ?c ; void:entities ?n ] }"
    properties = "SELECT ?p ?n { ?g void:propertyPartition [ void:property ?p ; void:triples ?n ] } ORDER BY ?p"
    registered("removals: mirror")
    release(provider, 1, A1, "<http://x/a> a <http://x/Ship>", "<http://x/b> a <http://x/Ship>")
    instance.tick("p")
    assert ask(instance, classes) == [("http://x/Ship", "2")]
    release(provider, 2, A1, A2)
    instance.tick("p")
    provider.put("/3.ttl", "broken")
    provider.describe("/void.ttl", "2026-01-03T00:00:00Z", ["/3.ttl"])
    instance.tick("p")
    assert ask(instance, classes) == []
    assert ask(instance, properties) == [("http://p", "2")]
    assert ask(instance, "SELECT ?part { ?part void:class ?c }") == []


def test_runs_versions_and_dumps_hang_together(
    instance: TemporaryInstance, provider: ProviderServer, registered: Callable[..., None]
) -> None:
    """From a version to the run that made it, to the dump it used, to its digest; and back to the version before."""
    registered()
    release(provider, 1, A1)
    instance.tick("p")
    release(provider, 2, A2)
    instance.tick("p")
    rows = ask(
        instance,
        """SELECT ?version ?added ?removed ?url ?digest {
             ?entity prov:wasGeneratedBy ?run ; harvest:version ?version .
             ?run a prov:Activity ; harvest:added ?added ; harvest:removed ?removed ; harvest:outcome "committed" ;
                  prov:startedAtTime ?start ; prov:endedAtTime ?end ; prov:used ?dump .
             ?dump dcat:downloadURL ?url ; spdx:checksumValue ?digest . } ORDER BY ?version""",
    )
    digests = [run.dumps[0].sha256 for run in reversed(instance.harvester.instance.ledger.runs("p"))]
    assert rows == [
        ("1", "1", "0", provider.url + "/1.ttl", digests[0]),
        ("2", "1", "1", provider.url + "/2.ttl", digests[1]),
    ]
    [(revision, before)] = ask(instance, "SELECT ?b ?a { ?b prov:wasRevisionOf ?a }")
    assert (revision, before) == (
        "http://h.example/providers/p/versions/2.nq",
        "http://h.example/providers/p/versions/1.nq",
    )
    [(graph, triples, modified)] = ask(
        instance, "SELECT ?g ?n ?m { ?g a void:Dataset ; void:triples ?n ; dcterms:modified ?m }"
    )
    assert (graph, triples, modified) == ("http://h.example/graph/p", "1", "2026-01-02T00:00:00Z")


def test_providers_cannot_write_to_the_metadata_graph(
    instance: TemporaryInstance, provider: ProviderServer, registered: Callable[..., None]
) -> None:
    """A dump that names it lands in the provider's own graph, like any other."""
    registered()
    graph = instance.settings.graph(METADATA)
    line = f'<{instance.settings.graph("p")}> <https://w3id.org/sparql-harvest/ns#state> "perfect" <{graph}> .\n'
    provider.put("/1.nq", line, "application/n-quads")
    provider.describe("/void.ttl", "2026-01-01T00:00:00Z", ["/1.nq"])
    instance.tick("p")
    rows = ask(instance, f"SELECT ?state {{ GRAPH <{graph}> {{ ?g harvest:state ?state }} }}")
    assert rows == [("idle",)]
