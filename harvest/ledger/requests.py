"""Requests of commands to the process that holds the data directory, and their answers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from harvest.ledger.database import Database
from harvest.ledger.records import Request, stamp

UPDATE: Final = "update"
"""The command that carries out a SPARQL update or applies a change, the only one that must not be done twice."""

BROKEN_OFF: Final[dict[str, Any]] = {
    "ok": False,
    "error": "The process that carried out the update ended; the versions of the graph show whether it was done.",
    "kind": "UpdateUnanswered",
    "results": [],
}


class Requests:
    """A mailbox between processes: asked, taken, done."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def ask(self, command: str, names: Sequence[str], now: datetime) -> int:
        """File a request; returns its id."""
        return self.database.write(
            "INSERT INTO request (command, names, asked) VALUES (?, ?, ?)", command, json.dumps(list(names)), stamp(now)
        )

    def take(self, now: datetime) -> Request | None:
        """The oldest request that nobody took, now taken; None when there is none, and then nothing is written."""
        while (row := self.database.row("SELECT * FROM request WHERE taken IS NULL ORDER BY id LIMIT 1")) is not None:
            with self.database.transaction() as db:
                # Meanwhile it may have been withdrawn, or taken by another.
                mine = "UPDATE request SET taken = ? WHERE id = ? AND taken IS NULL"
                if db.execute(mine, (stamp(now), row["id"])).rowcount:
                    return Request(row["id"], row["command"], tuple(json.loads(row["names"])))
        return None

    def finish(self, id: int, answer: dict[str, Any], now: datetime) -> None:
        """File the answer to a request; the text of an update stands in the archive, and no longer here."""
        self.database.write(
            "UPDATE request SET done = ?, answer = ?, names = CASE command WHEN ? THEN '[]' ELSE names END"
            " WHERE id = ?",
            stamp(now),
            json.dumps(answer),
            UPDATE,
            id,
        )

    def answer(self, id: int) -> dict[str, Any] | None:
        """The answer to a request, or None while there is none."""
        row = self.database.row("SELECT answer FROM request WHERE id = ? AND done IS NOT NULL", id)
        return None if row is None else dict(json.loads(row["answer"]))

    def requeue(self, now: datetime) -> None:
        """
        Let requests that a crashed process had taken be taken again.

        Updates are not: to insert twice is not what was asked for. Whether one was carried out shows its graph.
        """
        rows = self.database.rows("SELECT id, command FROM request WHERE taken IS NOT NULL AND done IS NULL")
        for row in rows:
            if row["command"] == UPDATE:
                self.finish(row["id"], BROKEN_OFF, now)
        if any(row["command"] != UPDATE for row in rows):
            self.database.write("UPDATE request SET taken = NULL WHERE done IS NULL")

    def withdraw(self, id: int) -> bool:
        """Take back a request that nobody took yet; returns whether it was still there."""
        with self.database.transaction() as db:
            return db.execute("DELETE FROM request WHERE id = ? AND taken IS NULL", (id,)).rowcount > 0
