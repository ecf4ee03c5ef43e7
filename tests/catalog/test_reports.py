"""What is reported of an instance is the same text as ever: its JSON key by key, its Turtle term by term."""

from __future__ import annotations

from pathlib import Path

import pytest
from flask.testing import FlaskClient

from sparql.web.app import create_pages
from sparql.web.catalog import Site
from sparql.web.site import Context
from sparql.worker.limits import QueryLimits
from tests.catalog.rich import BASE, SHA256, rich

GOLDEN = Path(__file__).parent / "golden"
NAMES = ("mixed", "off", "claimed", "broken", "busy", "written", "new", "gone")


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> FlaskClient:
    catalog = rich(tmp_path_factory.mktemp("rich"))
    return create_pages(Context(catalog, Site(BASE), QueryLimits(), lambda: 7)).test_client()


def paths(client: FlaskClient) -> list[str]:
    """The addresses of all data of the instance."""
    found = ["/status", "/documents.json", "/documents.json?state=depleted", "/documents.json?page=9"]
    found += [f"/providers/{name}.ttl" for name in NAMES]
    found += ["/providers/mixed.json", "/providers/mixed/versions.json", "/providers/mixed/statistics.json"]
    found += [f"/providers/mixed/runs/{id}.json" for id in (1, 3, 5)] + ["/providers/busy/runs/8.json"]
    found += ["/providers/mixed/versions/2", f"/documents/{SHA256}.json", f"/documents/{SHA256}.ttl"]
    for seed in client.get("/documents.json").get_json()["seeds"]:
        hashes = [seed["hash"], seed["download"]]
        hashes += [each["hash"] for each in _entries(client, seed["download"])]
        found += [f"/documents/{hash}.{form}" for hash in hashes if hash for form in ("json", "ttl")]
    return found


def _entries(client: FlaskClient, download: str | None) -> list[dict[str, str]]:
    return list(client.get(f"/documents/{download}.json").get_json()["entries"]) if download else []


@pytest.mark.parametrize("form", ["json", "ttl"])
def test_what_is_reported_of_an_instance_is_the_same_text_as_ever(client: FlaskClient, form: str) -> None:
    """Programs read it: keys, their order, and how each value is written. A change of it is a change of this file."""
    reports = ""
    for path in paths(client):
        if path.endswith(".ttl") == (form == "ttl"):
            answer = client.get(path, headers={"Accept": "application/json"})
            reports += f"# {path} {answer.status_code}\n{answer.text}\n"
    golden = GOLDEN / f"reports.{form}.txt"
    assert reports == golden.read_text("utf-8")


def test_a_provider_is_reported_alike_wherever_it_stands(client: FlaskClient) -> None:
    """In the state of the instance, in the list, and by itself, where its versions stand beside it."""
    listed = client.get("/providers.json").get_json()
    assert [each["name"] for each in listed] == sorted(NAMES)
    assert client.get("/status").get_json()["providers"] == listed
    for each in listed:
        alone = client.get(f"/providers/{each['name']}.json").get_json()
        assert {key: value for key, value in alone.items() if not key.startswith("versions")} == each
        assert list(alone)[:-2] == list(each)
