"""
What commands ask for, done: in the asking process when it can have the data directory, else by the one that has it.

An answer is JSON: `ok`, and `results` with one object a provider or file.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import Any

import structlog

from harvest.errors import BusyError, HarvestError
from harvest.ledger import Database, Ledger, Request
from harvest.model import Finding, Outcome
from harvest.pipeline import Desk, Result, now_utc, opened
from harvest.pipeline.instance import LEDGER
from harvest.settings import Settings

log = structlog.get_logger()

POLL_S = 0.2
PATIENCE_S = 5.0
"""Seconds after which a request that nobody took is withdrawn, and the asking process tries to do it itself."""

Answer = dict[str, Any]


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
    id = ledger.requests.ask(command, names, now_utc())
    asked = time.monotonic()
    while (answer := ledger.requests.answer(id)) is None:
        if time.monotonic() - asked > PATIENCE_S and ledger.requests.withdraw(id):
            return None
        time.sleep(POLL_S)
    return answer


def execute(desk: Desk, command: str, names: Sequence[str]) -> Answer:
    """Do a command here; what fails is told in the answer."""
    commands: dict[str, Callable[[Desk, Sequence[str]], Answer]] = {
        "run": _run,
        "approve": _approve,
        "forget": _forget,
        "export": _export,
        "verify": _verify,
    }
    try:
        return commands[command](desk, names)
    except HarvestError as error:
        return {"ok": False, "error": error.message, "results": []}


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
        self._threads = ThreadPoolExecutor(2, "inbox")

    def serve(self) -> None:
        """Begin everything that waits; nothing is written when nothing does."""
        while (request := self._desk.workshop.ledger.requests.take(now_utc())) is not None:
            log.info("asked", command=request.command, providers=list(request.names))
            self._threads.submit(self._answer, request)

    def _answer(self, request: Request) -> None:
        answer = execute(self._desk, request.command, request.names)
        self._desk.workshop.ledger.requests.finish(request.id, answer, now_utc())

    def stop(self) -> None:
        """Wait for what was begun."""
        self._threads.shutdown(wait=True, cancel_futures=True)
