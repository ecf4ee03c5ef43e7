"""
JSON-LD as N-Triples.

pyoxigraph reads it as a stream. It knows no remote contexts, and refuses some documents that are fine; those are read
again by PyLD. Both hold what they read, so that large documents are read in parts. Base directions are left out, as
JSON-LD 1.1 has it (API, section 8.2).
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Final, cast

from harvest.errors import WashError
from harvest.model import Problem
from harvest.wash.problems import Problems, reason
from harvest.wash.structured.batches import read_large
from harvest.wash.structured.contexts import IMPORT, Contexts
from harvest.wash.structured.depth import shallow
from harvest.wash.structured.jsonjob import PATIENT, STRICT, Job, broken, loads, nothing, read_again
from harvest.wash.structured.several import LINE_BYTES, in_lines, read_lines, read_row
from harvest.wash.structured.strict import Fault, give_up, hand_on, held, read
from harvest.wash.structured.whereabouts import excerpt, in_characters, whole
from harvest.wash.text import Sink, Text
from sparql.rdf import JSON_LD

_DIRECTION: Final = re.compile(rb'("@[A-Za-z0-9-]+?)--(?:ltr|rtl) \.$', re.MULTILINE)
"""The end of a line; a quote stands before an @ nowhere else, for within a literal it is escaped."""


def transcribe(text: Text, sink: Sink, problems: Problems) -> None:
    """
    Write every triple of the document to the sink as canonical N-Triples.

    Raises:
        ContextWanted: It uses a remote context that is not in `text.contexts`. Fetch it, and call again with a fresh
            sink: of a large text whose lines are documents, some may have been written.
    """
    transcribe_apart(text, sink, problems, "")


def transcribe_apart(text: Text, sink: Sink, problems: Problems, mark: str) -> None:
    """As `transcribe`, with blank node labels that no document has which is read with another `mark`."""
    with _undirected(sink) as plain:
        job = Job(text, plain, problems, Contexts(text.contexts), mark)
        if text.size <= text.memory // PATIENT:
            _read_small(job)
        elif in_lines(text, text.memory // STRICT):
            with text.open() as stream:
                read_lines(job, stream)
        else:
            read_large(job)


def _read_small(job: Job) -> None:
    """Read a text that fits into memory; it is written when it is known which reading is the better one."""
    with held() as place:
        fault = _read_strictly(job, place)
        if isinstance(fault, SyntaxError) and _read_otherwise(job, fault):
            return
        hand_on(place, job.sink)
        if fault is not None and not isinstance(fault, SyntaxError):
            _give_up(job, fault)


def _read_strictly(job: Job, sink: Sink) -> Fault | None:
    """Let pyoxigraph read it."""
    try:
        with job.text.open() as stream:
            return read(shallow(stream), JSON_LD, job.text.base, sink, bool(job.mark))
    except WashError as error:
        return error


def _read_otherwise(job: Job, fault: SyntaxError) -> bool:
    """Read once more what pyoxigraph refused; False if what that read before is all that can be had."""
    data, damage = whole(job.text)
    if damage is not None:
        _give_up(job, damage)
        return False
    content = data.decode(errors="replace")
    try:
        document = loads(content)
    except json.JSONDecodeError as error:
        if error.msg == "Extra data":
            _read_several(job, content)
            return True
        broken(job, error)
    except RecursionError:
        nothing(job, "too-large", "it is nested too deeply")
    except ValueError as error:
        nothing(job, "syntax", str(error))
    else:
        job.contexts.forgetful |= IMPORT in data
        return read_again(document, fault, job)
    return False


def _read_several(job: Job, content: str) -> None:
    """Read documents one after the other; nothing is written before the last, for any may want a context."""
    with held() as place:
        waiting = replace(job, sink=cast(Sink, place))
        if in_lines(job.text, LINE_BYTES):
            read_lines(waiting, io.BytesIO(content.encode(errors="replace")))
        else:
            read_row(waiting, content)
        hand_on(place, job.sink)


def _give_up(job: Job, fault: Fault) -> None:
    give_up(job.text, fault, job.problems, lambda error: _cut_off(job, error))


def _cut_off(job: Job, error: SyntaxError) -> Problem:
    """What an error of pyoxigraph means for a text that cannot be read another way."""
    message = f"{job.text.title} was read up to an error, and what follows it is left out: {reason(error)}"
    if not error.lineno:
        return Problem("cut-off", message)
    column = in_characters(job.text, error.lineno, error.offset or 1)
    around = excerpt(job.text, error.lineno, column)
    what = f"{job.text.title} is not JSON: {reason(error)}"
    job.problems.add(Problem("syntax", what, error.lineno, column, around))
    return Problem("cut-off", message, error.lineno, column, around)


@contextmanager
def _undirected(sink: Sink) -> Iterator[Sink]:
    """
    A sink that leaves base directions out; what it holds of a line goes out at the end.

    Source: JSON-LD 1.1 Processing Algorithms and API, section 8.2 (`rdfDirection` is null).
    """
    lines = _Undirected(sink)
    try:
        yield lines
    finally:
        lines.finish()


class _Undirected:
    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._held: list[bytes] = []

    def write(self, data: bytes) -> int:
        """Take the next bytes, and hand whole lines on."""
        end = data.rfind(b"\n") + 1
        if not end:
            self._held.append(data)
            return len(data)
        lines = b"".join((*self._held, data[:end]))
        self._held = [data[end:]]
        self._sink.write(_DIRECTION.sub(rb"\1 .", lines) if b"--" in lines else lines)
        return len(data)

    def flush(self) -> None:
        """What waits here for more goes out at the end."""

    def finish(self) -> None:
        self._sink.write(b"".join(self._held))
