"""What a description says of one dataset: full or partial, its date, its title."""

from __future__ import annotations

from datetime import datetime
from urllib.parse import urldefrag

from pyoxigraph import Literal

from harvest.discover.dates import read_date
from harvest.discover.features import Stated, stated
from harvest.discover.parsing import Node
from harvest.discover.reading import FEATURE, MODIFIED, TITLES, DescriptionReading, shown
from harvest.model import AHEAD, Coverage
from sparql.rdf import VOID


def coverage(reading: DescriptionReading, node: Node) -> Coverage:
    """Full, unless the features of the dataset, or else of one around it, say partial."""
    own = _features(reading, node)
    _report_features(reading, node, own)
    if own.coverage:
        return own.coverage
    outer = (_features(reading, each).coverage for each in reading.surrounding(node))
    said = next((said for said in outer if said), None)
    if said is None:
        reading.unstated.append(node)
    return said or Coverage.FULL


def report_unstated(reading: DescriptionReading) -> None:
    """Report, once for a whole description, which datasets say neither full nor partial."""
    if reading.unstated:
        first, *others = reading.unstated
        more = f" (and of {len(others)} more)" if others else ""
        message = f"no void:feature of {shown(first)}{more} says full or partial; the dumps are taken as full"
        reading.report("feature-absent", message, f"<{first.value}>")


def modified(reading: DescriptionReading, node: Node) -> datetime | None:
    """
    The latest readable date of the dataset, else of one around it, else of the description.

    One that is more than a day ahead does not count: nothing published until then would be newer.
    """
    date = _latest(reading, node, report=True)
    if date is None:
        elsewhere = [*reading.surrounding(node), *_description_nodes(reading)]
        date = next((found for each in elsewhere if (found := _latest(reading, each))), None)
        _report_missing_date(reading, node, date)
    return date


def title(reading: DescriptionReading, node: Node) -> str | None:
    """The English title, else the one without a language, else the first."""
    for predicate in TITLES:
        titles = [term for term in reading.objects(node, predicate) if isinstance(term, Literal)]
        if titles:
            return min(titles, key=lambda t: (not (t.language or "").startswith("en"), t.language is not None)).value
    return None


def _features(reading: DescriptionReading, node: Node) -> Stated:
    return stated((term.value for term in reading.objects(node, FEATURE)), reading.features)


def _report_features(reading: DescriptionReading, node: Node, said: Stated) -> None:
    if said.contradicting:
        message = f"the dataset {shown(node)} says both full and partial; it is taken as partial"
        reading.report("coverage-contradiction", message)
    for feature in said.unknown:
        message = f"the feature <{feature}> looks like full or partial but is not known, so it says nothing"
        reading.report("feature-unknown", message + "; the setting `features` can add it", f"<{feature}>")


def _latest(reading: DescriptionReading, node: Node, *, report: bool = False) -> datetime | None:
    dates = []
    for term in reading.objects(node, MODIFIED):
        date = read_date(term.value) if isinstance(term, Literal) else None
        if date and date > reading.now + AHEAD:
            if report:
                message = f"the date of {shown(node)}, {date.isoformat()}, is more than a day ahead; it does not count"
                reading.report("modified-in-future", message, f'"{term.value}"', f"'{term.value}'", f">{term.value}<")
        elif date:
            dates.append(date)
        elif report:
            message = f"the dcterms:modified of {shown(node)} is no date: {term.value[:200]!r}"
            reading.report("modified-unreadable", message, f'"{term.value}"', f"'{term.value}'", f">{term.value}<")
    return max(dates, default=None)


def _report_missing_date(reading: DescriptionReading, node: Node, found: datetime | None) -> None:
    needle = f"<{node.value}>"
    if found:
        message = f"{shown(node)} has no readable date of its own; {found.isoformat()} was taken from around it"
        reading.report("modified-inherited", message, needle)
    elif not reading.objects(node, MODIFIED):
        similar = [predicate for predicate in reading.said.get(node, {}) if predicate.lower().endswith("modified")]
        hint = f"; <{similar[0]}> is not dcterms:modified, <{MODIFIED}>" if similar else ""
        reading.report("modified-absent", f"{shown(node)} has no dcterms:modified{hint}", needle)


def _description_nodes(reading: DescriptionReading) -> list[Node]:
    """The nodes that stand for the description as a whole."""
    typed = [node for node in reading.said if VOID + "DatasetDescription" in reading.types(node)]
    document = urldefrag(reading.text.url).url
    return list(dict.fromkeys([*typed, *(node for node in reading.said if node.value == document)]))
