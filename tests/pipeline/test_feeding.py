"""Feeds are kept with what they are of: through crashes, damage, forgetting, moving, and changes that were let go."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from harvest.pipeline import feeding
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_semantics import A1, A2, B1, C1, release
from tests.provider import ProviderServer

SITEMAP = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
RS = "{http://www.openarchives.org/rs/terms/}"
Registered = Callable[..., None]


@pytest.fixture
def feed(instance: TemporaryInstance, provider: ProviderServer, registered: Registered) -> Path:
    """The folder of the feed of `p`, which has two versions, of which the second is partial."""
    registered()
    release(provider, 1, A1, B1)
    instance.tick("p")
    instance.clock.forward(hours=1)
    release(provider, 2, A2, partial=True)
    instance.tick("p")
    return instance.settings.layout.feed("p")


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.endswith(".gz")}


def listed(folder: Path) -> list[tuple[str, str]]:
    """What became of the dataset at each change, and where its patch is."""
    root = ElementTree.parse(folder / "changelist.xml").getroot()
    found = []
    for url in root.findall(f"{SITEMAP}url"):
        md, [link] = url.find(f"{RS}md"), url.findall(f"{RS}ln")
        assert md is not None
        found.append((md.attrib["change"], link.attrib["href"].rsplit("/", 1)[1]))
    return found


def test_a_feed_is_written_when_a_version_is_committed(instance: TemporaryInstance, feed: Path) -> None:
    """Of a partial dump as well, without an export; what did not change is not written again."""
    assert listed(feed) == [("created", "1.nqud"), ("updated", "2.nqud")]
    version = instance.harvester.instance.files("p").at(2, 2, instance.folder)
    assert (feed / "dataset.nq").read_bytes() == version.read_bytes()
    before = {path: path.stat().st_mtime_ns for path in feed.iterdir()}
    instance.harvester.export()
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert (feed / "dataset.nq.gz").is_file()


def test_the_feed_of_a_large_graph_waits_for_the_export(
    instance: TemporaryInstance, provider: ProviderServer, feed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A partial dump costs what it holds: all documents stay of one version until the graph is made whole."""
    monkeypatch.setattr(feeding, "SMALL", 1)
    before = contents(feed)
    release(provider, 3, C1, partial=True)
    instance.tick("p")
    assert contents(feed) == before
    instance.harvester.export()
    assert listed(feed)[2:] == [("updated", "3.nqud")]
    assert instance.proven("p")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("gone", ["changelist.xml", "dataset.nq", "feed.json", ""])
def test_what_is_gone_is_written_again(instance: TemporaryInstance, feed: Path, gone: str) -> None:
    """By the next export, after a crash in between as well; the moments of the changes stay where they are known."""
    before = contents(feed)
    instance.close()
    shutil.rmtree(feed) if not gone else (feed / gone).unlink()
    instance.harvester.export()
    assert contents(feed).keys() == before.keys()
    if gone in ("changelist.xml", "dataset.nq"):
        assert contents(feed) == before
    assert instance.proven("p")


def test_a_change_is_listed_with_the_time_of_listing(
    instance: TemporaryInstance, provider: ProviderServer, feed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Loading takes minutes: a client that looked meanwhile would miss a change that is dated before."""
    monkeypatch.setattr(feeding, "SMALL", 1)
    release(provider, 3, C1, partial=True)
    instance.tick("p")
    instance.clock.forward(minutes=7)
    instance.harvester.export()
    moments = [change["at"] for change in json.loads((feed / "feed.json").read_bytes())["changes"]]
    assert moments == sorted(set(moments))
    assert moments[-1] == instance.clock.now.isoformat()


def test_a_forgotten_provider_has_no_feed(instance: TemporaryInstance, feed: Path) -> None:
    """And nothing leads to it."""
    source = feed.parent / "sourceDescription.xml"
    assert b"/resourcesync/p/" in source.read_bytes()
    instance.register("q:\n  void: http://127.0.0.1:9/void.ttl\n")
    instance.harvester.forget("p")
    assert not feed.exists()
    assert not [path for path in feed.parent.iterdir() if b"/p/" in path.read_bytes()]


def test_a_provider_that_came_back_has_a_feed_of_its_own(
    instance: TemporaryInstance, provider: ProviderServer, registered: Registered, feed: Path
) -> None:
    """Under the same name, with other data and versions of the same numbers."""
    instance.register("q:\n  void: http://127.0.0.1:9/void.ttl\n")
    instance.harvester.forget("p")
    registered()
    release(provider, 5, C1)
    instance.tick("p")
    assert listed(feed) == [("created", "1.nqud")]
    assert (feed / "dataset.nq").read_text() == f"{C1} <http://h.example/graph/p> .\n"


def test_an_instance_that_moved_says_so_in_its_feeds(instance: TemporaryInstance, feed: Path) -> None:
    """All addresses are those of `base_url`."""
    instance.close()
    instance.settings = replace(instance.settings, base_url="http://new.example")
    instance.harvester.export()
    for path in (*feed.glob("*list.xml"), *feed.parent.glob("*.xml"), feed.parent / "robots.txt"):
        assert b"http://new.example/" in path.read_bytes()
        assert b"http://h.example/r" not in path.read_bytes()


def test_a_list_begins_at_the_first_change_that_is_there(
    instance: TemporaryInstance, provider: ProviderServer, feed: Path
) -> None:
    """Where that does not make its version from nothing it is no creation: the list of resources is the baseline."""
    instance.harvester.instance.files("p").change(1).unlink()
    instance.harvester.export()
    assert listed(feed) == [("updated", "2.nqud")]


def test_a_feed_that_cannot_be_written_stops_no_harvest(
    instance: TemporaryInstance, provider: ProviderServer, feed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The version is committed, the last feed stays whole, and the next export writes the new one."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    before = contents(feed)
    with monkeypatch.context() as patch:
        patch.setattr(feeding, "write_feed", full)
        release(provider, 3, C1)
        assert [result.outcome.value for result in instance.tick("p")] == ["committed"]
    assert contents(feed) == before
    instance.harvester.export()
    assert listed(feed)[-1] == ("updated", "3.nqud")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["sourceDescription.xml", "robots.txt", "sitemap.xml"])
@pytest.mark.parametrize("damaged", [True, False])
def test_what_leads_to_the_feeds_is_verified_and_mended(
    instance: TemporaryInstance, feed: Path, name: str, damaged: bool
) -> None:
    """The source description, robots.txt and sitemap.xml belong to no provider, and are proven by themselves."""
    instance.harvester.export()
    path = feed.parent / name
    before = path.read_bytes()
    assert not [proof for proof in instance.harvester.maintenance.prove_all() if not proof.holds]
    if damaged:
        path.write_bytes(before[:-1])
    else:
        path.unlink()
    [wrong] = [proof for proof in instance.harvester.maintenance.prove_all() if not proof.holds]
    assert (wrong.what, wrong.file, wrong.provider) == ("site", str(path), None)
    [mended] = instance.harvester.maintenance.mend()
    assert (mended.what, mended.mended, path.read_bytes()) == ("site", True, before)


def test_a_site_document_whose_digest_a_crash_left_out_is_written_again(
    instance: TemporaryInstance, feed: Path
) -> None:
    """The digest comes after the document; without one nothing is said of it, and the next export writes it."""
    digest = feed.parent / "robots.txt.sha256"
    digest.unlink()
    assert not [
        proof for proof in instance.harvester.maintenance.prove_all() if proof.what == "site" and not proof.holds
    ]
    instance.harvester.export()
    assert digest.is_file()
