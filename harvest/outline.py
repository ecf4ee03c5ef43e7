"""The short form of what is told of providers, for lists of thousands of them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from harvest.ledger import Ledger, Outline
from harvest.model import Provider, State
from harvest.status import SCHEDULE, Schedule


def outlines(ledger: Ledger, registered: Mapping[str, Provider], now: datetime) -> list[dict[str, Any]]:
    """
    What lists tell of every provider that the registry or the ledger knows, by name.

    The keys are those of `harvest.status.provider_object`, with less in them; `trouble` tells when the last run failed
    or was held.
    """
    known = ledger.overview.outlines()
    text = ledger.meta(SCHEDULE)
    schedule = None if text is None else Schedule.load(text)
    return [
        _told(name, registered.get(name), known.get(name), _next(schedule, registered.get(name), known.get(name), now))
        for name in sorted(known.keys() | registered)
    ]


def _told(name: str, provider: Provider | None, known: Outline | None, following: datetime | None) -> dict[str, Any]:
    if known is None:
        idle = State.DISABLED if provider is None or not provider.enabled else State.IDLE
        return {"name": name, "state": idle, "version": 0, "triples": 0, "modified": None, "last_run": None} | {
            "next_check": _iso(following),
            "about": [],
            "trouble": None,
        }
    run = {"id": known.run, "started": known.started, "ended": known.ended, "outcome": known.outcome}
    return {
        "name": name,
        "state": _state(provider, known),
        "version": known.version,
        "triples": known.triples,
        "modified": known.modified,
        "last_run": None if known.run is None else run | {"steps": [{"name": known.step}] if known.step else []},
        "next_check": _iso(following),
        "about": [{"title": known.title}] if known.title else [],
        "trouble": None if known.bad is None else {"at": known.bad},
    }


def _state(provider: Provider | None, known: Outline) -> str:
    if provider is None or not provider.enabled:
        return State.DISABLED
    if known.run is not None and known.ended is None:
        return State.HARVESTING
    if known.is_held:
        return State.HELD
    return State.FAILING if known.is_failing else State.IDLE


def _next(
    schedule: Schedule | None, provider: Provider | None, known: Outline | None, now: datetime
) -> datetime | None:
    if schedule is None or provider is None or not provider.is_looked_at:
        return None
    retry_at = datetime.fromisoformat(known.retry_at) if known and known.retry_at else now
    return schedule.next(provider, max(now, retry_at))


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
