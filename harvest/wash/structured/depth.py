"""JSON under a watch for how deeply it is nested: pyoxigraph's parser of JSON-LD dies with its process past 2,500."""

from __future__ import annotations

import re
from typing import BinaryIO, Final

from harvest.wash.structured.strict import DocumentTooLarge
from harvest.wash.structured.watched import Watched

DEPTH: Final = 500
"""Objects and arrays within each other that are read; real documents have under 50."""

_STRING: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_REST_OF_STRING: Final = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)
_NO_BRACKETS: Final = bytes(sorted(set(range(256)) - set(b"{}[]")))


class Depth:
    """
    How deep a JSON text is at the end of what was seen of it.

    Source: RFC 8259, section 9: a parser may limit the depth.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._in_string = False
        self._escaped = False

    def watch(self, data: bytes) -> None:
        """
        Take the next bytes.

        Raises:
            DocumentTooLarge: They are nested too deeply.
        """
        if self._in_string:
            data = self._after_string(data)
        data = _STRING.sub(b"", data)
        start = data.find(b'"')
        if start >= 0:
            self._in_string = True
            self._after_string(data[start + 1 :])
            data = data[:start]
        self._count(data.translate(None, _NO_BRACKETS))

    def _after_string(self, data: bytes) -> bytes:
        """What follows a string that began before; nothing where it does not end here."""
        start = int(self._escaped and bool(data))
        found = _REST_OF_STRING.match(data, start)
        end = found.end() if found else start
        # What is left is the quote at its end, or a backslash with nothing behind it yet.
        self._in_string = data[end : end + 1] != b'"'
        self._escaped = data[end : end + 1] == b"\\" or (self._escaped and not data)
        return b"" if self._in_string else data[end + 1 :]

    def _count(self, brackets: bytes) -> None:
        """
        Take a row of brackets.

        Innermost pairs are taken out until there are none: that takes as many turns as they are deep, and is a
        hundred times as fast as counting one by one.
        """
        turns = 0
        before = -1
        while len(brackets) != before and turns <= DEPTH:
            before = len(brackets)
            brackets = brackets.replace(b"{}", b"").replace(b"[]", b"")
            turns += 1
        opened = brackets.count(b"{") + brackets.count(b"[")
        if self._depth + opened + turns > DEPTH + 1:
            raise DocumentTooLarge(f"is nested more than {DEPTH} objects and arrays deep")
        self._depth = max(0, self._depth + 2 * opened - len(brackets))


def shallow(stream: BinaryIO) -> Watched:
    """A JSON text that raises `DocumentTooLarge` where it is nested too deeply."""
    return Watched(stream, Depth().watch)
