"""The documents of ResourceSync: lists and their parts, and the shapes of the specification's examples."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harvest.model.resourcesync import RS, SITEMAP, Capability, Relation
from harvest.publish.resourcesync import writing
from harvest.publish.resourcesync.writing import ListHead, ListItem, ListLink, instant, write_list
from tests.realdata import realdata

START = datetime(2026, 1, 1, tzinfo=UTC)
ADDRESS = "http://h.example/list.xml"
UP = ListLink(Relation.UP, "http://h.example/up.xml")


def changes(count: int) -> Iterator[ListItem]:
    for number in range(count):
        at = START + timedelta(seconds=number)
        yield ListItem(f"http://h.example/{number}", at, {"change": "created", "datetime": instant(at)})


def written(folder: Path, head: ListHead, items: Iterator[ListItem]) -> dict[str, ElementTree.Element]:
    """The documents by name."""
    paths = write_list(folder / "list.xml", ADDRESS, head, items)
    assert paths[-1] == folder / "list.xml"
    assert set(folder.iterdir()) == set(paths)
    return {path.name: ElementTree.parse(path).getroot() for path in paths}


def md_of(element: ElementTree.Element) -> dict[str, str]:
    found = element.find(f"{{{RS}}}md")
    assert found is not None
    return dict(found.attrib)


def links(element: ElementTree.Element) -> list[tuple[str, str]]:
    return [(link.attrib["rel"], link.attrib["href"]) for link in element.findall(f"{{{RS}}}ln")]


@given(st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")) | st.sampled_from("<>&\"'\n\t")))
def test_what_is_written_is_read_again(text: str) -> None:
    """Whatever stands in an address or an attribute."""
    with TemporaryDirectory() as folder:
        item = ListItem("http://h.example/" + text.strip(), md={"type": text}, links=(ListLink("up", text),))
        [root] = written(Path(folder), ListHead(Capability.RESOURCE_LIST), iter([item])).values()
    [url] = root.findall(f"{{{SITEMAP}}}url")
    assert url.findtext(f"{{{SITEMAP}}}loc") == item.loc
    assert (md_of(url), links(url)) == ({"type": text}, [("up", text)])


def test_a_list_of_too_many_items_has_an_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each part says which index it is of; of changes each but the last is closed. Source: sections 10.2 and 12.2."""
    most = 100
    monkeypatch.setattr(writing, "MOST_ITEMS", most)
    head = ListHead(Capability.CHANGE_LIST, {"from": instant(START)}, (UP,))
    found = written(tmp_path, head, changes(2 * most + 1))
    assert list(found) == ["list1.xml", "list2.xml", "list3.xml", "list.xml"]
    index = found.pop("list.xml")
    assert index.tag == f"{{{SITEMAP}}}sitemapindex"
    assert md_of(index) == {"capability": "changelist", "from": "2026-01-01T00:00:00Z"}
    second, third = (instant(START + timedelta(seconds=number * most)) for number in (1, 2))
    spans = [{"from": instant(START), "until": second}, {"from": second, "until": third}, {"from": third}]
    parts = index.findall(f"{{{SITEMAP}}}sitemap")
    assert [md_of(part) for part in parts] == spans
    assert [part.findtext(f"{{{SITEMAP}}}loc") for part in parts] == [f"http://h.example/{name}" for name in found]
    for root, span in zip(found.values(), spans, strict=True):
        assert md_of(root) == {"capability": "changelist"} | span
        assert links(root) == [("up", UP.href), ("index", ADDRESS)]
    numbers = [
        url.findtext(f"{{{SITEMAP}}}loc") for root in found.values() for url in root.findall(f"{{{SITEMAP}}}url")
    ]
    assert numbers == [item.loc for item in changes(2 * most + 1)]


@pytest.mark.parametrize("count", [0, 1, 50_000])
def test_a_list_that_fits_is_one_document(tmp_path: Path, count: int) -> None:
    """Up to the most that a sitemap may have."""
    [root] = written(tmp_path, ListHead(Capability.RESOURCE_LIST), changes(count)).values()
    assert len(root.findall(f"{{{SITEMAP}}}url")) == count


def test_memory_does_not_grow_with_the_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four times as many items take as much."""
    monkeypatch.setattr(writing, "MOST_ITEMS", 500)
    peaks = []
    for count in (2_000, 8_000):
        tracemalloc.start()
        write_list(tmp_path / "list.xml", ADDRESS, ListHead(Capability.RESOURCE_LIST), changes(count))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0]


@pytest.mark.parametrize("number", [12, 13, 14, 17, 18, 19, 26])
def test_the_examples_of_the_specification_are_written_as_they_are(tmp_path: Path, number: int) -> None:
    """What one of them says, written by us: source description, lists, dump, manifest, and changes, one with links."""
    path = realdata() / "resourcesync" / "resync" / "examples_from_spec_v1_1" / f"resourcesync_ex_{number}.xml"
    example = ElementTree.parse(path).getroot()
    md = md_of(example)
    head = ListHead(Capability(md.pop("capability")), md, tuple(_links(example)))
    items = [
        ListItem(str(url.findtext(f"{{{SITEMAP}}}loc")), _lastmod(url), md_of(url), tuple(_links(url)))
        for url in example.findall(f"{{{SITEMAP}}}url")
    ]
    [root] = written(tmp_path, head, iter(items)).values()
    assert shape(root) == shape(example)


def _links(element: ElementTree.Element) -> Iterator[ListLink]:
    for link in element.findall(f"{{{RS}}}ln"):
        rest = {key: value for key, value in link.attrib.items() if key not in ("rel", "href")}
        yield ListLink(link.attrib["rel"], link.attrib["href"], rest)


def _lastmod(url: ElementTree.Element) -> datetime | None:
    found = url.findtext(f"{{{SITEMAP}}}lastmod")
    return datetime.fromisoformat(found) if found else None


def shape(element: ElementTree.Element) -> object:
    """An element, for comparison; links and metadata of one parent in any order."""
    inner = sorted((shape(child) for child in element), key=repr)
    return element.tag, (element.text or "").strip(), sorted(element.attrib.items()), inner
