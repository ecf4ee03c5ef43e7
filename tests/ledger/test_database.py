"""The ledger file opens, moves on to the present layout, and is never left between two layouts."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from harvest.errors import LedgerError, StorageError
from harvest.ledger import Database
from harvest.ledger.schema import MIGRATIONS
from tests.unprivileged import ROOT, python

FIRST = "CREATE TABLE a (x INTEGER) STRICT;"
SECOND = """
CREATE TABLE b (y TEXT) STRICT; -- a comment; with a semicolon
INSERT INTO b VALUES ('one; two');
ALTER TABLE a ADD COLUMN z TEXT;
"""
BROKEN = "CREATE TABLE c (x INTEGER) STRICT;\nINSERT INTO a VALUES (1);\nINSERT INTO nowhere VALUES (1);"


def layout(path: Path) -> tuple[int, list[str], int]:
    """The number of the layout, its tables and columns, and how many rows `a` has."""
    with sqlite3.connect(path) as db:
        version = db.execute("PRAGMA user_version").fetchone()[0]
        tables = [row[0] for row in db.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name")]
        rows = db.execute("SELECT count(*) FROM a").fetchone()[0] if any("TABLE a " in t for t in tables) else 0
    db.close()
    return version, tables, rows


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


def test_a_new_file_gets_the_present_layout(path: Path) -> None:
    """All migrations, numbered, and the second opening changes nothing."""
    Database(path).close()
    first = layout(path)
    assert first[0] == len(MIGRATIONS)
    assert sum("CREATE TABLE" in text for text in first[1]) == "".join(MIGRATIONS).count("CREATE TABLE")
    Database(path).close()
    assert layout(path) == first


def test_an_older_file_moves_on_with_its_rows(path: Path) -> None:
    """Migrations that are new are applied, in order, and no other."""
    old = Database(path, migrations=[FIRST])
    old.write("INSERT INTO a VALUES (1)")
    old.close()
    new = Database(path, migrations=[FIRST, SECOND])
    assert [tuple(row) for row in new.rows("SELECT x, z FROM a")] == [(1, None)]
    assert [tuple(row) for row in new.rows("SELECT y FROM b")] == [("one; two",)]
    assert layout(path)[0] == 2


def test_a_migration_that_fails_is_undone_whole(path: Path) -> None:
    """Tables, rows and number stay as they were, and a mended one goes through."""
    Database(path, migrations=[FIRST]).close()
    before = layout(path)
    with pytest.raises(
        LedgerError, match=r"migration 2 of the ledger .* failed and was undone: no such table: nowhere"
    ):
        Database(path, migrations=[FIRST, BROKEN])
    assert layout(path) == before
    Database(path, migrations=[FIRST, SECOND]).close()
    assert layout(path)[0] == 2


def test_a_migration_that_was_killed_is_undone_whole(path: Path) -> None:
    """The process dies in the middle of a migration, with half of it written to the file."""
    Database(path, migrations=[FIRST]).close()
    before = layout(path)
    script = f"""
        import os, signal, sys
        from pathlib import Path
        from harvest.ledger import Database, database

        def statements(script):
            yield "PRAGMA cache_size = 1"
            yield from original(script)
            yield from (f"INSERT INTO a (x) VALUES (1), ({{n}}), (3)" for n in range(20000))
            os.kill(os.getpid(), signal.SIGKILL)

        original, database._statements = database._statements, statements
        Database(Path(sys.argv[1]), migrations=[{FIRST!r}, {SECOND!r}])
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), path], env=os.environ | {"PYTHONPATH": str(ROOT)}, check=False
    )
    assert done.returncode == -signal.SIGKILL
    assert layout(path) == before
    Database(path, migrations=[FIRST, SECOND]).close()
    assert layout(path)[0] == 2


def test_a_file_of_a_later_version_is_refused(path: Path) -> None:
    """An old program must not write into what it does not understand."""
    Database(path, migrations=[FIRST, SECOND]).close()
    before = path.read_bytes()
    with pytest.raises(LedgerError, match="has layout 2, 1 is known here; use the version that wrote it") as caught:
        Database(path, migrations=[FIRST])
    assert caught.value.url == str(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "content", [b"this is no database, and long enough to tell" * 50, b"SQLite format 3\0" + b"x" * 500]
)
def test_a_file_that_is_no_ledger_is_refused_and_left_alone(path: Path, content: bytes) -> None:
    """It may be somebody's text file."""
    path.write_bytes(content)
    for read_only in (False, True):
        with pytest.raises(LedgerError, match=r"ledger\.sqlite cannot be opened"):
            Database(path, read_only=read_only)
    assert path.read_bytes() == content


def test_a_folder_in_its_place_is_refused(path: Path) -> None:
    """So is a path whose folder is not there."""
    path.mkdir()
    with pytest.raises(LedgerError):
        Database(path)
    with pytest.raises(LedgerError):
        Database(path.parent / "none" / "ledger.sqlite")


def test_a_reader_needs_a_ledger_of_the_present_layout(path: Path) -> None:
    """Commands that only read make no file and move none on."""
    with pytest.raises(LedgerError, match="nothing is harvested yet"):
        Database(path, read_only=True)
    assert not path.exists()
    Database(path, migrations=[FIRST]).close()
    before = layout(path)
    with pytest.raises(LedgerError, match="has layout 1, 2 is needed"):
        Database(path, migrations=[FIRST, SECOND], read_only=True)
    assert layout(path) == before


def test_a_reader_sees_what_is_committed_and_can_write_nothing(path: Path) -> None:
    """The web front reads while the harvester writes."""
    writer = Database(path, migrations=[FIRST])
    reader = Database(path, migrations=[FIRST], read_only=True)
    with writer.transaction() as db:
        db.execute("INSERT INTO a VALUES (1)")
        assert reader.rows("SELECT * FROM a") == []
    assert [tuple(row) for row in reader.rows("SELECT * FROM a")] == [(1,)]
    with pytest.raises(StorageError, match="cannot be written: attempt to write a readonly database"):
        reader.write("INSERT INTO a VALUES (2)")


def test_a_transaction_that_fails_leaves_nothing(path: Path) -> None:
    """Whatever is raised inside, also by the caller."""
    database = Database(path, migrations=[FIRST])
    with pytest.raises(KeyError), database.transaction() as db:
        db.execute("INSERT INTO a VALUES (1)")
        raise KeyError("of the caller")
    assert database.rows("SELECT * FROM a") == []
    assert database.write("INSERT INTO a VALUES (2)") == 1


def test_a_full_disk_is_trouble_of_storage_and_the_ledger_goes_on(path: Path) -> None:
    """It is retriable; what was there stays, and the next transaction starts clean."""
    database = Database(path, migrations=["CREATE TABLE t (x TEXT) STRICT;"])
    database.write("INSERT INTO t VALUES ('kept')")
    pages = database.rows("PRAGMA page_count")[0][0]
    database.rows(f"PRAGMA max_page_count = {pages + 3}")
    with pytest.raises(StorageError, match="cannot be written: database or disk is full") as caught:
        database.write("INSERT INTO t VALUES (?)", "x" * 100_000)
    assert caught.value.retriable
    assert caught.value.url == str(path)
    assert [row["x"] for row in database.rows("SELECT x FROM t")] == ["kept"]
    database.write("INSERT INTO t VALUES ('more')")


def test_a_full_disk_in_the_middle_of_the_file_system_is_reported_too(path: Path) -> None:
    """The write-ahead log meets a limit of the system, and SQLite rolls back by itself or not."""
    printed = python(
        """
        import resource, sys
        from pathlib import Path
        from harvest.errors import StorageError
        from harvest.ledger import Database
        database = Database(Path(sys.argv[1]), migrations=["CREATE TABLE t (x TEXT) STRICT;"])
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        try:
            with database.transaction() as db:
                for n in range(100):
                    db.execute("INSERT INTO t VALUES (?)", ("x" * 50_000,))
        except StorageError as error:
            print(error)
        print(len(database.rows("SELECT * FROM t")))
        """,
        path,
    )
    assert "cannot be written: " in printed
    assert "no transaction is active" not in printed
    assert printed.splitlines()[-1] == "0"


def test_a_damaged_file_is_trouble_of_storage(path: Path) -> None:
    """Reading and writing say the same, and nothing of SQLite's own comes out."""
    database = Database(path, migrations=["CREATE TABLE t (x TEXT) STRICT;"])
    for n in range(200):
        database.write("INSERT INTO t VALUES (?)", f"{n}" * 500)
    database.close()
    data = bytearray(path.read_bytes())
    data[4096 * 2 :] = b"\x55" * (len(data) - 4096 * 2)
    path.write_bytes(bytes(data))
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    damaged = Database(path, migrations=["CREATE TABLE t (x TEXT) STRICT;"])
    with pytest.raises(StorageError, match="cannot be read: database disk image is malformed"):
        damaged.rows("SELECT * FROM t")
    with pytest.raises(StorageError, match="cannot be written: database disk image is malformed"):
        damaged.write("DELETE FROM t")


def test_a_folder_that_cannot_be_written_is_reported(path: Path) -> None:
    """With the path, and without a trace of SQLite's own errors."""
    path.parent.chmod(0o555)
    try:
        printed = python(
            """
            import sys
            from pathlib import Path
            from harvest.errors import HarvestError
            from harvest.ledger import Database
            try:
                Database(Path(sys.argv[1]))
            except HarvestError as error:
                print(error.kind, error)
            """,
            path,
        )
    finally:
        path.parent.chmod(0o755)
    assert printed.startswith("ledger ")
    assert f"the ledger {path} cannot be opened" in printed


def test_a_ledger_that_may_not_be_written_any_more_is_reported(path: Path) -> None:
    """The directory was mounted read-only by the system, after trouble with the disk."""
    Database(path, migrations=[FIRST]).close()
    before = path.read_bytes()
    path.chmod(0o444)
    path.parent.chmod(0o555)
    try:
        printed = python(
            f"""
            import sys
            from pathlib import Path
            from harvest.errors import HarvestError
            from harvest.ledger import Database
            for migrations in ([{FIRST!r}], [{FIRST!r}, {SECOND!r}]):
                try:
                    Database(Path(sys.argv[1]), migrations=migrations).write("INSERT INTO a (x) VALUES (1)")
                except HarvestError as error:
                    print(error.kind)
            """,
            path,
        )
    finally:
        path.parent.chmod(0o755)
    assert len(printed.split()) == 2
    assert set(printed.split()) <= {"ledger", "storage"}
    assert path.read_bytes() == before


def test_threads_write_side_by_side(path: Path) -> None:
    """Each has a connection of its own, and a write waits for another's to end."""
    database = Database(path, migrations=[FIRST])
    together = threading.Barrier(6)
    failures: list[BaseException] = []

    def work() -> None:
        try:
            together.wait(10)
            for _ in range(20):
                with database.transaction() as db:
                    count = db.execute("SELECT count(*) FROM a").fetchone()[0]
                    db.execute("INSERT INTO a VALUES (?)", (count,))
        except BaseException as error:
            failures.append(error)
            raise
        finally:
            database.close()

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failures == []
    assert [row["x"] for row in database.rows("SELECT x FROM a ORDER BY x")] == list(range(120))


def test_processes_write_and_migrate_side_by_side(path: Path) -> None:
    """A command and the server may start in the same moment; the layout is made once."""
    script = """
        import sys
        from pathlib import Path
        from harvest.ledger import Database, Ledger
        sys.stdin.readline()
        ledger = Ledger(Database(Path(sys.argv[1])))
        ledger.enrol("a", "http://example.org/graph/a")
        for n in range(20):
            with ledger.database.transaction() as db:
                db.execute("UPDATE provider SET failures = failures + 1 WHERE name = 'a'")
    """
    command = [sys.executable, "-c", textwrap.dedent(script), path]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    running = [subprocess.Popen(command, stdin=subprocess.PIPE, env=environment) for _ in range(4)]
    for process in running:
        assert process.stdin is not None
        process.stdin.write(b"\n")
        process.stdin.close()
    assert [process.wait(60) for process in running] == [0] * 4
    assert Database(path).rows("SELECT failures FROM provider")[0]["failures"] == 80


def test_a_reader_goes_over_to_a_ledger_that_was_made_again(tmp_path: Path) -> None:
    """A front outlives the process that sets a damaged ledger aside and makes a new one."""
    path = tmp_path / "ledger.sqlite"
    Database(path, migrations=[FIRST]).close()
    reader = Database(path, migrations=[FIRST], read_only=True)
    assert reader.row("SELECT 1 AS one FROM sqlite_schema WHERE name = 'again'") is None
    path.rename(tmp_path / "aside")
    assert reader.row("SELECT 1 AS one FROM sqlite_schema WHERE name = 'again'") is None
    made = Database(path, migrations=[FIRST])
    made.write("CREATE TABLE again (x INTEGER)")
    made.close()
    assert reader.row("SELECT 1 AS one FROM sqlite_schema WHERE name = 'again'") is not None
    reader.close()
