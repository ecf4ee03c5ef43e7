"""One document as the parsers get it: characters in UTF-8, to be read as often as they need."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO, Protocol


class Text(Protocol):
    """
    A document that was unpacked and decoded.

    Attributes:
        url: The dump it is or is in.
        base: The base IRI: the dump's final URL, an IRI also where the URL has characters that IRIs lack.
        title: What to call it in messages: its URL, for an archive entry followed by the entry's names.
        size: Its bytes in the original encoding, decompressed.
        contexts: Where the remote JSON-LD contexts that it may use are filed, by URL.
    """

    @property
    def url(self) -> str: ...
    @property
    def base(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def size(self) -> int: ...
    @property
    def contexts(self) -> Mapping[str, Path]: ...

    def open(self) -> AbstractContextManager[BinaryIO]:
        """The text from its first character, in UTF-8 without a byte order mark; each call reads it anew."""
        ...


class Sink(Protocol):
    """Where canonical N-Triples go, as pyoxigraph writes them."""

    def write(self, data: bytes, /) -> object:
        """Take the next bytes, which need not end where a line does."""
