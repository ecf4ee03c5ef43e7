"""What comes out of a document that is read on behind its errors."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO

from harvest.model import Problem
from harvest.wash.problems import Problems
from harvest.wash.text import Text
from harvest.wash.textual.resume import transcribe
from sparql.rdf import TURTLE, Format

URL = "http://base.example/"


@dataclass(frozen=True)
class Resumed:
    """
    What was read.

    Attributes:
        triples: Lines of N-Triples without the dot, as they came.
        problems: Those that were kept.
        counts: How many of each kind.
        whole: Whether nothing was given up.
    """

    triples: list[str]
    problems: list[Problem]
    counts: dict[str, int]
    whole: bool


class Lines:
    """Takes N-Triples."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []

    def write(self, data: bytes, /) -> None:
        """Keep the bytes."""
        self.parts.append(bytes(data))


def document(body: bytes, stream: type[io.BytesIO] = io.BytesIO) -> Text:
    """A document that is read from memory."""

    @contextmanager
    def opened() -> Iterator[BinaryIO]:
        with stream(body) as source:
            yield source

    return Text(URL, URL, URL, len(body), opened)


def resumed(body: str | bytes | Text, format: Format = TURTLE) -> Resumed:
    """Read a document."""
    lines, problems = Lines(), Problems()
    text = body if isinstance(body, Text) else document(body.encode() if isinstance(body, str) else body)
    transcribe(text, format, lines, problems)
    out = b"".join(lines.parts).decode().split("\n")[:-1]
    return Resumed(out, problems.first, dict(problems.counts), problems.whole)
