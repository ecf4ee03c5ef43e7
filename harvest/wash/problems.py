"""
What is wrong with a document, collected while it is read: the first problems in full, all of them counted.

The kinds, and what each means for the statements around it:

    syntax           a statement that is not of the format; it was dropped
    invalid-iri      a statement with an IRI that is none; it was dropped
    invalid-literal  a statement with a literal that is none (its language tag, its characters); it was dropped
    rdf-1.2          a statement that only RDF 1.2 has (triple terms, base directions); it was dropped
    encoding         bytes that are no characters of the document's encoding; replaced or dropped with their statement
    recoded          the document is not in UTF-8, and was read in the encoding that is named
    format           the document is not what its media type or name says, and was read as what it is
    fallback         a second, more patient parser read the document
    context          a JSON-LD context that could not be had
    too-large        a limit was reached: bytes, ratio, entries, depth, size; a statement beyond it was dropped
    archive          an archive or one of its entries is damaged, encrypted, or of a kind that is not read
    links            links in an archive, which are not followed
    cut-off          the rest of the document could not be read
    no-rdf           the document holds no RDF
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from harvest.model import Problem

KEPT: Final = 100
"""Problems of one document that are kept in full; the others are only counted."""

EXCERPT: Final = 200
"""Characters of an excerpt."""

_PLACE: Final = re.compile(r"^Parser error [^:]*: ")

STATEMENTS: Final = frozenset({"syntax", "invalid-iri", "invalid-literal", "rdf-1.2"})
"""The kinds that cost a statement each."""


FATAL: Final = frozenset({"cut-off", "archive", "too-large", "no-rdf"})
"""The kinds for which nothing of a dump may be harvested; the first of each is kept, however many came before."""


class Problems:
    """
    The problems of one document.

    Attributes:
        dropped: Statements left out so far.
        lost: Triples left out so far, estimated where they cannot be counted; at least one for each statement.
        whole: False once the rest of the document was given up.
        counts: How many of each kind.
    """

    def __init__(self, kept: int = KEPT) -> None:
        """`kept` is how many more may be kept in full; never more than `KEPT` are, but for those that matter most."""
        self._kept = min(kept, KEPT)
        self._first: list[Problem] = []
        self._worst: Problem | None = None
        self._most = 1
        self.dropped = 0
        self.lost = 0
        self.whole = True
        self.counts: Counter[str] = Counter()

    @property
    def first(self) -> list[Problem]:
        """The first problems, in order, then the one that cost most where it is none of these."""
        return [*self._first, self._worst] if self._worst else list(self._first)

    def add(self, problem: Problem) -> None:
        """Count a problem, and what it costs."""
        if problem.lost > self._most and len(self._first) >= self._kept:
            self._worst = problem
        elif self.wants_excerpt(problem.kind):
            self._first.append(problem)
        self._most = max(self._most, problem.lost)
        self.counts[problem.kind] += 1
        self.dropped += problem.kind in STATEMENTS
        self.lost += max(problem.lost, problem.kind in STATEMENTS)
        if problem.kind == "cut-off":
            self.whole = False

    def go_on(self, first: Iterable[Problem], counts: Mapping[str, int], dropped: int, lost: int) -> None:
        """Take the problems of what follows: the first ones, how many there are of each kind, and what all cost."""
        dropped, lost, total = self.dropped + dropped, self.lost + lost, self.counts + Counter(counts)
        for problem in first:
            self.add(problem)
        self.dropped, self.lost, self.counts = dropped, lost, total

    def lose(self, triples: int) -> None:
        """Count triples that an earlier problem costs, too."""
        self.lost += triples

    def wants_excerpt(self, kind: str, lost: int = 0) -> bool:
        """Whether the next problem will be kept, so that finding its excerpt is worth the time."""
        return len(self._first) < self._kept or lost > self._most or (kind in FATAL and not self.counts[kind])


def reason(error: SyntaxError) -> str:
    """What a parser says, without the place."""
    return _PLACE.sub("", error.msg or str(error))
