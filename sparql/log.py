"""
The log of an instance: a line for each event, to standard error, with time and level.

All processes write it by the standard library's logging with the handler and the format of here: the one that
harvests, the front and its server, and the workers. Where a traceback belongs to an event, its lines follow.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from types import TracebackType
from typing import Any, Final

TIME: Final = "%Y-%m-%dT%H:%M:%SZ"
"""Times in the log, in UTC, as in all data of an instance."""

OWN: Final = ("harvest", "sparql")
"""Loggers of our own modules; those of libraries write warnings and worse."""


class LogFormatter(logging.Formatter):
    """Formats records as `2026-03-01T10:00:00Z [warning  ] event`."""

    def __init__(self, *_: object, **__: object) -> None:
        super().__init__("%(asctime)s [%(level)-9s] %(message)s")

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:
        """When it happened."""
        return time.strftime(TIME, time.gmtime(record.created))

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record, and the lines of its traceback."""
        record.level = record.levelname.lower()
        return super().format(record)


class ToStderr(logging.StreamHandler[Any]):
    """Writes to what is standard error at that moment."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)
        self.setFormatter(LogFormatter())

    @property
    def stream(self) -> Any:
        """Standard error."""
        return sys.stderr


def log_to_stderr(level: int = logging.INFO) -> None:
    """Have this process write its log from a level on, warnings and worse of libraries, and uncaught exceptions."""
    root = logging.getLogger()
    for handler in [each for each in root.handlers if isinstance(each, ToStderr)]:
        root.removeHandler(handler)
    root.addHandler(ToStderr())
    root.setLevel(max(level, logging.WARNING))
    for name in OWN:
        logging.getLogger(name).setLevel(level)
    log_uncaught()


def log_uncaught() -> None:
    """Have exceptions that nobody catches, in whatever thread, be events of the log that end with their traceback."""
    sys.excepthook = _log_uncaught
    threading.excepthook = _log_uncaught_in_thread


def _log_uncaught(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, traceback)
    else:
        logging.getLogger(__name__).critical("uncaught exception", exc_info=(kind, error, traceback))


def _log_uncaught_in_thread(given: threading.ExceptHookArgs) -> None:
    if not issubclass(given.exc_type, SystemExit):
        error = given.exc_value or given.exc_type()
        name = given.thread.name if given.thread else "unknown"
        logging.getLogger(__name__).critical(
            "uncaught exception in thread %s", name, exc_info=(given.exc_type, error, given.exc_traceback)
        )


def of_server() -> dict[str, Any]:
    """The settings for the log of Granian's processes: its own lines and those of the application."""
    return {
        "handlers": {"stderr": {"class": "sparql.log.ToStderr"}},
        "loggers": {
            "_granian": {"handlers": ["stderr"], "propagate": False},
            **{name: {"level": "INFO"} for name in OWN},
        },
        "root": {"handlers": ["stderr"], "level": "WARNING"},
    }
