"""Dumps that are not what they should be: what of them is harvested, and what is reported."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harvest.model import Finding, Outcome
from tests.pipeline.conftest import TemporaryInstance
from tests.provider import ProviderServer

GOOD = "<http://x/a> <http://x/p> 1 .\n"
PAGE = "<!DOCTYPE html><html><head><title>Sorry</title></head><body><p>Try again later.</p></body></html>"
RDF = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/>'
EMPTY = {
    "no byte": ("b.ttl", "text/turtle", "", "it is empty"),
    "a comment": ("b.ttl", "text/turtle", "# nothing yet\n", "nothing but comments"),
    "an empty array": ("b.jsonld", "application/ld+json", "[]", "an empty JSON document"),
    "an empty rdf:RDF": ("b.rdf", "application/rdf+xml", RDF, "an rdf:RDF element without statements"),
    "an error page": ("b.ttl", "text/turtle", PAGE, "a page in HTML"),
    "OWL/XML": ("b.owl", "application/xml", '<Ontology xmlns="http://www.w3.org/2002/07/owl#"/>', "OWL/XML"),
    "functional syntax": ("b.ttl", "text/turtle", "Prefix(:=<http://x/>)\nOntology(<http://x/>)", "functional syntax"),
    "a table": ("b", "text/plain", "a,b\n1,2\n3,4\n", "a table"),
}
"""Name, media type and bytes of a dump without RDF, and what it is called."""

DumpRecords = Callable[..., None]


def last(instance: TemporaryInstance) -> tuple[str | None, tuple[Finding, ...]]:
    """Outcome and findings of the last run."""
    run = instance.harvester.instance.ledger.runs("p")[0]
    return run.outcome, run.findings


@pytest.mark.parametrize("what", EMPTY)
def test_each_dump_of_a_dataset_holds_some_rdf(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords, what: str
) -> None:
    """One of several that an export left empty would end, in a full dump, all that it held before."""
    name, media_type, body, called = EMPTY[what]
    registered()
    provider.put("/a.ttl", GOOD)
    provider.put(f"/{name}", body, media_type)
    provider.describe("/void.ttl", "2026-01-01T00:00:00Z", [provider.url + "/a.ttl", f"{provider.url}/{name}"])
    instance.tick("p")
    outcome, findings = last(instance)
    assert outcome == Outcome.FAILED
    assert findings[0].fatal
    assert f"/{name} holds no RDF: it " in findings[0].message
    assert called in findings[0].message
    assert not body or "it begins" in findings[0].message


def test_one_undeclared_prefix_costs_the_triples_that_use_it(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """One statement of Turtle may hold all the triples of a dump."""
    registered()
    objects = [f"p:o{n}" for n in range(2000)]
    objects[100] = "q:o"
    provider.put("/a.ttl", f"@prefix p: <http://x/> .\np:s p:b {' , '.join(objects)} .\n")
    provider.describe("/void.ttl", "2026-01-01T00:00:00Z", [provider.url + "/a.ttl"])
    instance.tick("p")
    outcome, findings = last(instance)
    assert (outcome, len(instance.graph("p"))) == (Outcome.COMMITTED, 1999)
    messages = {finding.kind: finding.message for finding in findings}
    assert "The prefix q: has not been declared" in messages["syntax"]
    assert "about 1 triple lost of 2,000 (0.05 %, the limit is 1 %)" in messages["lost"]


def test_a_statement_that_is_lost_counts_as_the_triples_in_it(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """One bad statement in two was let through with its last 1,900 triples missing."""
    registered()
    objects = [f"p:o{n}" for n in range(2000)]
    objects[100] = "p:o p:o"
    body = f'@prefix p: <http://x/> .\n<http://x/é> p:b "x"@e_n .\np:s p:b {" , ".join(objects)} .\n'
    provider.put("/a.ttl", body + "p:t p:b 1 .\n" * 200)
    provider.describe("/void.ttl", "2026-01-01T00:00:00Z", [provider.url + "/a.ttl"])
    instance.tick("p")
    outcome, (finding, *_) = last(instance)
    assert outcome == Outcome.FAILED
    assert finding.fatal
    assert "triples lost of 2,2" in finding.message
    assert "%, the limit is 1 %)" in finding.message
    assert finding.line == 3


def test_the_cause_of_a_failure_comes_first(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """A harmless slip four lines before the end of a file that breaks off sent its provider to the wrong place."""
    registered()
    bad = "<e:T><e:p rdf:resource='a b'/></e:T>\n"
    start = "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:e='http://x/'>\n"
    provider.put("/a.rdf", start + bad * 150 + "<e:T><e:p>1</e:p></e:T>\n</rdf:RDFF>", "application/rdf+xml")
    provider.describe("/void.ttl", "2026-01-01T00:00:00Z", [provider.url + "/a.rdf"])
    instance.tick("p")
    outcome, findings = last(instance)
    assert outcome == Outcome.FAILED
    assert (findings[0].fatal, findings[0].line) == (True, 153)
    assert "not well-formed" in findings[0].message
