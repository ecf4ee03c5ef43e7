"""The log of commands and of a running instance: events of structlog, written as `sparql.log` writes all others."""

from __future__ import annotations

import logging
import sys

import structlog

from sparql import log


def quiet_log() -> None:
    """Keep the log to errors: a command prints its own answer."""
    _log_from(logging.ERROR)


def log_to_stderr() -> None:
    """Log lines to standard error: `time [level] event key=value`, coloured on a terminal; of libraries as well."""
    _log_from(logging.INFO)


def _log_from(level: int) -> None:
    log.log_to_stderr(level)
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.dev.ConsoleRenderer(
                colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
            ),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.stdlib.LoggerFactory(),
    )
