"""
Large JSON-LD documents, read a part at a time, so that memory does not grow with them.

pyoxigraph holds the whole `@graph` of an object, for a key behind it may say what graph that is; here it gets it as
many small ones. What it refuses, such as remote contexts, PyLD reads in parts. Blank nodes are those of one document.

Source: JSON-LD 1.1, sections 4.9 (named graphs) and 9 (grammar); graph names do not matter here.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import BinaryIO, Final, cast

from harvest.errors import WashError
from harvest.model import Problem
from harvest.wash.problems import reason
from harvest.wash.structured.depth import shallow
from harvest.wash.structured.expand import BAD_NODES, Expansion, NotExpanded, Setting, values
from harvest.wash.structured.jsonjob import PATIENT, STRICT, Job, nothing
from harvest.wash.structured.members import Broken, Frame, Member, Members
from harvest.wash.structured.strict import DocumentTooLarge, Fault, give_up, hand_on, held, read
from harvest.wash.structured.terms import NoTerm, writing
from harvest.wash.structured.whereabouts import excerpt
from sparql.rdf import JSON_LD

_PART: Final = 1 << 18
"""Characters of the members of a graph that are read together."""

_AROUND: Final = ("@context", "@id")
"""The keys of a frame that mean something to its members."""


def read_large(job: Job) -> None:
    """
    Write the triples of a document of one text.

    Raises:
        ContextWanted: It uses a remote context that is not there. What was written before counts for nothing.
    """
    looked = _looked(job)
    fault = looked.fault
    with held() as place:
        refused = _read(job, place, looked)
        if isinstance(refused, SyntaxError):
            _read_again(job, place, looked, refused)
        elif refused is not None:
            give_up(job.text, refused, job.problems, lambda error: Problem("cut-off", str(error)))
        hand_on(place, job.sink)
    if isinstance(fault, Broken):
        around = excerpt(job.text, fault.line, fault.column)
        message = f"{job.text.title} is not JSON from line {fault.line}, column {fault.column}: {fault}"
        job.problems.add(Problem("syntax", message, fault.line, fault.column, around))
        message += "; what came before it was kept"
        job.problems.add(Problem("cut-off", message, fault.line, fault.column, around))
    elif fault is not None:
        give_up(job.text, fault, job.problems, lambda error: Problem("cut-off", str(error)))


@dataclass(slots=True)
class _Looked:
    """
    A document that was looked through once.

    Attributes:
        most: Characters that a piece of it may have.
        frames: What stands around the members of its graphs.
        largest: Characters of its largest piece.
        fault: Why it was not read to its end, or None.
    """

    most: int
    frames: list[dict[str, str]] = field(default_factory=list)
    largest: int = 0
    fault: Broken | DocumentTooLarge | WashError | None = None


def _looked(job: Job) -> _Looked:
    """Look through a document."""
    looked = _Looked(job.text.memory // STRICT)
    with job.text.open() as stream:
        members = Members(stream, looked.most)
        try:
            for item in members:
                texts = _texts(item)
                job.contexts.forgetful |= any("@import" in text for text in texts)
                looked.largest = max(looked.largest, sum(map(len, texts)))
                if isinstance(item, Frame):
                    looked.frames.append(item.keys)
        except (Broken, DocumentTooLarge, WashError) as error:
            looked.fault = error
            if members.open is not None:
                looked.frames.append(members.open.keys)
    return looked


def _texts(item: Member | Frame) -> list[str]:
    """The JSON texts of an item."""
    return list(item.keys.values()) if isinstance(item, Frame) else [item.text]


def _items(job: Job, most: int) -> Iterator[Member | Frame]:
    """The document once more, up to where it could be read."""
    with job.text.open() as stream:
        try:
            yield from Members(stream, most)
        except (Broken, DocumentTooLarge, WashError):
            return


def _read(job: Job, place: BinaryIO, looked: _Looked) -> Fault | None:
    """Let pyoxigraph read it as an array of small documents."""
    parts = _Parts(_documents(_items(job, looked.most), looked.frames))
    return read(shallow(cast(BinaryIO, io.BufferedReader(parts))), JSON_LD, job.text.base, place, bool(job.mark))


def _documents(items: Iterator[Member | Frame], frames: list[dict[str, str]]) -> Iterator[str]:
    """The members of a document as documents of their own, each within what stands around it."""
    for frame, row in groupby(items, lambda item: item.frame if isinstance(item, Member) else -1):
        for part in _parts(row):
            if frame is None:
                yield from (member.text for member in part if isinstance(member, Member))
            elif frame >= 0:
                around = [f'"{key}":{frames[frame][key]}' for key in _AROUND if key in frames[frame]]
                inner = ",".join(member.text for member in part if isinstance(member, Member))
                yield "{" + ",".join([*around, f'"@graph":[{inner}]']) + "}"
            else:
                yield from (
                    _own(each.keys) for each in part if isinstance(each, Frame) and each.keys.keys() - {*_AROUND}
                )


def _own(keys: dict[str, str]) -> str:
    """What an object says itself, apart from its graph."""
    return "{" + ",".join(f"{json.dumps(key)}:{value}" for key, value in keys.items()) + "}"


def _parts(row: Iterator[Member | Frame]) -> Iterator[list[Member | Frame]]:
    """The items in lists of some size."""
    part: list[Member | Frame] = []
    size = 0
    for item in row:
        part.append(item)
        size += sum(map(len, _texts(item)))
        if size >= _PART:
            yield part
            part, size = [], 0
    if part:
        yield part


class _Parts(io.RawIOBase):
    """Documents as the array of them."""

    def __init__(self, documents: Iterator[str]) -> None:
        self._texts = self._array(documents)
        self._waiting = b""

    def readable(self) -> bool:
        """True."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # typeshed asks for WriteableBuffer
        """The next bytes; 0 at the end."""
        while not self._waiting:
            text = next(self._texts, None)
            if text is None:
                return 0
            self._waiting = text.encode(errors="replace")
        size = min(len(buffer), len(self._waiting))
        buffer[:size] = self._waiting[:size]
        self._waiting = self._waiting[size:]
        return size

    def _array(self, documents: Iterator[str]) -> Iterator[str]:
        yield "["
        for number, document in enumerate(documents):
            yield f",{document}" if number else document
        yield "]"


def _read_again(job: Job, place: BinaryIO, looked: _Looked, refused: SyntaxError) -> None:
    """Let PyLD read what pyoxigraph refused; where it cannot, what that has read stays."""
    if looked.largest > job.text.memory // PATIENT:
        message = f"has a piece of {looked.largest:,} characters, and pyoxigraph refuses it ({reason(refused)}); "
        message += "reading it another way would take more memory "
        message += "than wash.memory allows; publish it as an array of objects, or in N-Triples"
        give_up(job.text, DocumentTooLarge(message), job.problems, lambda error: Problem("cut-off", str(error)))
        return

    def report(error: NoTerm) -> None:
        message = f"{error.message}; what it belongs to was left out"
        job.problems.add(Problem(error.kind, message, lost=error.lost))

    with held() as patient:
        try:
            with writing(patient, report) as triples:
                expansion = Expansion(Setting(job.text.base, job.contexts, job.mark), triples, report)
                _expand(expansion, _documents(_items(job, looked.most), looked.frames), report)
        except NotExpanded as error:
            nothing(job, error.kind, error.message)
            return
        place.seek(0)
        place.truncate()
        hand_on(patient, place)
    if "remote context" not in reason(refused):
        job.problems.add(Problem("fallback", f"{job.text.title} was read by a more patient parser: {reason(refused)}"))


def _expand(expansion: Expansion, documents: Iterator[str], report: Callable[[NoTerm], None]) -> None:
    """Read documents; one that is no JSON-LD costs no other."""
    bad = 0
    for part in _joined(documents):
        try:
            expansion.add(part)
        except NotExpanded as error:
            bad += 1
            if error.kind != "syntax" or bad >= BAD_NODES:
                raise
            report(NoTerm("syntax", error.message, values(part)))


def _joined(documents: Iterator[str]) -> Iterator[object]:
    """The documents parsed, small ones together."""
    row: list[object] = []
    size = 0
    for document in documents:
        row.append(json.loads(document))
        size += len(document)
        if size >= _PART:
            yield row if len(row) > 1 else row[0]
            row, size = [], 0
    if row:
        yield row if len(row) > 1 else row[0]
