"""What the store answers without the platform around it: shows whose a failure is."""

from __future__ import annotations

from pyoxigraph import Quad, QueryResultsFormat, QueryTriples, RdfFormat, Store

from tests.w3c.manifests import Case, quads_of
from tests.w3c.solutions import Result, read_graph, read_table


def answer_of(case: Case) -> Result | None:
    """The store's own answer to a test's query over its dataset; None when it refuses the query."""
    store = Store()
    for graph in case.default:
        store.bulk_extend(Quad(quad.subject, quad.predicate, quad.object) for quad in quads_of(graph))
    for graph in case.named:
        store.bulk_extend(quads_of(graph))
    try:
        found = store.query(case.query(), base_iri=case.text)
        if isinstance(found, QueryTriples):
            return read_graph(found.serialize(format=RdfFormat.N_TRIPLES) or b"", RdfFormat.N_TRIPLES, case.text)
        return read_table(found.serialize(format=QueryResultsFormat.JSON) or b"", QueryResultsFormat.JSON)
    except (SyntaxError, RuntimeError):
        return None


def takes(text: str) -> bool:
    """Whether the store answers a query at all."""
    try:
        Store().query(text, base_iri="http://example.org/")
    except (SyntaxError, RuntimeError):
        return False
    return True
