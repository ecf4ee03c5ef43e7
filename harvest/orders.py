"""
What commands ask for, done: in the asking process when it can have the data directory, else by the one that has it.

An answer is JSON: `ok`, and `results` with one object a provider or file.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import partial
from typing import Any

import structlog

from harvest.errors import BusyError, HarvestError
from harvest.ledger import Database, Ledger, Request
from harvest.ledger.requests import UPDATE
from harvest.model import Finding, Outcome, Source
from harvest.pipeline import Desk, Result, now_utc, opened
from harvest.pipeline.instance import LEDGER
from harvest.pipeline.prune import Keep, prune
from harvest.pipeline.rebuild import as_json as rebuilt_json
from harvest.pipeline.tracking import Plan, track
from harvest.pipeline.tracking import as_json as tracked_json
from harvest.priority import step_aside
from harvest.settings import Settings
from sparql.errors import SparqlError, StoreError, UpdateNotTaken

log = structlog.get_logger()

POLL_S = 0.2
PATIENCE_S = 5.0
"""Seconds after which a request that nobody took is withdrawn, and the asking process tries to do it itself."""

WRITTEN = Finding("updates", "its graph is written by SPARQL updates (`harvest update`); there is nothing to fetch")

Answer = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Patience:
    """
    How long the answer to a request is waited for, in seconds.

    Attributes:
        taken_s: Until somebody takes it.
        poll_s: Between two looks.
        answered_s: Until it is answered.
    """

    taken_s: float
    poll_s: float
    answered_s: float = math.inf


def carry_out(settings: Settings, command: str, names: Sequence[str], on_step: Callable[[str, str], None]) -> Answer:
    """
    The answer to a command.

    Raises:
        HarvestError: The data directory cannot be used.
    """
    while True:
        try:
            with opened(settings, on_step=on_step) as workshop:
                return execute(Desk(workshop), command, names)
        except BusyError:
            answer = _handed_over(settings, command, names)
            if answer is not None:
                return answer


def _handed_over(settings: Settings, command: str, names: Sequence[str]) -> Answer | None:
    """The answer of the process that has the data directory; None when it takes no requests (any more)."""
    ledger = Ledger(Database(settings.data_dir / LEDGER))
    return awaited(ledger, ledger.requests.ask(command, names, now_utc()), Patience(PATIENCE_S, POLL_S))


def awaited(ledger: Ledger, id: int, patience: Patience) -> Answer | None:
    """
    The answer to a request; None when nobody took it in time, and it is withdrawn.

    Raises:
        TimeoutError: It was taken, and the answer did not come in time.
    """
    asked = time.monotonic()
    while (answer := ledger.requests.answer(id)) is None:
        waited = time.monotonic() - asked
        if waited > patience.taken_s and ledger.requests.withdraw(id):
            return None
        if waited > patience.answered_s:
            raise TimeoutError
        time.sleep(patience.poll_s)
    return answer


def execute(desk: Desk, command: str, names: Sequence[str]) -> Answer:
    """Do a command here; what fails is told in the answer."""
    commands: dict[str, Callable[[Desk, Sequence[str]], Answer]] = {
        "run": _run,
        "approve": _approve,
        "forget": _forget,
        "export": _export,
        "verify": _verify,
        "prune": _prune,
        "track": _track,
        "rebuild": _rebuild,
        "rebuild --check": _rebuild_check,
        "seeds run": _run_seeds,
        "seeds load": _load_seeds,
        "seeds unload": _unload_seeds,
        UPDATE: _update,
    }
    try:
        return commands[command](desk, names)
    except (HarvestError, SparqlError) as error:
        return {"ok": False, "error": error.message, "kind": type(error).__name__, "results": []}
    except OSError as error:
        return {"ok": False, "error": str(error), "kind": StoreError.__name__, "results": []}


def _run(desk: Desk, names: Sequence[str]) -> Answer:
    """Look at providers now, whatever their dates, and harvest what they hold."""
    desk.workshop.roster.refresh()
    chosen = list(names) or [name for name, provider in desk.workshop.roster.all().items() if provider.enabled]
    results: list[Answer] = []
    for name in chosen:
        look = desk.look(name, forced=bool(names))
        if look.failed:
            results.append(_result(name, Outcome.FAILED.value, look.failed))
            continue
        harvested = [_told(desk, result) for result in desk.work(name)]
        provider = desk.workshop.roster.get(name)
        if provider is not None and provider.source is Source.UPDATES:
            results += harvested or [_result(name, "nothing to fetch", WRITTEN)]
        else:
            results += harvested or [_result(name, "nothing new", None)]
    return {"ok": all(result["outcome"] not in ("failed", "held") for result in results), "results": results}


def _approve(desk: Desk, names: Sequence[str]) -> Answer:
    results = [_told(desk, result) for name in names for result in desk.approve(name)]
    return {"ok": all(result["outcome"] != "failed" for result in results), "results": results}


def _forget(desk: Desk, names: Sequence[str]) -> Answer:
    desk.workshop.roster.refresh()
    for name in names:
        desk.forget(name)
    return {"ok": True, "results": [_result(name, "forgotten", None) for name in names]}


def _export(desk: Desk, names: Sequence[str]) -> Answer:
    return {"ok": True, "results": [{"file": file} for file in desk.export()]}


def _verify(desk: Desk, names: Sequence[str]) -> Answer:
    known = {record.name: record for record in desk.workshop.ledger.providers()}
    if unknown := [name for name in names if name not in known]:
        return {"ok": False, "error": f"never harvested here: {', '.join(unknown)}", "results": []}
    proofs = [proof for name in names or known for proof in desk.prove(name)]
    return {"ok": all(proof.holds for proof in proofs), "results": [asdict(proof) for proof in proofs]}


def _prune(desk: Desk, names: Sequence[str]) -> Answer:
    """Remove old captures; the words are the number of versions and the time of what is kept, or empty."""
    versions, since, *dry = names
    keep = Keep(int(versions) if versions else None, datetime.fromisoformat(since) if since else None)
    return {"ok": True, "results": [asdict(item) for item in prune(desk.workshop, keep, dry_run=bool(dry))]}


def _track(desk: Desk, names: Sequence[str]) -> Answer:
    """Ask for URLs and for what handlers want in turn; the first word is a JSON object of the other options."""
    options, *urls = names
    return tracked_json(track(desk.workshop, Plan(tuple(urls), **json.loads(options))))


def _rebuild(desk: Desk, names: Sequence[str], *, check: bool = False) -> Answer:
    """Make the versions of providers again from the archive."""
    results = [rebuilt_json(name, version) for name in names for version in desk.rebuild(name, check=check)]
    return {"ok": all(result["same"] for result in results), "results": results}


def _rebuild_check(desk: Desk, names: Sequence[str]) -> Answer:
    return _rebuild(desk, names, check=True)


def _run_seeds(desk: Desk, names: Sequence[str]) -> Answer:
    """Download the seeds with these URIs, or all that are stale."""
    results = desk.seeding.run(names)
    return {"ok": all(result["problem"] is None for result in results), "results": results}


def _load_seeds(desk: Desk, names: Sequence[str]) -> Answer:
    """Put the clean documents of these hashes into graphs of their own."""
    return {"ok": True, "results": [{"graph": graph} for name in names for graph in desk.seeding.load(name)]}


def _unload_seeds(desk: Desk, names: Sequence[str]) -> Answer:
    """Take the clean documents of these hashes out of their graphs."""
    return {"ok": True, "results": [{"graph": graph} for name in names for graph in desk.seeding.unload(name)]}


def _update(desk: Desk, names: Sequence[str]) -> Answer:
    """Carry out a SPARQL update, the first word."""
    written = desk.update(names[0])
    return {"ok": True, "results": [asdict(written)]}


def _told(desk: Desk, result: Result) -> Answer:
    run = next(iter(desk.workshop.ledger.runs(result.provider, 1)), None)
    figures = {} if run is None else {"added": run.added, "removed": run.removed, "version": run.version}
    return _result(result.provider, result.outcome.value, result.finding) | figures


def _result(name: str, outcome: str, finding: Finding | None) -> Answer:
    return {"name": name, "outcome": outcome, "finding": None if finding is None else asdict(finding)}


class Inbox:
    """What commands asked of this process."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._threads = ThreadPoolExecutor(2, "inbox", initializer=step_aside)
        # Their senders wait, and others may take hours.
        self._updates = ThreadPoolExecutor(2, "update")

    def serve(self) -> None:
        """Begin everything that waits; nothing is written when nothing does."""
        while (request := self._desk.workshop.ledger.requests.take(now_utc())) is not None:
            log.info("asked", command=request.command, words=len(request.names))
            threads = self._updates if request.command == UPDATE else self._threads
            threads.submit(self._answer, request).add_done_callback(partial(self._ended, request))

    def _answer(self, request: Request) -> None:
        answer = execute(self._desk, request.command, request.names)
        self._desk.workshop.ledger.requests.finish(request.id, answer, now_utc())

    def _ended(self, request: Request, future: Future[None]) -> None:
        """Answer what was not, for somebody waits. What was not begun is taken at the next start, unless an update."""
        if future.cancelled() and request.command == UPDATE:
            error, kind = "The instance shuts down; nothing was changed.", UpdateNotTaken.__name__
        elif not future.cancelled() and (fault := future.exception()) is not None:
            log.error("request failed", command=request.command, reason=repr(fault))
            error, kind = f"a fault of ours, {type(fault).__name__}: {fault}; the log tells more", SparqlError.__name__
        else:
            return
        answer = {"ok": False, "error": error, "kind": kind, "results": []}
        self._desk.workshop.ledger.requests.finish(request.id, answer, now_utc())

    def stop(self) -> None:
        """Wait for what was begun."""
        self._updates.shutdown(wait=True, cancel_futures=True)
        self._threads.shutdown(wait=True, cancel_futures=True)
