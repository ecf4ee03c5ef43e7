"""
How the dumps of described datasets are asked for while nothing of them is announced.

    always -> announced            other bytes, at a look; later and later where the server sends them whole each time
    daily  -> announced            other bytes under the same date
    daily  -> again                harvested with a newer date and the same bytes
    again  -> announced, daily     other bytes; or let go after AGAIN_TRIES
    daily  -> unasked              harvested, and the server gives nothing to ask by

A harvest sets all of it anew, and so does a description with another date or other dumps.
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Final

from harvest.ledger.announcements import announce
from harvest.ledger.attempts import ask_again, mend_dataset
from harvest.ledger.database import Database
from harvest.ledger.records import dump_captures, load_captures, load_dataset, stamp
from harvest.model import Announcement, Capture, Dataset, Finding, Validators, Watch

DAY: Final = timedelta(days=1)
"""How often dumps are asked for that a date covers, or whose server gives nothing to ask by."""

SOON: Final = timedelta(minutes=1)
"""After a newer date with the same bytes the dump is asked for again for the first time."""


@dataclass(frozen=True, slots=True)
class WatchedDataset:
    """
    A dataset whose dumps are to be asked for.

    Attributes:
        dataset: As described now.
        watch: Why they are asked for.
        tries: How often in a row that failed, or gave whole dumps in which nothing was new.
        is_late: Whether they were not to be asked for until now, for some time.
        found: What the last try found, or None.
        captures: What is known of the dumps: those that are held or were skipped, else those of the last harvest.
        announcement: Number of the announcement that these are of; None for the last harvest.
    """

    dataset: Dataset
    watch: Watch
    tries: int
    is_late: bool
    found: Finding | None
    captures: tuple[Capture, ...]
    announcement: int | None


@dataclass(frozen=True, slots=True)
class Next:
    """
    How the dumps of a dataset are asked for from now on.

    Attributes:
        watch: Why.
        ask_at: Not before; None for at each look.
        tries: As of `WatchedDataset`.
        found: What this try found, or None.
        captures: What is known of the dumps now, with validators for the next request; None for what was.
    """

    watch: Watch
    ask_at: datetime | None
    tries: int = 0
    found: Finding | None = None
    captures: tuple[Capture, ...] | None = None


class Watches:
    """The watched datasets of an instance."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def are_due(self, name: str, now: datetime) -> bool:
        """Whether there are dumps of a provider to be asked for now."""
        return self.database.row(_DUE, name, stamp(now)) is not None

    def due(self, name: str, now: datetime) -> list[WatchedDataset]:
        """The datasets of a provider whose dumps are to be asked for now, in the order of the description."""
        return [_watched(row) for row in self.database.rows(_DUE, name, stamp(now))]

    def file(self, name: str, watched: WatchedDataset, following: Next, now: datetime) -> None:
        """File that dumps were asked for and gave nothing new; a power cut may take it back."""
        with self.database.transaction(durable=False) as db:
            _set(db, name, watched.dataset.iri, following, now)
            if following.found is None and watched.found is not None:
                mend_dataset(db, name, watched.dataset.iri)
            elif following.found is not None and following.found.fatal and following.found == watched.found:
                ask_again(db, name, watched.dataset.iri, now)
            if following.captures is not None and watched.announcement is not None:
                kept = (dump_captures(following.captures), watched.announcement)
                db.execute("UPDATE announcement SET captures = ? WHERE id = ?", kept)
            elif following.captures is not None:
                values = (dump_captures(following.captures), name, watched.dataset.iri)
                db.execute("UPDATE dataset SET captures = ? WHERE provider = ? AND iri = ?", values)

    def announce(self, name: str, watched: WatchedDataset, captures: tuple[Capture, ...], now: datetime) -> int:
        """File other dumps of a dataset as to be harvested; returns the announcement."""
        with self.database.transaction() as db:
            _set(db, name, watched.dataset.iri, _anew(watched.dataset, captures, now), now)
            id = announce(db, name, watched.dataset, now)
            fetched = "UPDATE announcement SET state = 'fetched', captures = ? WHERE id = ?"
            db.execute(fetched, (dump_captures(captures), id))
            return id


def settle(db: sqlite3.Connection, announcement: Announcement, before: sqlite3.Row | None, now: datetime) -> None:
    """Watch a dataset anew after its harvest, in the transaction of that; `before` is the row of the harvest before."""
    name, iri, harvested = announcement.provider, announcement.dataset.iri, announcement.dataset
    row = db.execute("SELECT dataset FROM described WHERE provider = ? AND iri = ?", (name, iri)).fetchone()
    if row is None:
        return
    following = _anew(load_dataset(row["dataset"]), announcement.captures, now)
    if before is not None and before["modified"] and harvested.modified and harvested.sync_token is None:
        newer = (stamp(harvested.modified) or "") > before["modified"]
        if newer and _digests(load_captures(before["captures"])) == _digests(announcement.captures):
            following = Next(Watch.AGAIN, now + SOON)
    _set(db, name, iri, following, now)


def is_blind(captures: tuple[Capture, ...]) -> bool:
    """Whether there are dumps whose server gives nothing to ask by."""
    return any(capture.validators == Validators() for capture in captures)


def _anew(dataset: Dataset, captures: tuple[Capture, ...], now: datetime) -> Next:
    if dataset.sync_token is not None:
        return Next(Watch.UNASKED, None)  # its source lists what changes
    if dataset.lastmods:
        return Next(Watch.DAILY, now + DAY)
    if dataset.modified is None:
        return Next(Watch.ALWAYS, now + DAY if is_blind(captures) else None)
    return Next(Watch.UNASKED, None) if is_blind(captures) else Next(Watch.DAILY, now + DAY)


def _digests(captures: tuple[Capture, ...]) -> list[str | None]:
    return [capture.digest for capture in captures]


_DUE = """
    SELECT watched.*, announcement.captures AS known FROM (
        SELECT described.provider, described.iri, place, watch, ask_at, tries, found, described.dataset AS said,
            dataset.captures AS harvested, dataset.modified AS before,
            (SELECT max(id) FROM announcement AS kept WHERE kept.provider = described.provider
                AND kept.iri = described.iri AND kept.state IN ('held', 'skipped') AND kept.captures != '[]'
                AND NOT EXISTS (SELECT 1 FROM announcement AS done WHERE done.provider = kept.provider
                    AND done.iri = kept.iri AND done.id > kept.id AND done.state = 'done')) AS latest
        FROM described LEFT JOIN dataset ON dataset.provider = described.provider AND dataset.iri = described.iri
        WHERE described.provider = ? AND watch != 'unasked' AND (ask_at IS NULL OR ask_at <= ?)
    ) AS watched LEFT JOIN announcement ON announcement.id = latest
    WHERE (latest IS NOT NULL OR harvested IS NOT NULL)
        AND (said ->> 'modified' IS NULL OR before IS NULL OR said ->> 'modified' >= before)
        AND NOT EXISTS (SELECT 1 FROM announcement AS open WHERE open.provider = watched.provider
            AND open.iri = watched.iri AND open.state IN ('seen', 'fetched'))
    ORDER BY place
"""
"""What is being downloaded or harvested is not asked for beside that, nor what has an older date than the harvest."""


def _watched(row: sqlite3.Row) -> WatchedDataset:
    return WatchedDataset(
        load_dataset(row["said"]),
        Watch(row["watch"]),
        row["tries"],
        row["ask_at"] is not None,
        Finding(**json.loads(row["found"])) if row["found"] else None,
        load_captures(row["harvested"] if row["latest"] is None else row["known"]),
        row["latest"],
    )


def _set(db: sqlite3.Connection, name: str, iri: str, following: Next, now: datetime) -> None:
    found = json.dumps(asdict(following.found)) if following.found else None
    db.execute(
        "UPDATE described SET watch = ?, ask_at = ?, tries = ?, found = ?, asked = ? WHERE provider = ? AND iri = ?",
        (following.watch, stamp(following.ask_at), following.tries, found, stamp(now), name, iri),
    )
