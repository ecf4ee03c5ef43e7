"""
Where each dataset of a provider stands, and with that the provider: the worst of them counts.

    failing      the last try failed
    held         the shrink guard holds a dump until somebody approves it
    harvesting   a run goes on
    waiting      something is announced, and its turn has not come
    idle         all that was announced is harvested

A dataset that is tried again just now is harvesting, whatever the last try gave; so a provider is harvesting only when
none of its other datasets fails or is held. A provider whose datasets only wait is idle. One query for what failed, one
for what is announced, one for what runs: all of them read what is open, and none what went well, so a thousand
providers take no more of them than one.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from harvest.ledger.database import Database
from harvest.ledger.records import moment
from harvest.ledger.runs import WAIT
from harvest.ledger.standing import OPEN, Waiting, waiting_of
from harvest.ledger.steps import step_of
from harvest.model import Outcome, State
from sparql.reports import StepReport

ORDER: Final = (State.FAILING, State.HELD, State.HARVESTING, State.WAITING, State.IDLE)
"""States of datasets, the worst first."""

_BAD: Final = f"""
    SELECT * FROM attempt AS tried WHERE outcome IN ('failed', 'held') AND (iri = ''
        OR NOT EXISTS (SELECT 1 FROM described WHERE described.provider = tried.provider)
        OR EXISTS (SELECT 1 FROM described WHERE described.provider = tried.provider AND described.iri = tried.iri)
        OR EXISTS (SELECT 1 FROM announcement AS open WHERE open.provider = tried.provider AND open.iri = tried.iri
            AND open.state IN {OPEN}))
"""
"""Nobody tries again what left the description, once nothing of it is announced."""
_OPEN: Final = f"SELECT * FROM announcement WHERE state IN {OPEN}"
_RUNNING: Final = (
    "SELECT run.id, provider, coalesce(dataset, '') AS iri, run.started AS begun, step.* FROM run"
    " LEFT JOIN step ON step.run = run.id AND step.ended IS NULL WHERE run.ended IS NULL"
)


@dataclass(frozen=True, slots=True)
class Bad:
    """
    Tries that went wrong, all since the last one that went well.

    Attributes:
        outcome: Of the last one: failed or held.
        run: The run that describes it; None for what was never filed as a run.
        since: When the first of them began.
        tries: How many they are.
        tried: When the last one ended.
    """

    outcome: str
    run: int | None
    since: datetime
    tries: int
    tried: datetime


@dataclass(frozen=True, slots=True)
class Running:
    """
    A run that goes on.

    Attributes:
        run: Ledger key.
        began: When.
        step: What it is at, or None.
    """

    run: int
    began: datetime
    step: StepReport | None

    @property
    def is_busy(self) -> bool:
        """Whether it does something: not while its dumps are filed and its turn has not come."""
        return self.step is None or self.step.name != WAIT


@dataclass(frozen=True, slots=True)
class Standing:
    """
    Where a dataset stands, or the description of a provider.

    Attributes:
        iri: The dataset, or empty for the description.
        bad: The tries that went wrong, or None where the last one went well.
        waiting: Its open announcements, oldest first.
        running: Its runs that go on, oldest first.
    """

    iri: str
    bad: Bad | None = None
    waiting: tuple[Waiting, ...] = ()
    running: tuple[Running, ...] = ()

    @property
    def state(self) -> State:
        """What it is doing, or what it needs."""
        if any(run.is_busy for run in self.running):
            return State.HARVESTING
        if self.bad is not None and self.bad.outcome == Outcome.FAILED:
            return State.FAILING
        if any(each.state == State.HELD for each in self.waiting):
            return State.HELD
        return State.WAITING if self.waiting else State.IDLE

    @property
    def next_try(self) -> datetime | None:
        """When what failed is tried again, or None."""
        return min((each.retry_at for each in self.waiting if each.retry_at), default=None)


def worst(standings: Iterable[Standing]) -> State:
    """The state of a provider: that of the dataset that is worst off; waiting alone is idle."""
    state = min((standing.state for standing in standings), key=ORDER.index, default=State.IDLE)
    return State.IDLE if state is State.WAITING else state


class Standings:
    """Where the datasets of providers stand; those that are idle, and went well, are left out."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def of(self, names: Sequence[str] | None = None) -> dict[str, tuple[Standing, ...]]:
        """By provider, of these or of all; the description first, then datasets by IRI."""
        bad = {(row["provider"], row["iri"]): _bad(row) for row in self._rows(_BAD, "provider, iri", names)}
        waiting = waiting_of(self._rows(_OPEN, "id", names))
        running = _grouped(self._rows(_RUNNING, "run.id", names))
        found: dict[str, tuple[Standing, ...]] = {}
        for name, iri in sorted(bad.keys() | waiting.keys() | running.keys()):
            key = (name, iri)
            runs = tuple(_running(row) for row in running.get(key, ()))
            standing = Standing(iri, bad.get(key), tuple(waiting.get(key, ())), runs)
            found[name] = (*found.get(name, ()), standing)
        return found

    def _rows(self, query: str, order: str, names: Sequence[str] | None) -> list[sqlite3.Row]:
        if names is None:
            return self.database.rows(f"{query} ORDER BY {order}")
        within = "provider IN (SELECT value FROM json_each(?))"
        return self.database.rows(f"{query} AND {within} ORDER BY {order}", json.dumps(list(names)))


def _grouped(rows: Iterable[sqlite3.Row]) -> dict[tuple[str, str], list[sqlite3.Row]]:
    groups: dict[tuple[str, str], list[sqlite3.Row]] = {}
    for row in rows:
        groups.setdefault((row["provider"], row["iri"]), []).append(row)
    return groups


def _bad(row: sqlite3.Row) -> Bad:
    since, tried = moment(row["since"]), moment(row["tried"])
    assert since is not None
    assert tried is not None
    return Bad(row["outcome"], row["run"], since, row["tries"], tried)


def _running(row: sqlite3.Row) -> Running:
    began = moment(row["begun"])
    assert began is not None
    return Running(row["id"], began, step_of(row) if row["name"] else None)
