"""Several JSON-LD documents in one text: what is wrong with one of them costs that one alone."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import BinaryIO, Final

from harvest.errors import WashError
from harvest.model import Problem
from harvest.wash.problems import reason
from harvest.wash.structured.contexts import IMPORT
from harvest.wash.structured.depth import shallow
from harvest.wash.structured.jsonjob import PATIENT, STRICT, Job, broken, loads, nothing, read_again
from harvest.wash.structured.strict import give_up, read
from harvest.wash.structured.whereabouts import SourceLines, Within
from harvest.wash.text import Text
from sparql.rdf import JSON_LD

LINE_BYTES: Final = 64 << 20
"""Bytes that a line may have which is a document, where memory allows it."""

_AHEAD: Final = 1 << 16


def in_lines(text: Text, most: int) -> bool:
    """Whether the first line, of at most so many bytes, is a document of its own and another follows: JSON Lines."""
    try:
        with text.open() as stream:
            line = stream.readline(most)
            if not line.endswith(b"\n") or not isinstance(loads(line.decode(errors="replace")), dict | list):
                return False
            while (begin := stream.read(_AHEAD)) and begin.isspace():
                pass
            return begin.lstrip()[:1] in (b"{", b"[")
    except (ValueError, RecursionError, WashError):
        return False


def read_lines(job: Job, stream: BinaryIO) -> None:
    """Write the triples of a text each of whose lines is a document."""
    most = min(LINE_BYTES, job.text.memory // STRICT)
    for number, line in enumerate(_lines(job, stream, most), 1):
        if len(line) > most:
            message = f"line {number} of {job.text.title} has more than {most:,} bytes"
            job.problems.add(Problem("too-large", message, number))
            job.problems.add(Problem("cut-off", f"{message}; it and what follows is left out", number))
            return
        if line.strip():
            _read_one(job, line, number, 1)


def _lines(job: Job, stream: BinaryIO, most: int) -> Iterator[bytes]:
    """The lines up to the first that is too long, or cannot be read."""
    try:
        while line := stream.readline(most + 1):
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
    if len(data) > job.text.memory // PATIENT:
        message = f"a document among several has {len(data):,} bytes, and reading it would take more memory than "
        job.problems.add(Problem("too-large", f"{message}wash.memory allows: {reason(fault)}", 1, 1))
        job.problems.add(Problem("cut-off", f"{message}wash.memory allows; it was left out", 1, 1))
        return
    message = "a document among several is not JSON, and was left out"
    lost = max(1, data.count(b'":'))  # a key is about a triple
    try:
        document = loads(data.decode(errors="replace"))
    except json.JSONDecodeError as error:
        place = error.lineno, error.colno
        around = SourceLines(data).around(*place) if job.problems.wants_excerpt("syntax") else None
        job.problems.add(Problem("syntax", f"{message}: {error.msg}", *place, around, lost))
    except (ValueError, RecursionError) as error:
        job.problems.add(Problem("syntax", f"{message}: {error}", 1, 1, lost=lost))
    else:
        job.contexts.forgetful |= IMPORT in data
        read_again(document, fault, job)
