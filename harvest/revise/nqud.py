"""
Reading N-Quads unified diffs of anybody: `diff --unified=0` of two sorted files, a change list's, this platform's own.

A line counts if it begins with a single `+` or `-`; spaces may follow the sign. Headers, hunks, context and remarks are
passed over, and so is a sign before nothing or before a comment. Terms count and not bytes: `^^xsd:string`, needless
escapes and other spaces make no difference.

A diff says what two files do not have in common, in whatever order its writer sorted them. So a statement that one diff
both removes and adds, spelled in two ways perhaps, is there afterwards.

Source: Timbuctoo exchange protocol, "N-Quads U.D."; RDF 1.1 N-Quads.
"""

from __future__ import annotations

import gzip
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple, cast

import pyoxigraph
from isal import igzip
from isal.igzip_lib import IsalError

from harvest.errors import WashError

LINE: Final = 64 << 20
"""Bytes that a line may have."""

_BATCH: Final = 1 << 18
_BUFFER: Final = 1 << 20
_BOM: Final = b"\xef\xbb\xbf"
_OF_A_DIFF: Final = re.compile(rb"\s*$|\s*#|---|\+\+\+|@@|\\|diff |index |Only in |Files ")


class SignedLine(NamedTuple):
    """
    A line of a diff that counts.

    Attributes:
        number: In the file, from 1.
        added: True for `+`, False for `-`.
        text: What follows the sign, as it stands, with its line end.
    """

    number: int
    added: bool
    text: bytes


class Change(NamedTuple):
    """
    One statement that comes or goes.

    Attributes:
        added: True where it comes, False where it goes.
        line: The statement as a line of canonical N-Quads, with the graph and the blank node labels of the file.
        number: Line in the file, from 1.
    """

    added: bool
    line: bytes
    number: int


@dataclass(slots=True)
class _TextRead:
    """What of a text was read: its bytes and lines, and whether one of them is neither signed nor of a diff."""

    bytes: int = 0
    lines: int = 0
    other: bool = False


def signed_lines(stream: BinaryIO, most: int | None = None, seen: _TextRead | None = None) -> Iterator[SignedLine]:
    """
    The lines of a diff that count, statements or not; gzip is recognised by the first bytes.

    Args:
        stream: Is read to its end and left open.
        most: Bytes that the text may have, decompressed; None for any.
        seen: Is brought up to date on the way.

    Raises:
        WashError: The compressed stream is cut off or damaged, the text is longer than `most`, or a line than `LINE`.
    """
    seen = seen or _TextRead()
    with _text(stream) as text:
        try:
            for line in iter(partial(text.readline, LINE), b""):
                seen.lines += 1
                seen.bytes += len(line)
                _measure(line, seen, most)
                if seen.lines == 1:
                    line = line.removeprefix(_BOM)
                sign, rest = line[:1], line[1:]
                if sign in (b"+", b"-") and rest[:1] != sign:
                    yield SignedLine(seen.lines, sign == b"+", rest)
                elif not seen.other:
                    seen.other = _OF_A_DIFF.match(line) is None
        except (EOFError, gzip.BadGzipFile, IsalError) as error:  # type: ignore[misc]  # its stub declares a value
            message = f"the change is cut off or damaged after line {seen.lines}: {error}"
            raise WashError(message, line=seen.lines or None) from error


def _measure(line: bytes, seen: _TextRead, most: int | None) -> None:
    """Return where the text so far is within the limits."""
    if len(line) == LINE and not line.endswith(b"\n"):
        raise WashError(f"line {seen.lines} of the change has more than {LINE >> 20} MiB", line=seen.lines)
    if most is not None and seen.bytes > most:
        raise WashError(f"the change has more than {most} bytes (setting wash.max_bytes)", line=seen.lines)


@contextmanager
def _text(stream: BinaryIO) -> Iterator[BinaryIO]:
    """The decompressed text; `stream` stays open."""
    raw = io.BufferedReader(cast(io.RawIOBase, stream), _BUFFER)
    try:
        if raw.peek(2)[:2] != b"\x1f\x8b":
            yield cast(BinaryIO, raw)
            return
        with igzip.IGzipFile(fileobj=raw) as packed:
            yield cast(BinaryIO, io.BufferedReader(packed, _BUFFER))
    finally:
        raw.detach()


@dataclass(frozen=True, slots=True)
class Sides:
    """
    What a diff was parted into.

    Attributes:
        removed: Lines with a `-`.
        added: Lines with a `+`.
        bytes: Of the text, decompressed.
        lines: Of the text.
        is_diff: Whether it has a line with a sign, or is empty or nothing but headers and remarks of a diff.
    """

    removed: int
    added: int
    bytes: int
    lines: int
    is_diff: bool


def part(source: Path, removed: Path, added: Path, most: int | None = None) -> Sides:
    """
    Write what a diff removes to one file and what it adds to another, each line where it was and a space for its sign.

    So what is wrong with a line has the line and column that it has in the diff.

    Raises:
        WashError: As `signed_lines`.
    """
    counts = [0, 0]
    at = [0, 0]
    seen = _TextRead()
    with source.open("rb") as stream, removed.open("wb") as out, added.open("wb") as into:
        files = out, into
        for signed in signed_lines(stream, most, seen):
            side = int(signed.added)
            files[side].write(b"\n" * (signed.number - 1 - at[side]) + b" " + signed.text.rstrip(b"\r\n") + b"\n")
            at[side] = signed.number
            counts[side] += 1
    return Sides(counts[0], counts[1], seen.bytes, seen.lines, any(counts) or not seen.other)


def read_changes(stream: BinaryIO, most: int | None = None) -> Iterator[Change]:
    """
    Each statement of an N-Quads unified diff, in the order of the file, in memory that does not grow with it.

    Args:
        stream: Is read to its end and left open; gzip is recognised by the first bytes.
        most: Bytes that the text may have, decompressed; None for any.

    Raises:
        WashError: A line with a sign is no statement of N-Quads 1.1 (`line`, `column` and `excerpt` say which), or as
            `signed_lines` raises it.
    """
    batch: list[SignedLine] = []
    size = 0
    for signed in signed_lines(stream, most):
        text = signed.text.strip()
        if text and not text.startswith(b"#"):
            batch.append(signed)
            size += len(text)
        if size >= _BATCH:
            yield from canonical(batch)
            batch, size = [], 0
    yield from canonical(batch)


def canonical(batch: Sequence[SignedLine], of: str = " of the change") -> Iterator[Change]:
    """
    The statements of some lines that hold something, parsed at once where they are all good.

    `of` is what a message says the lines are of. Raises WashError as `read_changes`.

    Each line holds something, and the parser takes no two statements in a line: as many statements as lines are one
    for each.
    """
    try:
        lines = _parsed(b"".join(each.text.rstrip() + b"\n" for each in batch))
    except SyntaxError:
        lines = [_statement(each, of) for each in batch]
    for each, line in zip(batch, lines, strict=True):
        yield Change(each.added, line, each.number)


def _statement(signed: SignedLine, of: str) -> bytes:
    """The statement of one line."""
    try:
        return b"".join(_parsed(signed.text))
    except SyntaxError as error:
        excerpt = signed.text.strip()[:200].decode("utf-8", "replace")
        message = f"line {signed.number}{of} is no statement of N-Quads: {error.msg}"
        column = (error.offset or 1) + bool(of)  # the sign is the first
        raise WashError(message, line=signed.number, column=column, excerpt=excerpt) from error


def _parsed(text: bytes) -> list[bytes]:
    """Canonical lines; SyntaxError where one of them cannot be read, or only RDF 1.2 has it."""
    quads = pyoxigraph.parse(text, format=pyoxigraph.RdfFormat.N_QUADS)
    canonical = pyoxigraph.serialize(quads, format=pyoxigraph.RdfFormat.N_QUADS)
    assert canonical is not None
    lines = [line + b"\n" for line in canonical.split(b"\n")[:-1]]
    if b"<<(" in canonical or b"--" in canonical:
        for line in lines:
            _is_of_rdf11(line)
    return lines


def _is_of_rdf11(line: bytes) -> None:
    quad = next(pyoxigraph.parse(line, format=pyoxigraph.RdfFormat.N_QUADS))
    if isinstance(quad.object, pyoxigraph.Triple):
        raise SyntaxError("a triple term, which RDF 1.1 does not have")
    if isinstance(quad.object, pyoxigraph.Literal) and quad.object.direction is not None:
        raise SyntaxError("a base direction, which RDF 1.1 does not have")
