"""
What pages gave, kept for the next washing of their site: a page whose bytes are as they were is not read again.

A file a page: a line of JSON with its parts and the JSON-LD contexts that it used, then its ground lines, then those
with blank nodes, all gzipped. Blank nodes are named over all pages together, so their lines are kept as they were read.
The name of a file depends on all that reading a page depends on: its bytes, address, type and limits, and our own code.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from harvest.errors import ContextWanted
from harvest.model import Content, Document, Part, Problem, Status
from harvest.wash.leaves import Terms
from sparql import rdf

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer as Buffer

LARGEST: Final = 8 << 20
"""Bytes of lines of a page that are kept at most; one with more is read at each washing."""

_LIBRARIES: Final = (
    "pyoxigraph",
    "rdflib",
    "PyLD",
    "html5lib",
    "pyRdfa3",
    "faust-cchardet",
    "libarchive-c",
    "isal",
    "sparql-harvest",
)


@dataclass(frozen=True, slots=True)
class PageLines:
    """
    What reading a page gave.

    Attributes:
        parts: Its record.
        ground: Its lines without blank nodes, as N-Triples.
        blank: Its other lines.
    """

    parts: tuple[Part, ...]
    ground: bytes
    blank: bytes


class PageTooLarge(Exception):
    """A page gives more lines than are held in memory and kept."""


class PageSink(BytesIO):
    """
    Takes the lines of a page.

    `write` raises PageTooLarge where they are more than `LARGEST` bytes.
    """

    def write(self, data: Buffer) -> int:
        """Take the next lines."""
        if self.tell() + memoryview(data).nbytes > LARGEST:
            raise PageTooLarge
        return super().write(data)


class UsedContexts(Mapping[str, Path | None]):
    """
    JSON-LD contexts, of which it is noted which were used.

    Attributes:
        used: Their SHA-256 by address; None for one that could not be had.
    """

    def __init__(self, files: Mapping[str, Path | None]) -> None:
        self.used: dict[str, str | None] = {}
        self._files = files

    def __getitem__(self, url: str) -> Path | None:
        path = self._files[url]
        self.used[url] = _digest(path)
        return path

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


class PageCache:
    """The pages of one site."""

    def __init__(self, folder: Path, terms: Terms) -> None:
        """Nothing is looked at yet; `terms` are those of the washing."""
        self._folder = folder
        self._terms = terms
        self._wanted: set[Path] = set()

    def lines(self, document: Document, read: Callable[[Document], PageLines]) -> tuple[PageLines, bool]:
        """
        What a page gives, by `read` where that is not kept; and whether it was kept.

        Raises:
            ContextWanted: A JSON-LD context has to be fetched first.
            PageTooLarge: By `read`; nothing is kept.
        """
        place = self._place(document)
        self._wanted.add(place)
        kept = _kept(place, document.contexts)
        if kept is not None:
            return kept, True
        contexts = UsedContexts(document.contexts)
        found = read(replace(document, contexts=contexts))
        _keep(place, found, contexts.used)
        return found, False

    def let_go(self) -> None:
        """Remove what no page of this washing gave."""
        for path in self._folder.glob("*/*"):
            if path not in self._wanted:
                path.unlink(missing_ok=True)

    def _place(self, document: Document) -> Path:
        volume = self._terms.volume
        limits = (volume.max_bytes, volume.max_ratio, volume.max_entries, volume.max_depth, self._terms.memory)
        on = (_code(), document.path.name, document.url, document.media_type, limits)
        name = hashlib.sha256(repr(on).encode()).hexdigest()
        return self._folder / name[:2] / f"{name}.gz"


def _kept(place: Path, contexts: Mapping[str, Path | None]) -> PageLines | None:
    """What is kept at a place; None where that is nothing, or damaged, or a context is another one now."""
    try:
        with gzip.open(place, "rb") as stream:
            head = json.loads(stream.readline())
            ground, blank = stream.read(head["ground"]), stream.read()
        parts = tuple(_part(item) for item in head["parts"])
        used: dict[str, str | None] = head["contexts"]
    except (OSError, EOFError, ValueError, KeyError, TypeError, zlib.error):
        return None
    for url, digest in used.items():
        if url not in contexts:
            raise ContextWanted(f"the JSON-LD context {url} has to be fetched first", url=url)
        if _digest(contexts[url]) != digest:
            return None
    return PageLines(parts, ground, blank)


def _keep(place: Path, found: PageLines, contexts: Mapping[str, str | None]) -> None:
    """File what a page gave; where that cannot be, it is read again the next time."""
    head = {"parts": [asdict(part) for part in found.parts], "contexts": contexts, "ground": len(found.ground)}
    temporary = place.with_name(f".{place.name}.{os.getpid()}")
    with suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        with gzip.open(temporary, "wb", compresslevel=1) as stream:
            stream.write(json.dumps(head, default=datetime.isoformat).encode() + b"\n")
            stream.write(found.ground)
            stream.write(found.blank)
        temporary.replace(place)


def _part(item: dict[str, Any]) -> Part:
    """A part as it was filed, looked at now."""
    now = datetime.now(UTC)
    more = {
        "names": tuple(item["names"]),
        "status": Status(item["status"]),
        "content": None if item["content"] is None else Content(**item["content"]),
        "problems": tuple(Problem(**problem) for problem in item["problems"]),
    }
    return Part(**item | more | {"began": now, "ended": now})


def owned(lines: Sequence[bytes], mark: bytes) -> Iterator[bytes]:
    """Lines with blank nodes of a page, with its mark in their labels, so that pages share none."""
    for line in lines:
        subject, predicate, value = line.split(b" ", 2)
        if subject.startswith(b"_:"):
            subject = mark + subject[2:]
        if value.startswith(b"_:"):
            value = mark + value[2:]
        yield b" ".join((subject, predicate, value))


@cache
def _digest(path: Path | None) -> str | None:
    """SHA-256 of a context; None for one that could not be had."""
    return None if path is None else hashlib.sha256(path.read_bytes()).hexdigest()


@cache
def _code() -> str:
    """A digest of what reads pages: our modules, and the versions of the libraries that they use."""
    found = hashlib.sha256()
    for path in (*sorted(Path(__file__).parent.rglob("*.py")), Path(rdf.__file__)):
        found.update(path.read_bytes())
    for name in _LIBRARIES:
        with suppress(PackageNotFoundError):
            found.update(f"{name} {version(name)}\n".encode())
    return found.hexdigest()
