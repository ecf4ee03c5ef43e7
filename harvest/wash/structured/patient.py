"""
RDF/XML read by rdflib, element by element: what is wrong with one costs that one and nothing else.

Nothing outside the document is ever loaded (Python's SAX reader leaves external entities alone), and expat limits the
expansion of nested ones.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable
from typing import Any, Final, NoReturn, cast
from xml.sax import SAXParseException, handler
from xml.sax.expatreader import ExpatParser
from xml.sax.xmlreader import AttributesNSImpl, InputSource

from rdflib import Graph, URIRef
from rdflib.exceptions import Error, ParserError
from rdflib.plugins.parsers.rdfxml import RDFXMLHandler

from harvest.model import Problem
from harvest.wash.problems import Problems
from harvest.wash.structured.lexical import Statement, as_written, language, triple
from harvest.wash.structured.terms import NoTerm, Triples, resolved, writing
from harvest.wash.structured.wellformed import Malformed
from harvest.wash.structured.whereabouts import Lines
from harvest.wash.text import Sink

Name = tuple[str | None, str]

_FAULTS: Final = (Error, ValueError, TypeError, AttributeError, LookupError)
"""What rdflib raises for an element that is not RDF/XML: its own error by intention, the others where it trips."""

_ABSOLUTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
"""How an IRI begins that is not relative."""

_LANG: Final[Name] = ("http://www.w3.org/XML/1998/namespace", "lang")


class _Statements:
    """What rdflib takes for its graph; each statement is checked and written at once."""

    def __init__(self, triples: Triples) -> None:
        self._triples = triples

    def add(self, statement: Statement) -> None:
        """Write a statement."""
        self._triples.add(lambda: triple(*statement))

    def bind(self, prefix: str | None, namespace: str, override: bool = True) -> None:
        """Nothing: N-Triples have no prefixes."""


class _Reader(RDFXMLHandler):
    """rdflib's reader of RDF/XML, which leaves out an element that it cannot read and goes on after it."""

    def __init__(self, triples: Triples, tell: Callable[[Exception], None]) -> None:
        self._tell = tell
        self._skipped = 0
        self._texts: list[str] = []
        super().__init__(cast(Graph, _Statements(triples)))

    def startElementNS(self, name: Name, qname: str | None, attrs: Any) -> None:
        """Begin an element, unless one around it is left out."""
        self._pass_text()
        if self._skipped:
            self._skipped += 1
            return
        try:
            super().startElementNS(name, cast(str, qname), cast(Any, _with_language(attrs)))
        except _FAULTS as error:
            self.stack.pop()
            self._skipped = 1
            self._tell(error)

    def endElementNS(self, name: Name, qname: str | None) -> None:
        """End an element."""
        self._pass_text()
        if self._skipped:
            self._skipped -= 1
            return
        try:
            self.current.end(name, qname)
        except _FAULTS as error:
            self._tell(error)
        self.stack.pop()

    def characters(self, content: str) -> None:
        """
        Text, unless an element around it is left out.

        It is handed on in one piece: rdflib copies what it has of a literal for each, and entities make them small.
        """
        if not self._skipped:
            self._texts.append(content)

    def _pass_text(self) -> None:
        if self._texts:
            super().characters("".join(self._texts))
            self._texts = []

    def skippedEntity(self, name: str) -> None:
        """Tell of an entity that only another file declares, and which is therefore missing in the text."""
        self._tell(ParserError(f"the entity {name} is declared outside the document; it was left out of the text"))

    def property_element_start(self, name: tuple[str, str], qname: str, attrs: Any) -> None:
        """
        Begin a property.

        The element before it may have left its reader of text here, which would write into this one's object.
        """
        self.current.char = None
        super().property_element_start(name, qname, attrs)

    def absolutize(self, uri: str) -> URIRef:
        """The IRI meant: RFC 3986 and no more, where `urljoin` drops empty queries and trims."""
        return URIRef(uri if _ABSOLUTE.match(uri) else resolved(uri, self.current.base or ""))

    def error(self, message: str) -> NoReturn:
        """Raise it without the place, which is told anyway."""
        raise ParserError(message)


def _with_language(attrs: AttributesNSImpl) -> AttributesNSImpl:
    """The attributes with a language that rdflib takes."""
    given = dict(cast(Iterable[tuple[Name, str]], attrs.items()))
    if _LANG not in given:
        return attrs
    given[_LANG] = language(given[_LANG])
    return AttributesNSImpl(given, {})


def read_patiently(data: bytes, base: str, sink: Sink, problems: Problems) -> Malformed | None:
    """
    Write the triples of RDF/XML, and return why there are not more of them.

    Elements that cannot be read and statements that are not RDF are left out, and told.
    """
    parser = ExpatParser()
    parser.setFeature(handler.feature_namespaces, True)
    parser.setFeature(handler.feature_external_ges, False)
    lines = Lines(data)

    def tell(error: Exception) -> None:
        line, column = parser.getLineNumber(), (parser.getColumnNumber() or 0) + 1
        around = lines.around(line, column) if problems.wants_excerpt() else None
        problems.add(Problem(_kind(error), _message(error), line, column, around))

    with as_written(), writing(sink, tell) as triples:
        parser.setContentHandler(_Reader(triples, tell))
        try:
            parser.parse(_source(data, base))
        except SAXParseException as error:
            place = (None, error.getLineNumber(), (error.getColumnNumber() or 0) + 1, None)
            return Malformed(f"not well-formed XML: {error.getMessage()}", place)
    return None


def _source(data: bytes, base: str) -> InputSource:
    """The document for Python's SAX reader, which takes its address for the base IRI."""
    source = InputSource(base)
    source.setByteStream(io.BytesIO(data))
    source.setEncoding("utf-8")
    return source


def _kind(error: Exception) -> str:
    return error.kind if isinstance(error, NoTerm) else "syntax"


def _message(error: Exception) -> str:
    return f"{error.message if isinstance(error, NoTerm) else error}; what it belongs to was left out"
