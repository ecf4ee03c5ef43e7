"""
What commands ask for, done: in the asking process when it can have the data directory, else by the one that has it.

An answer is JSON: `ok`, and `results` with one object a provider or file.
"""

from __future__ import annotations

import json
import math
import time
from base64 import b64decode
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import partial

import structlog

from harvest.config.settings import Settings
from harvest.errors import BusyError, HarvestError, unusable
from harvest.ledger import Database, Ledger, Request
from harvest.ledger.requests import UPDATE
from harvest.pipeline import Harvester, now_utc, opened
from harvest.pipeline.priority import step_aside
from harvest.pipeline.prune import PruneRule, prune
from harvest.pipeline.rebuild.rebuild import as_json as rebuilt_json
from harvest.pipeline.track.tracking import Plan, track
from harvest.pipeline.track.tracking import as_json as tracked_json
from harvest.service.following import check_replica
from harvest.service.order_run import Answer, answered, harvest_answer, run
from sparql.errors import SparqlError, StoreError, UpdateNotTaken
from sparql.reports import to_json

log = structlog.get_logger()

POLL_S = 0.2
PATIENCE_S = 5.0
"""Seconds after which a request that nobody took is withdrawn, and the asking process tries to do it itself."""

HARVESTING = ("run", "approve")
"""Commands that harvest: their senders are shown how far it is."""


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
        KeyboardInterrupt: Somebody interrupts it; the message says who goes on, where somebody does.
    """
    while True:
        try:
            opening = opened(settings, on_step=on_step, renew=command == "rebuild")
            with opening as instance, closing(Harvester(instance)) as harvester:
                done = execute(harvester, command, names)
                harvester.downloads.finish_files()  # where the instance goes on, nobody waits for them
                return done
        except BusyError:
            answer = _handed_over(settings, command, names, on_step)
            if answer is not None:
                return answer


def _handed_over(
    settings: Settings, command: str, names: Sequence[str], on_step: Callable[[str, str], None]
) -> Answer | None:
    """The answer of the process that has the data directory; None when it takes no requests (any more)."""
    ledger = Ledger(Database(settings.layout.ledger))

    def show() -> None:
        """Show what the other process harvests meanwhile."""
        for name, standings in ledger.standings.of(names or None).items():
            for running in (running for standing in standings for running in standing.running):
                if running.is_busy and running.step:
                    on_step(name, running.step.name)

    asked = ledger.requests.ask(command, names, now_utc())
    try:
        return awaited(ledger, asked, Patience(PATIENCE_S, POLL_S), show if command in HARVESTING else _nothing)
    except KeyboardInterrupt:
        if ledger.requests.withdraw(asked):
            raise
        raise KeyboardInterrupt("the process that has the instance open goes on with it") from None


def _nothing() -> None:
    """Show nothing while an answer is waited for."""


def awaited(ledger: Ledger, id: int, patience: Patience, on_poll: Callable[[], None] = _nothing) -> Answer | None:
    """
    The answer to a request; None when nobody took it in time, and it is withdrawn. `on_poll` is called at each look.

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
        on_poll()
        time.sleep(patience.poll_s)
    return answer


def execute(harvester: Harvester, command: str, names: Sequence[str]) -> Answer:
    """Do a command here; the answer says what failed."""
    commands: dict[str, Callable[[Harvester, Sequence[str]], Answer]] = {
        "run": run,
        "approve": _approve,
        "skip": _skip,
        "forget": _forget,
        "export": _export,
        "verify": _verify,
        "verify --store": _verify_store,
        "prune": _prune,
        "compact": _compact,
        "track": _track,
        "rebuild": _rebuild,
        "rebuild --check": _rebuild_check,
        "seeds run": _run_seeds,
        "seeds load": _load_seeds,
        "seeds unload": _unload_seeds,
        UPDATE: _update,
    }
    try:
        check_replica(harvester.instance.settings.follow, command)
        return commands[command](harvester, names)
    except (HarvestError, SparqlError) as error:
        return {"ok": False, "error": error.message, "kind": type(error).__name__, "results": []}
    except OSError as error:
        return {"ok": False, "error": unusable(error), "kind": StoreError.__name__, "results": []}


def _approve(harvester: Harvester, names: Sequence[str]) -> Answer:
    results = [harvest_answer(harvester, result) for name in names for result in harvester.approve(name)]
    return {"ok": all(result["outcome"] != "failed" for result in results), "results": results}


def _skip(harvester: Harvester, names: Sequence[str]) -> Answer:
    """Drop the announcement of a provider that blocks, or the one with the number that follows; harvest what waited."""
    name, *numbers = names
    harvester.instance.roster.refresh()
    skipped = harvester.skip(name, int(numbers[0]) if numbers else None)
    figures = {"announcement": skipped.announcement, "run": None, "dataset": skipped.dataset.iri, "version": None}
    results = [harvest_answer(harvester, result) for result in harvester.work(name)]
    return {
        "ok": all(result["outcome"] != "failed" for result in results),
        "results": [answered(name, "skipped", None) | figures, *results],
    }


def _forget(harvester: Harvester, names: Sequence[str]) -> Answer:
    harvester.instance.roster.refresh()
    for name in names:
        harvester.forget(name)
    return {"ok": True, "results": [answered(name, "forgotten", None) for name in names]}


def _export(harvester: Harvester, names: Sequence[str]) -> Answer:
    files, ledger = harvester.export(), harvester.instance.ledger
    found = [finding.message for record in ledger.providers() for finding in ledger.damages.of(record.name)]
    answer: Answer = {"ok": not found, "results": [{"file": file} for file in files]}
    return answer | ({"error": "; ".join(found)} if found else {})


def _verify(harvester: Harvester, names: Sequence[str]) -> Answer:
    known = {record.name: record for record in harvester.instance.ledger.providers()}
    if unknown := [name for name in names if name not in known]:
        return {"ok": False, "error": f"never harvested here: {', '.join(unknown)}", "results": []}
    proofs = (
        [proof for name in names for proof in harvester.prove(name)] if names else harvester.maintenance.prove_all()
    )
    return {"ok": all(proof.holds for proof in proofs), "results": [asdict(proof) for proof in proofs]}


def _verify_store(harvester: Harvester, names: Sequence[str]) -> Answer:
    """Compare the store with the versions; the first word is a JSON object with the options."""
    options, *words = names
    proofs = harvester.maintenance.prove_store(words, **json.loads(options))
    return {"ok": all(proof.holds for proof in proofs), "results": [asdict(proof) for proof in proofs]}


def _prune(harvester: Harvester, names: Sequence[str]) -> Answer:
    """Remove old captures; the words are the number of versions and the time of what is kept, or empty."""
    versions, since, *dry = names
    keep = PruneRule(int(versions) if versions else None, datetime.fromisoformat(since) if since else None)
    return {"ok": True, "results": [asdict(item) for item in prune(harvester.instance, keep, dry_run=bool(dry))]}


def _compact(harvester: Harvester, names: Sequence[str]) -> Answer:
    """Drop the versions of a provider but for the newest; the words are its name and how many are kept."""
    name, keep = names
    return {"ok": True, "results": [asdict(harvester.maintenance.compact(name, int(keep)))]}


def _track(harvester: Harvester, names: Sequence[str]) -> Answer:
    """Ask for URLs and for what handlers want in turn; the first word is a JSON object of the other options."""
    options, *urls = names
    return tracked_json(track(harvester.instance, Plan(tuple(urls), **json.loads(options))))


def _rebuild(harvester: Harvester, names: Sequence[str], *, check: bool = False) -> Answer:
    """Make the versions of providers again from the archive."""
    if not names:
        mended = harvester.maintenance.mend()
        return {"ok": all(item.mended for item in mended), "results": [asdict(item) for item in mended]}
    results = [rebuilt_json(name, version) for name in names for version in harvester.rebuild(name, check=check)]
    return {"ok": all(result["same"] for result in results), "results": results}


def _rebuild_check(harvester: Harvester, names: Sequence[str]) -> Answer:
    return _rebuild(harvester, names, check=True)


def _run_seeds(harvester: Harvester, names: Sequence[str]) -> Answer:
    """Download the seeds with these URIs, or all that are stale."""
    results = harvester.seeding.run(names)
    return {"ok": all(result.problem is None for result in results), "results": to_json(results)}


def _load_seeds(harvester: Harvester, names: Sequence[str]) -> Answer:
    """Put the clean documents of these hashes into graphs of their own."""
    return {"ok": True, "results": [{"graph": graph} for name in names for graph in harvester.seeding.load(name)]}


def _unload_seeds(harvester: Harvester, names: Sequence[str]) -> Answer:
    """Take the clean documents of these hashes out of their graphs."""
    return {"ok": True, "results": [{"graph": graph} for name in names for graph in harvester.seeding.unload(name)]}


def _update(harvester: Harvester, names: Sequence[str]) -> Answer:
    """Carry out a SPARQL update, the only word; or apply a change, base64 behind the IRI of its graph."""
    first, *change = names
    written = harvester.writing.change(first, b64decode(change[0])) if change else harvester.update(first)
    return {"ok": True, "results": [asdict(written)]}


class Inbox:
    """What commands asked of this process."""

    def __init__(self, harvester: Harvester) -> None:
        self._harvester = harvester
        self._threads = ThreadPoolExecutor(2, "inbox", initializer=step_aside)
        # Their senders wait, and others may take hours.
        self._updates = ThreadPoolExecutor(2, "update")

    def serve(self) -> None:
        """Begin everything that waits; nothing is written when nothing does."""
        while (request := self._harvester.instance.ledger.requests.take(now_utc())) is not None:
            log.info("asked", command=request.command, words=len(request.names))
            threads = self._updates if request.command == UPDATE else self._threads
            threads.submit(self._answer, request).add_done_callback(partial(self._ended, request))

    def _answer(self, request: Request) -> None:
        answer = execute(self._harvester, request.command, request.names)
        self._harvester.instance.ledger.requests.finish(request.id, answer, now_utc())

    def _ended(self, request: Request, future: Future[None]) -> None:
        """Answer what was not, for somebody waits. What was not begun is taken at the next start, unless an update."""
        if future.cancelled() and request.command == UPDATE:
            error, kind = "The instance shuts down; nothing was changed.", UpdateNotTaken.__name__
        elif not future.cancelled() and (fault := future.exception()) is not None:
            log.error("request failed", command=request.command, reason=repr(fault))
            error, kind = f"a fault of ours, {type(fault).__name__}: {fault}; the log says more", SparqlError.__name__
        else:
            return
        answer = {"ok": False, "error": error, "kind": kind, "results": []}
        self._harvester.instance.ledger.requests.finish(request.id, answer, now_utc())

    def stop(self) -> None:
        """Wait for what was begun."""
        self._updates.shutdown(wait=True, cancel_futures=True)
        self._threads.shutdown(wait=True, cancel_futures=True)
