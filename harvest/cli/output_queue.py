"""What `harvest status` prints below its table: what fails, is held, waits and is harvested now."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from rich.markup import escape

from harvest.cli.output import OUT
from sparql.reports import FailingEntry, HarvestingEntry, HeldEntry, QueueEntry, QueueReport, WaitingEntry
from sparql.web.figures import duration

MOST: Final = 20
"""Entries of each list that are printed."""


def queue(found: QueueReport, ledger_problem: str | None) -> None:
    """Prints the queue of an instance, what is oldest first, and why nothing can be filed, if nothing can."""
    if ledger_problem is not None:
        OUT.print(f"[red]ledger[/]: {escape(ledger_problem)}", soft_wrap=True)
    lists: dict[str, Sequence[QueueEntry]] = {
        "failing": found.failing,
        "held": found.held,
        "waiting": found.waiting,
        "harvesting": found.harvesting,
    }
    OUT.print(", ".join(f"{len(its)} {key}{_oldest(its)}" for key, its in lists.items()), soft_wrap=True)
    for key, entries in lists.items():
        for entry in entries[:MOST]:
            what = " ".join(filter(None, (entry.provider, entry.dataset)))
            OUT.print(f"  {key} {escape(what)}: {escape(_described(entry))}", soft_wrap=True)
        if len(entries) > MOST:
            OUT.print(f"  and {len(entries) - MOST} more {key}; `/status` has them all")
    seeds = ", ".join(f"{count} {state}" for state, count in found.seeds.items() if count) or "none"
    generation, exported = found.generation or "none yet", _minute(found.exported) or "none yet"
    OUT.print(f"seeds: {seeds}; generation: {generation}; last export: {exported}", soft_wrap=True)


def _oldest(entries: Sequence[QueueEntry]) -> str:
    return f" (the longest for {duration(max(1, entries[0].age_s))})" if entries else ""


def _described(entry: QueueEntry) -> str:
    """Since when an entry stands in its list, and what is known of it."""
    since = f"since {_minute(entry.since)}"
    match entry:
        case FailingEntry():
            tries = f"{entry.tries} {'try' if entry.tries == 1 else 'tries'}, the last {_minute(entry.last_try)}"
            return f"{since}, {tries}" + (f", the next {_minute(entry.next_try)}" if entry.next_try else "")
        case HarvestingEntry():
            return f"{since}, {entry.step or 'beginning'}"
        case HeldEntry() | WaitingEntry():
            return f"{since}; {entry.reason}"
    return since


def _minute(moment: datetime | None) -> str:
    """A time as people read it, to the minute, in UTC."""
    return f"{moment:%Y-%m-%d %H:%M}" if moment else ""
