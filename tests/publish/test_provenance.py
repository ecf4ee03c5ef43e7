"""The metadata graph and the receipt say in RDF what the provider's JSON object says."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain

import pyoxigraph
import pytest
from pyoxigraph import Literal, NamedNode, Quad, RdfFormat

from harvest.publish.provenance import ProviderFacts, n_quads, turtle
from harvest.publish.receipt import receipt
from sparql.rdf import DCAT, DCTERMS, HARVEST, PROV, RDF, RDFS, SPDX, VOID, XSD
from sparql.reports import DumpReport, Finding, RunReport
from tests.web.records import provider, version

BASE = "http://localhost:8080"
GRAPH = f"{BASE}/graph/a"
PAGE = f"{BASE}/providers/a"
META = f"{BASE}/graph/metadata"
SHA = "ab" * 32

RUN = RunReport(
    id=7,
    started=datetime(2026, 11, 20, 12, tzinfo=UTC),
    ended=datetime(2026, 11, 20, 12, 0, 5, 500_000, UTC),
    outcome="failed",
    dataset="http://example.org/void#d",
    modified=datetime(2026, 11, 1, tzinfo=UTC),
    coverage="full",
    version=None,
    added=5,
    removed=6,
    vanished_subjects=2,
    dumps=(DumpReport("http://example.org/a.nt", SHA, 77, None),),
    findings=(
        Finding("wash", 'cannot be "parsed"\n', "http://example.org/a.nt", 3, 4, "<é>\t\\", fatal=True),
        Finding("odd", "odd", None, None, None, None, fatal=False),
    ),
    steps=(),
)
PROVIDER = provider(
    "a",
    graph=GRAPH,
    state="failing",
    modified=datetime(2026, 10, 1, tzinfo=UTC),
    version=3,
    triples=1234,
    last_run=RUN,
    source="void",
    url="http://example.org/void.ttl",
)
VERSION = version(3, at=datetime(2026, 11, 20, 12, 0, 4, tzinfo=UTC), triples=1234)
NEW = replace(PROVIDER, modified=None, version=0, triples=0, last_run=None, url=None)


def of(data: bytes, subject: str) -> dict[str, set[str]]:
    """What is said of a subject: predicates, and objects as they stand in N-Triples."""
    said: dict[str, set[str]] = {}
    for quad in pyoxigraph.parse(data, format=RdfFormat.TURTLE):
        if quad.subject == NamedNode(subject):
            said.setdefault(quad.predicate.value, set()).add(str(quad.object))
    return said


def test_the_receipt_says_what_the_graph_is_now() -> None:
    """State, version, size, date, and where all of it comes from and can be had."""
    said = of(receipt(BASE, PROVIDER), GRAPH)
    assert said == {
        RDF + "type": {f"<{VOID}Dataset>"},
        DCTERMS + "identifier": {'"a"'},
        HARVEST + "state": {'"failing"'},
        HARVEST + "version": {f'"3"^^<{XSD}integer>'},
        VOID + "triples": {f'"1234"^^<{XSD}integer>'},
        DCAT + "landingPage": {f"<{PAGE}>"},
        DCTERMS + "modified": {f'"2026-10-01T00:00:00Z"^^<{XSD}dateTime>'},
        DCTERMS + "source": {"<http://example.org/void.ttl>"},
        DCAT + "distribution": {f"<{BASE}/exports/a.nq.gz>"},
        PROV + "specializationOf": {f"<{PAGE}/versions/3.nq>"},
        HARVEST + "lastRun": {f"<{PAGE}#run-7>"},
    }


def test_the_receipt_says_what_became_of_the_dump() -> None:
    """Which dataset, date, URLs and digests, when, with what counts, and why not."""
    data = receipt(BASE, PROVIDER)
    run = of(data, f"{PAGE}#run-7")
    assert run[RDF + "type"] == {f"<{PROV}Activity>", f"<{HARVEST}Run>"}
    assert run[HARVEST + "outcome"] == {'"failed"'}
    assert run[HARVEST + "dataset"] == {"<http://example.org/void#d>"}
    assert run[PROV + "startedAtTime"] == {f'"2026-11-20T12:00:00Z"^^<{XSD}dateTime>'}
    assert run[PROV + "endedAtTime"] == {f'"2026-11-20T12:00:05.500000Z"^^<{XSD}dateTime>'}
    counts = [run[HARVEST + name] for name in ("added", "removed", "vanishedSubjects")]
    assert counts == [{f'"{n}"^^<{XSD}integer>'} for n in (5, 6, 2)]
    assert run[PROV + "used"] == {f"<{BASE}/content/{SHA}>"}
    dump = of(data, f"{BASE}/content/{SHA}")
    assert dump[DCAT + "downloadURL"] == {"<http://example.org/a.nt>"}
    assert dump[DCAT + "byteSize"] == {f'"77"^^<{XSD}integer>'}
    assert dump[SPDX + "checksumValue"] == {f'"{SHA}"^^<{XSD}hexBinary>'}


def test_every_finding_is_written_with_its_place() -> None:
    """The statements of a finding are right whatever characters a broken dump holds."""
    data = receipt(BASE, PROVIDER)
    assert of(data, f"{PAGE}#run-7")[HARVEST + "finding"] == {f"<{PAGE}#run-7-finding-{n}>" for n in (1, 2)}
    first, second = (of(data, f"{PAGE}#run-7-finding-{n}") for n in (1, 2))
    assert first[HARVEST + "kind"] == {'"wash"'}
    assert first[RDFS + "comment"] == {str(Literal('cannot be "parsed"\n'))}
    assert first[HARVEST + "line"] == {f'"3"^^<{XSD}integer>'}
    assert first[HARVEST + "excerpt"] == {str(Literal("<é>\t\\"))}
    assert second.keys() == {RDF + "type", HARVEST + "kind", RDFS + "comment"}


def test_a_provider_that_was_never_harvested_has_a_receipt() -> None:
    """It says so by what it leaves out."""
    said = of(receipt(BASE, NEW), GRAPH)
    assert said[HARVEST + "version"] == {f'"0"^^<{XSD}integer>'}
    assert not said.keys() & {DCTERMS + "modified", DCTERMS + "source", DCAT + "distribution", HARVEST + "lastRun"}


def test_a_run_that_still_goes_on_has_no_end_and_no_outcome() -> None:
    """Nor need it have a dataset."""
    run = replace(RUN, ended=None, outcome=None, dataset=None, modified=None, dumps=(), findings=())
    said = of(receipt(BASE, replace(PROVIDER, last_run=run)), f"{PAGE}#run-7")
    assert not said.keys() & {PROV + "endedAtTime", HARVEST + "outcome", HARVEST + "dataset", PROV + "used"}


@pytest.mark.parametrize("name", ["a[1].nt", "a b.nt", "a|b", "{id}", "%zz", "ü"])
def test_an_address_that_is_no_iri_does_not_stop_the_receipt(name: str) -> None:
    """Literal dump addresses and registry entries are less strict than RDF."""
    url = f"http://example.org/{name}"
    run = replace(RUN, dumps=(DumpReport(url, SHA, 1, None),))
    data = receipt(BASE, replace(PROVIDER, url=url, last_run=run))
    assert len(of(data, f"{BASE}/content/{SHA}")[DCAT + "downloadURL"]) == 1
    assert len(of(data, GRAPH)[DCTERMS + "source"]) == 1


def test_a_version_names_its_run_its_change_and_the_one_before() -> None:
    """So that SPARQL can walk the history."""
    facts = ProviderFacts(BASE, PROVIDER)
    said = of(turtle(facts.of_version(VERSION)), f"{PAGE}/versions/3.nq")
    assert said[PROV + "wasGeneratedBy"] == {f"<{PAGE}#run-7>"}
    assert said[PROV + "wasRevisionOf"] == {f"<{PAGE}/versions/2.nq>"}
    assert said[HARVEST + "change"] == {f"<{PAGE}/changes/3.nqud>"}
    assert said[PROV + "generatedAtTime"] == {f'"2026-11-20T12:00:04Z"^^<{XSD}dateTime>'}
    first = of(turtle(facts.of_version(replace(VERSION, n=1))), f"{PAGE}/versions/1.nq")
    assert PROV + "wasRevisionOf" not in first


def test_facts_are_canonical_n_quads_of_the_metadata_graph() -> None:
    """The store compares lines, so there is one way to write each."""
    facts = ProviderFacts(BASE, PROVIDER)
    everything = list(chain(facts.of_provider(), facts.of_run(RUN), facts.of_dumps(RUN), facts.of_version(VERSION)))
    data = n_quads(iter(everything), META)
    quads = list(pyoxigraph.parse(data, format=RdfFormat.N_QUADS))
    assert {q.graph_name for q in quads} == {NamedNode(META)}
    assert not any(isinstance(q.subject, pyoxigraph.BlankNode) for q in quads)
    assert set(data.splitlines()) == {f"{q} .".encode() for q in quads}
    again = {Quad(s, NamedNode(p), o, NamedNode(META)) for s, p, o in everything}
    assert set(quads) == again
