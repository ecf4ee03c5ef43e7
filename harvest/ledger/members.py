"""The providers that other instances have, for entries of the registry that take all of them."""

from __future__ import annotations

import json

from harvest.ledger.database import Database

_KEY = "members of "


def members(database: Database) -> dict[str, dict[str, str]]:
    """The names and addresses of the providers that the last look at each such entry found, by entry."""
    rows = database.rows("SELECT key, value FROM meta WHERE key LIKE ?", f"{_KEY}%")
    return {row["key"].removeprefix(_KEY): json.loads(row["value"]) for row in rows}


def set_members(database: Database, entry: str, found: dict[str, str]) -> None:
    """File the names and addresses of the providers of an entry."""
    database.write("INSERT OR REPLACE INTO meta VALUES (?, ?)", f"{_KEY}{entry}", json.dumps(found))
