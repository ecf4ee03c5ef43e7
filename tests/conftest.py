"""
What holds for every test: no address but loopback, no unlisted skip under CI, and Hypothesis that repeats itself there.

The last lines of a run name the Debian packages that tests lacked.
"""

from __future__ import annotations

import gc
import ipaddress
import logging
import os
import socket
import sys
import threading
import tomllib
from collections.abc import Generator
from pathlib import Path
from shutil import disk_usage

import pytest
import structlog
from hypothesis import settings

from tests.debian import lost
from tests.selection import mark_unsampled

CI = os.environ.get("CI") == "true"
RESERVED = ("invalid", "test", "example")
"""Top-level names that never resolve. Source: RFC 6761, section 6."""

# The examples are the same each time: more of them would find what they found the first time.
settings.register_profile("ci", deadline=None, derandomize=True, database=None, max_examples=30)
settings.register_profile("here", deadline=None)
settings.load_profile("ci" if CI else "here")


MEMORY = Path("/dev/shm")
ROOM_BYTES = 4 << 30
"""Free space in memory from which on temporary folders go there."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Choose the cases of long matrices before pytest leaves out what is long."""
    mark_unsampled(items)


def pytest_collection_finish() -> None:
    """Keep what was imported and collected out of later collections of garbage, each of which would search it."""
    gc.collect()
    gc.freeze()


def pytest_configure() -> None:
    """
    Have temporary folders in memory where it has room: tests write and sync thousands of small files.

    Files survive a kill there as on a disk, and no test cuts the power. PYTEST_DEBUG_TEMPROOT is pytest's own setting.
    """
    try:
        has_room = disk_usage(MEMORY).free >= ROOM_BYTES and available() >= 2 * ROOM_BYTES
        runs_programs = not os.statvfs(MEMORY).f_flag & os.ST_NOEXEC  # as engines of containers often mount it
    except OSError:
        return
    if has_room and runs_programs and os.access(MEMORY, os.W_OK):
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


def available() -> int:
    """Bytes of memory that processes may still take. Source: proc(5), MemAvailable of /proc/meminfo."""
    lines = Path("/proc/meminfo").read_text("ascii").splitlines()
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:")), 0)


class OutsideError(RuntimeError):
    """A test reached for an address that is not loopback."""


def _is_loopback(host: object) -> bool:
    text = host.decode() if isinstance(host, bytes) else host
    if text in (None, "", "localhost"):
        return True
    try:
        address = ipaddress.ip_address(str(text).split("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _is_literal(host: object) -> bool:
    try:
        ipaddress.ip_address(str(host).split("%")[0])
    except ValueError:
        return False
    return True


def _guard(event: str, args: tuple[object, ...]) -> None:
    """
    Stop what would leave this machine.

    An audit hook sees every connection that Python code of this process makes, through whatever library. Child
    processes and native code are not seen.
    """
    if event in ("socket.connect", "socket.sendto"):
        _, address = args
        if isinstance(address, tuple) and isinstance(address[0], str) and not _is_loopback(address[0]):
            raise OutsideError(f"a test connects to {address[0]}; tests may only connect to loopback")
    elif event == "socket.getaddrinfo" and not _is_loopback(args[0]) and not _is_literal(args[0]):
        if str(args[0]).rstrip(".").rsplit(".", 1)[-1] in RESERVED:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        raise OutsideError(f"a test looks up {args[0]!r}; use 127.0.0.1, or a name under .invalid")


sys.addaudithook(_guard)


@pytest.fixture(autouse=True)
def log_as_before() -> Generator[None]:
    """Commands that run within a test configure the log of this process; the next test has it as it was."""
    loggers = [logging.getLogger(name) for name in ("", "harvest", "sparql")]
    levels, handlers = [logger.level for logger in loggers], list(loggers[0].handlers)
    hooks, config = (sys.excepthook, threading.excepthook), structlog.get_config()
    yield
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)
    loggers[0].handlers[:] = handlers
    sys.excepthook, threading.excepthook = hooks
    structlog.configure(**config)


def _listed(item: str) -> bool:
    path = Path(__file__).with_name("skips.toml")
    return item in tomllib.loads(path.read_text("utf-8"))["skips"]


def _judge(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Make a failure of a skip that CI does not allow."""
    if not (CI and report.outcome == "skipped") or _listed(report.nodeid):
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else getattr(report, "wasxfail", "no reason")
    report.outcome = "failed"
    report.longrepr = f"{report.nodeid} does not run under CI, and tests/skips.toml does not list it: {reason}"


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Give the report of a test phase, judged."""
    report = yield
    _judge(report)
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Give the report of collecting a module or folder, judged."""
    report = yield
    _judge(report)
    return report


def _reason(report: pytest.TestReport) -> str:
    return report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Generator[None, None, None]:
    """Name the Debian packages that are missing, after all else that is said of skipped tests."""
    yield
    stats = terminalreporter.stats
    reports = [*stats.get("skipped", ()), *stats.get("failed", ()), *stats.get("error", ())]
    for sentence in lost(_reason(report) for report in reports if isinstance(report, pytest.TestReport)):
        terminalreporter.write_line(sentence, yellow=True)
