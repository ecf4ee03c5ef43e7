"""A full disk, a read-only directory, a lost store: a clear error, and nothing lost."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from harvest.errors import HarvestError, LedgerError, StorageError
from harvest.pipeline import opened
from harvest.pipeline.instance import LEDGER
from tests.pipeline.conftest import Instance
from tests.pipeline.test_crash import published
from tests.pipeline.test_semantics import A1, A2, release
from tests.provider import ProviderServer

REPOSITORY = Path(__file__).resolve().parents[2]
MANY = [f'<http://x/{i}> <http://p> "{i * 7919 % 100_003} {"text" * 5}"' for i in range(6000)]
Register = Callable[..., None]


def harvest_within(instance: Instance, file_bytes: int) -> subprocess.CompletedProcess[str]:
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
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("kilobytes", [100, 200, 300, 450, 600, 800])
def test_a_disk_that_fills_up_loses_nothing(
    kilobytes: int, instance: Instance, provider: ProviderServer, registered: Register
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
    instance: Instance, provider: ProviderServer, registered: Register
) -> None:
    """The provider's page says that storage failed, and that it is tried again."""
    registered()
    release(provider, 1, A1)
    instance.tick("p")
    instance.close()
    release(provider, 2, *MANY)
    harvest_within(instance, 300 << 10)
    run = instance.desk.workshop.ledger.runs("p")[0]
    assert run.outcome == "failed"
    assert run.findings[0].kind == "storage" and "tried again" in run.findings[0].message
    assert instance.graph("p") == {A1}


def test_a_read_only_data_directory_is_a_clear_error(instance: Instance) -> None:
    """The error names the folder; /proc can be written by nobody, root included."""
    instance.register("{}\n")
    instance.settings = replace(instance.settings, data_dir=Path("/proc/harvest"))
    with pytest.raises(StorageError, match="/proc/harvest cannot be written"), opened(instance.settings):
        pass


def test_a_data_directory_that_is_a_file_is_a_clear_error(instance: Instance) -> None:
    """As a read-only one: the error names what is in the way."""
    instance.register("{}\n")
    instance.settings.data_dir.write_text("in the way")
    with pytest.raises(StorageError, match=r"var cannot be written"), opened(instance.settings):
        pass


def test_a_ledger_that_is_none_is_a_clear_error(instance: Instance) -> None:
    """Somebody's file under the ledger's name is not overwritten."""
    instance.register("{}\n")
    instance.settings.data_dir.mkdir()
    path = instance.settings.data_dir / LEDGER
    path.write_bytes(b"not a database " * 100)
    with pytest.raises(LedgerError, match="cannot be opened"), opened(instance.settings):
        pass
    assert path.read_bytes().startswith(b"not a database")


def test_a_lost_store_is_rebuilt_from_the_snapshots(
    instance: Instance, provider: ProviderServer, registered: Register
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
    instance: Instance, provider: ProviderServer, registered: Register
) -> None:
    """A proof that cannot fail proves nothing: damage to a change, and to filed bytes, is told by name."""
    registered()
    release(provider, 1, A1)
    instance.tick("p")
    release(provider, 2, A2)
    instance.tick("p")
    changes = instance.settings.data_dir / "providers" / "p" / "changes"
    (changes / "000002.nqud.gz").write_bytes((changes / "000001.nqud.gz").read_bytes())
    [dump] = instance.desk.workshop.ledger.runs("p")[0].dumps
    instance.desk.workshop.content.path(dump["sha256"]).write_bytes(b"damaged")
    proofs = {proof.what: proof for proof in instance.desk.prove("p")}
    assert not proofs["changes"].holds and "adds a statement that is there" in proofs["changes"].detail
    assert not proofs["content"].holds and dump["sha256"] in proofs["content"].detail
    assert proofs["store"].holds


def test_a_forgotten_provider_leaves_nothing_but_its_past_runs(
    instance: Instance, provider: ProviderServer, registered: Register
) -> None:
    """Graph, files and ledger rows go; while the provider stands in the registry it cannot be forgotten."""
    registered()
    release(provider, 1, A1)
    instance.tick("p")
    with pytest.raises(HarvestError, match="stands in the registry"):
        instance.desk.forget("p")
    instance.register("{}\n")
    assert instance.graph("p") == {A1}
    instance.desk.forget("p")
    assert instance.graph("p") == set()
    assert instance.desk.workshop.ledger.provider("p") is None
    assert not (instance.settings.data_dir / "providers" / "p").exists()
    instance.desk.export()
    assert not (instance.settings.exports_dir / "p.nq.gz").exists()
