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
from harvest.wash.structured.whereabouts import SourceLines
from harvest.wash.text import Sink
from sparql.rdf import RDF

Name = tuple[str | None, str]

_FAULTS: Final = (Error, ValueError, TypeError, AttributeError, LookupError)
"""What rdflib raises for an element that is not RDF/XML: its own error by intention, the others where it trips."""

_ABSOLUTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
"""How an IRI begins that is not relative."""

_SPACE: Final = " \t\r\n"
_UNQUALIFIED: Final = frozenset({"ID", "about", "resource", "parseType", "type"})
_LI: Final[Name] = (RDF, "li")
_LANG: Final[Name] = ("http://www.w3.org/XML/1998/namespace", "lang")


class _Statements:
    """
    What rdflib takes for its graph; each statement is checked and written, unless it is to wait.

    Attributes:
        waiting: Statements of a start tag, which count only if all of it, and what follows, is as it should be.
    """

    def __init__(self, triples: Triples) -> None:
        self.waiting: list[Statement] | None = None
        self._triples = triples

    def add(self, statement: Statement) -> None:
        """Take a statement."""
        if self.waiting is not None:
            self.waiting.append(statement)
        else:
            self._triples.add(lambda: triple(*statement))

    def flush(self) -> None:
        """Write what waits."""
        waiting, self.waiting = self.waiting, None
        for statement in waiting or ():
            self.add(statement)

    def bind(self, prefix: str | None, namespace: str, override: bool = True) -> None:
        """Nothing: N-Triples have no prefixes."""


class _Reader(RDFXMLHandler):
    """rdflib's reader of RDF/XML, which leaves out an element that it cannot read and goes on after it."""

    def __init__(self, triples: Triples, report: Callable[[Exception], None], lose: Callable[[int], None]) -> None:
        self._report = report
        self._lose = lose
        self._skipped = 0
        self._texts: list[str] = []
        self._spoilt: set[int] = set()
        self._statements = _Statements(triples)
        super().__init__(cast(Graph, self._statements))

    def startElementNS(self, name: Name, qname: str | None, attrs: Any) -> None:
        """Begin an element, unless one around it is left out."""
        self._pass_text()
        if self._skipped:
            self._skipped += 1
            self._lose(1)  # an element is about a triple: a property one, a typed node another
            return
        self._statements.flush()
        try:
            super().startElementNS(name, cast(str, qname), cast(Any, _with_language(attrs)))
        except _FAULTS as error:
            self._statements.waiting = None
            self.stack.pop()
            self._spoil()
            self._skipped = 1
            self._report(error)

    def endElementNS(self, name: Name, qname: str | None) -> None:
        """End an element."""
        self._pass_text()
        if self._skipped:
            self._skipped -= 1
            return
        now = self.current
        if now.end == self.property_element_end and now.object is not None and (now.data or "").strip(_SPACE):
            self._report(ParserError("a text stands beside an element"))
            self._spoil()
        self._statements.flush()
        spoilt = len(self.stack) in self._spoilt
        self._spoilt.discard(len(self.stack))
        try:
            if not spoilt:
                now.end(name, qname)
            self.stack.pop()
        except _FAULTS as error:
            self.stack.pop()
            self._spoil()
            self._report(error)

    def characters(self, content: str) -> None:
        """
        Text, unless an element around it is left out.

        It is handed on in one piece: rdflib copies what it has of a literal for each, and entities make them small.
        """
        if not self._skipped:
            self._texts.append(content)

    def _pass_text(self) -> None:
        text, self._texts = "".join(self._texts), []
        if text.strip(_SPACE) and not self._takes_text():
            self._report(ParserError(f"the text {text.strip(_SPACE)[:50]!r} stands where none can"))
            self._spoil()
        elif text:
            super().characters(text)

    def _takes_text(self) -> bool:
        """Whether text can stand where it does: in an XML literal, or in a property that has nothing else."""
        now = self.current
        return now.char == self.literal_element_char or (
            now.end == self.property_element_end and now.data is not None and now.object is None
        )

    def _spoil(self) -> None:
        """
        Leave out what the open property says, for its object is not what it seems to be.

        Without a bad element in it, it would have an empty text, and a list without a bad member would be another one.
        """
        if self.current is not None and self.current.end == self.property_element_end and self.current.subject is None:
            self._statements.waiting = None
            self._spoilt.add(len(self.stack))

    def skippedEntity(self, name: str) -> None:
        """Report an entity that only another file declares, and which is therefore missing in the text."""
        self._report(ParserError(f"the entity {name} is declared outside the document; it was left out of the text"))

    def node_element_start(self, name: tuple[str, str], qname: str, attrs: Any) -> None:
        """Begin a node: an attribute that has no namespace, and none of RDF/XML's old ones, is left out."""
        _check(name)
        odd = [attribute for attribute in attrs.getNames() if not _is_known(attribute)]
        if (None, "nodeID") in odd:
            self.error("the attribute nodeID has no namespace; it must be rdf:nodeID")
        for attribute in odd:
            self._report(ParserError(_nameless("attribute", attribute)))
        given = {key: value for key, value in attrs.items() if key not in odd}
        self._statements.waiting = []
        super().node_element_start(name, qname, cast(Any, AttributesNSImpl(given, {})))
        self._statements.flush()

    def property_element_start(self, name: tuple[str, str], qname: str, attrs: Any) -> None:
        """
        Begin a property.

        The element before it may have left its reader of text here, which would write into this one's object.
        """
        self.current.char = None
        odd = next((attribute for attribute in attrs.getNames() if not _is_known(attribute)), None)
        if odd is not None and name == _LI:
            self.current.next_li()  # the members behind it keep their numbers
        _check(name)
        if odd is not None:
            self.error(_nameless("attribute", odd))
        self._statements.waiting = []
        super().property_element_start(name, qname, attrs)

    def list_node_element_end(self, name: tuple[str, str], qname: str) -> None:
        """End a member of a list, which is left out if another one was."""
        if len(self.stack) - 1 not in self._spoilt:
            super().list_node_element_end(name, qname)

    def absolutize(self, uri: str) -> URIRef:
        """The IRI meant: RFC 3986 and no more, where `urljoin` drops empty queries and trims."""
        return URIRef(uri if _ABSOLUTE.match(uri) else resolved(uri, self.current.base or ""))

    def error(self, message: str) -> NoReturn:
        """Raise it without the place, which is added anyway."""
        raise ParserError(message)


def _check(name: Name) -> None:
    """
    Raise ParserError for an element whose name is no IRI.

    rdflib would take its name for a reference that is relative to the document, and state what nobody said.
    Source: RDF/XML, section 6.1.2 (Element Event, `URI`), which needs a namespace name.
    """
    if not _ABSOLUTE.match(name[0] or ""):
        raise ParserError(_nameless("element", name))


def _is_known(attribute: Name) -> bool:
    """
    Whether an attribute has an IRI: by its namespace, or as one of those that were once written without.

    Source: RDF/XML, section 6.1.4 (Attribute Event, `URI`).
    """
    namespace, name = attribute
    return bool(_ABSOLUTE.match(namespace)) if namespace else name in _UNQUALIFIED or name[:3].lower() == "xml"


def _nameless(what: str, name: Name) -> str:
    if not name[0]:
        return f"the {what} {name[1]} has no namespace"
    return f"the {what} {name[1]} is in the namespace {name[0]!r}, which is no absolute IRI"


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

    Elements that cannot be read and statements that are not RDF are left out, and reported.
    """
    parser = ExpatParser()
    parser.setFeature(handler.feature_namespaces, True)
    parser.setFeature(handler.feature_external_ges, False)
    lines = SourceLines(data)

    def report(error: Exception) -> None:
        line, column = parser.getLineNumber(), (parser.getColumnNumber() or 0) + 1
        around = lines.around(line, column) if problems.wants_excerpt(_kind(error)) else None
        problems.add(Problem(_kind(error), _message(error), line, column, around))

    with as_written(), writing(sink, report) as triples:
        parser.setContentHandler(_Reader(triples, report, problems.lose))
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
