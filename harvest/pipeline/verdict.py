"""Whether a harvest may go on with what washing made of its dumps, and what people are told of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from harvest.errors import WashError
from harvest.model import Document, Finding, Part, Problem, Status
from harvest.wash.problems import STATEMENTS

TOLD: Final = 20
"""Problems of one dump that become findings; all that are kept are at `/documents/{hash}`."""

_COSTLY = STATEMENTS | {"cut-off", "too-large", "archive", "context"}


def check(documents: Sequence[Document], parts: Sequence[Sequence[Part]], threshold: float) -> None:
    """
    Return when the dumps are good enough to be harvested.

    Raises:
        WashError: A dump was not read to its end, holds no RDF at all, or more than `threshold` of the statements of
            all dumps are bad; with the first problem's place.
    """
    for document, its in zip(documents, parts, strict=True):
        broken = next(filter(lacking, its), None)
        if broken is not None:
            raise _error(document, broken, "cannot be read to its end")
        if all(part.status is not Status.PARSED for part in its):
            raise _error(document, its[-1], "holds no RDF")
    dropped = sum(part.dropped for its in parts for part in its)
    total = dropped + sum(part.statements for its in parts for part in its)
    if dropped > threshold * total:
        document, worst = max(
            ((document, part) for document, its in zip(documents, parts, strict=True) for part in its),
            key=lambda pair: pair[1].dropped,
        )
        raise _error(
            document,
            worst,
            f"cannot be parsed as {worst.format}: {dropped} of {total} statements of the dataset are bad, "
            f"more than the {threshold:.3g} that wash.threshold allows",
        )


def lacking(part: Part) -> bool:
    """Whether a part was not read to its end, or is an archive with entries left out that may hold data."""
    entries = part.status is Status.DEPLETED and ("archive" in part.counts or "too-large" in part.counts)
    return entries or not part.whole


def findings(documents: Sequence[Document], parts: Sequence[Sequence[Part]]) -> Iterator[Finding]:
    """What was wrong with the dumps: the first problems of each, and how many there were in all."""
    for document, its in zip(documents, parts, strict=True):
        told = [(part, problem) for part in its for problem in part.problems][:TOLD]
        for part, problem in told:
            place = (problem.line, problem.column, problem.excerpt)
            yield Finding(problem.kind, f"{_title(document, part)}: {problem.message}", document.url, *place)
        kinds = sum((Counter(part.counts) for part in its), Counter[str]())
        if kinds.total() > len(told):
            said = ", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items()))
            yield Finding("more", f"{document.url} has {kinds.total()} problems in all: {said}", document.url)


def _error(document: Document, part: Part, what: str) -> WashError:
    """The error, with the place of the problem that says most about it."""
    costly = [problem for problem in part.problems if problem.kind in _COSTLY]
    first = next(iter(costly or part.problems), Problem("no-rdf", "it is empty"))
    place = "" if first.line is None else f" (line {first.line}, column {first.column})"
    message = f"{_title(document, part)} {what}: {first.message}{place}; nothing of it was harvested"
    return WashError(message, url=document.url, line=first.line, column=first.column, excerpt=first.excerpt)


def _title(document: Document, part: Part) -> str:
    return "!/".join((document.url, *part.names))
