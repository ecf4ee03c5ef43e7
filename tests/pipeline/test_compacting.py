"""Compacting: the newest versions of a provider are kept, the oldest of them as a baseline that all begins with."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from harvest.errors import DamageError, UnknownName
from harvest.pipeline import Harvester, opened
from harvest.pipeline.compacting import Compacted
from harvest.service.orders import execute
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_semantics import A1, A2, B1, C1, release
from tests.provider import ProviderServer, serving

VERSIONS = ((A1, B1), (A2, B1), (A2, C1), (A1, C1), (A1, B1, C1))


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, ProviderServer]]:
    """The folder of a closed instance with five versions of `p`, and their provider."""
    folder = tmp_path_factory.mktemp("filled")
    made = TemporaryInstance(folder)
    with serving() as provider:
        made.register(f"p:\n  void: {provider.url}/void.ttl\n  removals: mirror\n")
        for day, triples in enumerate(VERSIONS, start=1):
            release(provider, day, *triples)
            made.tick("p")
        made.close()
        yield folder, provider


@pytest.fixture
def five(filled: tuple[Path, ProviderServer], tmp_path: Path) -> Iterator[TemporaryInstance]:
    """An instance with five versions of `p`."""
    folder = tmp_path / "five"
    shutil.copytree(filled[0], folder, symlinks=True)
    made = TemporaryInstance(folder)
    yield made
    made.close()


def compact(instance: TemporaryInstance, keep: int) -> Compacted:
    return instance.harvester.maintenance.compact("p", keep)


def kept(instance: TemporaryInstance) -> list[int]:
    return [version.n for version in instance.harvester.instance.ledger.versions("p")]


def files(instance: TemporaryInstance) -> list[str]:
    folder = instance.settings.data_dir / "providers" / "p"
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*.gz"))


def at(instance: TemporaryInstance, n: int) -> str:
    running = instance.harvester.instance
    with running.room() as room:
        return running.files("p").at(n, 5, room).read_text()


def test_the_newest_versions_are_kept(five: TemporaryInstance) -> None:
    """Those are the same to the byte, all of it verifies, and the files of the others are gone."""
    before = {n: at(five, n) for n in (3, 4, 5)}
    done = compact(five, 3)
    assert (done.baseline, done.version, done.dropped) == (3, 5, 2)
    assert kept(five) == [3, 4, 5]
    assert files(five) == ["baseline-000003.nqud.gz", "changes/000004.nqud.gz", "changes/000005.nqud.gz"]
    assert {n: at(five, n) for n in (3, 4, 5)} == before
    for n in (1, 2):
        with pytest.raises(UnknownName, match="versions 3 to 5 are there"):
            at(five, n)
    assert five.proven("p")
    five.close()
    assert kept(five) == [3, 4, 5] and five.proven("p")


def test_compacting_again_changes_nothing_and_fewer_may_be_kept_later(five: TemporaryInstance) -> None:
    """What is asked for twice is done once; the baseline only moves on."""
    assert compact(five, 5).dropped == 0 and files(five)[0] == "changes/000001.nqud.gz"
    assert compact(five, 3).dropped == 2
    assert compact(five, 3).dropped == compact(five, 4).dropped == 0
    done = compact(five, 1)
    assert (done.baseline, done.dropped) == (5, 2)
    assert files(five) == ["baseline-000005.nqud.gz"]
    assert five.proven("p")


def test_harvests_go_on_after_a_baseline(filled: tuple[Path, ProviderServer], five: TemporaryInstance) -> None:
    """Full and partial ones."""
    _, provider = filled
    compact(five, 1)
    release(provider, 6, A2, B1)
    assert [result.outcome.value for result in five.tick("p")] == ["committed"]
    release(provider, 7, "<http://x/new> <http://x/p> 1", partial=True)
    assert [result.outcome.value for result in five.tick("p")] == ["committed"]
    assert kept(five) == [5, 6, 7] and five.proven("p")
    assert compact(five, 1).baseline == 7
    assert five.proven("p")


def test_disk_is_freed(filled: tuple[Path, ProviderServer], five: TemporaryInstance) -> None:
    """Two thousand triples that changed twice take less as a baseline than as changes."""
    five.guard(1_000_000, 1)
    for day in (8, 9):
        release(filled[1], day, *(f'<http://x/{n}> <http://x/p> "{n * day * 7919 % 1_000_003}"' for n in range(2000)))
        five.tick("p")
    done = compact(five, 1)
    assert done.dropped == 6 and done.bytes > 10_000
    assert five.proven("p")


def test_the_provider_s_log_and_graph_of_metadata_name_the_baseline(five: TemporaryInstance) -> None:
    """Whoever reads the archive learns that the versions before were dropped, and SPARQL can ask for it."""
    compact(five, 2)
    running = five.harvester.instance
    running.crawl.seal()
    logs = b"".join(path.read_bytes() for path in (five.settings.data_dir / "content").glob("??/??/*"))
    assert b"#compactedAtTime" in logs and b'#baseline> "4"' in logs
    assert any(b"#baseline> " in line for line in running.store.dump(running.metadata_graph))


def test_a_rebuild_from_the_archive_begins_with_the_baseline(five: TemporaryInstance) -> None:
    """All versions are made again, as each follows from the one before; those that were dropped stay dropped."""
    compact(five, 2)
    before = {path: path.read_bytes() for path in (five.settings.data_dir / "providers" / "p").rglob("*.gz")}
    for path in before:
        path.unlink()
    assert not five.proven("p")
    assert all(version.same for version in five.harvester.rebuild("p")) and kept(five) == [4, 5]
    assert {path: path.read_bytes() for path in (five.settings.data_dir / "providers" / "p").rglob("*.gz")} == before
    assert five.proven("p")
    ledger = five.settings.data_dir / "ledger.sqlite"
    five.close()
    for path in ledger.parent.glob("ledger.sqlite*"):
        path.unlink()
    with opened(five.settings, five.clock, renew=True) as running:
        assert [version.n for version in running.ledger.versions("p")] == [4, 5]
    assert kept(five) == [4, 5] and five.proven("p")


def test_a_damaged_change_is_not_made_a_baseline(five: TemporaryInstance) -> None:
    """Nothing is dropped while the version that would be kept is not what was harvested."""
    folder = five.settings.data_dir / "providers" / "p"
    wrong = b"+<http://x/wrong> <http://x/p> <http://x/o> <http://h.example/graph/p> .\n"
    (folder / "changes" / "000005.nqud.gz").write_bytes(gzip.compress(wrong))
    with pytest.raises(DamageError, match="nothing was dropped"):
        compact(five, 2)
    assert kept(five) == [1, 2, 3, 4, 5]


def test_a_provider_that_was_never_harvested_is_named(instance: TemporaryInstance) -> None:
    """There is nothing to drop of it."""
    instance.register("")
    answer = execute(instance.harvester, "compact", ["nobody", "1"])
    assert not answer["ok"] and "no version of nobody" in answer["error"]


class Ended(BaseException):
    """What a cut leaves."""


@pytest.mark.parametrize("step", ["whole", "baseline", "note", "drop", "feed"])
def test_compacting_that_ends_at_any_step_is_finished_by_the_next(five: TemporaryInstance, step: str) -> None:
    """What is left verifies after a restart, and the same command comes to the same."""

    def on_step(name: str, begun: str) -> None:
        if begun == step:
            raise Ended

    five.close()
    with opened(five.settings, five.clock, on_step) as running, pytest.raises(Ended):
        Harvester(running).maintenance.compact("p", 2)
    assert five.proven("p")
    assert compact(five, 2).baseline == 4
    assert kept(five) == [4, 5] and five.proven("p")
    assert files(five) == ["baseline-000004.nqud.gz", "changes/000005.nqud.gz"]
