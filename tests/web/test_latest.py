"""What changed last, over all providers and of one, as feeds and lists."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree

import pytest
import requests

from sparql.web.site import LAST_PAGE
from tests.harvested import Harvested, harvested

ATOM = "{http://www.w3.org/2005/Atom}"
NQUD = "application/vnd.timbuctoo-rdf.nquads_unified_diff"


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Harvested]:
    with harvested(tmp_path_factory.mktemp("instance")) as served:
        yield served


@pytest.mark.long
def test_the_feeds_have_all_versions_the_newest_first(instance: Harvested) -> None:
    """The same entries as JSON and as Atom, each with an address that answers and the change that made it."""
    feed = requests.get(f"{instance.url}/changes.json", timeout=240)
    assert feed.headers["Content-Type"] == "application/feed+json"
    items = feed.json()["items"]
    assert [(item["_harvest"]["provider"], item["_harvest"]["version"]) for item in items] == [
        ("p", 3),
        ("p", 2),
        ("p", 1),
    ]
    assert "next_url" not in feed.json()
    atom = requests.get(f"{instance.url}/changes.atom", timeout=240)
    assert atom.headers["Content-Type"].startswith("application/atom+xml")
    root = ElementTree.fromstring(atom.content)
    entries = root.findall(f"{ATOM}entry")
    assert [entry.findtext(f"{ATOM}id") for entry in entries] == [item["id"] for item in items]
    assert [entry.findtext(f"{ATOM}updated") for entry in entries] == [item["date_published"] for item in items]
    assert root.findtext(f"{ATOM}updated") == items[0]["date_published"]
    for entry, item in zip(entries, items, strict=True):
        [enclosure] = [link for link in entry.findall(f"{ATOM}link") if link.attrib["rel"] == "enclosure"]
        [attachment] = item["attachments"]
        assert (enclosure.attrib["href"], enclosure.attrib["type"]) == (attachment["url"], NQUD)
        assert requests.get(attachment["url"], timeout=240).headers["Content-Type"] == NQUD
        assert requests.get(item["url"], timeout=240).status_code == 200


def test_the_runs_of_a_provider_are_listed(instance: Harvested) -> None:
    """Those that made a version and those that did not, each as its own record has it."""
    found = requests.get(f"{instance.url}/providers/p/runs.json", timeout=240).json()
    assert (found["name"], found["total"], found["page"], found["pages"]) == ("p", 3, 1, 1)
    assert [run["version"] for run in found["runs"]] == [3, 2, 1]
    one = requests.get(f"{instance.url}/providers/p/runs/{found['runs'][0]['id']}.json", timeout=240).json()
    assert one == found["runs"][0]
    assert requests.get(f"{instance.url}/providers/bad/runs.json", timeout=240).json()["runs"]
    assert requests.get(f"{instance.url}/providers/none/runs.json", timeout=240).status_code == 404


@pytest.mark.parametrize(
    ("path", "key"),
    [("/changes.json", "items"), ("/providers/p/runs.json", "runs"), ("/providers/p/versions.json", "versions")],
)
def test_pages_behind_the_end_are_empty(instance: Harvested, path: str, key: str) -> None:
    """And others are refused; who has a page gets 304."""
    assert requests.get(f"{instance.url}{path}?page=2", timeout=240).json()[key] == []
    for page in ("0", "x", str(LAST_PAGE + 1)):
        assert requests.get(f"{instance.url}{path}?page={page}", timeout=240).status_code == 400
    tag = requests.get(f"{instance.url}{path}", timeout=240).headers["ETag"]
    assert requests.get(f"{instance.url}{path}", headers={"If-None-Match": tag}, timeout=240).status_code == 304


def test_pages_name_the_feeds(instance: Harvested) -> None:
    """Feed readers look for them there."""
    page = requests.get(f"{instance.url}/", headers={"Accept": "text/html"}, timeout=240).text
    for kind, address in (("application/feed+json", "/changes.json"), ("application/atom+xml", "/changes.atom")):
        assert f'<link rel="alternate" type="{kind}" title="Changes" href="{address}">' in page
