"""
What an update request writes to, told from its text.

The request is cut at each `;` into its operations, each with the declarations before it: the store's parser takes
PREFIX and BASE at the beginning of a request only, and nothing of it tells which graphs a request names. The text is
read token by token, and of groups and templates no more than their braces and the names of graphs; the store's parser
reads each operation as a whole later. Where the two understand a text differently, nothing is written that may not be:
an update is carried out on a copy, of which one graph alone is taken over. (rdflib's parser tells the graphs, too; it
reads 64 kB a second, and this 6 MB.)

Source: SPARQL 1.1 Query Language, section 19.8 (rules 29 to 52 and the terminals); SPARQL 1.1 Update, section 3.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, NamedTuple, NoReturn

from sparql.errors import ForbiddenError, RequestError
from sparql.query.syntax import place, syntax_error

ALL: Final = frozenset({"DEFAULT", "NAMED", "ALL"})
"""Words in the place of a graph's IRI."""

_TOKEN: Final = re.compile(
    r"""(?P<space>(?:\s+|\#[^\n\r]*)+)
    |(?P<iri><(?:[^\x00-\x20<>"{}|^`\\]|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8})*>)
    |(?P<text>\"{3}(?:\"{0,2}(?:[^"\\]|\\.))*\"{3}|'{3}(?:'{0,2}(?:[^'\\]|\\.))*'{3}
        |"(?:[^"\\\n\r]|\\.)*"|'(?:[^'\\\n\r]|\\.)*')
    |(?P<variable>[?$]\w+)
    |(?P<name>(?:[^\W\d](?:[\w.-]*[\w-])?)?:(?:(?:[\w:-]|\.(?=[\w:.%\\-])|%[0-9A-Fa-f]{2}|\\[^A-Za-z0-9\s])*))
    |(?P<word>[^\W\d][\w.-]*)
    |(?P<number>\d\w*)
    |(?P<mark>.)""",
    re.VERBOSE | re.DOTALL,
)
MOST: Final = 10_000
"""Operations in one request; each is parsed with all declarations before it."""

_TERMS: Final = frozenset({"iri", "name"})
_PLAIN: Final = {"LOAD", "CLEAR", "DROP", "CREATE", "ADD", "MOVE", "COPY"}


class Token(NamedTuple):
    """
    A piece of the text.

    Attributes:
        kind: Name of the group of `_TOKEN`, or `end`.
        text: As written.
        at: Index into the request.
    """

    kind: str
    text: str
    at: int

    @property
    def word(self) -> str:
        """In capitals, if it is a word; else empty."""
        return self.text.upper() if self.kind == "word" else ""


@dataclass(slots=True)
class Operation:
    """
    One operation of a request.

    Attributes:
        declared: Where the declarations are that stand before it: begin and end of each.
        start: Index of its first character.
        end: Index after its last one.
        kind: Its first word, in capitals.
        targets: The terms of the graphs that it writes to, or DEFAULT, NAMED and ALL.
        source: The term of the graph that ADD, COPY and MOVE read, or None.
        silent: Whether it says SILENT.
    """

    declared: tuple[tuple[int, int], ...]
    start: int
    end: int = 0
    kind: str = ""
    targets: list[Token] = field(default_factory=list)
    source: Token | None = None
    silent: bool = False


def operations(text: str) -> list[Operation]:
    """
    The operations of an update request, in order.

    Raises:
        RequestError: It is no update request, as far as can be told here.
        ForbiddenError: It has LOAD.
    """
    found = list(islice(_Reader(text).request(), MOST + 1))
    if len(found) > MOST:
        raise RequestError(f"The update has more than {MOST:,} operations; send it in several requests.")
    return found


class _Reader:
    """Reads one request, token by token."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = _tokens(text)
        self._next = next(self._tokens)
        self._declared: tuple[tuple[int, int], ...] = ()
        self._end = 0
        self._labels: set[str] = set()
        self._inserted: set[str] = set()

    def request(self) -> Iterator[Operation]:
        """Rules 29 and 30: declarations and operations, with `;` between two operations."""
        while True:
            self._prologue()
            if self._next.kind == "end":
                return
            yield self._operation()
            if self._next.kind == "end":
                return
            self._mark(";")

    def _prologue(self) -> None:
        while self._next.word in ("PREFIX", "BASE", "VERSION"):
            first = self._take()
            if first.word == "PREFIX" and not (self._next.kind == "name" and self._take().text.endswith(":")):
                self._fail("a prefix and `:` must follow PREFIX")
            self._take("text" if first.word == "VERSION" else "iri")
            self._declared = (*self._declared, (first.at, self._end))

    def _operation(self) -> Operation:
        found = Operation(self._declared, self._next.at, kind=self._next.word)
        if found.kind in _PLAIN:
            self._take()
            self._of_graphs(found)
        elif found.kind in ("INSERT", "DELETE", "WITH"):
            self._of_triples(found)
        else:
            self._fail("an operation must begin here: INSERT, DELETE, WITH, CLEAR, DROP, CREATE, ADD, MOVE or COPY")
        found.end = self._end
        return found

    def _of_graphs(self, found: Operation) -> None:
        """Rules 31 to 37."""
        if found.kind == "LOAD":
            told = place(found.start, self._text, "")
            raise ForbiddenError(
                f"LOAD is refused (line {told.line}, column {told.column}): updates have no network. Register the file "
                "as a provider with `dump`, or send its triples with INSERT DATA."
            )
        found.silent = self._word("SILENT")
        if found.kind in ("ADD", "MOVE", "COPY"):
            found.source = self._graph("DEFAULT")
            if not self._word("TO"):
                self._fail("TO must stand here")
            found.targets.append(self._graph("DEFAULT"))
            if found.kind == "MOVE":
                found.targets.append(found.source)
        elif found.kind == "CREATE":
            found.targets.append(self._graph())
        else:
            found.targets.append(self._graph(*ALL))

    def _graph(self, *words: str) -> Token:
        """A graph by its IRI, or one of the words."""
        if self._next.word in words:
            return self._take()
        self._word("GRAPH")
        return self._term()

    def _of_triples(self, found: Operation) -> None:
        """Rules 38 to 46."""
        graph = self._term() if self._word("WITH") else None
        first, second = self._take().word, self._next.word
        if first not in ("INSERT", "DELETE"):
            self._fail("DELETE or INSERT must follow WITH")
        if graph is None and (second == "DATA" or (first, second) == ("DELETE", "WHERE")):
            self._take()
            self._labels = set()
            self._template(found, None)
            if (first, second) == ("INSERT", "DATA"):
                self._check_labels()
            return
        self._template(found, graph)
        if first == "DELETE" and self._word("INSERT"):
            self._template(found, graph)
        while self._word("USING"):
            self._word("NAMED")
            self._term()
        if not self._word("WHERE"):
            self._fail("WHERE must stand here")
        self._group()

    def _check_labels(self) -> None:
        """Note 10 of the grammar: people would take them for the same node, and they are not."""
        if again := sorted(self._labels & self._inserted):
            self._fail(f"the label {again[0]} stands in two INSERT DATA before this, and one alone may have it")
        self._inserted |= self._labels

    def _template(self, found: Operation, graph: Token | None) -> None:
        """Quads in braces: those outside GRAPH go to the graph of WITH, or else to the default graph."""
        self._mark("{")
        bare = False
        while self._next.text != "}" or self._next.kind != "mark":
            if self._next.word == "GRAPH":
                self._take()
                found.targets.append(self._take() if self._next.kind == "variable" else self._term())
                self._group()
            elif self._next.text == "{":
                self._group()
            else:
                if not bare and self._next.text != ".":
                    found.targets.append(graph or Token("word", "DEFAULT", self._next.at))
                    bare = True
                self._take()
        self._mark("}")

    def _group(self) -> None:
        """Whatever stands in braces."""
        self._mark("{")
        depth = 1
        while depth:
            token = self._take()
            if token.kind == "mark":
                depth += {"{": 1, "}": -1}.get(token.text, 0)

    def _term(self) -> Token:
        if self._next.kind not in _TERMS:
            self._fail("the IRI of a graph must stand here")
        return self._take()

    def _word(self, word: str) -> bool:
        """Whether this word comes next; then it is taken."""
        if self._next.word != word:
            return False
        self._take()
        return True

    def _mark(self, mark: str) -> None:
        if self._next.text != mark:
            self._fail(f"`{mark}` must stand here")
        self._take()

    def _take(self, kind: str | None = None) -> Token:
        token = self._next
        if token.kind == "end":
            self._fail("the request ends here too early")
        if kind not in (None, token.kind):
            self._fail("an IRI must stand here" if kind == "iri" else "a text in quotes must stand here")
        self._end = token.at + len(token.text)
        if token.text.startswith("_:"):
            self._labels.add(token.text)
        self._next = next(self._tokens)
        return token

    def _fail(self, reason: str) -> NoReturn:
        raise syntax_error(self._text, place(self._next.at, self._text, reason), "update")


def _tokens(text: str) -> Iterator[Token]:
    for match in _TOKEN.finditer(text):
        if match[0] in ('"', "'"):  # to go on would be to look for an end again from each of those after it
            raise syntax_error(text, place(match.start(), text, "a text in quotes does not end"), "update")
        if match.lastgroup != "space":
            yield Token(str(match.lastgroup), match[0], match.start())
    yield Token("end", "", len(text))
