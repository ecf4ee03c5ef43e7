"""ResourceSync documents: the examples of the specification, and what no reader should take."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harvest.discover.resourcesync.pages import header_links, page_links
from harvest.discover.resourcesync.reading import read_document
from harvest.errors import DescriptionError
from harvest.model.resourcesync import Capability, Relation
from tests.realdata import realdata
from tests.resourcesync import document, item, link

URL = "http://example.com/list.xml"


def written(folder: Path, body: str | bytes) -> Path:
    path = folder / "list.xml"
    path.write_bytes(body.encode() if isinstance(body, str) else body)
    return path


def test_the_examples_of_the_specification_are_read() -> None:
    """Every one of them is a document with a capability; lists have their items, dates, hashes and links."""
    folder = realdata() / "resourcesync" / "resync" / "examples_from_spec_v1_1"
    read = {path.stem.rsplit("_", 1)[-1]: read_document(path, URL) for path in folder.glob("*.xml")}
    assert len(read) == 30
    found = {number: each for number, each in read.items() if each is not None}
    assert len(found) == 30
    assert all(each.meta.capability and each.items for each in found.values())
    known = {str(each) for each in Capability}
    assert {each.meta.capability for each in found.values() if "archive" not in str(each.meta.capability)} <= known
    second = found["14"].items[1]
    assert second.lastmod == datetime(2013, 1, 2, 14, tzinfo=UTC)
    assert [name for name, _ in second.meta.hashes] == ["md5", "sha256"]
    assert (second.meta.length, second.meta.media_type) == (14599, "application/pdf")
    assert [each.meta.change for each in found["3"].items] == ["updated", "deleted", "created"]
    assert found["20"].is_index and found["20"].items[2].meta.until is None
    assert found["13"].linked(Relation.DESCRIBED_BY) == ("http://example.com/info_about_set1_of_resources.xml",)


def test_a_patch_is_read_from_a_change_as_timbuctoo_writes_it(tmp_path: Path) -> None:
    """The entry is the dataset; its link says where the diff is and of which type."""
    patch = link(str(Relation.PATCH), "changes/changes0.nqud", type="x/nqud", hash="md5:" + "A" * 32, length=12)
    read = read_document(written(tmp_path, document("changelist", item("dataset.nq", patch, change="created"))), URL)
    assert read is not None
    [entry] = read.items
    found = entry.link(Relation.PATCH)
    assert found is not None
    assert (entry.url, found.url) == ("http://example.com/dataset.nq", "http://example.com/changes/changes0.nqud")
    assert (found.meta.media_type, found.meta.length, found.meta.hashes) == ("x/nqud", 12, (("md5", "a" * 32),))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("<urlset><url>", "cannot be read at line 1"),
        ('<!DOCTYPE a [<!ENTITY a "x">]><urlset/>', "declares the entity 'a'"),
        ('<!DOCTYPE a [<!ENTITY % a SYSTEM "file:///etc/passwd">]><urlset/>', "declares the entity 'a'"),
        ("<urlset>" + "<a>" * 200, "levels deep"),
        ("<urlset>" + "<url><loc>http://x/a</loc></url>" * 50_001, "more than 50,000 items"),
        ("<urlset>\n<url></url></urlset>", "line 2 has no usable address"),
        ('<?xml version="1.0" encoding="x-none"?><urlset/>', "cannot be read"),
    ],
)
def test_a_damaged_document_is_refused_with_its_place(tmp_path: Path, body: str, said: str) -> None:
    """Half a list would leave out what is in the other half."""
    with pytest.raises(DescriptionError, match=said) as raised:
        read_document(written(tmp_path, body), URL)
    assert raised.value.url == URL and raised.value.line


@pytest.mark.parametrize("body", [b"", b"\xff\xd8\xff", b"<html><p>", b"<a/>", b"User-agent: *\n", b"\x1f\x8b\x00"])
def test_what_is_no_sitemap_is_none(tmp_path: Path, body: bytes) -> None:
    """A page, a picture, robots.txt: something else is to be tried."""
    assert read_document(written(tmp_path, body), URL) is None


@given(st.binary(max_size=300), st.integers(0, 400))
def test_any_bytes_are_read_or_refused(tmp_path_factory: pytest.TempPathFactory, noise: bytes, at: int) -> None:
    """Whatever stands within a document."""
    body = document("resourcelist", item("http://x/a", length=1), at="2026-01-01").encode()
    path = written(tmp_path_factory.mktemp("any"), body[:at] + noise + body[at:])
    try:
        read_document(path, URL)
    except DescriptionError as error:
        assert error.line


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ('</c.xml>; rel="resourcesync"', ["http://example.com/c.xml"]),
        ("<c.xml>;rel=resourcesync;type=x, <d>; rel=next", ["http://example.com/c.xml"]),
        ('<a,b.xml>; title="; rel=no, <x>"; rel="up resourcesync"', ["http://example.com/a,b.xml"]),
        ('<ftp://x/c>; rel="resourcesync"', []),
        ("rel=resourcesync", []),
        ("<" * 5000, []),
    ],
)
def test_a_link_header_is_read(value: str, found: list[str]) -> None:
    """Source: RFC 8288, section 3."""
    assert header_links([value], URL) == found


def test_a_link_element_is_read() -> None:
    """Whatever the order and the quotes of its attributes."""
    page = "<LINK href='a.xml' rel=resourcesync><link rel=\"stylesheet\" href=\"b\"><link rel='resourcesync'>"
    assert page_links(page, URL) == ["http://example.com/a.xml"]
