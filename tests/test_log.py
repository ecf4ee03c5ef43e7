"""One log, whoever of an instance writes to it."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ \[(info     |warning  |error    |critical )\] (.*)")
HARVESTING = """
import logging, structlog
from harvest.service.log import log_to_stderr
log_to_stderr()
structlog.get_logger("harvest.x").warning("something", provider="p", reason="two words")
logging.getLogger("apscheduler").warning("skipped: %s", "a job")
logging.getLogger("apscheduler").info("nobody wants to know")
"""
FRONT = """
import logging, structlog
from granian.log import LogLevels, configure_logging
from harvest.service.log import log_to_stderr
from sparql.log import of_server
configure_logging(LogLevels.warning, of_server())
logging.getLogger("_granian").warning("something")
log_to_stderr()
structlog.get_logger("harvest.x").info("more", provider="p")
logging.getLogger("sparql.web").error("a page failed")
"""
WORKER = """
import logging
from sparql.log import log_to_stderr
log_to_stderr()
logging.getLogger("sparql.worker").info("something")
"""
QUIET = """
import logging, structlog
from harvest.service.log import quiet_log
quiet_log()
structlog.get_logger("harvest.x").warning("nobody wants to know")
logging.getLogger("urllib3").warning("nobody wants to know")
structlog.get_logger("harvest.x").error("something", file="f")
"""
UNCAUGHT = """
import threading
def fail(): raise ValueError("a fault")
thread = threading.Thread(target=fail, name="t")
thread.start()
thread.join()
fail()
"""


def run(code: str, status: int) -> list[str]:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (status, ""), done.stderr
    return done.stderr.splitlines()


@pytest.mark.parametrize(
    ("code", "events"),
    [
        (
            HARVESTING,
            ["warning something                      provider=p reason='two words'", "warning skipped: a job"],
        ),
        (FRONT, ["warning something", "info more                           provider=p", "error a page failed"]),
        (WORKER, ["info something"]),
        (QUIET, ["error something                      file=f"]),
    ],
    ids=["harvesting", "front", "worker", "command"],
)
def test_every_line_begins_with_the_same_time_and_level(code: str, events: list[str]) -> None:
    """All processes, and their libraries, write to one standard error; whoever sorts it by time needs one format."""
    matches = [LINE.fullmatch(line) for line in run(code, 0)]
    assert [f"{match[1].strip()} {match[2].strip()}" if match else "?" for match in matches] == events


@pytest.mark.parametrize("code", [HARVESTING, FRONT, WORKER], ids=["harvesting", "front", "worker"])
def test_an_exception_that_nobody_catches_is_an_event_of_the_log(code: str) -> None:
    """In whatever thread; without time and level nobody knows when it was, and programs that read the log skip it."""
    lines = run(code + UNCAUGHT, 1)
    events = [(number, match[1].strip(), match[2]) for number, line in enumerate(lines) if (match := LINE.match(line))]
    (thread, *_), (main, *_) = events[-2:]
    assert [event[1:] for event in events[-2:]] == [
        ("critical", "uncaught exception in thread t"),
        ("critical", "uncaught exception"),
    ]
    assert lines[thread + 1] == lines[main + 1] == "Traceback (most recent call last):"
    assert lines[main - 1] == lines[-1] == "ValueError: a fault"
