"""The documents of ResourceSync of a real instance, over HTTP: as the specification, and as Timbuctoo reads them."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterator
from datetime import datetime
from urllib.parse import urljoin
from xml.etree import ElementTree

import pytest
import requests
from rdflib import Dataset

from tests.harvested import Harvested, harvested

SITEMAP = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
RS = "{http://www.openarchives.org/rs/terms/}"
PATCH = "http://www.openarchives.org/rs/terms/patch"
NQUD = "application/vnd.timbuctoo-rdf.nquads_unified_diff"


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Harvested]:
    with harvested(tmp_path_factory.mktemp("instance")) as served:
        yield served


def get(instance: Harvested, path: str, **headers: str) -> requests.Response:
    headers = {"Accept-Encoding": "identity", **headers}
    return requests.get(urljoin(instance.url, path), headers=headers, timeout=240)


def document(instance: Harvested, path: str) -> ElementTree.Element:
    answer = get(instance, path)
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "application/xml")
    return ElementTree.fromstring(answer.content)


def capability(root: ElementTree.Element) -> str:
    """What a document is; its `rs:md` and `rs:ln` stand before its items."""
    kinds = [child.tag for child in root]
    first = next((place for place, tag in enumerate(kinds) if tag == f"{SITEMAP}url"), len(kinds))
    assert all(not tag.startswith(RS) for tag in kinds[first:])
    return md_of(root)["capability"]


def md_of(element: ElementTree.Element) -> dict[str, str]:
    found = element.find(f"{RS}md")
    assert found is not None
    return dict(found.attrib)


def links(element: ElementTree.Element) -> dict[str, str]:
    return {link.attrib["rel"]: link.attrib["href"] for link in element.findall(f"{RS}ln")}


def items(root: ElementTree.Element) -> list[tuple[str, dict[str, str], list[dict[str, str]]]]:
    return [
        (
            str(url.findtext(f"{SITEMAP}loc")),
            md_of(url),
            [dict(link.attrib) for link in url.findall(f"{RS}ln")],
        )
        for url in root.findall(f"{SITEMAP}url")
    ]


def test_the_well_known_address_leads_to_all_documents(instance: Harvested) -> None:
    """A client that knows the host alone finds the dataset and its changes; each document leads up again."""
    answer = requests.get(f"{instance.url}/.well-known/resourcesync", timeout=240, allow_redirects=False)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/resourcesync/sourceDescription.xml")
    source = document(instance, answer.headers["Location"])
    assert capability(source) == "description"
    [(address, md, [described])] = items(source)
    assert md["capability"] == "capabilitylist"
    listed = document(instance, address)
    assert capability(listed) == "capabilitylist"
    assert links(listed)["up"] == f"{instance.url}/resourcesync/sourceDescription.xml"
    assert links(listed)["describedby"] == described["href"]
    description = get(instance, described["href"])
    assert description.headers["Content-Type"] == described["type"] == "application/rdf+xml"
    assert f"{instance.url}/graph/p" in description.text
    found = {md["capability"]: address for address, md, _ in items(listed)}
    assert set(found) == {"resourcelist", "changelist"}
    for kind, at in found.items():
        root = document(instance, at)
        assert capability(root) == kind
        assert links(root) == {"up": address}


def test_the_list_of_resources_has_the_dataset_with_its_digest(instance: Harvested) -> None:
    """The resource of the dataset is its version 3, as canonical N-Quads."""
    root = document(instance, "/resourcesync/p/resourcelist.xml")
    head = md_of(root)
    assert datetime.fromisoformat(head["at"]) <= datetime.fromisoformat(head["completed"])
    [(address, md, [])] = items(root)
    assert address == f"{instance.url}/resourcesync/p/dataset.nq"
    answer = get(instance, address)
    assert answer.content == get(instance, "/providers/p/versions/3.nq").content
    assert md["hash"] == f"sha-256:{hashlib.sha256(answer.content).hexdigest()}"
    assert (md["length"], md["type"]) == (str(len(answer.content)), answer.headers["Content-Type"])


def test_the_list_of_changes_replays_from_nothing(instance: Harvested) -> None:
    """Every change once, in order, as a patch of the dataset; the first one creates it. Source: Timbuctoo, NOTES."""
    root = document(instance, "/resourcesync/p/changelist.xml")
    changes = items(root)
    assert [md["change"] for _, md, _ in changes] == ["created", "updated", "updated"]
    moments = [datetime.fromisoformat(md["datetime"]) for _, md, _ in changes]
    head = md_of(root)
    assert moments == sorted(set(moments))
    assert head["from"] == changes[0][1]["datetime"]
    assert "until" not in head
    held: set[bytes] = set()
    for address, _, [patch] in changes:
        assert address == f"{instance.url}/resourcesync/p/dataset.nq"
        assert (patch["rel"], patch["type"]) == (PATCH, NQUD)
        answer = get(instance, patch["href"])
        assert answer.headers["Content-Type"] == NQUD
        assert patch["hash"] == f"sha-256:{hashlib.sha256(answer.content).hexdigest()}"
        assert patch["length"] == str(len(answer.content))
        for line in answer.content.splitlines(keepends=True):
            (held.add if line[:1] == b"+" else held.remove)(line[1:])
    assert b"".join(sorted(held)) == get(instance, "/resourcesync/p/dataset.nq").content


def test_changes_are_numbered_from_0_as_well(instance: Harvested) -> None:
    """The platform counts from 1, the Timbuctoo document from 0."""
    for n in range(3):
        one = get(instance, f"/resourcesync/p/changes/changes{n}.nqud")
        other = get(instance, f"/providers/p/changes/{n + 1}.nqud")
        assert (one.status_code, one.content) == (200, other.content)
    assert get(instance, "/resourcesync/p/changes/changes3.nqud").status_code == 404


@pytest.mark.parametrize("path", ["/resourcesync/p/dataset.nq", "/providers/p/changes/3.nqud"])
@pytest.mark.parametrize("coding", ["identity", "gzip"])
def test_a_download_goes_on_where_it_broke_off(instance: Harvested, path: str, coding: str) -> None:
    """Plain and compressed, each with a tag of its own, its length, and ranges."""
    headers = {"Accept-Encoding": coding}
    with requests.get(f"{instance.url}{path}", headers=headers, timeout=240, stream=True) as answer:
        body = answer.raw.read(decode_content=False)
    assert answer.headers.get("Content-Encoding", "identity") == coding
    plain = gzip.decompress(body) if coding == "gzip" else body
    assert plain == get(instance, path).content
    head = requests.head(f"{instance.url}{path}", headers=headers, timeout=240)
    for each in (answer, head):
        assert each.headers["Content-Length"] == str(len(body))
        assert each.headers["Accept-Ranges"] == "bytes"
        assert each.headers["ETag"] == answer.headers["ETag"]
    asked = {**headers, "Range": "bytes=5-", "If-Range": answer.headers["ETag"]}
    with requests.get(f"{instance.url}{path}", headers=asked, timeout=240, stream=True) as part:
        assert (part.status_code, part.raw.read(decode_content=False)) == (206, body[5:])
    other = get(instance, path, **{"Accept-Encoding": "identity" if coding == "gzip" else "gzip"})
    assert other.headers["ETag"] != answer.headers["ETag"]
    assert get(instance, path, **{**headers, "If-None-Match": answer.headers["ETag"]}).status_code == 304


def test_all_that_is_a_providers_leads_to_its_list_of_capabilities(instance: Harvested) -> None:
    """By a header, and in pages by a tag too. Source: ResourceSync 1.1, section 6.3.3."""
    expected = f'<{instance.url}/resourcesync/p/capabilitylist.xml>; rel="resourcesync"'
    for path in (
        "/providers/p",
        "/providers/p.json",
        "/exports/p.nq.gz",
        "/resourcesync/p/dataset.nq",
        "/providers/p/changes/1.nqud",
        "/providers/p/versions/1.nq",
    ):
        assert get(instance, path).headers["Link"] == expected, path
    page = get(instance, "/providers/p", Accept="text/html").text
    assert '<link rel="resourcesync" href="/resourcesync/p/capabilitylist.xml">' in page
    assert "resourcesync" not in get(instance, "/providers/new", Accept="text/html").text
    assert "Link" not in get(instance, "/exports/all.nq.gz").headers


def test_crawlers_find_the_lists_and_the_pages(instance: Harvested) -> None:
    """Source: ResourceSync 1.1, section 6.3.4; sitemaps.org."""
    lines = get(instance, "/robots.txt").text.splitlines()
    named = [line.removeprefix("Sitemap: ") for line in lines if line.startswith("Sitemap: ")]
    assert named == [f"{instance.url}/sitemap.xml", f"{instance.url}/resourcesync/p/resourcelist.xml"]
    root = document(instance, "/sitemap.xml")
    assert [url.findtext(f"{SITEMAP}loc") for url in root] == [f"{instance.url}/providers/p"]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/resourcesync/new/changelist.xml", "no version yet"),
        ("/resourcesync/none/changelist.xml", "There is no provider 'none'"),
        ("/resourcesync/p/feed.json", "There is no document"),
        ("/resourcesync/p/resourcedump.zip", "There is no such document"),
        ("/resourcesync/p/..%2Ffeed.json", "nothing at"),
        ("/resourcesync/other.xml", "There is no document"),
    ],
)
def test_only_documents_can_be_had(instance: Harvested, path: str, message: str) -> None:
    """Whatever the name tries."""
    answer = get(instance, path)
    assert answer.status_code == 404
    assert message in answer.text


def test_rdf_patches_replay_to_the_dataset(instance: Harvested) -> None:
    """As rdflib reads them, one after the other; each names the one before."""
    dataset = Dataset()
    count = len(get(instance, "/providers/p/versions.json").json()["versions"])
    assert count > 1
    for n in range(1, count + 1):
        answer = get(instance, f"/providers/p/changes/{n}.rdfp")
        assert (answer.status_code, answer.headers["Content-Type"]) == (200, "application/rdf-patch")
        lines = answer.text.splitlines()
        headers = [line for line in lines if line.startswith("H ")]
        assert [header.split()[1] for header in headers] == (["id", "prev"] if n > 1 else ["id"])
        assert lines[len(headers)] == "TX ." and lines[-1] == "TC ."
        dataset.parse(data=answer.text, format="patch")
        again = get(instance, f"/providers/p/changes/{n}.rdfp", **{"If-None-Match": answer.headers["ETag"]})
        assert (again.status_code, again.content) == (304, b"")
        head = requests.head(f"{instance.url}/providers/p/changes/{n}.rdfp", timeout=240)
        assert (head.status_code, head.headers["ETag"]) == (200, answer.headers["ETag"])
    expected = Dataset().parse(data=get(instance, "/resourcesync/p/dataset.nq").text, format="nquads")
    assert {str(quad) for quad in dataset.quads()} == {str(quad) for quad in expected.quads()} != set()
    assert get(instance, f"/providers/p/changes/{count + 1}.rdfp").status_code == 404
