"""
The SQLite file: opening, migrating, transactions.

WAL mode lets the web front and commands read while the harvester writes. Every thread has a connection of its own.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from harvest.errors import LedgerDamage, LedgerError, StorageError
from harvest.ledger import row_sums, unwritten, wholeness
from harvest.ledger.schema import MIGRATIONS

Value = str | int | float | None

CACHE_KIB: Final = 256
"""What a connection keeps of the file: every thread has one, fifty of them 2 MB each by SQLite's default."""


class Database:
    """
    A migrated ledger file.

    Attributes:
        damaged: Where the damaged ledger is in whose place this one stands, or None.
    """

    def __init__(self, path: Path, *, migrations: Sequence[str] = MIGRATIONS, read_only: bool = False) -> None:
        """
        Open the file, and bring it to the layout of this version unless `read_only`.

        Raises:
            LedgerError: The file is not a ledger, is of a later version, or a migration failed.
        """
        self.path = path
        self.damaged: Path | None = None
        self._read_only = read_only
        self._migrations = migrations
        self._local = threading.local()
        if not read_only:
            wholeness.open_for_writing(path)
        if read_only and not path.exists():
            raise LedgerError(
                f"nothing is harvested yet in {path.parent}; `harvest run` or `harvest serve` does it", url=str(path)
            )
        try:
            self._check()
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            message = f"the ledger {path} cannot be opened: {error}"
            if not read_only and unwritten.is_lack_of_room(error):
                unwritten.failed(path)
            if wholeness.is_damage(error):
                raise LedgerDamage(f"{message}; {wholeness.MEND}", url=str(path)) from error
            raise LedgerError(message, url=str(path)) from error

    @contextmanager
    def transaction(self, *, durable: bool = True) -> Iterator[sqlite3.Connection]:
        """
        A write transaction: all of it is durable when the block ends, or none of it.

        One that is not `durable` does not wait for the disk: it outlives this process, and a power cut once the next
        durable one is done.

        Raises:
            StorageError: The disk is full or the file cannot be written.
        """
        with self._reporting("written"):
            connection = self._connection()
            connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
                unwritten.succeeded(self.path)
            except BaseException:
                # Where the disk is full, SQLite may have rolled back by itself.
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    @contextmanager
    def trial(self) -> Iterator[sqlite3.Connection]:
        """A transaction that this thread's reads see, and that is taken back when the block ends."""
        with self._reporting("written"):
            connection = self._connection()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    def write(self, statement: str, *values: Value) -> int:
        """Run one statement in a transaction of its own; returns the last row id."""
        with self.transaction() as connection:
            return connection.execute(statement, values).lastrowid or 0

    def rows(self, query: str, *values: Value) -> list[sqlite3.Row]:
        """
        All rows of a query.

        Raises:
            StorageError: The file cannot be read.
        """
        with self._reporting("read"):
            return self._connection().execute(query, values).fetchall()

    def row(self, query: str, *values: Value) -> sqlite3.Row | None:
        """
        The first row of a query, or None.

        Raises:
            StorageError: The file cannot be read.
        """
        with self._reporting("read"):
            found: sqlite3.Row | None = self._connection().execute(query, values).fetchone()
            return found

    @contextmanager
    def _reporting(self, verb: str) -> Iterator[None]:
        """Report trouble with the file as what it is; a statement that breaks a rule of the layout is our fault."""
        try:
            yield
        except (sqlite3.IntegrityError, sqlite3.ProgrammingError, sqlite3.NotSupportedError):
            raise
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            mend = f"; {wholeness.MEND}" if wholeness.is_damage(error) else ""
            if verb == "written" and unwritten.is_lack_of_room(error):
                unwritten.failed(self.path)
            raise StorageError(f"the ledger {self.path} cannot be {verb}: {error}{mend}", url=str(self.path)) from error

    def check(self) -> None:
        """
        Return where all pages and indexes of the file agree, and all rows are those that were written.

        Raises:
            LedgerDamage: They do not.
        """
        try:
            with self._reporting("read"), closing(self._opened("?mode=ro")) as connection:  # others have pages at hand
                row_sums.prepare(connection)
                found = _damages(connection, len(self._migrations))
        except StorageError as error:
            if wholeness.is_trouble(error):
                raise
            found = [error.message]
        if found:
            said = "; ".join(found[:3])
            raise LedgerDamage(f"the ledger {self.path} is damaged: {said}; {wholeness.MEND}", url=str(self.path))

    def close(self) -> None:
        """Close this thread's connection."""
        if connection := self._local.__dict__.pop("connection", None):
            connection.close()

    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is not None and not self._is_replaced():
            return connection
        if self._read_only:
            self.close()
            self._local.file = _file(self.path)
            connection = self._opened("?mode=ro")
            if not _is_readable(connection) and unwritten.is_at_rest(self.path):
                # Kept for one statement alone: it would not notice a process that writes meanwhile.
                return _set_up(self._opened("?mode=ro&immutable=1"))
        else:
            connection = self._opened("")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA foreign_keys = ON")
            row_sums.prepare(connection)
        self._local.connection = _set_up(connection)
        return connection

    def _is_replaced(self) -> bool:
        """Whether another ledger stands where the one was that this thread reads: it was made again meanwhile."""
        return self._read_only and _file(self.path) not in (None, self._local.file)

    def _opened(self, options: str) -> sqlite3.Connection:
        address = f"{self.path.absolute().as_uri()}{options}"
        return sqlite3.connect(address, timeout=30, isolation_level=None, uri=True)

    def _check(self) -> None:
        applied = self._applied()
        known = len(self._migrations)
        try:
            layout = row_sums.layout(self._connection())
        except ValueError as error:
            message = f"the ledger {self.path} is damaged: its layout is no number; {wholeness.MEND}"
            raise LedgerDamage(message, url=str(self.path)) from error
        if layout is not None and (layout > applied or layout == known < applied):
            raise LedgerDamage(
                f"the ledger {self.path} is damaged: it has layout {layout} and says {applied}; {wholeness.MEND}",
                url=str(self.path),
            )
        if applied > known:
            raise LedgerError(
                f"the ledger {self.path} has layout {applied}, {known} is known here; use the version that wrote it",
                url=str(self.path),
            )
        if self._read_only and applied < known:
            raise LedgerError(
                f"the ledger {self.path} has layout {applied}, {known} is needed; start `harvest serve` or run once",
                url=str(self.path),
            )
        for number in range(applied, known):
            self._migrate(number)
        if not self._read_only and not row_sums.are_kept(self._connection(), known):
            with self.transaction() as connection:
                row_sums.resume(connection, known)

    def _applied(self) -> int:
        row = self._connection().execute("PRAGMA user_version").fetchone()
        return int(row[0])

    def _migrate(self, number: int) -> None:
        """Apply one migration and its number in one transaction; another process may have been quicker."""
        with self.transaction() as connection:
            if self._applied() > number:
                return
            row_sums.suspend(connection)
            try:
                for statement in _statements(self._migrations[number]):
                    connection.execute(statement)
            except sqlite3.Error as error:
                raise LedgerError(
                    f"migration {number + 1} of the ledger {self.path} failed and was undone: {error}",
                    url=str(self.path),
                ) from error
            connection.execute(f"PRAGMA user_version = {number + 1}")


def _file(path: Path) -> tuple[int, int] | None:
    """What tells a file from one that takes its place, or None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _damages(connection: sqlite3.Connection, layout: int) -> list[str]:
    """What is wrong with a ledger, of one moment."""
    connection.execute("BEGIN")
    found = [str(row[0]) for row in connection.execute("PRAGMA integrity_check") if row[0] != "ok"]
    found += [f"a row of {row[0]} leads nowhere" for row in connection.execute("PRAGMA foreign_key_check")]
    [applied] = connection.execute("PRAGMA user_version").fetchone()
    if applied != layout:
        found.append(f"its layout is {applied}, and {layout} was opened")
    return found or [f"rows of {table} are not those that were written" for table in row_sums.differing(connection)]


def _set_up(connection: sqlite3.Connection) -> sqlite3.Connection:
    connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
    connection.row_factory = sqlite3.Row
    return connection


def _is_readable(connection: sqlite3.Connection) -> bool:
    """Whether there is room for the index of the WAL, which even a reader makes where nobody has the ledger open."""
    try:
        connection.execute("PRAGMA schema_version").fetchone()
    except sqlite3.OperationalError as error:
        return not (unwritten.is_lack_of_room(error) or "unable to open" in str(error))
    return True


def _statements(script: str) -> Iterator[str]:
    """The statements of a script, one by one: `executescript` would end the transaction."""
    held = ""
    for line in script.splitlines(keepends=True):
        held += line
        if sqlite3.complete_statement(held):
            yield held
            held = ""
    if held.strip():
        yield held
