"""Providers made again from the archive: the same versions, whatever else was lost."""

from __future__ import annotations

import shutil
from collections.abc import Callable

import pytest

from harvest.errors import StorageError, UnknownName
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_semantics import A1, A2, B1, C1, release, ttl
from tests.provider import ProviderServer

DumpRecords = Callable[..., None]
NODE = '<http://x/{}> <http://p> [ <http://q> "{}" ]'


def history(instance: TemporaryInstance) -> list[tuple[int, int, int, str]]:
    return [(v.n, v.added, v.removed, v.coverage) for v in instance.harvester.instance.ledger.versions("p")]


def harvested(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """Four versions: full, partial with blank nodes that replace others, full, partial."""
    release(provider, 1, A1, B1, NODE.format("n", 1))
    instance.tick("p")
    release(provider, 2, A2, NODE.format("n", 2), partial=True)
    instance.tick("p")
    release(provider, 3, A2, C1)
    instance.tick("p")
    release(provider, 4, NODE.format("m", 3), partial=True)
    instance.tick("p")
    assert len(history(instance)) == 4


def test_every_version_comes_out_the_same(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """The archive alone says what each version was made of, and holds its bytes; the provider may be gone."""
    registered()
    harvested(instance, provider)
    provider.pages.clear()
    asked = len(provider.requests)
    made = instance.harvester.rebuild("p", check=True)
    assert [(version.n, version.same) for version in made] == [(1, True), (2, True), (3, True), (4, True)]
    assert len(provider.requests) == asked


@pytest.mark.sampled(2)
@pytest.mark.parametrize("lost", ["nothing", "folder", "graph", "changes"])
def test_what_was_lost_is_put_back(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords, lost: str
) -> None:
    """A provider's folder or graph may be damaged; the rebuilt one is proven to be the whole of it."""
    registered()
    harvested(instance, provider)
    graph, before = instance.graph("p"), history(instance)
    running = instance.harvester.instance
    if lost == "folder":
        shutil.rmtree(running.files("p").folder)
    elif lost == "graph":
        running.store.drop(instance.settings.graph("p"))
    elif lost == "changes":
        for path in running.files("p").layout.changes.iterdir():
            path.write_bytes(b"damaged")
    assert all(version.same for version in instance.harvester.rebuild("p"))
    assert instance.graph("p") == graph
    assert history(instance) == before
    assert instance.proven("p")
    release(provider, 5, A1, B1)
    assert [result.outcome.value for result in instance.tick("p")] == ["committed"]
    assert instance.proven("p")


def test_a_lost_ledger_is_written_again(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """With the archive alone in a new data directory, versions keep their numbers, dates and figures."""
    registered()
    harvested(instance, provider)
    graph, before = instance.graph("p"), history(instance)
    instance.close()
    var = instance.settings.data_dir
    for path in var.iterdir():
        if path.name != "content":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert all(version.same for version in instance.harvester.rebuild("p"))
    assert instance.graph("p") == graph
    assert history(instance) == before
    assert instance.proven("p")


def test_mirrored_and_several_datasets_are_made_again(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """Under mirroring a version is made of the dumps of all datasets, also of those that were not harvested with it."""
    from tests.provider import VOID, dataset

    registered("removals: mirror")
    for day in (1, 2):
        provider.put("/a.ttl", ttl(A1 if day == 1 else A2))
        provider.put("/b.ttl", ttl(B1))
        dates = (f"2026-01-0{day}T00:00:00Z", "2026-01-01T00:00:00Z")
        both = dataset(provider.url + "/void.ttl#a", dates[0], ["/a.ttl"]) + dataset(
            provider.url + "/void.ttl#b", dates[1], ["/b.ttl"]
        )
        provider.put("/void.ttl", VOID + both)
        instance.tick("p")
    assert instance.graph("p") == {A2, B1}
    assert all(version.same for version in instance.harvester.rebuild("p"))
    assert instance.graph("p") == {A2, B1}
    assert instance.proven("p")


def test_bytes_that_are_missing_are_named(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """Nothing is put in place of what is there, and the operator learns which file to look for."""
    registered()
    harvested(instance, provider)
    graph = instance.graph("p")
    content = instance.harvester.instance.content
    digest = instance.harvester.instance.ledger.runs("p")[1].dumps[0].sha256
    content.path(digest).unlink()
    provider.pages.clear()
    with pytest.raises(StorageError, match=rf"version 3 of p was made of .*/3\.ttl as {digest}"):
        instance.harvester.rebuild("p")
    assert instance.graph("p") == graph
    assert instance.proven("p") is False  # the dump is missing
    assert len(history(instance)) == 4


def test_bytes_that_changed_give_another_version_and_nothing_is_put_in_place(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """A damaged dump must not take the place of what was harvested from the whole one."""
    registered()
    harvested(instance, provider)
    graph = instance.graph("p")
    digest = instance.harvester.instance.ledger.runs("p")[-1].dumps[0].sha256
    instance.harvester.instance.content.path(digest).write_text(ttl(A1))
    provider.pages.clear()
    made = instance.harvester.rebuild("p")
    assert not made[0].same
    assert instance.graph("p") == graph


def test_a_provider_that_no_log_names_is_unknown(instance: TemporaryInstance) -> None:
    """A slip in the name must not look like an empty success."""
    instance.register("")
    with pytest.raises(UnknownName, match="no provenance log holds a version of q"):
        instance.harvester.rebuild("q")


def test_a_forgotten_provider_is_not_made_again(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """Forgetting is written to the log: who comes back begins anew, and a rebuild makes only what came after."""
    registered()
    harvested(instance, provider)
    instance.register("{}\n")
    instance.harvester.forget("p")
    with pytest.raises(UnknownName, match="no provenance log holds a version of p"):
        instance.harvester.rebuild("p")
    registered()
    release(provider, 5, C1)
    instance.tick("p")
    assert [(version.n, version.same) for version in instance.harvester.rebuild("p")] == [(1, True)]
    assert instance.graph("p") == {C1}
    assert instance.proven("p")


def test_the_export_of_a_provider_that_came_back_is_of_what_it_has_now(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """Versions begin at 1 again, and the graph may have as many triples as before."""
    registered()
    release(provider, 1, A1)
    instance.tick("p")
    instance.harvester.export()
    instance.register("{}\n")
    instance.harvester.forget("p")
    registered()
    release(provider, 2, A2)
    instance.tick("p")
    assert instance.proven("p")


def test_the_damaged_change_of_one_provider_stops_no_export_of_others(
    instance: TemporaryInstance, provider: ProviderServer
) -> None:
    """The provider keeps its last export and says what mends it."""
    instance.register(f"p:\n  void: {provider.url}/void.ttl\nq:\n  dump: {provider.url}/q.ttl\n")
    for day, object in ((1, "1"), (2, "2")):
        provider.put("/q.ttl", ttl(f'<http://x/q> <http://p> "{object}"'))
        release(provider, day, A1 if day == 1 else A2, partial=True)
        instance.tick("p")
        instance.tick("q")
        if day == 1:
            instance.harvester.export()
    change = instance.harvester.instance.files("p").change(2)
    change.write_bytes(change.read_bytes()[:40])
    assert instance.harvester.export() == ["q.nq.gz", "all.nq.gz"]
    [finding] = instance.harvester.instance.ledger.damages.of("p")
    assert finding.kind == "damage" and "000002.nqud.gz" in finding.message
    assert "`harvest rebuild p` mends it" in finding.message
    instance.harvester.rebuild("p")
    assert instance.harvester.instance.ledger.damages.of("p") == []
    assert instance.proven("p")
