"""
Cuts: an instance is ended at every operation on its disk in turn, and opened again.

A phase of the scenario is played once without a cut, which counts its operations and says what it comes to. Then, for
each of them, on a copy of the state before: a forked process plays the phase and is killed right before the operation,
or right after it, or the operation fails as on a full disk and the process goes on. Another process, or the same one
after a failure, does what is left a day later, and must come to what the uncut process came to.

Nothing is opened in the process that forks: RocksDB has threads, and a fork would lack them.
"""

from __future__ import annotations

import gc
import json
import logging
import os
import shutil
import signal
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

import structlog

from harvest.errors import StorageError
from harvest.pipeline.update import evaluating
from harvest.wash import process
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.disk import REMOVING, SWITCHING, Disk
from tests.pipeline.outcome import outcome
from tests.pipeline.scenario import SCENARIO, Phase

PATIENCE_S: Final = 120

MOST_WRONG: Final = 5
"""Cuts that go wrong until the others are left out: one that hangs takes all of `PATIENCE_S`."""


def run(folder: Path, phase: str, fates: tuple[str, ...], turns: bool, result: Path) -> None:
    """
    Play a phase on the state in `folder` with every cut, leave the state after it there, and file what came out.

    With `turns`, only the operations are cut that `turning` names.
    """
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    trial = Trial(folder, SCENARIO[phase])
    result.write_text(json.dumps(trial.run(fates, turns)))


class Trial:
    """One phase on one state."""

    def __init__(self, folder: Path, phase: Phase) -> None:
        self._base = folder / "base"
        self._work = folder / "work"
        self._phase = phase

    def run(self, fates: tuple[str, ...], turns: bool = False) -> dict[str, Any]:
        """How many cuts there were by fate, the operations, and what went wrong."""
        seen, wanted, kept = self._uncut()
        report: dict[str, Any] = {"operations": seen, "cuts": dict.fromkeys(fates, 0), "wrong": []}
        chosen = turning(seen) if turns else set(range(1, len(seen) + 1))
        for fate in fates:
            for at, what in enumerate(seen, 1):
                if at in chosen and _is_tried(what, fate) and len(report["wrong"]) < MOST_WRONG:
                    report["cuts"][fate] += 1
                    found = self._cut(at, fate)
                    if found != wanted:
                        wrong = f"{self._phase.name}, {fate} {at} of {len(seen)}, {what}: {_difference(wanted, found)}"
                        report["wrong"].append(wrong)
        shutil.rmtree(self._base)
        kept.rename(self._base)
        return report

    def _uncut(self) -> tuple[list[str], Any, Path]:
        """The operations of the phase, what it comes to, and the state afterwards."""
        self._restore()
        seen = _forked(partial(_played, self._work, self._phase))
        kept = self._work.with_name("kept")
        shutil.copytree(self._work, kept, symlinks=True)
        wanted = _forked(partial(_finished, self._work, self._phase))
        if not isinstance(seen, list) or "error" in wanted:
            raise AssertionError(f"{self._phase.name} without a cut: {seen}, {wanted}")
        return seen, wanted, kept

    def _cut(self, at: int, fate: str) -> Any:
        self._restore()
        if fate == "fails":
            return _forked(partial(_failed, self._work, self._phase, at))
        _forked(partial(_played, self._work, self._phase, Disk(at, fate)))
        return _forked(partial(_finished, self._work, self._phase))

    def _restore(self) -> None:
        shutil.rmtree(self._work, ignore_errors=True)
        shutil.copytree(self._base, self._work, symlinks=True)


def turning(operations: Sequence[str]) -> set[int]:
    """
    The operations, counted from 1, before which ledger, files and store may differ in what they know.

    Those are all that switch files or the store, and of ledger commits in a row the first.
    """
    chosen, last = set(), ""
    for at, what in enumerate(operations, 1):
        if what.startswith(SWITCHING):
            if what != "commit" or last != "commit":
                chosen.add(at)
            last = what
    return chosen


def _is_tried(what: str, fate: str) -> bool:
    if fate == "fails":
        return not what.startswith(REMOVING)
    return fate == "before" or what.startswith(SWITCHING)


def _played(folder: Path, phase: Phase, disk: Disk | None = None) -> list[str]:
    """Play a phase; the operations that it took."""
    disk = disk or Disk()
    disk.watch()
    phase.act(_instance(folder, phase.day))
    return disk.seen


def _failed(folder: Path, phase: Phase, at: int) -> Any:
    """Play a phase in which an operation fails, and go on in the same process."""
    disk = Disk(at, "fails")
    disk.watch()
    instance = _instance(folder, phase.day)
    with suppress(Exception):  # whoever asked gets the error, and asks again
        phase.act(instance)
    gc.collect()  # an exception and the frames that opened the store refer to each other
    disk.rest()
    return outcome(instance, phase)


def _finished(folder: Path, phase: Phase) -> Any:
    """What a phase comes to that is taken up by another process."""
    Disk().watch()
    return outcome(_instance(folder, phase.day), phase)


def _instance(folder: Path, day: int) -> TemporaryInstance:
    instance = TemporaryInstance(folder)
    instance.guard(10, 0.2)
    instance.clock.forward(days=day)
    setattr(process, "call", _call)  # noqa: B010  # one process for each washing takes half a second
    setattr(evaluating, "close_network", lambda: None)  # noqa: B010  # it would be closed for this process
    return instance


def _call(function: Callable[..., Any], bounds: process.Bounds, *args: Any, **kwargs: Any) -> Any:
    """Run a function of the washing in this process."""
    setattr(process, "_send_report", bounds.on_report)  # noqa: B010  # as a process of its own has it
    try:
        return function(*args, **kwargs)
    except OSError as error:
        raise StorageError(f"washing could not write: {error}", url=error.filename) from error


def _difference(wanted: Any, found: Any) -> str:
    """The first thing that differs."""
    if not isinstance(found, dict) or "error" in found:
        return str(found)[-3000:]
    for key in wanted:
        if wanted[key] != found.get(key):
            if isinstance(wanted[key], dict):
                return f"{key} " + _difference(wanted[key], found.get(key))
            return f"{key} {json.dumps(found.get(key))[:1500]} in place of {json.dumps(wanted[key])[:1500]}"
    return "nothing"


def _forked(work: Callable[[], Any]) -> Any:
    """What `work` returns in a forked process, through a file; None when it was killed."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _answer(work, writing)
    os.close(writing)
    ender = threading.Timer(PATIENCE_S, os.kill, (child, signal.SIGKILL))
    ender.start()
    began = time.monotonic()
    with os.fdopen(reading, "rb") as stream:
        text = stream.read()
    os.waitpid(child, 0)
    ender.cancel()
    ender.join()
    if time.monotonic() - began > PATIENCE_S:
        return {"error": "it hangs"}
    return json.loads(text) if text else None


def _answer(work: Callable[[], Any], writing: int) -> None:
    """Write what `work` returns, or why not, and end this process."""
    try:
        found = work()
    except Exception:  # noqa: BLE001  # whatever it is, the test reports it
        found = {"error": traceback.format_exc()}
    with os.fdopen(writing, "wb") as stream:
        stream.write(json.dumps(found).encode())
    os._exit(0)
