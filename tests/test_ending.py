"""Ctrl-C, memory that ends, places that cannot be written: the last line says why, and the next run goes on."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import structlog
from click.testing import CliRunner
from structlog.testing import capture_logs

from harvest.catalog.instance import InstanceCatalog
from harvest.cli.main import main
from harvest.model import Outcome
from harvest.pipeline import now_utc
from harvest.service.schedule import Scheduler
from harvest.wash import tasks
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_crash import published
from tests.pipeline.test_semantics import A1, A2, release
from tests.provider import Page, ProviderServer, serving

Capture = pytest.CaptureFixture[str]
ROOT = Path(__file__).resolve().parents[1]
HARVEST = "from harvest.cli.main import main; main()"
PATIENCE_S = 120
LATE_S = 60
"""Below the time for which the provider holds an answer."""


@pytest.fixture
def provider() -> Iterator[ProviderServer]:
    with serving() as server:
        yield server


@pytest.fixture
def registered(tmp_path: Path) -> Iterator[TemporaryInstance]:
    """An instance with the settings file that commands want."""
    made = TemporaryInstance(tmp_path)
    (tmp_path / "harvest.yaml").write_text(
        "base_url: http://h.example\ngraph_base: http://h.example/graph/\ndata_dir: var\nexports_dir: exports\n"
        "http: {allow_loopback: true, retries: 0}\n"
    )
    yield made
    made.close()


def begun(instance: TemporaryInstance, *words: str) -> subprocess.Popen[str]:
    """A command, in a process group of its own and with the signal of Ctrl-C at its default, as a terminal has it."""
    return subprocess.Popen(
        [sys.executable, "-c", HARVEST, *words, "--config", str(instance.folder / "harvest.yaml")],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),  # tests in the background have it ignored
    )


def until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def interrupted(process: subprocess.Popen[str]) -> str:
    """What a command says last that gets Ctrl-C; all that it started gets it as well."""
    os.killpg(process.pid, signal.SIGINT)
    began = time.monotonic()
    _, said = process.communicate(timeout=PATIENCE_S)
    assert time.monotonic() - began < LATE_S, "it waits for the provider"
    assert process.returncode == 130, said
    assert "Traceback" not in said
    return said.splitlines()[-1]


def ended(instance: TemporaryInstance, *words: str) -> tuple[int, str]:
    """The exit code of a command, and what it says."""
    done = CliRunner().invoke(main, [*words, "--config", str(instance.folder / "harvest.yaml")])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output


class HeldPages(dict[str, Page]):
    """Pages of which one is answered only when the test lets it."""

    def __init__(self, held: str) -> None:
        super().__init__()
        self.asked = threading.Event()
        self.free = threading.Event()
        self._held = held

    def get(self, path: str, default: Any = None) -> Any:
        if path == self._held:
            self.asked.set()
            self.free.wait(PATIENCE_S)
        return super().get(path, default)


@pytest.mark.parametrize("held", ["/void.ttl", "/1.ttl"], ids=["description", "dump"])
def test_ctrl_c_ends_a_run_that_waits_for_a_server(registered: TemporaryInstance, held: str) -> None:
    """At once, with a reason and the exit code that shells know; what was asked for is asked for by the next run."""
    with serving() as provider:
        pages = HeldPages(held)
        provider.pages = pages
        release(provider, 1, A1)
        registered.register(f"p:\n  void: {provider.url}/void.ttl\n")
        process = begun(registered, "run")
        try:
            assert pages.asked.wait(PATIENCE_S)
            last = interrupted(process)
        finally:
            process.kill()
            pages.free.set()
        assert last == "harvest: interrupted; what was done so far stays"
        code, said = ended(registered, "run")
        assert code == 0 and "p  committed  +1 -0" in said


@pytest.mark.parametrize("taken", [False, True], ids=["nobody took it", "taken"])
def test_ctrl_c_takes_back_what_another_process_was_asked_for(registered: TemporaryInstance, taken: bool) -> None:
    """Unless that one has begun: then the last line says that it goes on."""
    registered.register("{}\n")
    requests = registered.harvester.instance.ledger.requests
    asked = partial(registered.harvester.instance.ledger.database.row, "SELECT id FROM request")
    process = begun(registered, "run")
    try:
        until(asked)
        if taken:
            assert requests.take(now_utc())
        last = interrupted(process)
    finally:
        process.kill()
        registered.close()
    rows = registered.harvester.instance.ledger.database.rows("SELECT id FROM request")
    registered.close()
    goes_on = "harvest: interrupted; the process that has the instance open goes on with it"
    assert (goes_on in last, len(rows)) == (taken, 1 if taken else 0)


def starved(*args: Any, **kwargs: Any) -> None:
    """Washing that finds no memory."""
    raise MemoryError


def test_washing_without_memory_is_a_finding(
    registered: TemporaryInstance, provider: ProviderServer, monkeypatch: pytest.MonkeyPatch, capfd: Capture
) -> None:
    """It is trouble of this dump, tried again later; no stack trace is in the log."""
    registered.register(f"p:\n  void: {provider.url}/void.ttl\n")
    release(provider, 1, A1)
    with monkeypatch.context() as patched:
        patched.setattr(tasks, "union", starved)
        [result] = registered.tick("p")
    assert result.outcome is Outcome.FAILED and result.finding is not None
    assert f"washing {provider.url}/1.ttl needs more than 4 GiB of memory" in result.finding.message
    assert "Traceback" not in "".join(capfd.readouterr())
    registered.clock.forward(days=1)
    assert [each.outcome for each in registered.tick("p")] == [Outcome.COMMITTED]


def test_exports_that_cannot_be_written_stop_nothing_else(
    registered: TemporaryInstance, provider: ProviderServer
) -> None:
    """A file stands where the folder should be, as permissions do not hold for root; the error names it."""
    registered.register(f"p:\n  void: {provider.url}/void.ttl\n")
    release(provider, 1, A1)
    folder = registered.settings.exports_dir
    folder.write_text("in the way")
    assert ended(registered, "run")[0] == 0
    code, said = ended(registered, "export")
    assert code == 1 and said.splitlines()[-1].startswith(f"harvest: the exports in {folder} cannot be written: ")
    assert ended(registered, "verify")[0] == 0
    code, said = ended(registered, "status")
    assert code == 0 and "last export: none yet" in said
    folder.unlink()
    assert ended(registered, "export")[0] == 0
    assert (folder / "p.nq.gz").is_file()


class Full(sqlite3.Connection):
    """A ledger on a disk that is full now and then."""

    is_full = False

    def execute(self, sql: str, *parameters: Any) -> sqlite3.Cursor:
        if self.is_full and sql == "COMMIT":
            raise sqlite3.OperationalError("database or disk is full")
        return super().execute(sql, *parameters)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> type[Full]:
    """What ledgers are opened with: its `is_full` may be set."""

    class Now(Full):
        """One for each test."""

    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Now))
    return Now


def test_a_ledger_without_room_ends_commands_with_the_reason(
    registered: TemporaryInstance, provider: ProviderServer, disk: type[Full]
) -> None:
    """Nothing can be filed about it: the command says it, what is filed stays readable, the next run goes through."""
    registered.register(f"p:\n  void: {provider.url}/void.ttl\n")
    release(provider, 1, A1)
    assert ended(registered, "run")[0] == 0
    release(provider, 2, A2)
    disk.is_full = True
    ledger = registered.settings.layout.ledger
    for command in ("run", "verify", "export"):
        code, said = ended(registered, command)
        assert code == 1 and "Traceback" not in said
        last = said.splitlines()[-1]
        assert last == f"harvest: the ledger {ledger} cannot be written: database or disk is full"
    code, said = ended(registered, "status")
    assert code == 0 and said.count(f"ledger: the ledger {ledger} could not be written since 20") == 1
    code, said = ended(registered, "status", "--json")
    found = json.loads(said)[0]["findings"][0]
    assert code == 0 and found["kind"] == "ledger" and found["fatal"] and "make room on its disk" in found["message"]
    status = InstanceCatalog(registered.settings).status()
    assert status.ledger_problem == found["message"]
    disk.is_full = False
    code, said = ended(registered, "run")
    assert code == 0 and "p  committed  +1 -1  version 2" in said
    assert "ledger: " not in ended(registered, "status")[1]
    assert InstanceCatalog(registered.settings).status().ledger_problem is None


class NoIndex(sqlite3.Connection):
    """What SQLite says of a ledger at rest on a full disk: even reading it takes a file of 32 kB beside it."""

    def __init__(self, address: str, **options: Any) -> None:
        super().__init__(address, **options)
        self.fails = "mode=ro" in address and "immutable" not in address

    def execute(self, sql: str, *parameters: Any) -> sqlite3.Cursor:
        if self.fails:
            raise sqlite3.OperationalError("disk I/O error")
        return super().execute(sql, *parameters)


def test_a_ledger_at_rest_is_read_on_a_full_disk(
    registered: TemporaryInstance, provider: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody writes it, and all of it is in its file; as seen on a tmpfs that was filled."""
    registered.register(f"p:\n  void: {provider.url}/void.ttl\n")
    release(provider, 1, A1)
    assert ended(registered, "run")[0] == 0
    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=NoIndex))
    code, said = ended(registered, "status")
    assert code == 0 and "committed" in said


def test_a_ledger_on_a_full_or_read_only_disk_is_reported_before_anything_fails(
    registered: TemporaryInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody has tried to write since the disk filled up, or not even the mark of that can be made."""
    registered.register("{}\n")
    assert ended(registered, "run")[0] == 0
    measured = os.statvfs(registered.settings.data_dir)
    figures = list(measured)

    def now(place: int, value: int) -> str | None:
        changed = os.statvfs_result([*figures[:place], value, *figures[place + 1 :]])
        monkeypatch.setattr(os, "statvfs", lambda _: changed)
        return InstanceCatalog(registered.settings).status().ledger_problem

    assert "its disk is full; make room" in str(now(4, 0))
    assert "its disk is read-only" in str(now(8, measured.f_flag | os.ST_RDONLY))
    assert InstanceCatalog(registered.settings, apart=True).ledger_problem() is None  # mounted so for the front alone
    assert now(4, 1 << 30) is None


def test_a_ledger_without_room_ends_no_schedule(
    registered: TemporaryInstance, provider: ProviderServer, disk: type[Full]
) -> None:
    """The log has the reason at each try; the last version is served, and the next one comes once there is room."""
    registered.register(f"p:\n  void: {provider.url}/void.ttl\n")
    release(provider, 1, A1)
    registered.tick("p")
    scheduler = Scheduler(registered.harvester)
    scheduler._jobs.start(paused=True)  # the test calls them
    ledger = registered.harvester.instance.ledger
    release(provider, 2, A2)
    structlog.reset_defaults()  # a command that ran before in this process has kept the log to errors
    disk.is_full = True
    with capture_logs() as logged:
        for job in (scheduler.update, scheduler.settle, scheduler.export, scheduler.status, scheduler.retry):
            job()
    why = f"the ledger {ledger.database.path} cannot be written: database or disk is full (it will be tried again)"
    assert {"event": "description not usable", "provider": "p", "reason": why, "log_level": "warning"} in logged
    assert not any("exc_info" in line or "Error" in str(line.get("reason")) for line in logged), logged
    assert published(registered) == {A1}
    disk.is_full = False
    registered.clock.forward(days=1)
    for job in (scheduler.update, scheduler.settle):
        job()
    until(lambda: [version.state for version in ledger.versions("p")] == ["committed"] * 2)
    scheduler.stop()
    assert published(registered) == {A2}
