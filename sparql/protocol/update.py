"""
SPARQL updates: reading a request, refusing what no update may do, carrying it out, and which graphs it cannot change.

The store's parser reads a request; which graphs were changed is seen afterwards, by comparing. Two things are read from
the text before. The parser takes PREFIX and BASE at the beginning of a request only, so a request is cut where they
come again. And to compare a graph of millions takes seconds, so a graph that the text cannot write is not compared: its
name stands neither outside of all braces nor before a group of quads. Should a text be taken for another one there, the
damage is to a copy, of which nothing but graphs that updates may write is taken.

Source: SPARQL 1.1 Query Language, section 19.8 (rules 29 to 52); SPARQL 1.1 Update, section 3.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

import pyoxigraph
from pyoxigraph import NamedNode, Store

from sparql.errors import ForbiddenError, RequestError
from sparql.protocol.extent import refuse_length, refuse_nesting
from sparql.protocol.syntax import OPAQUE, Failure, Grammar, disguise, place, read_failure, syntax_error

_FAILING: Final = "DROP GRAPH <about:none> ; "
"""An operation that parses and fails: the operations after it are parsed and not done."""

_GAP: Final = r"(?:\s+|\#[^\n\r]*+)*+"
_PREFIX: Final = rf"PREFIX{_GAP}[^\s:<>\"'\#]*:"
_DECLARATION: Final = rf"(?:(?:{_PREFIX}|BASE){_GAP}<[^<>\s]*>|VERSION{_GAP}(?:\"[^\"\n]*\"|'[^'\n]*'))"
_PROLOGUE: Final = re.compile(rf"(?:{_GAP}{_DECLARATION})*+{_GAP}", re.IGNORECASE)
_SKIPPED: Final = rf"\#[^\n\r]*+|\\.|{OPAQUE}"
_CUT: Final = re.compile(
    rf"""{_SKIPPED}|[\"']|(;)(?={_GAP}(?:{_PREFIX}|BASE{_GAP}<|VERSION{_GAP}[\"']))""", re.DOTALL | re.IGNORECASE
)
_BRACE: Final = re.compile(rf"{_SKIPPED}|[{{}}\"']", re.DOTALL)
_WHERE: Final = re.compile(r"(?<!\w)WHERE\s*$", re.IGNORECASE)
_DELETE_WHERE: Final = re.compile(r"DELETE\s*WHERE\s*$", re.IGNORECASE)
_VARIABLE: Final = re.compile(r"[?$]\w+$")
_COPIED: Final = re.compile(
    rf"""{_SKIPPED}|(?<![\w:])(?:COPY|ADD)\s*(?:GRAPH\s*)?(<[^<>\s]*>|[\w.-]*:[\w.:%-]*)\s*TO\b""",
    re.DOTALL | re.IGNORECASE,
)
_EXISTENCE: Final = re.compile(r"The graph <(.*)> (does not exist|already exists)")


@dataclass(frozen=True, slots=True)
class UpdatePart:
    """
    Operations of a request that have the same declarations.

    Attributes:
        declared: All declarations before them.
        start: Index of their text in the request.
        body: Their text.
    """

    declared: str
    start: int
    body: str


@dataclass(frozen=True, slots=True)
class Update:
    """
    An update request.

    Attributes:
        text: As sent.
        base_iri: What relative IRIs are resolved against.
        parts: The request, cut where it declares something anew.
        heads: The text outside of braces, and the word before each group of quads; None if any graph may be written.
    """

    text: str
    base_iri: str
    parts: tuple[UpdatePart, ...]
    heads: str | None

    def may_write(self, graph: str) -> bool:
        """
        Whether the text may name a graph as one to be written; False is certain, but for CLEAR and DROP of many graphs.

        However it is spelt, the text has the last part of its IRI, or a prefix that ends in a beginning of it.
        """
        name = re.split("[/?#]", graph)[-1]
        if self.heads is None or "\\" in self.heads or graph == self.base_iri or not (name and name.isascii()):
            return True
        declared = self.parts[-1].declared
        splits = ((name[:length], name[length:]) for length in range(1, len(name)))
        return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", self.heads) is not None or any(
            f"{start}>" in declared and f":{end}" in self.heads for start, end in splits
        )


class MissingGraph(RequestError):
    """
    An operation asks for a graph that is not there.

    Attributes:
        graph: Its IRI.
    """

    def __init__(self, graph: str) -> None:
        super().__init__(f"The update fails: there is no graph <{graph}>. Nothing was changed.")
        self.graph = graph


def read_update(text: str, base_iri: str) -> Update:
    """The request as it was sent; `check` says whether it is an update."""
    return Update(text, base_iri, tuple(_parts(text)), _heads(text))


def _parts(text: str) -> Iterator[UpdatePart]:
    declared, start = "", 0
    for end in (*_cuts(text), len(text)):
        prologue = _PROLOGUE.match(text, start, end)
        assert prologue is not None  # it may be empty
        declared += prologue[0] + "\n"  # a comment may be its end
        yield UpdatePart(declared, prologue.end(), text[prologue.end() : end])
        start = end + 1


def _cuts(text: str) -> Iterator[int]:
    """The indexes of each `;` that declarations follow; none after a text in quotes that does not end."""
    for found in _CUT.finditer(text):
        if found[0] in ('"', "'"):
            return
        if found[1]:
            yield found.start()


def _heads(text: str) -> str | None:
    kept: list[str] = []
    stretch, start, depth, is_read = "", 0, 0, False
    for found in _BRACE.finditer(text):
        mark = found[0]
        if mark in ('"', "'"):
            return None
        if mark[0] not in "#{}":
            continue
        if depth < 2:
            stretch += text[start : found.start()] + " "
        start = found.end()
        if mark == "{":
            if depth == 0:  # only USING comes before the group of WHERE
                is_read = bool(_WHERE.search(stretch)) and not _DELETE_WHERE.search(stretch)
            if depth < 2 and not is_read:
                kept.append(stretch if depth == 0 else (stretch.rsplit(None, 1) or [""])[-1])
                if depth == 1 and _VARIABLE.search(kept[-1]):
                    return None
        if mark in "{}":
            stretch, depth = "", depth + (1 if mark == "{" else -1)
    return None if depth else "\n".join((*kept, stretch, text[start:]))


def check(update: Update) -> None:
    """
    Return if the store's parser takes a request, and nothing in it asks another server.

    It is to be called where there is stack for it: see `sparql.protocol.extent`.

    Raises:
        RequestError: It does not parse, is nested too deep, or too long.
        ForbiddenError: It has LOAD or SERVICE.
    """
    refuse_nesting(update.text, "update")
    refuse_length(update.text, "update")
    for part in update.parts:
        _Grammar(update, part).check()


class _Grammar(Grammar):
    """The store's parser for updates; the text of a part has its declarations and a failing operation before it."""

    def __init__(self, update: Update, part: UpdatePart) -> None:
        super().__init__(update.base_iri)
        self._base = update.base_iri
        self._whole = update.text
        self._start = part.start
        self._before = len(part.declared + _FAILING)
        self._text = part.declared + _FAILING + part.body

    def check(self) -> None:
        """
        Return if the part parses and has neither LOAD nor SERVICE.

        Raises:
            RequestError: It does not parse.
            ForbiddenError: It has one of them.
        """
        failure = self.failure(self._text)
        if failure is not None:
            raise syntax_error(self._whole, self._placed(failure), "update")
        if (line := self._line_of("load")) is not None:
            raise ForbiddenError(
                f"LOAD is refused (line {line}): updates have no network. Register the file as a provider with `dump`, "
                "or send its triples with INSERT DATA."
            )
        try:
            self.refuse_service(self._text)
        except ForbiddenError as error:
            line = self._line_of("service")
            where = f" (line {line})" if line else ""
            raise ForbiddenError(f"SERVICE is refused in updates{where}: they have no network.") from error

    def failure(self, text: str) -> Failure | None:
        """Where the text stops being an update, or None when it is one."""
        try:
            Store().update(text, base_iri=self._base)
        except SyntaxError as error:
            found = read_failure(str(error), text)
            return found if found.offset else Failure(0, 1, 1, str(error))
        except (RuntimeError, OSError):
            return None
        return None

    def _line_of(self, word: str) -> int | None:
        """The line where the part has a word as a keyword, if it has."""
        if word not in self._text.lower():
            return None
        failure = self.failure(disguise(word, self._text))
        return self._placed(failure).line if failure else None

    def _placed(self, failure: Failure) -> Failure:
        """The same place in the whole request."""
        return place(self._start + max(0, failure.offset - self._before), self._whole, failure.reason)


def carry_out(update: Update, store: Store, graphs: Collection[str] = ()) -> None:
    """
    Do all operations of a request that was checked, in its order.

    Args:
        update: The request.
        store: What it changes.
        graphs: Graphs that are there for CLEAR and DROP, and not for CREATE, while they are empty: whether a graph
            without triples exists is up to the store (SPARQL 1.1 Update, section 3.2).

    Raises:
        MissingGraph: An operation that is not SILENT asks for another graph that is not there.
        RequestError: An operation fails otherwise. Parts before it have been done.
    """
    for part in update.parts:
        lost = [graph for graph in _copied(update, part) if graph not in graphs and is_empty(store, graph)]
        _carry_out(update, part, store, graphs)
        for graph in lost:
            if is_empty(store, graph):  # the store takes it for an empty one, and a typing error would empty the other
                raise MissingGraph(graph)


def _carry_out(update: Update, part: UpdatePart, store: Store, graphs: Collection[str]) -> None:
    tried: set[str] = set()
    while True:
        try:
            store.update(part.declared + part.body, base_iri=update.base_iri)
            return
        except RuntimeError as error:  # the store is as it was
            found = _EXISTENCE.search(str(error))
            if found is not None and found[1] in graphs and found[0] not in tried and is_empty(store, found[1]):
                tried.add(found[0])
                change = store.add_graph if found[2] == "does not exist" else store.remove_graph
                change(NamedNode(found[1]))
            elif found is not None and found[2] == "does not exist":
                raise MissingGraph(found[1]) from error
            else:
                raise RequestError(f"The update fails: {error}. Nothing was changed.") from error


def _copied(update: Update, part: UpdatePart) -> Iterator[str]:
    """The graphs that COPY and ADD read, but for SILENT ones."""
    for found in _COPIED.finditer(part.body):
        if found[1]:
            answer = Store().query(f"{part.declared} SELECT ({found[1]} AS ?graph) {{}}", base_iri=update.base_iri)
            assert isinstance(answer, pyoxigraph.QuerySolutions)
            yield str(next(answer)["graph"].value)


def is_empty(store: Store, graph: str) -> bool:
    """Whether a graph has no triples, or is not there."""
    return next(store.quads_for_pattern(None, None, None, NamedNode(graph)), None) is None
