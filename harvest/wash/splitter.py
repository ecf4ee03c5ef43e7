"""
N-Triples in two parts: ground lines go to one place, lines with blank nodes to another.

pyoxigraph writes canonical N-Triples, so its lines can be cut, sorted and compared as bytes.
"""

from __future__ import annotations

import re
from typing import Final

from harvest.model import Problem
from harvest.wash.problems import EXCERPT, Problems
from harvest.wash.text import Sink

BATCH: Final = 1 << 19
"""Bytes of lines that are looked at together: pyoxigraph writes 8 kB at a time, and each look has a price."""

_DIRECTED = re.compile(rb'^.*"@[A-Za-z0-9-]+--(?:ltr|rtl) \.\n', re.MULTILINE)
_TRIPLE_TERM = re.compile(rb"^[^ ]+ [^ ]+ <<\(.*\n", re.MULTILINE)


class Splitter:
    """
    A file-like object that takes N-Triples in chunks and hands ground lines and lines with blank nodes on.

    Lines between two marks of a blank node pass in one piece, which makes data without blank nodes cost nothing. What
    only RDF 1.2 has is dropped and reported: most RDF software cannot read it.

    Attributes:
        statements: Lines handed on.
    """

    def __init__(self, ordinal: int, ground: Sink, blank: Sink, problems: Problems) -> None:
        """
        Args:
            ordinal: Put before every blank node label, so that two documents can both speak of `_:b0`.
            ground: Takes the lines without blank nodes.
            blank: Takes the others.
            problems: Gets what is dropped.
        """
        self.statements = 0
        self._mark = b"_:d%d-" % ordinal
        self._ground = ground
        self._blank = blank
        self._problems = problems
        self._held: list[bytes] = []
        self._size = 0

    def write(self, data: bytes) -> int:
        """Take the next bytes."""
        self._held.append(data)
        self._size += len(data)
        # Not before a line ends: a literal of 100 MB comes in 12,000 chunks, and is joined once.
        if self._size >= BATCH and b"\n" in data:
            self._pass(b"".join(self._held))
        return len(data)

    def flush(self) -> None:
        """What waits here for more goes out with `finish`."""

    def finish(self) -> None:
        """Hand on what is left, all of it whole lines."""
        self._pass(b"".join(self._held))

    def _pass(self, held: bytes) -> None:
        """Hand whole lines on; a line that is not whole yet waits."""
        cut = held.rfind(b"\n") + 1
        self._held, self._size = [held[cut:]], 0
        lines = held[:cut]
        if b"<<(" in lines:
            lines = self._without(_TRIPLE_TERM, "a triple term", lines)
        if b"--ltr .\n" in lines or b"--rtl .\n" in lines:
            lines = self._without(_DIRECTED, "a literal with a base direction", lines)
        self.statements += lines.count(b"\n")
        self._split(lines)

    def _split(self, lines: bytes) -> None:
        """Cut the lines that hold a blank node out; the others pass in one piece between them."""
        ground: list[bytes] = []
        blank: list[bytes] = []
        passed = 0
        place = lines.find(b"_:")
        while place >= 0:
            begin, end = lines.rfind(b"\n", 0, place) + 1, lines.index(b"\n", place) + 1
            line = lines[begin:end]
            kept = self._owned(line)
            if kept is not line:
                ground.append(lines[passed:begin])
                blank.append(kept)
                passed = end
            place = lines.find(b"_:", end)
        self._ground.write(b"".join((*ground, lines[passed:])))
        if blank:
            self._blank.write(b"".join(blank))

    def _owned(self, line: bytes) -> bytes:
        """The line itself if it is ground, with the document's mark in its blank labels if not."""
        subject, predicate, value = line.split(b" ", 2)
        if value.startswith(b"_:"):
            value = self._mark + value[2:]
        elif not subject.startswith(b"_:"):
            return line
        if subject.startswith(b"_:"):
            subject = self._mark + subject[2:]
        return b" ".join((subject, predicate, value))

    def _without(self, pattern: re.Pattern[bytes], what: str, lines: bytes) -> bytes:
        """The lines without those that hold what only RDF 1.2 has."""
        for line in pattern.findall(lines):
            excerpt = line[: 4 * EXCERPT].decode("utf-8", "replace").rstrip()[:EXCERPT]
            message = f"{what} (RDF 1.2), which most RDF software cannot read yet; the statement was left out"
            self._problems.add(Problem("rdf-1.2", message, excerpt=excerpt))
        return pattern.sub(b"", lines)
