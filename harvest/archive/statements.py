"""Statements of provenance logs, ours and Preston's of all ages, read as streams."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from pyoxigraph import Quad, RdfFormat, parse

from harvest.archive.layout import HashName, named
from harvest.errors import StorageError

_BATCH: Final = 1000
_USED_BY: Final = re.compile(rb"<(hash://[a-z0-9]+/[0-9a-f]+)> <http://www\.w3\.org/ns/prov#usedBy> ")


def statements(path: Path) -> Iterator[Quad]:
    """
    The statements of a log, in order.

    Old logs name activities by a bare UUID, and URLs in logs may hold anything: IRIs are not checked. A line that is no
    statement is passed over.

    Raises:
        StorageError: The log cannot be read.
    """
    try:
        with path.open("rb") as lines:
            while batch := list(islice(lines, _BATCH)):
                yield from _parsed(batch)
    except OSError as error:
        raise StorageError(f"the log {path} cannot be read: {error}", url=str(path)) from error


def predecessors(path: Path) -> list[HashName]:
    """
    The logs that a log names as used by its crawl, in order.

    Raises:
        StorageError: The log cannot be read.
    """
    found: dict[HashName, None] = {}
    try:
        with path.open("rb") as lines:
            for line in lines:
                match = _USED_BY.match(line)
                name = named(match[1].decode()) if match else None
                if name is not None:
                    found[name] = None
    except OSError as error:
        raise StorageError(f"the log {path} cannot be read: {error}", url=str(path)) from error
    return list(found)


def _parsed(batch: list[bytes]) -> list[Quad]:
    """The statements of some lines; of those that are none, nothing."""
    try:
        return _quads(b"".join(batch))
    except (SyntaxError, ValueError):
        return [quad for line in batch for quad in _quads_of_line(line)]


def _quads_of_line(line: bytes) -> list[Quad]:
    try:
        return _quads(line)
    except (SyntaxError, ValueError):
        return []


def _quads(data: bytes) -> list[Quad]:
    return list(parse(data, format=RdfFormat.N_QUADS, lenient=True))
