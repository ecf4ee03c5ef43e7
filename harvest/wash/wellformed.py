"""
Whether XML is well-formed, checked by expat while another parser reads it.

pyoxigraph takes RDF/XML that ends between two tags for a whole document, and expands nested entities without limit.
Expat does neither, and knows line and column.
"""

from __future__ import annotations

from xml.parsers import expat


class WellFormed:
    """
    A watch over the bytes of an XML document.

    Source: XML 1.0, section 2.1; expat's limits on the expansion of entities.
    """

    def __init__(self) -> None:
        self._parser = expat.ParserCreate()

    def watch(self, data: bytes) -> None:
        """
        Take the next bytes; none at all are the end of the document.

        Raises:
            SyntaxError: The document is not well-formed; with line and column, the column in characters.
        """
        try:
            self._parser.Parse(data, not data)
        except expat.ExpatError as error:
            what = str(error).partition(":")[0]
            raise SyntaxError(f"not well-formed XML: {what}", (None, error.lineno, error.offset + 1, None)) from error
