"""
The result formats, and which of them a client gets.

Source: RFC 9110, section 12.5.1 (Accept); SPARQL 1.1 Protocol, section 2.1.5; the media types of the SPARQL 1.1 Query
Results JSON, XML, CSV and TSV formats.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from pyoxigraph import QueryResultsFormat, RdfFormat

from sparql import rdf
from sparql.errors import RequestError


@dataclass(frozen=True, slots=True, eq=False)
class ResultFormat:
    """
    One way to write a result; there is one object for each.

    Attributes:
        media_type: The registered one.
        content_type: The Content-Type header.
        aliases: Further media types that ask for it.
        names: What `format=` calls it; the first is also the file extension.
        writer: The pyoxigraph format.
        by_line: Whether a row is written as a line, and so a result can end after any of them, with a comment that
            says so. In all others a result that is cut is broken off: who reads Turtle does not read its comments.
    """

    media_type: str
    content_type: str
    aliases: tuple[str, ...]
    names: tuple[str, ...]
    writer: QueryResultsFormat | RdfFormat
    by_line: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """
    What a client gets, by the kind of its query; None when it accepts nothing that fits.

    Attributes:
        solutions: For SELECT and ASK.
        graph: For CONSTRUCT and DESCRIBE.
    """

    solutions: ResultFormat | None
    graph: ResultFormat | None


def _graph(form: rdf.Format, aliases: tuple[str, ...] = (), names: tuple[str, ...] = ()) -> ResultFormat:
    media_type = form.media_types[0]
    content_type = f"{media_type}; charset=utf-8" if media_type.startswith("text/") else media_type
    return ResultFormat(
        media_type,
        content_type,
        (*form.media_types[1:], *aliases),
        (*form.extensions, *names),
        form.parser,
        form in (rdf.N_TRIPLES, rdf.N_QUADS),
    )


JSON: Final = ResultFormat(
    "application/sparql-results+json",
    "application/sparql-results+json",
    ("application/json",),
    ("json",),
    QueryResultsFormat.JSON,
)
XML: Final = ResultFormat(
    "application/sparql-results+xml",
    "application/sparql-results+xml",
    ("application/xml", "text/xml"),
    ("xml",),
    QueryResultsFormat.XML,
)
CSV: Final = ResultFormat("text/csv", "text/csv; charset=utf-8", (), ("csv",), QueryResultsFormat.CSV, True)
TSV: Final = ResultFormat(
    "text/tab-separated-values",
    "text/tab-separated-values; charset=utf-8",
    (),
    ("tsv",),
    QueryResultsFormat.TSV,
    True,
)

SOLUTIONS: Final = (JSON, XML, CSV, TSV)
"""For SELECT and ASK, the default first."""

GRAPHS: Final = (
    _graph(rdf.TURTLE),
    _graph(rdf.N_TRIPLES, ("text/plain",)),
    _graph(rdf.RDF_XML, ("application/xml", "text/xml"), ("rdf+xml",)),
    _graph(rdf.JSON_LD, ("application/json",), ("json",)),
    _graph(rdf.N_QUADS),
    _graph(rdf.TRIG),
    _graph(rdf.N3),
)
"""For CONSTRUCT and DESCRIBE, the default first."""

FORMATS: Final = (*SOLUTIONS, *GRAPHS)
"""All of them; front and workers name a format by its place here."""


_MEDIA_RANGE: Final = re.compile(r"[^/\s]+/[^/\s]+")
_QUOTED: Final = re.compile(r'"(?:[^"\\]|\\.)*"?', re.DOTALL)
"""A quoted value of a parameter, in which commas and semicolons mean nothing. Source: RFC 9110, section 5.6.4."""


@lru_cache(maxsize=512)
def choose(accept: str | None, name: str | None) -> Choice:
    """
    The formats for an Accept header and a `format=` parameter; the parameter wins.

    Raises:
        RequestError: No format has that name.
    """
    if name is None:
        return Choice(prefer(accept, SOLUTIONS), prefer(accept, GRAPHS))
    choice = Choice(_named(name, SOLUTIONS), _named(name, GRAPHS))
    if choice.solutions is choice.graph is None:
        known = ", ".join(dict.fromkeys(f.names[0] for f in (*SOLUTIONS, *GRAPHS)))
        raise RequestError(f"There is no result format {name[:40]!r}; the formats are {known}.")
    return choice


def prefer(accept: str | None, offered: Sequence[ResultFormat]) -> ResultFormat | None:
    """
    The offered format that an Accept header prefers, or None when it refuses them all.

    No header, or one without a single readable media range, accepts everything. Among equals a range that names the
    format beats a wildcard, and then the earlier offer a later one.
    """
    ranges = read_accept(accept or "") or (("*/*", 1.0),)
    best: tuple[float, int] = (0.0, -1)
    chosen = None
    for form in offered:
        named = [(q, 2) for media_range, q in ranges if media_range in form.aliases]
        rank = max([_rank(form.media_type, ranges), *named])
        if rank[0] > 0 and rank > best:
            best, chosen = rank, form
    return chosen


def read_accept(header: str) -> tuple[tuple[str, float], ...]:
    """The media ranges of an Accept header, lower case, each with its quality; what cannot be read is left out."""
    ranges = []
    for item in _QUOTED.sub("", header).split(","):
        media_range, *parameters = (part.strip().lower() for part in item.split(";"))
        media_range = "*/*" if media_range == "*" else media_range
        weight = _quality(parameters)
        if _MEDIA_RANGE.fullmatch(media_range) and not math.isnan(weight):
            ranges.append((media_range, weight))
    return tuple(ranges)


def quality(media_type: str, accept: str | None) -> float:
    """How much an Accept header wants a media type, from 0 to 1."""
    return _rank(media_type, read_accept(accept or "") or (("*/*", 1.0),))[0]


def _quality(parameters: Sequence[str]) -> float:
    for parameter in parameters:
        key, _, value = parameter.partition("=")
        if key.strip() == "q":
            try:
                return min(max(float(value), 0.0), 1.0)
            except ValueError:
                return 1.0
    return 1.0


def _rank(media_type: str, ranges: Sequence[tuple[str, float]]) -> tuple[float, int]:
    """Quality and exactness of the most exact range that covers a media type."""
    found = (0.0, -1)
    for exact, pattern in ((2, media_type), (1, media_type.split("/")[0] + "/*"), (0, "*/*")):
        qualities = [q for media_range, q in ranges if media_range == pattern]
        if qualities:
            found = (max(qualities), exact)
            break
    return found


def _named(name: str, offered: Sequence[ResultFormat]) -> ResultFormat | None:
    """The format of a name; of a list the first that there is, as SPARQLWrapper sends the media types of JSON-LD."""
    for wanted in (part.strip().lower() for part in name.split(",")):
        exact = (f for f in offered if wanted in f.names or wanted == f.media_type)
        found = next(exact, None) or next((f for f in offered if wanted in f.aliases), None)
        if found is not None:
            return found
    return None
