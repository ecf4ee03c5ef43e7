"""Times that were written while the clock was ahead: what would wait for them for years is tried now."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from harvest.ledger.announcements import LONGEST
from harvest.ledger.database import Database, Value
from harvest.ledger.records import stamp

SLACK: Final = timedelta(minutes=1)
"""How far apart two clocks may be that are right."""


def try_provider_now(database: Database, name: str, now: datetime) -> None:
    """Let a provider and its announcements wait no longer where that goes beyond the longest back-off."""
    far = stamp(now + LONGEST + SLACK)
    _set(database, "provider", "retry_at = NULL", "name = ? AND retry_at > ?", name, far)
    _set(
        database,
        "announcement",
        "retry_at = NULL",
        "provider = ? AND state IN ('seen', 'fetched') AND retry_at > ?",
        name,
        far,
    )


def try_seeds_now(database: Database, now: datetime) -> None:
    """Let seeds wait no longer whose time is further away than their interval, or counts from a future download."""
    soon = stamp(now + SLACK)
    far = "retry_at IS NOT NULL AND unixepoch(retry_at) > unixepoch(?) + interval"
    _set(database, "seed", "retry_at = NULL", far, soon)
    _set(database, "seed", "processed = NULL, stale_at = ''", "processed > ?", soon)


def _set(database: Database, table: str, assignment: str, condition: str, *values: Value) -> None:
    """Change the rows that there are; where there are none, nothing is written."""
    if database.row(f"SELECT 1 FROM {table} WHERE {condition} LIMIT 1", *values) is not None:
        database.write(f"UPDATE {table} SET {assignment} WHERE {condition}", *values)
