"""One reading of JSON-LD: its text and where what is found goes; what JSON is; PyLD as the second try."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final, NoReturn

from harvest.model import Problem
from harvest.wash.problems import Problems, reason
from harvest.wash.structured.contexts import Contexts
from harvest.wash.structured.expand import Expansion, NotExpanded, Setting
from harvest.wash.structured.terms import NoTerm, writing
from harvest.wash.structured.whereabouts import SourceLines
from harvest.wash.text import Sink, Text

STRICT: Final = 20
"""Bytes of memory that pyoxigraph takes for a byte of what it has to hold; 18.6 were measured."""

PATIENT: Final = 75
"""Bytes of memory that PyLD takes for a byte; 70 were measured."""

_REMOTE = "remote context"
"""What pyoxigraph's message holds when it would need one."""


@dataclass(frozen=True, slots=True)
class Job:
    """
    A document that is to be read.

    Attributes:
        text: It.
        sink: Takes its triples.
        problems: Takes what is wrong with it.
        contexts: The remote contexts that are there.
        mark: What stands before its blank node labels; empty where no other document shares the sink.
    """

    text: Text
    sink: Sink
    problems: Problems
    contexts: Contexts
    mark: str


def loads(content: str) -> object:
    """
    The value of a JSON text.

    Raises:
        JSONDecodeError: It is none.
        ValueError: It holds NaN or infinity, which Python would take, or a number of over 4,300 digits.
        RecursionError: It is nested too deeply.
    """
    return DECODER.decode(content)


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


DECODER: Final = json.JSONDecoder(parse_constant=_refuse)
"""What reads JSON here, and nothing that Python takes beside it."""


def read_again(document: object, fault: SyntaxError, job: Job) -> bool:
    """
    Let PyLD read what pyoxigraph refused; returns False, and writes nothing, if it cannot.

    Raises:
        ContextWanted: It uses a remote context that nobody tried to fetch yet. Nothing was written.
    """

    def refused(error: NoTerm) -> None:
        job.problems.add(Problem(error.kind, f"{error.message}; what it belongs to was left out", lost=error.lost))

    try:
        with writing(job.sink, refused) as triples:
            Expansion(Setting(job.text.base, job.contexts, job.mark), triples, refused).add(document)
    except NotExpanded as error:
        nothing(job, error.kind, error.message)
        return False
    if _REMOTE not in reason(fault):
        message = f"{job.text.title} was read by a more patient parser: {reason(fault)}"
        job.problems.add(Problem("fallback", message))
    return True


def nothing(job: Job, kind: str, message: str) -> None:
    """Report why a document cannot be read, when nobody knows where."""
    job.problems.add(Problem(kind, f"{job.text.title}: {message}"))
    job.problems.add(Problem("cut-off", f"{job.text.title} cannot be read as JSON-LD: {message}"))


def broken(job: Job, error: json.JSONDecodeError) -> None:
    """Report where a document stops being JSON."""
    line, column = error.lineno, error.colno
    around = SourceLines(error.doc.encode(errors="replace")).around(line, column)
    message = f"{job.text.title} is not JSON from line {line}, column {column}: {error.msg}"
    job.problems.add(Problem("syntax", message, line, column, around))
    job.problems.add(Problem("cut-off", f"{message}; what came before it was kept", line, column, around))
