"""Several JSON-LD documents in one text: what is wrong with one of them costs that one alone."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import BinaryIO, Final

from harvest.errors import WashError
from harvest.model import Problem
from harvest.wash.structured.contexts import IMPORT
from harvest.wash.structured.depth import shallow
from harvest.wash.structured.jsonjob import Job, broken, loads, nothing, read_again
from harvest.wash.structured.strict import give_up, read
from harvest.wash.structured.whereabouts import Lines, Within
from harvest.wash.text import Text
from sparql.rdf import JSON_LD

LINE_BYTES: Final = 64 << 20
"""Bytes that a line may have which is a document."""


def in_lines(text: Text) -> bool:
    """Whether the first line is a document of its own, as in JSON Lines."""
    try:
        with text.open() as stream:
            return isinstance(loads(stream.readline(LINE_BYTES).decode(errors="replace")), dict | list)
    except (ValueError, RecursionError, WashError):
        return False


def read_lines(job: Job, stream: BinaryIO) -> None:
    """Write the triples of a text each of whose lines is a document."""
    for number, line in enumerate(_lines(job, stream), 1):
        if len(line) > LINE_BYTES:
            message = f"line {number} of {job.text.title} has more than {LINE_BYTES:,} bytes"
            job.problems.add(Problem("too-large", message, number))
            job.problems.add(Problem("cut-off", f"{message}; it and what follows is left out", number))
            return
        if line.strip():
            _read_one(job, line, number, 1)


def _lines(job: Job, stream: BinaryIO) -> Iterator[bytes]:
    """The lines up to the first that is too long, or cannot be read."""
    try:
        while line := stream.readline(LINE_BYTES + 1):
            yield line
    except WashError as error:
        give_up(job.text, error, job.problems, lambda fault: Problem("cut-off", str(fault)))


def read_row(job: Job, content: str) -> None:
    """Write the triples of documents that follow each other in whatever layout, up to one that is no JSON."""
    decoder = json.JSONDecoder()
    end, line, before = 0, 1, 0
    while (start := _next(content, end)) < len(content):
        line, before = line + content.count("\n", before, start), start
        try:
            _, end = decoder.raw_decode(content, start)
        except json.JSONDecodeError as error:
            broken(job, error)
            return
        except (ValueError, RecursionError) as error:
            nothing(job, "syntax", str(error))
            return
        column = start - content.rfind("\n", 0, start)
        _read_one(job, content[start:end].encode(errors="replace"), line, column)


def _next(content: str, place: int) -> int:
    """Where the next character stands that is no white space."""
    while content[place : place + 1].isspace():
        place += 1
    return place


def _read_one(outer: Job, data: bytes, line: int, column: int) -> None:
    """Write the triples of one document, which begins at a place of the text."""
    text = replace(outer.text, size=len(data), open=lambda: io.BytesIO(data))
    problems = Within(outer.problems, line, column)
    job = replace(outer, text=text, problems=problems, mark=f"{outer.mark}l{line}-{column}-")
    place = io.BytesIO()
    fault = read(shallow(io.BytesIO(data)), JSON_LD, text.base, place, True)
    if isinstance(fault, SyntaxError):
        _read_once_more(job, data, fault)
    elif fault is None:
        job.sink.write(place.getvalue())
    else:
        job.problems.add(Problem("too-large", f"a document among several {fault}; it was left out", 1, 1))


def _read_once_more(job: Job, data: bytes, fault: SyntaxError) -> None:
    """Read one that pyoxigraph refused."""
    message = "a document among several is not JSON, and was left out"
    try:
        document = loads(data.decode(errors="replace"))
    except json.JSONDecodeError as error:
        place = error.lineno, error.colno
        around = Lines(data).around(*place) if job.problems.wants_excerpt() else None
        job.problems.add(Problem("syntax", f"{message}: {error.msg}", *place, around))
    except (ValueError, RecursionError) as error:
        job.problems.add(Problem("syntax", f"{message}: {error}", 1, 1))
    else:
        job.contexts.forgetful |= IMPORT in data
        read_again(document, fault, job)
