"""Whether a harvest may go on with what washing made of its dumps, and the findings about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from harvest.errors import WashError
from harvest.model import Document, Finding, Part, Problem, Status
from harvest.wash.problems import STATEMENTS

REPORTED: Final = 20
"""Problems of one dump that become findings; all that are kept are at `/documents/{hash}`."""

_UNREAD: Final = ("cut-off", "archive", "too-large")
"""Kinds of problems that keep a dump from being read to its end, the most serious first."""


def check(
    documents: Sequence[Document], parts: Sequence[Sequence[Part]], threshold: float, *, are_pages: bool = False
) -> None:
    """
    Return when the dumps are good enough to be harvested; of pages some may hold no RDF, but not all.

    Raises:
        WashError: A dump was not read to its end or holds no RDF at all, or more than `threshold` of the triples of
            all dumps are lost; with the place of what stopped it.
    """
    for document, its in zip(documents, parts, strict=True):
        broken = next(filter(lacking, its), None)
        if broken is not None:
            raise _error(document, broken, "cannot be read to its end", _first(broken, _UNREAD))
        if not any(part.statements for part in its) and not (are_pages and balance(parts)[1]):
            empty = max(its, key=lambda part: (part.lost, not part.names))
            raise _error(document, empty, "holds no RDF", _first(empty, ("no-rdf",)) or _costly(empty, 0))
    lost, total = balance(parts)
    if lost > threshold * total:
        document, worst = max(_pairs(documents, parts), key=lambda pair: pair[1].lost)
        what = f"cannot be parsed as {worst.format}: {loss(lost, total, threshold)} of the dataset"
        raise _error(document, worst, what, _costly(worst, threshold * total))


def lacking(part: Part) -> bool:
    """Whether a part was not read to its end, or is an archive with entries left out that may hold data."""
    entries = part.status is Status.DEPLETED and ("archive" in part.counts or "too-large" in part.counts)
    return entries or not part.whole


def findings(documents: Sequence[Document], parts: Sequence[Sequence[Part]], threshold: float) -> Iterator[Finding]:
    """Findings about the dumps: the first problems of each, their number in all, and the triples lost."""
    for document, its in zip(documents, parts, strict=True):
        reported = [(part, problem) for part in its for problem in part.problems][:REPORTED]
        for part, problem in reported:
            place = (problem.line, problem.column, problem.excerpt)
            yield Finding(problem.kind, f"{_title(document, part)}: {problem.message}", document.url, *place)
        kinds = sum((Counter(part.counts) for part in its), Counter[str]())
        if kinds.total() > len(reported):
            said = ", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items()))
            yield Finding("more", f"{document.url} has {kinds.total()} problems in all: {said}", document.url)
    lost, total = balance(parts)
    if lost:
        document, _ = max(_pairs(documents, parts), key=lambda pair: pair[1].lost)
        yield Finding("lost", f"{loss(lost, total, threshold)}: what is wrong was left out", document.url)


def balance(parts: Sequence[Sequence[Part]]) -> tuple[int, int]:
    """The triples that are lost, and these with those that were read."""
    lost = sum(part.lost for its in parts for part in its)
    return lost, lost + sum(part.statements for its in parts for part in its)


def loss(lost: int, total: int, threshold: float) -> str:
    """What is lost, for people: "about 12 triples lost of 1,000 ...", with the share that may be."""
    share = f"{_percent(lost / total)}, the limit is {_percent(threshold)}"
    return f"about {lost:,} triple{'s' * (lost != 1)} lost of {total:,} ({share})"


def _pairs(documents: Sequence[Document], parts: Sequence[Sequence[Part]]) -> Iterator[tuple[Document, Part]]:
    return ((document, part) for document, its in zip(documents, parts, strict=True) for part in its)


def _percent(share: float) -> str:
    """A share for people: two figures where it is small, and 100 only where it is all."""
    percent = 100 * share
    if 0 < percent < 0.01:
        return "less than 0.01 %"
    return f"{percent:.2g} %" if percent < 99 else f"{percent if percent == 100 else min(percent, 99.9):.3g} %"


def _first(part: Part, kinds: Sequence[str]) -> Problem | None:
    """The first problem of the first of these kinds that has one."""
    return next((problem for kind in kinds for problem in part.problems if problem.kind == kind), None)


def _costly(part: Part, most: float) -> Problem | None:
    """The first problem that costs more triples than may be lost in all; else the first that costs any."""
    costly = [problem for problem in part.problems if problem.lost or problem.kind in STATEMENTS] or part.problems
    return next((problem for problem in costly if problem.lost > most), next(iter(costly), None))


def _error(document: Document, part: Part, what: str, cause: Problem | None) -> WashError:
    """The error, with the place of its cause."""
    cause = cause or Problem("no-rdf", "it is empty")
    place = "" if cause.line is None else f" (line {cause.line}, column {cause.column})"
    title = _title(document, part)
    said = cause.message.removeprefix(f"{title} ").removeprefix(f"{what}: ")
    message = f"{title} {what}: {said}{place}; nothing of it was harvested"
    return WashError(message, url=document.url, line=cause.line, column=cause.column, excerpt=cause.excerpt)


def _title(document: Document, part: Part) -> str:
    return "!/".join((document.url, *part.names))
