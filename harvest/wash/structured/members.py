"""
A large JSON-LD document taken apart without being held: its objects, each whole, one after the other.

What can be taken apart is an array of objects at the top, and the array of a `@graph` in an object at the top or in
such an array. Everything else is one piece.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, Final

from harvest.wash.structured.jsonjob import DECODER
from harvest.wash.structured.strict import DocumentTooLarge

_BLOCK: Final = 1 << 20
"""Bytes that are read at a time, and characters that are looked through for the end of a value at first."""

_NEAR: Final = 16
"""Characters from the end of what was read in which an error may be due to that end."""

_SPACE: Final = " \t\r\n"


@dataclass(slots=True)
class Frame:
    """
    What stands around the members of a `@graph`.

    Attributes:
        number: Of the frames of a document, from 0.
        keys: The other keys of the object with their values, as JSON texts.
    """

    number: int
    keys: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Member:
    """
    A piece of a document.

    Attributes:
        text: Its JSON.
        value: What that says.
        frame: The number of the frame that it stands in, or None for a document of its own.
    """

    text: str
    value: object
    frame: int | None


class Broken(ValueError):
    """
    Text that is no JSON.

    Attributes:
        line: Where, from 1.
        column: Where in that line, in characters, from 1.
    """

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


class Members:
    """
    The members of a document in order, and each frame behind its last member.

    Attributes:
        open: The frame whose members are being read, with the keys that came so far.
    """

    def __init__(self, stream: BinaryIO, most: int) -> None:
        """`most` is how many characters a piece may have."""
        self.open: Frame | None = None
        self._text = _Text(stream, most)
        self._frames = 0

    def __iter__(self) -> Iterator[Member | Frame]:
        """
        Read them.

        Raises:
            Broken: The rest is no JSON.
            DocumentTooLarge: A piece is larger than it may be, or nested too deeply.
            WashError: The document is damaged.
        """
        text = self._text
        if text.mark("["):
            yield from self._array(None)
        elif text.next() == "{":
            yield from self._object()
        else:
            yield Member(*text.value(), None)
        if text.next():
            raise text.broken("another document follows; publish them as one array, or one on each line")

    def _array(self, frame: int | None) -> Iterator[Member | Frame]:
        """The elements of an array that has begun."""
        text = self._text
        if text.mark("]"):
            return
        while True:
            near = text.near() if frame is None and text.next() == "{" else text.value()
            if near is None:
                yield from self._object()
            else:
                yield Member(*near, frame)
            if text.mark("]"):
                return
            text.expect(",")

    def _object(self) -> Iterator[Member | Frame]:
        """An object key by key: a frame, where it has a `@graph` that is an array."""
        text, keys = self._text, dict[str, str]()
        text.expect("{")
        while not text.mark("}"):
            if keys or self.open:
                text.expect(",")
            _, key = text.value()
            if not isinstance(key, str):
                raise text.broken("a key is no text")
            text.expect(":")
            if key == "@graph" and text.mark("["):
                self.open = self.open or Frame(self._frames, keys)
                yield from self._array(self.open.number)
            else:
                keys[key], _ = text.value()
                text.check(sum(map(len, keys.values())))
        if self.open is None:
            source = "{" + ",".join(f"{json.dumps(key)}:{value}" for key, value in keys.items()) + "}"
            yield Member(source, DECODER.decode(source), None)
        else:
            found, self.open = self.open, None
            self._frames += 1
            yield found


class _Text:
    """JSON that is read value by value; what was read is forgotten."""

    def __init__(self, stream: BinaryIO, most: int) -> None:
        self._read = getattr(stream, "read1", stream.read)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._most = most
        self._held = ""
        self._at = 0
        self._line = self._column = 1
        self._ended = False

    def next(self) -> str:
        """The next character that is no white space; empty at the end."""
        while True:
            while self._at < len(self._held) and self._held[self._at] in _SPACE:
                self._at += 1
            if self._at < len(self._held) or not self._more():
                return self._held[self._at : self._at + 1]

    def mark(self, mark: str) -> bool:
        """Pass a mark, if it is next."""
        found = self.next() == mark
        self._at += found
        return found

    def expect(self, mark: str) -> None:
        """Pass a mark that must be next."""
        if not self.mark(mark):
            raise self.broken(f"{mark!r} is missing")

    def near(self) -> tuple[str, object] | None:
        """Pass a value that ends in what was read already; None for another one."""
        try:
            value, end = DECODER.raw_decode(self._held, self._at)
        except (ValueError, RecursionError):
            return None
        start, self._at = self._at, end
        return self._held[start:end], value

    def value(self) -> tuple[str, object]:
        """Pass a value; its text, and what it says."""
        if not self.next():
            raise self.broken("the document breaks off")
        while True:
            try:
                value, end = DECODER.raw_decode(self._held, self._at)
            except json.JSONDecodeError as error:
                near = error.pos >= len(self._held) - _NEAR or error.msg.startswith(("Unterminated", "Invalid \\"))
                if near and self._more():
                    continue
                self._at = max(self._at, error.pos if not near or self._ended else self._at)
                raise self.broken(error.msg) from error
            except ValueError as error:
                raise self.broken(str(error)) from error
            except RecursionError as error:
                raise DocumentTooLarge("is nested too deeply") from error
            if end < len(self._held) or not self._more():
                text = self._held[self._at : end]
                self._at = end
                return text, value

    def check(self, size: int) -> None:
        """Raise DocumentTooLarge for a piece that is."""
        if size > self._most:
            message = (
                f"has more than {self._most:,} characters in one piece, and reading it would take more memory than "
            )
            raise DocumentTooLarge(message + "wash.memory allows; publish it as an array of objects, or in N-Triples")

    def broken(self, message: str) -> Broken:
        """The error that the text is no JSON from here on."""
        passed = self._held[: self._at]
        lines = passed.count("\n")
        column = len(passed) - passed.rfind("\n") if lines else self._column + len(passed)
        return Broken(message, self._line + lines, column)

    def _more(self) -> bool:
        """Read on, as much again as waits; False at the end."""
        if self._ended:
            return False
        passed, self._held = self._held[: self._at], self._held[self._at :]
        lines = passed.count("\n")
        self._column = len(passed) - passed.rfind("\n") if lines else self._column + len(passed)
        self._line += lines
        self._at = 0
        self.check(len(self._held))
        pieces, wanted = [self._held], max(_BLOCK, len(self._held))
        while wanted > 0 and not self._ended:
            data = self._read(wanted)
            wanted -= len(data)
            self._ended = not data
            pieces.append(self._decoder.decode(data, not data))
        self._held = "".join(pieces)
        return len(pieces) > 2 or bool(pieces[-1])
