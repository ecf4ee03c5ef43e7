"""
`harvest serve`: the schedule in this process, the web front in another; `harvest schedule`: the schedule alone.

The front is a process of its own so that a burst of queries takes no time from the harvest, and ends with this one. It
is started again if it dies.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import structlog

from harvest.config.settings import Settings
from harvest.errors import BusyError, SettingsError
from harvest.pipeline import Harvester, opened
from harvest.pipeline.opening import engine_of
from harvest.pipeline.priority import aside
from harvest.service.following import as_replica
from harvest.service.log import log_to_stderr
from harvest.service.schedule import Scheduler
from harvest.service.updates import Updates
from harvest.service.web import CONFIG, address, check_port, configured, front_of
from sparql.errors import EngineLost
from sparql.web import server
from sparql.web.app import Application
from sparql.web.catalog import Operator

log = structlog.get_logger()

READY_S = 300.0
"""Seconds in which the front must answer while it runs; it needs one on a slow core, 30 were too few on a busy one."""

ENGINE_S = 2.0
"""Seconds after which an engine that did not answer is asked again."""

STOP_S = 15.0
"""Seconds that the front gets to end the requests that run."""


def serve(settings: Settings) -> None:
    """
    Run an instance until SIGTERM or SIGINT.

    Raises:
        BusyError: Another process has the data directory, or the port is taken.
    """
    stop = _begun(settings)
    if stop.is_set():
        return
    with running(settings) as front:
        log.info("serving", address=settings.base_url, bind=settings.bind, data=str(settings.data_dir))
        while not stop.wait(0.5):
            front.keep()
        log.info("stopping")


def schedule(settings: Settings) -> None:
    """
    Harvest for an instance until SIGTERM or SIGINT, without a web front.

    Raises:
        BusyError: Another process has the data directory.
    """
    stop = _begun(settings)
    if stop.is_set():
        return
    with aside(opened(as_replica(settings))) as instance:
        scheduler = Scheduler(Harvester(instance))
        try:
            scheduler.start()
            log.info("harvesting alone", data=str(settings.data_dir))
            stop.wait()
            log.info("stopping")
        finally:
            scheduler.stop()


def _begun(settings: Settings) -> threading.Event:
    """What SIGTERM and SIGINT set, once the log is written and the engine, where there is one, answers."""
    log_to_stderr()
    stop = server.Interrupt()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    wait_for_engine(settings, stop)
    return stop


def wait_for_engine(settings: Settings, stop: threading.Event) -> None:
    """Return once the engine that is the store answers, or when `stop` is set; both may have been started at once."""
    if settings.store is None:
        return
    said = ""
    while not stop.is_set():
        try:
            engine_of(settings.store)
            return
        except EngineLost as error:
            if error.message != said:
                log.warning("waiting for the engine", reason=error.message)
            said = error.message
            stop.wait(ENGINE_S)


@contextmanager
def running(settings: Settings) -> Iterator[Front]:
    """
    An instance that harvests and answers; ended with the block.

    Raises:
        BusyError: Another process has the data directory, or the port is taken.
    """
    check_port(settings.bind)
    settings = as_replica(settings)
    with aside(opened(settings)) as instance:
        scheduler = Scheduler(Harvester(instance))
        front = Front(settings)
        try:
            front.start()
            scheduler.start()
            yield front
        finally:
            scheduler.stop()
            front.stop()


class Front:
    """The web front's process."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._process: subprocess.Popen[bytes] | None = None
        self._started = 0.0

    def start(self) -> None:
        """
        Start it, and wait until it answers.

        Raises:
            BusyError: It did not answer in time.
        """
        self._launch()
        end = time.monotonic() + READY_S
        while time.monotonic() < end and self._alive():
            with suppress(OSError, urllib.error.HTTPError):
                urllib.request.urlopen(f"http://{self._settings.bind}/healthz", timeout=2).close()
                return
            time.sleep(0.05)
        self.stop()
        raise BusyError(
            f"the web front did not answer at {self._settings.bind} within {READY_S:g} s; see its log above"
        )

    def keep(self) -> None:
        """Start it again if it died; not more often than every few seconds."""
        if not self._alive() and time.monotonic() - self._started > 3:
            log.error("the web front ended and is started again")
            self._launch()

    def stop(self) -> None:
        """End it."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def _launch(self) -> None:
        file = self._settings.file
        if file is None:
            raise SettingsError("the web front reads its settings from a file; name one with --config")
        self._started = time.monotonic()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "harvest.service.serve", str(os.getpid())],
            env=os.environ | {CONFIG: str(file)},
        )


def application() -> Application:
    """The web front of the instance whose settings file HARVEST_CONFIG names; the ASGI entry."""
    settings = configured()
    updates, token = Updates(settings), settings.query.operator_token
    return front_of(settings, Operator(token, updates, updates.change) if token else None)


def free_port() -> int:
    """A port of the loopback address that nobody uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _serve_front(parent: int) -> None:
    """The front's process: serve until the process that started it ends, or says so."""
    server.run("harvest.service.serve:application", *address(configured().bind), parent=parent)


if __name__ == "__main__":
    _serve_front(int(sys.argv[1]))
