"""Downloads of seeds, the entries in them, their clean documents, and the state of each."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from harvest.ledger.database import Database
from harvest.ledger.document_rows import (
    Clean,
    DocumentRecord,
    clean_row,
    document_of,
    dump_http,
    hashes_of,
    problem_of,
    problem_row,
    rows_of,
)
from harvest.ledger.records import stamp
from harvest.model import Capture, Hop, Part, Problem, Status
from harvest.model.seeds import download_hash

INTERRUPTED = Problem("download", "the harvester stopped during this download; the seed is tried again")


_INSERT = (
    "INSERT INTO document (hash, seed, download, parent, name, status, began, ended, bytes, chars, lines, newline,"
    " encoding, format, statements, dropped, whole, counts)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_INSERT_CLEAN = (
    "INSERT INTO document (hash, seed, download, parent, status, began, ended, sha256, bytes, chars, lines, newline,"
    " encoding, statements, graph, format, whole)"
    " SELECT ?, seed, download, hash, 'cleaned', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'N-Quads', 1"
    " FROM document WHERE hash = ?"
    " ON CONFLICT (hash) DO UPDATE SET seed = excluded.seed, download = excluded.download, parent = excluded.parent,"
    " ended = excluded.ended, graph = excluded.graph"
)


class Documents:
    """
    Downloads, the entries of archives among them, and the clean documents that they gave.

    A download is kept when a later one comes. A clean document has one row, which says where it was found last.
    """

    def __init__(self, database: Database) -> None:
        self.database = database

    def downloading(self, seed: str, began: datetime) -> str:
        """File that a download of a seed began; returns its hash."""
        hash = download_hash(seed, began)
        with self.database.transaction() as db:
            # The same seed at the same microsecond is the same download, begun again.
            db.execute("DELETE FROM document WHERE download = ? AND status != 'cleaned'", (hash,))
            db.execute(
                "INSERT INTO document (hash, seed, download, parent, status, began) VALUES (?, ?, ?, ?, ?, ?)",
                (hash, seed, hash, seed, Status.DOWNLOADING, stamp(began)),
            )
            db.execute("UPDATE seed SET status = ?, download = ? WHERE hash = ?", (Status.DOWNLOADING, hash, seed))
        return hash

    def filed(self, hash: str, capture: Capture, http: Sequence[Hop], ended: datetime) -> None:
        """File the bytes of a download."""
        with self.database.transaction() as db:
            db.execute(
                "UPDATE document SET ended = ?, http = ?, sha256 = ?, bytes = ?, media_type = ?, final_url = ?"
                " WHERE hash = ?",
                (
                    stamp(ended),
                    dump_http(http),
                    capture.digest,
                    capture.length,
                    capture.media_type,
                    capture.final_url,
                    hash,
                ),
            )
            _advance(db, hash, Status.FILED)

    def failed(self, hash: str, http: Sequence[Hop], problem: Problem, ended: datetime) -> None:
        """File why a download gave no bytes; its state stays `downloading`."""
        with self.database.transaction() as db:
            db.execute(
                "UPDATE document SET ended = ?, http = ?, counts = ? WHERE hash = ?",
                (stamp(ended), dump_http(http), json.dumps({problem.kind: 1}), hash),
            )
            _set_problems(db, {hash: (problem,)})

    def advance(self, hash: str, status: Status) -> None:
        """File how far a download or entry has come."""
        with self.database.transaction() as db:
            _advance(db, hash, status)

    def record(self, download: str, parts: Sequence[Part], clean: Sequence[Clean] = ()) -> list[str]:
        """
        File what became of a download and of all that is in it, and the clean documents, in one transaction.

        The part without names is the download itself; `harvest.ledger.hashes_of` names them all. An archive that has
        entries but no part of its own is filed as `depleted`. Recording again replaces what was recorded. Where an
        older clean document of a place is loaded, the new one is to be; returns the hashes of those that give way.
        """
        with self.database.transaction() as db:
            found = db.execute("SELECT seed FROM document WHERE hash = ?", (download,)).fetchone()
            if found is None:
                return []  # the seed was removed meanwhile
            entries = "DELETE FROM document WHERE download = ? AND hash != download AND status != 'cleaned'"
            db.execute(entries, (download,))
            for root in (part for part in parts if not part.names):
                _set_root(db, download, root)
            db.executemany(_INSERT, rows_of(found["seed"], download, parts))
            named = zip(hashes_of(download, parts), parts, strict=True)
            _set_problems(db, {hash: part.problems for hash, part in named if part.problems or not part.names})
            _set_clean(db, clean)
            return _replace_loaded(db, clean)

    def get(self, hash: str) -> DocumentRecord | None:
        """A download, an entry or a clean document by its hash, or None."""
        row = self.database.row("SELECT * FROM document WHERE hash = ?", hash)
        return None if row is None else document_of(row)

    def of_seed(self, seed: str, limit: int = 100) -> list[DocumentRecord]:
        """The latest downloads of a seed, newest first."""
        return self._all("seed = ? AND hash = download ORDER BY began DESC LIMIT ?", seed, limit)

    def entries(self, parent: str, limit: int = -1, offset: int = 0) -> list[DocumentRecord]:
        """What is directly in an archive, by name."""
        return self._all("parent = ? AND name IS NOT NULL ORDER BY name, rowid LIMIT ? OFFSET ?", parent, limit, offset)

    def count_entries(self, parent: str) -> int:
        """How many entries are directly in an archive."""
        row = self.database.row("SELECT count(*) AS n FROM document WHERE parent = ? AND name IS NOT NULL", parent)
        assert row is not None
        return int(row["n"])

    def tree(self, download: str) -> list[DocumentRecord]:
        """A download, all that is in it, and the clean documents that it gave; archives before their entries."""
        return self._all("download = ? ORDER BY status = 'cleaned', rowid", download)

    def figures(self, download: str) -> dict[str, int]:
        """Of a download and all that is in it: `statements`, `dropped` ones, and `clean` documents."""
        row = self.database.row(
            "SELECT coalesce(sum(statements), 0) AS statements, coalesce(sum(dropped), 0) AS dropped,"
            " count(clean) AS clean FROM document WHERE download = ? AND status != 'cleaned'",
            download,
        )
        assert row is not None
        return {name: int(row[name]) for name in ("statements", "dropped", "clean")}

    def counts(self, download: str) -> dict[str, int]:
        """How many problems of each kind a download has, with all that is in it."""
        rows = self.database.rows(
            "SELECT key, sum(value) AS n FROM document, json_each(counts) WHERE download = ? GROUP BY key ORDER BY key",
            download,
        )
        return {str(row["key"]): int(row["n"]) for row in rows}

    def problems(self, hash: str) -> tuple[Problem, ...]:
        """What was wrong with a document, the first problems in order; its `counts` say how many there are."""
        rows = self.database.rows("SELECT * FROM problem WHERE document = ? ORDER BY rowid", hash)
        return tuple(problem_of(row) for row in rows)

    def unwashed(self, now: datetime, limit: int) -> list[DocumentRecord]:
        """The latest downloads of listed seeds, where they are filed and their way did not end; oldest first."""
        return self._all(
            "hash = download AND status IN"
            " ('filed', 'unarchiving', 'unarchived', 'guessing', 'guessed', 'parsing') AND whole IS NULL"
            " AND hash IN (SELECT download FROM seed WHERE listed AND (retry_at IS NULL OR retry_at <= ?))"
            " ORDER BY began LIMIT ?",
            stamp(now),
            limit,
        )

    def loaded(self) -> list[DocumentRecord]:
        """The clean documents that are in graphs of their own."""
        return self._all("loaded AND graph IS NOT NULL ORDER BY graph")

    def load(self, clean: Iterable[str]) -> None:
        """File that clean documents are to be in their graphs from now on, each in place of any other."""
        with self.database.transaction() as db:
            for hash in clean:
                row = db.execute("SELECT graph FROM document WHERE hash = ?", (hash,)).fetchone()
                if row is not None:
                    db.execute("UPDATE document SET loaded = (hash = ?) WHERE graph = ?", (hash, row["graph"]))

    def filled(self, clean: Iterable[str]) -> None:
        """File that the graphs of loaded clean documents hold all of them."""
        with self.database.transaction() as db:
            db.executemany("UPDATE document SET loaded = 2 WHERE hash = ? AND loaded", [(hash,) for hash in clean])

    def unfilled(self) -> list[DocumentRecord]:
        """Clean documents whose loading a crash cut short."""
        return self._all("loaded = 1 AND graph IS NOT NULL")

    def unload(self, clean: Iterable[str]) -> None:
        """File that clean documents are no longer in their graphs."""
        with self.database.transaction() as db:
            db.executemany("UPDATE document SET loaded = 0 WHERE hash = ?", [(hash,) for hash in clean])

    def abandon(self, now: datetime) -> int:
        """End the downloads that a crash left open; returns how many."""
        with self.database.transaction() as db:
            rows = db.execute("SELECT hash FROM document WHERE status = 'downloading' AND ended IS NULL").fetchall()
            counts = json.dumps({INTERRUPTED.kind: 1})
            end = "UPDATE document SET ended = ?, counts = ? WHERE hash = ?"
            db.executemany(end, [(stamp(now), counts, row["hash"]) for row in rows])
            _set_problems(db, {row["hash"]: (INTERRUPTED,) for row in rows})
            return len(rows)

    def _all(self, where: str, *values: Any) -> list[DocumentRecord]:
        return [document_of(row) for row in self.database.rows(f"SELECT * FROM document WHERE {where}", *values)]


def _set_clean(db: sqlite3.Connection, clean: Sequence[Clean]) -> None:
    db.executemany("UPDATE document SET clean = ? WHERE hash = ?", [(c.snapshot.digest, c.dirty) for c in clean])
    db.executemany(_INSERT_CLEAN, [clean_row(found) for found in clean])


def _replace_loaded(db: sqlite3.Connection, clean: Sequence[Clean]) -> list[str]:
    """Have new clean documents take the places of loaded ones; returns the hashes of those."""
    held = {row["graph"]: str(row["hash"]) for row in db.execute("SELECT graph, hash FROM document WHERE loaded")}
    newer = {c.graph: c.snapshot.digest for c in clean if held.get(c.graph) not in (None, c.snapshot.digest)}
    for graph, hash in newer.items():
        db.execute("UPDATE document SET loaded = (hash = ?) WHERE graph = ?", (hash, graph))
    return [held[graph] for graph in newer]


def _advance(db: sqlite3.Connection, hash: str, status: Status) -> None:
    db.execute("UPDATE document SET status = ? WHERE hash = ?", (status, hash))
    db.execute("UPDATE seed SET status = ? WHERE download = ?", (status, hash))


def _set_root(db: sqlite3.Connection, download: str, part: Part) -> None:
    """The size of a download stays what was filed: a part may have that of what it holds, decompressed."""
    content = part.content
    if content is not None:
        db.execute(
            "UPDATE document SET chars = ?, lines = ?, newline = ?, encoding = ? WHERE hash = ?",
            (content.chars, content.lines, content.newline, content.encoding, download),
        )
    db.execute(
        "UPDATE document SET format = ?, statements = ?, dropped = ?, whole = ?, counts = ? WHERE hash = ?",
        (part.format, part.statements, part.dropped, part.whole, json.dumps(dict(part.counts)), download),
    )
    _advance(db, download, part.status)


def _set_problems(db: sqlite3.Connection, problems: Mapping[str, Sequence[Problem]]) -> None:
    db.executemany("DELETE FROM problem WHERE document = ?", [(hash,) for hash in problems])
    rows = (problem_row(hash, problem) for hash, found in problems.items() for problem in found)
    db.executemany(
        "INSERT INTO problem (document, kind, message, line, column, excerpt) VALUES (?, ?, ?, ?, ?, ?)", rows
    )
