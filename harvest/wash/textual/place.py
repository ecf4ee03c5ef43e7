"""Places in a document: lines, columns, excerpts; and what a parser's message is about."""

from __future__ import annotations

import re
from typing import Final

from harvest.wash.problems import EXCERPT
from harvest.wash.text import characters
from harvest.wash.textual.lexis import LINE_END

AROUND: Final = 4 * EXCERPT
"""Bytes on either side of a place that an excerpt can come from."""

_KINDS = (
    ("encoding", re.compile(r"UTF-8")),
    ("too-large", re.compile(r"^Reached the buffer maximal size|deep inside each other")),
    (
        "invalid-iri",
        re.compile(
            r"Invalid IRI|No scheme found|relative IRI|escapes in IRIs|escaped in IRIs|Invalid port|in host"
            r"|in authority|Invalid character '|IP(v6)? (address|literal)|path is not allowed to start"
            r"|builds IRI|^Invalid host"
        ),
    ),
    (
        "invalid-literal",
        re.compile(
            r"[Ll]anguage|subtag|[Ee]scape|surrogate|string literal|valid unicode character|base direction|datatype"
            r"|string that is not closed|Line jumps are not allowed in string"
        ),
    ),
)


def kind(message: str) -> str:
    """The kind of problem that a parser's message is about."""
    return next((name for name, pattern in _KINDS if pattern.search(message)), "syntax")


def after(text: bytes, line: int, column: int) -> tuple[int, int]:
    """Line and column behind a text that begins at a line and column."""
    ends = text.count(b"\n") + text.count(b"\r") - text.count(b"\r\n")
    if not ends:
        return line, column + characters(text)
    return line + ends, 1 + characters(text[max(text.rfind(b"\n"), text.rfind(b"\r")) + 1 :])


def offset(text: bytes, start: int, line: int, column: int) -> int:
    """Where the place at a line and column is, both from 1 and as of `start`; the text's end where it has no such."""
    for _ in range(line - 1):
        end = LINE_END.search(text, start)
        if end is None:
            return len(text)
        start = end.end()
    while column > 1 and start < len(text):
        piece = text[start : start + column - 1]
        start += len(piece)
        column -= characters(piece)
    while start < len(text) and 0x80 <= text[start] < 0xC0:
        start += 1
    return start


def excerpt(text: bytes, place: int) -> str:
    """The text around a place, of its own line."""
    begin = max(0, place - AROUND)
    starts = [end.end() for end in LINE_END.finditer(text, begin, place)]
    begin = starts[-1] if starts else begin
    end = LINE_END.search(text, place, place + AROUND)
    stop = end.start() if end else min(len(text), place + AROUND)
    before = text[begin:place].decode("utf-8", "replace")
    line = before + text[place:stop].decode("utf-8", "replace")
    start = max(0, min(len(before) - EXCERPT // 2, len(line) - EXCERPT))
    return line[start : start + EXCERPT]
