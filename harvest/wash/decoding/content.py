"""
What a document is as a text, counted while it is decoded in pieces.

Plain ASCII, which most dumps are for the most part, is counted without being decoded.
"""

from __future__ import annotations

import codecs
import re
from typing import Final

from harvest.model import Content
from harvest.wash.problems import EXCERPT
from harvest.wash.text import characters

HEAD: Final = 10_000
"""Characters looked at to find the format. Source: LOD Laundromat, which sniffs the first 10,000 characters."""

_OTHERWISE = ("utf-16", "utf-32", "iso2022", "hz")
"""How the names of codecs begin in which bytes of ASCII may be other characters."""
_CONTROLS = bytes({*range(0x20), 0x7F} - set(b"\t\n\r\f\x1b"))
"""What text does not hold; ESC is in ISO-2022-JP."""
_PDF = b"%PDF-"
_MAGIC = 32
"""Bytes at the start in which every binary format shows."""
_AROUND = re.compile(rb'[\r\n"<>]+')
"""What no encoding has as the second byte of a character. Source: WHATWG Encoding, sections 10 to 13."""
_C1 = re.compile("[\x80-\x9f]")
_C1_SETS = frozenset({"iso8859-1", "iso8859-9", "iso8859-11"})
"""Character sets that have controls where their Windows relatives, with which they are confused, have letters."""

_SAMPLE = 1 << 16
_PIECE = 1 << 12
_PIECES = 400
_HOPELESS = 1000
"""Bad bytes after which UTF-8 is given up, where they are more than the good ones."""


def is_binary(head: bytes) -> bool:
    """
    Whether a document that begins so is no text.

    It is PDF, or has control characters in its first bytes and beyond: Turtle may have some in its literals.
    """
    part = head[:HEAD]
    return part.startswith(_PDF) or (_controls(part[:_MAGIC]) > 0 and 50 * _controls(part) > len(part))


def _controls(data: bytes) -> int:
    return len(data) - len(data.translate(None, _CONTROLS))


class TextCounts:
    """
    Counts of a text that comes in pieces.

    Attributes:
        chars: Characters so far.
        size: Bytes of them in UTF-8.
        newline: The first line end (LF, CRLF or CR), or None as long as it is not known.
    """

    def __init__(self) -> None:
        self.chars = self.size = 0
        self.newline: str | None = None
        self._ends = 0
        self._after = 0
        self._last = b""
        self._returned = False

    def add(self, data: bytes, chars: int) -> None:
        """Take the next piece in UTF-8, whole characters, and how many they are."""
        if not data:
            return
        self.chars += chars
        self.size += len(data)
        self._ends += data.count(b"\n")
        if self._last == b"\r" or b"\r" in data:
            self._count_returns(data)
        if self.newline is None and not self._returned and b"\n" in data:
            self.newline = "LF"
        start = max(data.rfind(b"\n"), data.rfind(b"\r") if self.newline == "CR" else -1) + 1
        if not start:
            self._after += chars
        elif chars == len(data):
            self._after = chars - start
        else:
            self._after = characters(data[start:])
        self._last = data[-1:]

    def _count_returns(self, data: bytes) -> None:
        """Count carriage returns that end lines by themselves, and report the first line end where it has one."""
        joined = self._last == b"\r" and data[:1] == b"\n"
        self._ends += data.count(b"\r") - data.count(b"\r\n") - joined
        if self._returned:
            self.newline, self._returned = ("CRLF" if joined else "CR"), False
        elif self.newline is None and (first := data.find(b"\r")) >= 0 and b"\n" not in data[:first]:
            self._returned = first == len(data) - 1
            self.newline = None if self._returned else "CRLF" if data[first + 1 : first + 2] == b"\n" else "CR"

    @property
    def place(self) -> tuple[int, int]:
        """Line and column of the next character, from 1."""
        return self._ends + 1, self._after + 1

    @property
    def lines(self) -> int:
        """Line ends, one more if the last line has none."""
        return self._ends + (self.chars > 0 and not self.ended)

    @property
    def ended(self) -> bool:
        """Whether the last line is at its end."""
        return self._last in (b"\n", b"\r")


class Scan:
    """
    One reading of a document in one encoding.

    Attributes:
        encoding: A Python codec name.
        bad: How often bytes do not decode.
        place: Line and column of the first of them, from 1, or None.
        excerpt: The text around it.
        sample: Texts of the document with bytes beyond ASCII, to guess its encoding from; empty while it decodes.
    """

    def __init__(self, encoding: str, strict: bool) -> None:
        self.encoding = encoding
        self.bad = 0
        self.place: tuple[int, int] | None = None
        self.excerpt = ""
        self.sample: list[bytes] = []
        self._strict = strict
        self._decoder = codecs.getincrementaldecoder(encoding)("strict")
        self._tally = TextCounts()
        self._head = ""
        self._good = 0
        self._superset = not encoding.startswith(_OTHERWISE)

    def feed(self, data: bytes) -> None:
        """
        Take the next bytes; none at all are the end.

        Raises:
            UnicodeDecodeError: They do not decode, and the scan is a strict one.
        """
        plain = self._superset and not self._decoder.getstate()[0]
        if plain and data.isascii():
            self._tally.add(data, len(data))
            if len(self._head) < HEAD:
                self._head += data[:HEAD].decode()
            return
        try:
            text = self._decoder.decode(data, not data)
        except UnicodeDecodeError as error:
            if self._strict:
                raise
            text = self._mended(error, not data)
            data = bytes(error.object)
        if self.place:
            self._look_at(text, data)
        if self.encoding in _C1_SETS and _C1.search(text):
            raise UnicodeDecodeError(self.encoding, data, 0, 1, "a control character, where Windows has letters")
        plain = plain and self.encoding == "utf-8" and self.place is None and not self._decoder.getstate()[0]
        self._take(text, data if plain else text.encode())

    def content(self, size: int) -> Content:
        """What the document is, `size` bytes long."""
        tally = self._tally
        # A line end of which no more came is no part of CRLF.
        newline = tally.newline or ("CR" if tally.lines and tally.ended else None)
        return Content(size, tally.chars, tally.lines, newline, self.encoding)

    @property
    def size(self) -> int:
        """Bytes of the text in UTF-8."""
        return self._tally.size

    @property
    def head(self) -> bytes:
        """The first `HEAD` characters in UTF-8."""
        return self._head[:HEAD].encode()

    @property
    def ascii(self) -> bool:
        """Whether it is in ASCII, and thus in UTF-8, whatever it says it is in."""
        return self._superset and not self._good and not self.bad

    @property
    def mostly(self) -> bool:
        """
        Whether bytes beyond ASCII are in this encoding for the most part, where that is UTF-8.

        Texts in others have bytes by chance that UTF-8 has too: in EUC-JP, where they have most, 54 good for 100 bad.
        """
        return self._good > 2 * self.bad

    @property
    def hopeless(self) -> bool:
        """Whether it is plain by now that this is not the encoding."""
        return self.bad > _HOPELESS and not self.mostly

    def _take(self, text: str, data: bytes) -> None:
        """Count characters, given in UTF-8 too."""
        if not self._tally.chars and text.startswith("\ufeff"):
            text, data = text[1:], data[3:]
        self._good += len(data) - len(text)
        self._tally.add(data, len(text))
        if len(self._head) < HEAD:
            self._head += text[:HEAD]

    def _mended(self, error: UnicodeDecodeError, final: bool) -> str:
        """The text with U+FFFD for what does not decode, as it is from now on; the first place is noted."""
        data = bytes(error.object)
        before = data[: error.start].decode(self.encoding)
        self._decoder = codecs.getincrementaldecoder(self.encoding)("replace")
        after = self._decoder.decode(data[error.start :], final)
        passed = TextCounts()
        passed.add(before.encode(), len(before))
        (lines, columns), (line, column) = self._tally.place, passed.place
        self.place = (lines + line - 1, column if line > 1 else columns + column - 1)
        start = before[-EXCERPT // 2 :].rpartition("\n")[2]
        self.excerpt = (start + (after or "\ufffd").partition("\n")[0])[:EXCERPT].rstrip("\r")
        return before + after

    def _look_at(self, text: str, data: bytes) -> None:
        """Count what was replaced, and keep a part of the document for a guess."""
        replaced = max(0, text.count("\ufffd") - self._genuine(data))
        self.bad += replaced
        self._good -= 2 * replaced
        if replaced and sum(map(len, self.sample)) < _SAMPLE:
            # The first and the last piece may be cut in mid-character.
            self.sample += [each[:_PIECE] for each in _AROUND.split(data)[1:-1] if not each.isascii()][:_PIECES]

    def _genuine(self, data: bytes) -> int:
        """How many U+FFFD the document itself has there."""
        try:
            return data.count("\ufffd".encode(self.encoding))
        except UnicodeEncodeError:
            return 0
