"""The page of a run: its steps, how long each took and what it did; live while it goes on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from flask import Blueprint, Response, abort

from sparql.reports import RunReport, StepReport
from sparql.web.figures import number, size
from sparql.web.site import HTML, JSON, LAST_PAGE, context, found, json_data, page, page_number, preferred

runs = Blueprint("runs", __name__)

STEPS: Final = {
    "fetch": ("Download", "the dumps from the provider"),
    "file": ("File", "what came, under its digest"),
    "wait": ("Wait", "until the provider's turn comes"),
    "check": ("Check", "whether the same bytes were harvested before"),
    "wash": ("Wash", "unpack, decode, parse and sort"),
    "revise": ("Compare", "with the graph: what is to be added and removed"),
    "file-change": ("File the change", "as an N-Quads unified diff"),
    "file-version": ("Note the version", "in the ledger: from here on it will be committed"),
    "load": ("Load", "into the store, and count"),
    "describe": ("Describe", "the harvest in the metadata graph"),
    "adopt": ("Adopt", "the new snapshot"),
    "publish": ("Publish", "a generation of the store to readers"),
    "commit": ("Commit", "the version"),
}
"""What people call the steps, and what is done in each."""


WAITED_S: Final = 0.5
"""Seconds of waiting that are worth reporting."""


@dataclass(frozen=True, slots=True)
class Step:
    """
    A step as the page shows it.

    Attributes:
        name: As people call it.
        what: What is done in it.
        state: done, running or broken.
        seconds: How long it took, or goes on.
        offset: Where its bar begins, in thousandths of the run.
        width: How long its bar is, likewise.
        did: What it did, in words.
    """

    name: str
    what: str
    state: str
    seconds: float
    offset: float
    width: float
    did: tuple[str, ...]


@runs.get("/providers/<name:name>/runs.json")
def runs_json(name: str) -> Response:
    """All runs of a provider, the newest first, a page at a time."""
    catalog = context().catalog
    found(catalog.provider(name), name)
    return json_data(catalog.run_page(name, page_number("page", LAST_PAGE)))


@runs.get("/providers/<name:name>/runs/<int:id>")
def run(name: str, id: int) -> Response:
    """One run; its record as JSON."""
    record = _found(name, id)
    if preferred(JSON, HTML) == JSON:
        return json_data(record)
    catalog = context().catalog
    latest = [each.id for each in catalog.runs(name)]
    return page(
        "run.html",
        provider=found(catalog.provider(name), name),
        run=record,
        steps=steps(record, datetime.now(UTC)),
        seconds=seconds(record.started, record.ended, datetime.now(UTC)),
        older=max((each for each in latest if each < id), default=None),
        newer=min((each for each in latest if each > id), default=None),
    )


@runs.get("/providers/<name:name>/runs/<int:id>.json")
def run_json(name: str, id: int) -> Response:
    """One run as JSON; who asks again and again gets 304 until something happened."""
    return json_data(_found(name, id))


def _found(name: str, id: int) -> RunReport:
    catalog = context().catalog
    provider = found(catalog.provider(name), name)
    record = catalog.run(name, id)
    if record is None:
        gone = " any more" if id <= (provider.runs_let_go or 0) else ""
        abort(404, f"{name} has no run {id}{gone}; /providers/{name} lists its latest ones.")
    return record


def steps(run: RunReport, now: datetime) -> list[Step]:
    """The steps of a run, with their places in it; without waiting where the turn came at once."""
    whole = seconds(run.started, run.ended, now) or 1.0
    shown = [_step(step, run.started, whole, now) for step in run.steps]
    return [step for step in shown if step.name != STEPS["wait"][0] or step.seconds >= WAITED_S or step.state != "done"]


def _step(step: StepReport, began: datetime, whole: float, now: datetime) -> Step:
    name, what = STEPS.get(step.name, (step.name, ""))
    took = seconds(step.started, step.ended, now)
    offset = min(1000.0, 1000 * seconds(began, step.started, now) / whole)
    state = "broken" if step.broken else "running" if step.ended is None else "done"
    width = max(1000 * took / whole, 4.0)
    return Step(name, what, state, took, min(offset, 1000 - width), min(width, 1000.0), tuple(did(step.figures)))


def seconds(began: datetime, ended: datetime | None, now: datetime) -> float:
    """How long something took, or goes on."""
    return max(0.0, ((ended or now) - began).total_seconds())


def step_name(name: str) -> str:
    """What people call a step."""
    return STEPS.get(name, (name, ""))[0].lower()


def took(run: RunReport) -> float | None:
    """How many seconds a run took; None while it goes on."""
    return None if run.ended is None else seconds(run.started, run.ended, datetime.now(UTC))


def did(figures: Mapping[str, int | str]) -> Sequence[str]:
    """What a step did, in words."""
    words: list[str] = []
    counts = {key: figure for key, figure in figures.items() if isinstance(figure, int)}
    if "bytes" in counts:
        of = f" of {size(counts['of_bytes'])}" if "of_bytes" in counts else ""
        words.append(size(counts["bytes"]) + of)
    for key, one, many in (
        ("dumps", "dump", "dumps"),
        ("unchanged", "not changed since the last harvest", "not changed since the last harvest"),
        ("tries", "request", "requests"),
        ("files", "file read", "files read"),
        ("reused", "of them as it was and not read again", "of them as they were and not read again"),
        ("triples", "triple", "triples"),
        ("blank_nodes", "blank node", "blank nodes"),
        ("left_out", "statement left out", "statements left out"),
        ("vanished_subjects", "subject no longer in the dump", "subjects no longer in the dump"),
    ):
        if key in counts:
            words.append(f"{number(counts[key])} {one if counts[key] == 1 else many}")
    if "added" in counts:
        words.append(f"+{number(counts['added'])} \N{MINUS SIGN}{number(counts['removed'])}")
    if "doing" in figures and "triples" not in figures:
        words.append(f"{figures['doing']} {figures.get('at', '')}".strip())
    if "generation" in figures:
        words.append(f"generation {figures['generation']}")
    return words
