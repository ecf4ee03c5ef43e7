"""
Whether XML is well-formed, checked by expat while another parser reads it.

pyoxigraph takes RDF/XML that ends between two tags for a whole document, expands nested entities without limit, and
takes time with the square of how deep elements are. Expat does none of it, and knows line and column.
"""

from __future__ import annotations

import re
from typing import BinaryIO, Final
from xml.parsers import expat

from harvest.wash.structured.strict import DocumentTooLarge
from harvest.wash.structured.watched import Watched

DEPTH: Final = 10_000
"""
Elements within each other that are read.

Lists whose rests lie within each other make the deepest ones, two for a member. 10,000 take pyoxigraph half a second,
100,000 a minute, and a million two hours.
"""

_DECLARED: Final = re.compile(rb"""(<\?xml\s[^>]*?)(encoding\s*=\s*(?:"[^"]*"|'[^']*'))""")


class Malformed(SyntaxError):
    """Not well-formed XML, or XML whose entities explode."""


class WellFormed:
    """
    A watch over the bytes of an XML document in UTF-8.

    Source: XML 1.0, section 2.1; expat's limits on the expansion of entities.
    """

    def __init__(self) -> None:
        # The text was recoded to UTF-8, whatever encoding its XML declaration still names.
        self._parser = expat.ParserCreate("utf-8")
        self._parser.ordered_attributes = True  # a list costs less than a dictionary
        self._parser.StartElementHandler = self._opened
        self._parser.EndElementHandler = self._closed
        self._depth = 0

    def watch(self, data: bytes) -> None:
        """
        Take the next bytes; none at all are the end of the document.

        Raises:
            Malformed: The document is not well-formed; with line and column, the column in characters.
            DocumentTooLarge: Its elements are nested too deeply.
        """
        try:
            self._parser.Parse(data, not data)
        except expat.ExpatError as error:
            what = str(error).partition(":")[0]
            raise Malformed(f"not well-formed XML: {what}", (None, error.lineno, error.offset + 1, None)) from error

    def _opened(self, name: str, attributes: object) -> None:
        self._depth += 1
        if self._depth > DEPTH:
            raise DocumentTooLarge(f"has more than {DEPTH:,} elements within each other")

    def _closed(self, name: str) -> None:
        self._depth -= 1


def well_formed(stream: BinaryIO) -> Watched:
    """
    An XML document under a watch.

    Its declaration names no encoding any more: pyoxigraph refuses all but UTF-8 there.
    """
    return Watched(stream, WellFormed().watch, _undeclared)


def _undeclared(head: bytes) -> bytes:
    """The beginning of an XML document with blanks where its declaration names an encoding, so that places stay."""
    found = _DECLARED.match(head)
    return head if found is None else found[1] + b" " * len(found[2]) + head[found.end() :]
