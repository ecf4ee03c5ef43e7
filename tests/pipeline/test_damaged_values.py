"""A byte flipped anywhere in a ledger: `harvest verify` finds it, or all that the ledger says is what was written."""

from __future__ import annotations

import random
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from harvest.errors import LedgerDamage, LedgerError, StorageError
from harvest.ledger import Database
from harvest.pipeline import Harvester, opened
from harvest.service.orders import execute
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_semantics import A1, A2, B1, release
from tests.provider import ProviderServer

FLIPS = 200


@pytest.fixture
def harvested(instance: TemporaryInstance, provider: ProviderServer) -> TemporaryInstance:
    """An instance with three versions, and runs that failed."""
    instance.register(f"p:\n  void: {provider.url}/void.ttl\n")
    for day, dump in enumerate((A1, A2, "no RDF", B1), 1):
        release(provider, day, dump)
        instance.tick("p")
        instance.clock.forward(days=2)
    return instance


def said(path: Path) -> list[object]:
    """All that a ledger says, but for its sums."""
    with closing(sqlite3.connect(path)) as ledger:
        listed = ledger.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'checksum' ORDER BY name"
        )
        tables = sorted(row[0] for row in listed)
        rows = [
            ledger.execute(f"SELECT * FROM {name} ORDER BY 1, 2").fetchall() for name in tables if name != "checksum"
        ]
        return [tables, rows]


def flip(path: Path, place: int, bit: int) -> None:
    """Flip one bit of a file."""
    with path.open("r+b") as file:
        file.seek(place)
        [old] = file.read(1)
        file.seek(place)
        file.write(bytes([old ^ (1 << bit)]))


def test_a_flipped_bit_anywhere_is_found_or_changes_nothing(harvested: TemporaryInstance, tmp_path: Path) -> None:
    """Free pages, and what lies between the rows of a page, are all where nobody notices one."""
    harvested.close()
    ledger = harvested.settings.layout.ledger
    whole, chosen = said(ledger), random.Random(27)
    content = ledger.read_bytes()
    used = [place for place, byte in enumerate(content) if byte]
    found, flipped = 0, tmp_path / "flipped.sqlite"
    for place in chosen.sample(used, FLIPS):
        shutil.copy(ledger, flipped)
        flip(flipped, place, chosen.randrange(8))
        try:
            with closing(Database(flipped)) as database:
                database.check()
        except (LedgerError, StorageError):
            found += 1
        else:
            assert said(flipped) == whole, place
        for ending in ("-wal", "-shm"):
            Path(f"{flipped}{ending}").unlink(missing_ok=True)
    assert found > FLIPS / 2


def test_the_name_of_a_table_that_is_damaged_is_found(harvested: TemporaryInstance) -> None:
    """The sums are not made anew over it, though there is none of a table of that name."""
    harvested.close()
    path = harvested.settings.layout.ledger
    with closing(sqlite3.connect(path)) as ledger:
        ledger.execute("PRAGMA writable_schema = ON")
        ledger.execute(
            "UPDATE sqlite_schema SET sql = replace(sql, 'TABLE note', 'TABLE notf'), name = 'notf',"
            " tbl_name = 'notf' WHERE name = 'note'"
        )
        ledger.execute(
            "UPDATE sqlite_schema SET tbl_name = 'notf', sql = replace(sql, 'ON note', 'ON notf')"
            " WHERE tbl_name = 'note'"
        )
        ledger.commit()
    with closing(Database(path)) as database, pytest.raises(LedgerDamage):
        database.check()


def test_a_value_flipped_under_a_running_instance_is_found_and_mended(
    harvested: TemporaryInstance, provider: ProviderServer
) -> None:
    """The running one reads it as another value; `harvest verify` names `harvest rebuild`, which mends it."""
    settings, path = harvested.settings, harvested.settings.layout.ledger
    database = harvested.harvester.instance.ledger.database
    database.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    content = path.read_bytes()
    for found in re.finditer(b"/turtle", content):  # in no index, so that its pages agree
        flip(path, found.start() + 1, 0)
    bad = [proof for proof in harvested.harvester.maintenance.prove_all() if not proof.holds]
    assert [(proof.what, proof.file) for proof in bad] == [("ledger", str(path))]
    assert "are not those that were written" in bad[0].detail and "`harvest rebuild`" in bad[0].detail
    harvested.close()
    with opened(settings, harvested.clock, renew=True) as again, closing(Harvester(again)) as harvester:
        answer = execute(harvester, "rebuild", [])
        assert answer["ok"] and [item["what"] for item in answer["results"]] == ["ledger"], answer
        assert not [proof for proof in harvester.maintenance.prove_all() if not proof.holds]
        assert [version.n for version in again.ledger.versions("p")] == [1, 2, 3]


def test_a_log_that_was_damaged_after_a_crash_is_found_and_mended(harvested: TemporaryInstance, tmp_path: Path) -> None:
    """SQLite would drop the commits behind the damage without a word; one that is whole is taken as it is."""
    ledger = harvested.settings.layout.ledger
    harvested.harvester.instance.ledger.database.write("UPDATE provider SET failures = 0")
    harvested.harvester.instance.ledger.database.write("UPDATE provider SET failures = 0")
    for ending in ("", "-wal"):
        shutil.copy(f"{ledger}{ending}", f"{tmp_path}/crashed{ending}")
    for is_damaged in (False, True):
        harvested.close()
        (ledger.parent / "ledger.sqlite.sha256").unlink()
        for ending in ("", "-wal", "-shm"):  # other files: SQLite's index of the log belongs to the old ones
            Path(f"{ledger}{ending}").unlink(missing_ok=True)
        for ending in ("", "-wal"):
            shutil.copy(f"{tmp_path}/crashed{ending}", f"{ledger}{ending}")
        if not is_damaged:
            assert [version.n for version in harvested.harvester.instance.ledger.versions("p")] == [1, 2, 3]
    flip(Path(f"{ledger}-wal"), 500, 3)
    with pytest.raises(LedgerDamage, match=r"commits are lost; `harvest rebuild`"):
        assert harvested.harvester
    with opened(harvested.settings, harvested.clock, renew=True) as again, closing(Harvester(again)) as harvester:
        assert execute(harvester, "rebuild", [])["ok"]
        assert [version.n for version in again.ledger.versions("p")] == [1, 2, 3]


def test_a_damaged_log_after_a_power_cut_is_taken_as_far_as_it_goes(harvested: TemporaryInstance) -> None:
    """What the machine had not written yet is no damage."""
    ledger = harvested.settings.layout.ledger
    harvested.harvester.instance.ledger.database.write("UPDATE provider SET failures = 0")
    saved = [(Path(f"{ledger}{ending}"), Path(f"{ledger}{ending}").read_bytes()) for ending in ("", "-wal")]
    harvested.close()
    (ledger.parent / "ledger.sqlite.sha256").unlink()
    (ledger.parent / "ledger.sqlite.boot").write_text("another start of the machine")
    for ending in ("", "-wal", "-shm"):
        Path(f"{ledger}{ending}").unlink(missing_ok=True)
    for path, content in saved:
        path.write_bytes(content)
    flip(saved[1][0], saved[1][0].stat().st_size - 100, 3)
    assert harvested.harvester.instance.ledger.provider("p")


def test_a_layout_that_is_no_number_is_damage(harvested: TemporaryInstance) -> None:
    """A flipped bit may make text of a number."""
    harvested.close()
    path = harvested.settings.layout.ledger
    with closing(sqlite3.connect(path)) as ledger:
        ledger.executescript("DROP TABLE checksum; CREATE TABLE checksum (name, layout, sum);")
        ledger.execute("INSERT INTO checksum VALUES ('provider', 'p' || char(21), 0)")
        ledger.commit()
    (path.parent / "ledger.sqlite.sha256").unlink()
    with pytest.raises(LedgerDamage, match="its layout is no number; `harvest rebuild`"):
        assert harvested.harvester


@pytest.mark.parametrize("said", [0, 3, 1000])
def test_a_layout_that_is_none_is_damage(harvested: TemporaryInstance, said: int) -> None:
    """Migrations of another layout would break the ledger, and a later version did not write it."""
    harvested.close()
    path = harvested.settings.layout.ledger
    with closing(sqlite3.connect(path)) as ledger:
        ledger.execute(f"PRAGMA user_version = {said}")
    (path.parent / "ledger.sqlite.sha256").unlink()
    with pytest.raises(LedgerDamage, match=f"says {said}; `harvest rebuild`"):
        assert harvested.harvester
    with opened(harvested.settings, harvested.clock, renew=True) as again, closing(Harvester(again)) as harvester:
        assert execute(harvester, "rebuild", [])["ok"]
        assert [version.n for version in again.ledger.versions("p")] == [1, 2, 3]
