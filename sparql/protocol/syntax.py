"""
What a query says, as the store's own parser reads it.

Oxigraph has no switch against SERVICE and does not say whether a query has a FROM clause. Looking for the words is not
enough: its grammar has no tokens, so `SERVICEex:graph {...}` and `service:x {...}` call a remote endpoint, and so does
`?a<1)SERVICE#>`, which looks like an IRI. So the word is disguised instead, as one that the grammar does not know: a
query that still parses had it only in names, literals, IRIs and comments; one that no longer does had it as a keyword.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from string import ascii_lowercase
from typing import Final

from pyoxigraph import Store

from sparql.errors import ForbiddenError, RequestError

_PLACE: Final = re.compile(r"error at (\d+):(\d+): expected (.*)", re.DOTALL)
_ESCAPE: Final = re.compile(r"\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})")
_KEYWORD: Final = re.compile(r"\b[A-Z][A-Z_]+\b")
OPAQUE: Final = r"""<[^<>"{}|^`\\\s]*>|\"{3}.*?\"{3}|'{3}.*?'{3}|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\#[^\n]*"""
"""Pattern, with DOTALL, of IRIs, texts and comments: nothing within them is syntax."""
_OPAQUE: Final = re.compile(OPAQUE, re.DOTALL)
_DECLARED: Final = re.compile(r"\bprefix\s+([\w.-]*):", re.IGNORECASE)
_PREFIXED: Final = re.compile(r"(?<![\w?$:@.-])([^\W_][\w-]*|):(?=\w)")


_RELATIVE: Final = re.compile(r"<(?![A-Za-z][A-Za-z0-9+.-]*:)")
"""What may begin an IRI without a scheme. Source: RFC 3986, section 3.1."""
_MADE: Final = re.compile("[iu]ri", re.IGNORECASE)

VOLATILE: Final = ("rand", "now", "uuid", "bnode", "service")
"""Calls whose value is another one each time, in lower case; STRUUID has one of them in it."""
_VOLATILE: Final = (*VOLATILE, "\\u")


@dataclass(frozen=True, slots=True)
class Failure:
    """
    Where a text stops being a query.

    Attributes:
        offset: Index into the text.
        line: From 1.
        column: In characters, from 1.
        reason: What is wrong there, when that is known.
    """

    offset: int
    line: int
    column: int
    reason: str = ""


class Grammar:
    """The store's parser over an empty store: nothing is looked up."""

    def __init__(self, base_iri: str, service: Iterable[str] = ()) -> None:
        self._base_iri = base_iri
        self._services = [_service_clause(endpoint) for endpoint in service]
        self._empty = Store()
        self.names_dataset = lru_cache(maxsize=256)(self._names_dataset)

    def refuse_service(self, text: str) -> None:
        """
        Return if the query asks no other endpoint than those that may be asked.

        A clause that may is written `SERVICE <endpoint>`, with the endpoint in full. It is looked at as if it were a
        GRAPH clause, which has the same grammar; then no SERVICE may be left.

        Raises:
            ForbiddenError: It has another SERVICE clause.
            RequestError: It is no query.
        """
        plain = text.lower()
        if "\\" in text and _unescape(text).lower().count("service") > plain.count("service"):
            raise ForbiddenError("SERVICE is refused, and so is a query that spells the word with escapes.")
        if "service" not in plain:
            return
        for clause in self._services:
            text = clause.sub(_as_graph, text)
        disguised = disguise("service", text)
        failure = self.failure(disguised)
        if failure is None:
            return
        if _stops_at("service", text, failure):
            place = f"line {failure.line}, column {failure.column}"
            asked = "this endpoint asks no other one" if not self._services else "this endpoint does not ask that one"
            raise ForbiddenError(f"SERVICE is refused ({place}): {asked}.")
        raise syntax_error(text, failure)

    def is_volatile(self, text: str) -> bool:
        """
        Whether asking again gives another answer over the same data; also true for what only looks like it.

        The calls that do are looked for as keywords: in names, literals, IRIs and comments they change nothing.
        """
        if not may_be_volatile(text):
            return False
        plain = text.lower()
        if "\\" in text and any(_unescape(text).lower().count(call) > plain.count(call) for call in VOLATILE):
            return True
        return any(call in plain and self.failure(disguise(call, text)) is not None for call in VOLATILE)

    def failure(self, text: str) -> Failure | None:
        """Where the text stops being a query, or None when it is one."""
        try:
            self._empty.query(text, base_iri=self._base_iri)
        except SyntaxError as error:
            return read_failure(str(error), text)
        except (RuntimeError, OSError, ValueError):
            return None
        return None

    def _names_dataset(self, text: str) -> bool:
        """Whether the query has a FROM or FROM NAMED clause; also true for what does not parse."""
        return "from" in text.lower() and self.failure(disguise("from", text)) is not None


def may_be_volatile(text: str) -> bool:
    """Whether a query has a word of `VOLATILE` anywhere, or an escape that might spell one; quick."""
    plain = text.lower()
    return any(map(plain.__contains__, _VOLATILE))


def may_be_relative(text: str) -> bool:
    """Whether a query may have an IRI to be resolved: written, spelt with escapes, or made by IRI() or URI()."""
    return "\\" in text or _RELATIVE.search(text) is not None or _MADE.search(text) is not None


def gist(text: str) -> str:
    """The text without its comments and with single spaces: the same for what differs in layout alone."""
    if "#" in text:
        text = _OPAQUE.sub(lambda opaque: " " if opaque[0].startswith("#") else opaque[0], text)
    return " ".join(text.split())


def disguise(word: str, text: str) -> str:
    """The text with every spelling of a word swapped for one of the same length that the text does not have."""
    plain = text.lower()
    last = next(letter for letter in reversed(ascii_lowercase) if word[:-1] + letter not in plain)
    return re.sub(f"({word[:-1]}){word[-1]}", rf"\g<1>{last}", text, flags=re.IGNORECASE | re.ASCII)


def read_failure(message: str, text: str) -> Failure:
    """
    The place that an error message of the parser names, or that of a prefix that is not declared.

    The parser takes as many characters as a keyword has before it compares, so where it expected only keywords the
    place it names lies behind the true one by the length of the longest.
    """
    found = _PLACE.match(message)
    if found is None:
        return Failure(0, 1, 1)
    used = _undeclared(text)
    if used is not None:
        return place(used.start(), text, f"the prefix {used[1]}: is not declared")
    line, column, expected = int(found[1]), int(found[2]), found[3]
    offset = sum(len(earlier) + 1 for earlier in text.split("\n")[: line - 1]) + column - 1
    if '"' not in expected and "['" not in expected:
        offset -= max((len(keyword) for keyword in _KEYWORD.findall(expected)), default=0)
    return place(min(max(offset, 0), len(text)), text, "")


def place(offset: int, text: str, reason: str) -> Failure:
    """The place of a character, with what is wrong there."""
    before = text[:offset]
    return Failure(offset, before.count("\n") + 1, offset - before.rfind("\n"), reason)


def _undeclared(text: str) -> re.Match[str] | None:
    """The first prefix that is used and not declared, the commonest mistake; the parser seldom reports it."""
    plain = _OPAQUE.sub(lambda opaque: re.sub(r"[^\n]", " ", opaque[0]), text)
    declared = set(_DECLARED.findall(plain))
    return next((used for used in _PREFIXED.finditer(plain) if used[1] not in declared), None)


def syntax_error(text: str, failure: Failure, what: str = "query") -> RequestError:
    """The error that shows people the place; `what` says what does not parse."""
    line = text.split("\n")[failure.line - 1]
    start = max(0, failure.column - 60)
    shown = line[start : start + 100].replace("\t", " ")
    caret = " " * (failure.column - 1 - start) + "^"
    reason = f" ({failure.reason})" if failure.reason else ""
    return RequestError(
        f"The {what} does not parse near line {failure.line}, column {failure.column}{reason}:\n{shown}\n{caret}"
    )


def _service_clause(endpoint: str) -> re.Pattern[str]:
    return re.compile(rf"(SERVICE)(\s+SILENT)?(\s*<{re.escape(endpoint)}>)", re.IGNORECASE)


def _as_graph(clause: re.Match[str]) -> str:
    """A SERVICE clause's head as that of a GRAPH clause of the same length, so that places stay what they are."""
    silent = re.sub(r"\S", " ", clause[2] or "")
    return f"GRAPH  {silent}{clause[3]}"


def _stops_at(word: str, text: str, failure: Failure) -> bool:
    """Whether parsing ends at the word, or in what is written onto it."""
    plain = text.lower()
    start = plain.rfind(word, 0, failure.offset + len(word))
    return start >= 0 and not re.search(r"\s", plain[start : failure.offset])


def _unescape(text: str) -> str:
    """The text with its codepoint escapes undone. Source: SPARQL 1.1 Query Language, section 19.2."""
    return _ESCAPE.sub(_character, text)


def _character(escape: re.Match[str]) -> str:
    number = int(escape[1] or escape[2], 16)
    return chr(number) if number <= 0x10FFFF else ""
