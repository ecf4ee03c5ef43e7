"""Pruning removes what nothing needs, says so in a log, and leaves an archive that verifies."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from harvest.archive.history import Archive
from harvest.archive.layout import HashName
from harvest.archive.provenance import new_activity
from harvest.archive.verify import FileState, verify
from harvest.pipeline.prune import Pruned, PruneRule, prune
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_semantics import A1, A2, B1, release
from tests.provider import ProviderServer


@pytest.fixture
def harvested(
    instance: TemporaryInstance, provider: ProviderServer, registered: Callable[..., None]
) -> TemporaryInstance:
    """An instance with three versions, and a description of each, a day apart."""
    registered("removals: mirror")
    for n, triples in enumerate(((A1,), (A1, A2), (A1, A2, B1)), 1):
        release(provider, n, *triples)
        instance.tick("p")
        instance.clock.forward(days=1)
    return instance


def filed(instance: TemporaryInstance) -> set[str]:
    return {path.name for path in (instance.settings.data_dir / "content").glob("??/??/*")}


def digests(instance: TemporaryInstance, url: str) -> list[str]:
    """What a URL gave, newest first."""
    records = instance.harvester.instance.ledger.downloads.history(url)
    return [r.download.capture.digest for r in records if r.download.capture and r.download.capture.digest]


def pruned(instance: TemporaryInstance, keep: PruneRule, *, dry_run: bool = False) -> list[Pruned]:
    return prune(instance.harvester.instance, keep, dry_run=dry_run)


def test_old_descriptions_go_and_all_that_versions_need_stays(
    harvested: TemporaryInstance, provider: ProviderServer
) -> None:
    """Dumps of every version, the current description, logs and index."""
    _, *old = digests(harvested, f"{provider.url}/void.ttl")
    assert len(old) == 2
    before = filed(harvested)
    gone = pruned(harvested, PruneRule(versions=1))
    assert {item.uri for item in gone} == {HashName(digest).uri for digest in old}
    assert before - filed(harvested) == set(old)
    assert harvested.proven("p")
    assert harvested.tick("p") == []


def test_what_was_pruned_is_skipped_by_verify(harvested: TemporaryInstance) -> None:
    """A log holds it, so that it is no loss; pruning again finds nothing."""
    gone = pruned(harvested, PruneRule(versions=1))
    checks = {check.iri: check for check in verify(Archive(harvested.settings.data_dir / "content"))}
    assert {checks[item.uri].state for item in gone} == {FileState.PRUNED}
    assert {check.verdict for check in checks.values()} == {"OK", "SKIP"}
    assert pruned(harvested, PruneRule(versions=1)) == []


def test_a_dry_run_changes_nothing(harvested: TemporaryInstance) -> None:
    """A dry run says what would go, and how many bytes."""
    before = filed(harvested)
    would = pruned(harvested, PruneRule(versions=1), dry_run=True)
    assert filed(harvested) == before
    assert all(item.bytes > 100 for item in would)
    assert pruned(harvested, PruneRule(versions=1)) == would


def test_days_count_from_the_capture(harvested: TemporaryInstance, provider: ProviderServer) -> None:
    """The three descriptions were captured three, two and one days ago."""
    assert pruned(harvested, PruneRule(since=harvested.clock.now - timedelta(days=3)), dry_run=True) == []
    _, _, oldest = digests(harvested, f"{provider.url}/void.ttl")
    gone = pruned(harvested, PruneRule(since=harvested.clock.now - timedelta(days=2.5)))
    assert [item.uri for item in gone] == [HashName(oldest).uri]


def test_dumps_that_wait_or_are_held_stay(
    instance: TemporaryInstance, provider: ProviderServer, registered: Callable[..., None]
) -> None:
    """`harvest approve` takes them from the archive; the provider may have others by then."""
    registered("removals: mirror")
    instance.guard(0, 0.1)
    release(provider, 1, A1, A2, B1)
    instance.tick("p")
    release(provider, 2, A1)
    assert [result.outcome for result in instance.tick("p")] == ["held"]
    [held] = instance.harvester.instance.ledger.announcements.held("p")[0].captures
    instance.harvester.instance.crawl.get(provider.put(held.url.removeprefix(provider.url), "newer"))
    pruned(instance, PruneRule(versions=1))
    assert held.digest in filed(instance)
    assert [result.outcome for result in instance.harvester.approve("p")] == ["committed"]


def test_dumps_that_were_overtaken_go(
    instance: TemporaryInstance, provider: ProviderServer, registered: Callable[..., None]
) -> None:
    """A full dump that a newer one replaced before it was harvested is part of no version."""
    registered()
    for n, triple in enumerate((A1, A2), 1):
        release(provider, n, triple)
        instance.harvester.look("p")
        [(announcement, _)] = instance.harvester.instance.ledger.announcements.waiting(instance.clock.now, "p")
        instance.harvester.fetch(announcement)
    instance.harvester.work("p")
    urls = {url for url, _, _ in instance.harvester.instance.ledger.downloads.captured() if "void" not in url}
    overtaken = {digest for url in urls for digest in digests(instance, url)[1:]}
    gone = {item.uri for item in pruned(instance, PruneRule(versions=1))}
    assert {HashName(digest).uri for digest in overtaken} <= gone
    assert instance.proven("p")


def test_contexts_stay(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """An old version that is rebuilt needs the context of its time."""
    instance.register("{}\n")
    running = instance.harvester.instance
    first = running.crawl.get(provider.put("/context", "{}")).capture
    second = running.crawl.get(provider.put("/context", '{"@context": {}}')).capture
    running.ledger.set_meta(f"context {first.url}", json.dumps({"digest": second.digest}))
    assert pruned(instance, PruneRule(versions=1)) == []


def test_what_is_registered_by_hash_stays(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """Also before it was looked at."""
    instance.register("{}\n")
    old = instance.harvester.instance.crawl.get(provider.put("/void.ttl", "old")).capture.digest
    instance.harvester.instance.crawl.get(provider.put("/void.ttl", "new"))
    instance.register(f"p:\n  void: hash://sha256/{old}\n")
    assert pruned(instance, PruneRule(versions=1)) == []


def test_a_kill_before_the_bytes_go_is_no_loss(harvested: TemporaryInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    """The log is there and so are the bytes; the next pruning removes them."""

    def fail(self: object, digest: str) -> int:
        raise KeyboardInterrupt(digest)

    with monkeypatch.context() as patched:
        patched.setattr("harvest.archive.content.ContentStore.remove", fail)
        with pytest.raises(KeyboardInterrupt):
            pruned(harvested, PruneRule(versions=1))
    folder: Path = harvested.settings.data_dir / "content"
    assert {check.verdict for check in verify(Archive(folder))} == {"OK"}
    assert len(pruned(harvested, PruneRule(versions=1))) == 2


def test_bytes_that_come_back_while_pruning_stay(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """They are there already, so they are not written again; pruning must not have them chosen before that."""
    instance.register("{}\n")
    crawl = instance.harvester.instance.crawl
    old = crawl.get(provider.put("/a", "old")).capture.digest
    crawl.get(provider.put("/a", "new"))
    provider.put("/a", "old")
    again = threading.Thread(target=crawl.get, args=(f"{provider.url}/a",))
    with instance.harvester.instance.content.guard:
        again.start()
        while provider.asked("/a") != [200, 200, 200]:
            again.join(0.01)
            assert again.is_alive()
        again.join(0.5)
        assert again.is_alive()
        assert [item.uri for item in pruned(instance, PruneRule(versions=1))] == [f"hash://sha256/{old}"]
    again.join()
    assert old in filed(instance)
    assert digests(instance, f"{provider.url}/a")[0] == old


def test_pruning_and_sealing_at_once_do_not_wait_for_each_other(harvested: TemporaryInstance) -> None:
    """An operator prunes while harvests end: each needs what the other one has."""
    running = harvested.harvester.instance
    ends = threading.Event()

    def seal() -> None:
        while not ends.is_set():
            running.crawl.note(new_activity(), [])
            running.crawl.seal()

    sealing = threading.Thread(target=seal, daemon=True)
    sealing.start()
    pruning = threading.Thread(target=_pruned_often, args=(harvested,), daemon=True)
    pruning.start()
    pruning.join(60)
    ends.set()
    sealing.join(60)
    assert not pruning.is_alive()
    assert not sealing.is_alive()


def _pruned_often(instance: TemporaryInstance) -> None:
    content = instance.harvester.instance.content
    for number in range(30):
        with content.guard:
            time.sleep(0.002)
            instance.harvester.instance.crawl.note(new_activity(), [])
            instance.harvester.instance.crawl.seal()
        if number == 0:
            pruned(instance, PruneRule(1, None))
