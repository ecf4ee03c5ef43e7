"""
XML as a stream of elements, for sitemaps and the documents of ResourceSync.

Entities are refused where they are declared, nesting and text are bounded, and nothing that is named is fetched.
"""

from __future__ import annotations

from typing import Final, Protocol
from xml.parsers import expat

DEPTH: Final = 100
"""Levels of elements; the documents read here have four."""

LONGEST: Final = 8192
"""Characters of the text of an element that are kept, and of a URL; the sitemap protocol allows URLs of 2,048."""


class Refused(Exception):
    """Something that no such document has; raised by a handler, too."""


class Unreadable(Exception):
    """
    A document that cannot be read on.

    Attributes:
        reason: Why.
        line: Where, from 1.
        column: Where in that line, from 1.
        is_malformed: Whether this is no well-formed XML, rather than XML that was refused.
    """

    def __init__(self, reason: str, line: int, column: int, *, is_malformed: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line
        self.column = column
        self.is_malformed = is_malformed


class Handler(Protocol):
    """What elements are given to; may raise Refused."""

    def started(self, namespace: str, name: str, attributes: dict[str, str]) -> None:
        """An element begins; it is the last of the reader's path."""

    def ended(self, namespace: str, name: str, text: str) -> None:
        """An element ends, with the text since the last tag; it is no more in the reader's path."""


class ElementReader:
    """
    Reads XML chunk by chunk.

    Attributes:
        path: The open elements from the root on, as (namespace, name).
    """

    def __init__(self, handler: Handler, kind: str) -> None:
        """`kind` is what the document is to be, for messages: `sitemap`."""
        self.path: list[tuple[str, str]] = []
        self._handler = handler
        self._kind = kind
        self._text: list[str] = []
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.EntityDeclHandler = self._entity

    @property
    def line(self) -> int:
        """The line that is read, from 1."""
        return self._parser.CurrentLineNumber

    def feed(self, chunk: bytes) -> None:
        """
        Read on, or come to the end with no bytes.

        Raises:
            Unreadable: The document is damaged or refused.
        """
        try:
            self._parser.Parse(chunk, not chunk)
        except Refused as error:
            raise Unreadable(str(error), self.line, self._parser.CurrentColumnNumber + 1) from error
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code)
            raise Unreadable(reason, error.lineno, error.offset + 1, is_malformed=True) from error
        except (ValueError, LookupError) as error:  # an encoding that Python does not know
            raise Unreadable(str(error), 1, 1) from error

    def _entity(self, name: str, *rest: object) -> None:
        raise Refused(f"it declares the entity {name[:100]!r}; a {self._kind} has none")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        namespace, _, name = tag.rpartition(" ")
        if len(self.path) >= DEPTH:
            raise Refused(f"it is nested more than {DEPTH} levels deep")
        self.path.append((namespace, name))
        self._text.clear()
        self._handler.started(namespace, name, attributes)

    def _characters(self, text: str) -> None:
        if sum(map(len, self._text)) <= LONGEST:
            self._text.append(text)

    def _end(self, tag: str) -> None:
        namespace, name = self.path.pop()
        text = "".join(self._text).strip()
        self._text.clear()
        self._handler.ended(namespace, name, text)
