"""Statistics on the web: as JSON, and in the description of the endpoint, from what the catalog has filed."""

from __future__ import annotations

from pathlib import Path

import pytest
from flask.testing import FlaskClient
from pyoxigraph import RdfFormat, Store

from sparql.protocol.description import SD
from sparql.rdf import VOID
from sparql.web.app import create_pages
from sparql.web.catalog import Site
from sparql.web.site import Context
from sparql.worker.limits import QueryLimits
from tests.web.instance import FolderCatalog
from tests.web.records import file_records, provider

FIGURES = {
    "name": "a",
    "graph": "http://example.org/graph/a",
    "version": 2,
    "triples": 3000,
    "subjects": 400,
    "properties": [{"property": "http://x/p", "triples": 2600}, {"property": "http://x/é", "triples": 400}],
    "classes": [{"class": "http://x/C", "entities": 400}],
}


@pytest.fixture
def client(tmp_path: Path) -> FlaskClient:
    """The pages over a catalog of two providers, of which one was counted."""
    records = {"providers": [provider("a"), provider("b")], "statistics": {"a": FIGURES}, "versions": {}, "runs": {}}
    file_records(tmp_path, records)
    site = Site("http://h.example")
    return create_pages(Context(FolderCatalog(tmp_path), site, QueryLimits(), lambda: 1)).test_client()


def test_statistics_are_json_with_an_etag(client: FlaskClient) -> None:
    """A dashboard elsewhere asks for them often, and they change with the version alone."""
    answer = client.get("/providers/a/statistics.json")
    assert answer.status_code == 200
    assert answer.mimetype == "application/json"
    assert answer.get_json() == FIGURES
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    again = client.get("/providers/a/statistics.json", headers={"If-None-Match": answer.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")


@pytest.mark.parametrize(
    ("name", "said"), [("b", "There are no statistics of b yet"), ("nobody", "There is no provider 'nobody' here")]
)
def test_why_there_are_none_is_said(client: FlaskClient, name: str, said: str) -> None:
    """Not counted yet is another thing than a wrong name."""
    answer = client.get(f"/providers/{name}/statistics.json", headers={"Accept": "text/plain"})
    assert answer.status_code == 404
    assert said in answer.get_data(as_text=True)


def test_the_endpoint_describes_its_graphs_with_their_statistics(client: FlaskClient) -> None:
    """Federating clients choose the graphs to ask by properties and classes; one not counted has its size alone."""
    answer = client.get("/sparql", headers={"Accept": "text/turtle"})
    store = Store()
    store.load(answer.data, RdfFormat.TURTLE)
    ask = f"PREFIX sd: <{SD}> PREFIX void: <{VOID}> ASK "
    assert store.query(
        ask + "{ [] sd:namedGraph [ sd:name <http://example.org/graph/a> ; sd:graph [ void:triples 3000 ;"
        " void:distinctSubjects 400 ; void:properties 2 ; void:classes 1 ;"
        " void:propertyPartition [ void:property <http://x/é> ; void:triples 400 ] ;"
        " void:classPartition [ void:class <http://x/C> ; void:entities 400 ] ] ] }"
    )
    graph_b = "[] sd:namedGraph [ sd:name <http://example.org/graph/b> ; sd:graph ?g ] . ?g void:triples 3000"
    assert store.query(ask + f"{{ {graph_b} FILTER NOT EXISTS {{ ?g void:properties ?n }} }}")
