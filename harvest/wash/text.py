"""One document as the parsers get it: characters in UTF-8, to be read as often as they need."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final, Protocol

_CONTINUATION: Final = bytes(range(0x80, 0xC0))


@dataclass(frozen=True, slots=True)
class Text:
    """
    A document that was unpacked and decoded.

    Attributes:
        url: The dump it is, or is in.
        base: The base IRI: the dump's final URL, made an IRI where it has characters that IRIs lack.
        title: What to call it in messages: its URL, for an archive entry followed by the entry's names.
        size: Its bytes in UTF-8.
        open: The text from its first character, in UTF-8 without a byte order mark; each call reads it anew.
        contexts: Where the remote JSON-LD contexts that it may use are filed, by URL; None for one that could not
            be had.
        memory: Bytes that reading it should stay under, where that depends on how it is read.
    """

    url: str
    base: str
    title: str
    size: int
    open: Callable[[], AbstractContextManager[BinaryIO]]
    contexts: Mapping[str, Path | None] = field(default_factory=dict)
    memory: int = 256 << 20


class Sink(Protocol):
    """Where N-Triples go, as pyoxigraph writes them."""

    def write(self, data: bytes, /) -> object:
        """Take the next bytes, which need not end where a line does."""


def characters(data: bytes) -> int:
    """How many characters begin in a part of a text in UTF-8."""
    return len(data.translate(None, _CONTINUATION))
