"""
Checksums of the ledger's rows, kept by triggers: SQLite reads a flipped byte inside a value as another value.

The table `checksum` has for each table the sum of the hashes of its rows, modulo 2^62. A trigger adds what comes and
takes away what goes, in the transaction that writes it; a row that was damaged before it was changed leaves the sum
wrong. The hash is a function of this process: other programs can read the ledger and not write it.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from typing import Final

_MASK: Final = (1 << 62) - 1
_SCHEMA: Final = "sqlite_schema"


def prepare(connection: sqlite3.Connection) -> None:
    """Have a connection know the hash of the triggers, and a row that is replaced go by its trigger."""
    connection.create_function("row_hash", -1, _hash, deterministic=True)
    connection.execute("PRAGMA recursive_triggers = ON")


def suspend(connection: sqlite3.Connection) -> None:
    """Drop the triggers, in the transaction that changes the layout; `resume` makes them anew."""
    for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
        connection.execute(f'DROP TRIGGER "{name}"')


def are_kept(connection: sqlite3.Connection, layout: int) -> bool:
    """Whether the sums are those of this layout, or the ledger is of one before there were sums."""
    if "checksum" not in _all_tables(connection):
        return True
    # One is enough: all are made at once, and a table whose name is damaged must not have them made again.
    return connection.execute("SELECT 1 FROM checksum WHERE layout = ?", (layout,)).fetchone() is not None


def layout(connection: sqlite3.Connection) -> int | None:
    """
    Of which layout the sums are; None where there are none, or no triggers that keep them.

    Raises:
        ValueError: It is no number: the ledger is damaged.
    """
    if "checksum" not in _all_tables(connection):
        return None
    if connection.execute("SELECT 1 FROM sqlite_schema WHERE type = 'trigger'").fetchone() is None:
        return None
    found = connection.execute("SELECT max(layout) FROM checksum").fetchone()[0]
    return None if found is None else int(found)


def resume(connection: sqlite3.Connection, layout: int) -> None:
    """Make triggers and sums for the rows that there are, in the caller's transaction."""
    suspend(connection)
    connection.execute("DELETE FROM checksum")
    for table in _tables(connection):
        for statement in _triggers(table, _columns(connection, table)):
            connection.execute(statement)
    for name, found in _sums(connection):
        connection.execute("INSERT INTO checksum VALUES (?, ?, ?)", (name, layout, found))


def differing(connection: sqlite3.Connection) -> list[str]:
    """The tables whose rows are not those that were written; that of the layout itself is `sqlite_schema`."""
    if "checksum" not in _all_tables(connection):
        return [_SCHEMA]
    due: dict[str, int] = {row[0]: row[1] for row in connection.execute("SELECT name, sum FROM checksum")}
    found = dict(_sums(connection))
    return sorted(name for name in due.keys() | found if due.get(name) != found.get(name))


def _sums(connection: sqlite3.Connection) -> Iterator[tuple[str, int]]:
    layout = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema")
    yield _SCHEMA, sum(_hash(*map(str, row)) for row in layout) & _MASK
    for table in _tables(connection):
        rows = connection.execute(f"SELECT {_row_hash('', table, _columns(connection, table))} FROM {table}")
        yield table, sum(row[0] for row in rows) & _MASK


def _hash(*values: str | bytes | float | None) -> int:
    return int.from_bytes(hashlib.blake2b(repr(values).encode(), digest_size=8).digest(), "big") & _MASK


def _all_tables(connection: sqlite3.Connection) -> list[str]:
    return [row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]


def _tables(connection: sqlite3.Connection) -> list[str]:
    """All tables whose rows are summed."""
    return [name for name in _all_tables(connection) if name != "checksum" and not name.startswith("sqlite_")]


def _columns(connection: sqlite3.Connection, table: str) -> list[tuple[str, str]]:
    return [(row[1], row[2]) for row in connection.execute(f"PRAGMA table_info({table})")]


def _row_hash(row: str, table: str, columns: list[tuple[str, str]]) -> str:
    """The call of the hash; text goes as bytes, for a damaged one may be no UTF-8."""
    values = [f'CAST({row}"{name}" AS BLOB)' if kind == "TEXT" else f'{row}"{name}"' for name, kind in columns]
    return f"row_hash('{table}', {', '.join(values)})"


def _triggers(table: str, columns: list[tuple[str, str]]) -> Iterator[str]:
    new, old = _row_hash("NEW.", table, columns), _row_hash("OLD.", table, columns)
    for event, change in (("INSERT", f"+ {new}"), ("DELETE", f"- {old}"), ("UPDATE", f"+ ({new} - {old})")):
        yield (
            f"CREATE TRIGGER {table}_{event.lower()}_sum AFTER {event} ON {table} BEGIN"
            f" UPDATE checksum SET sum = (sum {change}) & {_MASK} WHERE name = '{table}'; END"
        )
