"""A full disk, a read-only directory, a lost store: a clear error, and nothing lost."""

from __future__ import annotations

import errno
import gzip
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from harvest.errors import HarvestError, LedgerError, StorageError
from harvest.pipeline import opened
from harvest.pipeline.harvest import commit
from harvest.revise import replace as replacing
from sparql.errors import StoreError
from sparql.store import embedded
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_crash import published
from tests.pipeline.test_semantics import A1, A2, release
from tests.provider import ProviderServer
from tests.selection import mostly_long

REPOSITORY = Path(__file__).resolve().parents[2]
MANY = [f'<http://x/{i}> <http://p> "{i * 7919 % 100_003} {"text" * 5}"' for i in range(6000)]
DumpRecords = Callable[..., None]


def harvest_within(instance: TemporaryInstance, file_bytes: int) -> subprocess.CompletedProcess[str]:
    """Harvest once in a process whose files cannot grow past a size: a full disk, at a place of our choice."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))

    return subprocess.run(
        [sys.executable, "-m", "tests.pipeline.crash", str(instance.folder), "never"],
        cwd=REPOSITORY,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
        preexec_fn=limit,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


@pytest.mark.sampled(1)
@pytest.mark.parametrize("kilobytes", mostly_long([100, 200, 300, 450, 600, 800], (200, 600)))
def test_a_disk_that_fills_up_loses_nothing(
    kilobytes: int, instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """Wherever the space ends, the last version stays in force, and with space again the harvest goes through."""
    registered("removals: mirror")
    instance.guard(1_000_000, 1)
    release(provider, 1, A1)
    instance.tick("p")
    instance.close()
    release(provider, 2, *MANY)
    ended = harvest_within(instance, kilobytes << 10)
    assert ended.returncode >= 0, ended.stderr
    seen = published(instance)
    assert seen in (frozenset({A1}), frozenset(MANY))
    instance.clock.forward(days=40)
    instance.tick("p")
    assert instance.graph("p") == set(MANY)
    assert instance.proven("p")


def test_a_disk_that_fills_up_while_washing_is_a_finding(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """The provider's page says that storage failed, and that it is tried again."""
    registered()
    release(provider, 1, A1)
    instance.tick("p")
    instance.close()
    release(provider, 2, *MANY)
    harvest_within(instance, 300 << 10)
    run = instance.harvester.instance.ledger.runs("p")[0]
    assert run.outcome == "failed"
    assert run.findings[0].kind == "storage" and "tried again" in run.findings[0].message
    assert instance.graph("p") == {A1}


def test_a_read_only_data_directory_is_a_clear_error(instance: TemporaryInstance) -> None:
    """The error names the folder; /proc can be written by nobody, root included."""
    instance.register("{}\n")
    instance.settings = replace(instance.settings, data_dir=Path("/proc/harvest"))
    with pytest.raises(StorageError, match="/proc/harvest cannot be written"), opened(instance.settings):
        pass


def test_a_data_directory_that_is_a_file_is_a_clear_error(instance: TemporaryInstance) -> None:
    """As a read-only one: the error names what is in the way."""
    instance.register("{}\n")
    instance.settings.data_dir.write_text("in the way")
    with pytest.raises(StorageError, match=r"var cannot be written"), opened(instance.settings):
        pass


def test_a_ledger_that_is_none_is_a_clear_error(instance: TemporaryInstance) -> None:
    """Somebody's file under the ledger's name is not overwritten."""
    instance.register("{}\n")
    instance.settings.data_dir.mkdir()
    path = instance.settings.layout.ledger
    path.write_bytes(b"not a database " * 100)
    with pytest.raises(LedgerError, match="cannot be opened"), opened(instance.settings):
        pass
    assert path.read_bytes().startswith(b"not a database")


def test_a_lost_store_is_rebuilt_from_the_snapshots(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """The store is a projection of what is filed: without its folder the next start makes it again."""
    registered()
    release(provider, 1, A1)
    instance.tick("p")
    release(provider, 2, '<http://x/b> <http://p> "1"', partial=True)
    instance.tick("p")
    instance.close()
    shutil.rmtree(instance.settings.data_dir / "store")
    assert instance.graph("p") == {A1, '<http://x/b> <http://p> "1"'}
    assert instance.proven("p")
    assert published(instance) == frozenset(instance.graph("p"))
    release(provider, 3, A2)
    instance.tick("p")
    assert instance.graph("p") == {A2, '<http://x/b> <http://p> "1"'}


def test_a_damaged_change_is_found_by_verify(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """A proof that cannot fail proves nothing: damage to a change, and to filed bytes, is reported by name."""
    registered()
    release(provider, 1, A1)
    instance.tick("p")
    release(provider, 2, A2)
    instance.tick("p")
    changes = instance.settings.data_dir / "providers" / "p" / "changes"
    (changes / "000002.nqud.gz").write_bytes((changes / "000001.nqud.gz").read_bytes())
    [dump] = instance.harvester.instance.ledger.runs("p")[0].dumps
    instance.harvester.instance.content.path(dump.sha256).write_bytes(b"damaged")
    proofs = {proof.what: proof for proof in instance.harvester.prove("p")}
    assert not proofs["changes"].holds and "adds a statement that is there" in proofs["changes"].detail
    assert not proofs["content"].holds and dump.sha256 in proofs["content"].detail
    assert proofs["store"].holds


def test_a_forgotten_provider_leaves_nothing_but_its_past_runs(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """Graph, files and ledger rows go; while the provider stands in the registry it cannot be forgotten."""
    registered()
    release(provider, 1, A1)
    instance.tick("p")
    with pytest.raises(HarvestError, match="stands in the registry"):
        instance.harvester.forget("p")
    instance.register("{}\n")
    assert instance.graph("p") == {A1}
    instance.harvester.forget("p")
    assert instance.graph("p") == set()
    assert instance.harvester.instance.ledger.provider("p") is None
    assert not (instance.settings.data_dir / "providers" / "p").exists()
    instance.harvester.export()
    assert not (instance.settings.exports_dir / "p.nq.gz").exists()


@contextmanager
def full_disk(instance: TemporaryInstance, *, batches: int) -> Iterator[None]:
    """Within the block no load of `p` can be written, after so many batches of three statements."""
    left = iter(range(batches))

    def on_batch() -> None:
        if ("p", "load") in instance.steps[-1:] and next(left, None) is None:
            raise OSError(28, "No space left on device")

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(embedded, "BATCH", 3)
        patched.setattr(embedded, "on_batch", on_batch)
        yield


def raising(error: Exception) -> Callable[..., None]:
    """A function that fails."""

    def fail(*given: object) -> None:
        raise error

    return fail


def register_two(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """Providers `p` and `q`, both with a committed version."""
    instance.register(f"p:\n  void: {provider.url}/void.ttl\nq:\n  dump: {provider.url}/q.nt\n")
    provider.put("/q.nt", '<http://x/q> <http://p> "1" .\n')
    release(provider, 1, *FEW)
    instance.tick("p")
    instance.tick("q")


FEW = [f'<http://x/{i}> <http://p> "1"' for i in range(12)]
FEW_LATER = [f'<http://x/{i}> <http://p> "2"' for i in range(12)]


@pytest.mark.parametrize("again", [False, True], ids=["running", "started again"])
def test_a_half_loaded_graph_is_never_published(
    again: bool, instance: TemporaryInstance, provider: ProviderServer
) -> None:
    """A load that fails midway is undone, so that another provider's commit shows readers whole versions alone."""
    register_two(instance, provider)
    release(provider, 2, *FEW_LATER)
    with full_disk(instance, batches=2):
        instance.tick("p")
        if again:
            instance.close()
        provider.put("/q.nt", '<http://x/q> <http://p> "2" .\n')
        instance.clock.forward(minutes=1)
        instance.tick("q")
    assert published(instance, "q") == {'<http://x/q> <http://p> "2"'}
    assert published(instance) == set(FEW)
    instance.tick("p")
    assert published(instance) == set(FEW_LATER)
    assert instance.proven("p") and instance.proven("q")


def test_an_export_while_a_version_waits_to_be_loaded_is_of_the_last_one(
    instance: TemporaryInstance, provider: ProviderServer
) -> None:
    """What is filed and not committed yet is nobody's version."""
    register_two(instance, provider)
    release(provider, 2, *FEW_LATER)
    with full_disk(instance, batches=0):
        instance.tick("p")
    assert set(instance.harvester.export()) == {"p.nq.gz", "q.nq.gz", "all.nq.gz"}
    assert gzip.decompress((instance.settings.exports_dir / "p.nq.gz").read_bytes()).count(b'"1"') == len(FEW)


def test_a_version_that_can_never_be_loaded_is_taken_back(
    instance: TemporaryInstance, provider: ProviderServer
) -> None:
    """The instance starts, says why, and harvests the filed dumps again."""
    register_two(instance, provider)
    release(provider, 2, *FEW_LATER)
    with full_disk(instance, batches=2):
        instance.tick("p")
        instance.close()
        instance.harvester  # noqa: B018  # the disk is still full: it starts, and keeps what is filed
        instance.close()
    change = instance.settings.data_dir / "providers" / "p" / "changes" / "000002.nqud.gz"
    change.write_bytes(change.read_bytes()[:30])
    ledger = instance.harvester.instance.ledger
    [run] = [run for run in ledger.runs("p") if run.outcome == "failed"]
    assert [finding.kind for finding in run.findings] == ["damage"] and "000002.nqud.gz" in run.findings[0].message
    assert published(instance) == set(FEW)
    assert [result.outcome.value for result in instance.harvester.work("p")] == ["committed"]
    assert published(instance) == set(FEW_LATER)
    assert instance.proven("p")


def test_a_forgetting_that_is_cut_short_leaves_the_graph_whole(
    instance: TemporaryInstance, provider: ProviderServer
) -> None:
    """Half a graph is seen by nobody, whatever writes it."""
    register_two(instance, provider)
    instance.register("{}\n")
    instance.steps.append(("p", "load"))
    with full_disk(instance, batches=2), pytest.raises(StoreError):
        instance.harvester.forget("p")
    assert published(instance) == instance.graph("p") == set(FEW)
    instance.harvester.forget("p")
    assert published(instance) == set()


@pytest.mark.parametrize("error", [StoreError("No space left on device."), StorageError("No space left in it")])
def test_a_version_that_cannot_be_loaded_is_a_finding_until_it_can(
    error: Exception,
    instance: TemporaryInstance,
    provider: ProviderServer,
    registered: DumpRecords,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The provider is failing, with the reason, and not harvesting for ever; the same run goes through in the end."""
    registered()
    release(provider, 1, A1)
    with monkeypatch.context() as patched:
        patched.setattr(commit, "load", raising(error))
        [result] = instance.tick("p")
        assert result.finding is not None and result.finding.kind == "storage"
        assert "No space left" in result.finding.message
        instance.clock.forward(days=1)
        instance.tick("p")
        [run] = instance.harvester.instance.ledger.runs("p")
        assert (run.outcome, [f.kind for f in run.findings if f.fatal]) == ("failed", ["storage"])
    instance.clock.forward(days=1)
    instance.tick("p")
    [run] = instance.harvester.instance.ledger.runs("p")
    assert (run.outcome, [f.kind for f in run.findings if f.fatal]) == ("committed", [])
    assert instance.graph("p") == {A1}
    assert instance.proven("p")


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EROFS, errno.EMFILE, errno.EACCES])
def test_trouble_with_the_disk_is_reported_as_such(
    number: int,
    instance: TemporaryInstance,
    provider: ProviderServer,
    registered: DumpRecords,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Wherever the disk fails: a finding with reason and advice, and the harvest is tried again."""
    registered()
    release(provider, 1, A1)
    with monkeypatch.context() as patched:
        patched.setattr(replacing, "first", raising(OSError(number, os.strerror(number))))
        [result] = instance.tick("p")
    assert result.finding is not None and result.finding.kind == "storage"
    assert f"{instance.settings.data_dir}: {os.strerror(number)}; " in result.finding.message
    instance.clock.forward(days=1)
    instance.tick("p")
    assert instance.graph("p") == {A1}
