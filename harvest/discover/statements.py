"""What a description says of one dataset: full or partial, its date, its title."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final
from urllib.parse import urldefrag

from pyoxigraph import Literal

from harvest.discover.dates import read_date
from harvest.discover.features import Stated, stated
from harvest.discover.parsing import Node
from harvest.discover.reading import FEATURE, MODIFIED, TITLES, Reading, shown
from harvest.model import Coverage
from sparql.rdf import VOID

AHEAD: Final = timedelta(days=1)
"""How far ahead a date may be before it is told: time zones reach 14 hours."""


def coverage(reading: Reading, node: Node) -> Coverage:
    """Full, unless the features of the dataset, or else of one around it, say partial."""
    own = _features(reading, node)
    _tell_features(reading, node, own)
    if own.coverage:
        return own.coverage
    outer = (_features(reading, each).coverage for each in reading.surrounding(node))
    return next((said for said in outer if said), Coverage.FULL)


def modified(reading: Reading, node: Node) -> datetime | None:
    """The latest readable date of the dataset, else of one around it, else of the description."""
    date = _latest(reading, node, tell=True)
    if date is None:
        elsewhere = [*reading.surrounding(node), *_description_nodes(reading)]
        date = next((found for each in elsewhere if (found := _latest(reading, each))), None)
        _tell_missing_date(reading, node, date)
    if date and date > reading.now + AHEAD:
        message = f"the date of {shown(node)}, {date.isoformat()}, is in the future; it is used as it is"
        reading.tell("modified-in-future", message)
    return date


def title(reading: Reading, node: Node) -> str | None:
    """The English title, else the one without a language, else the first."""
    for predicate in TITLES:
        titles = [term for term in reading.objects(node, predicate) if isinstance(term, Literal)]
        if titles:
            return min(titles, key=lambda t: (not (t.language or "").startswith("en"), t.language is not None)).value
    return None


def _features(reading: Reading, node: Node) -> Stated:
    return stated((term.value for term in reading.objects(node, FEATURE)), reading.features)


def _tell_features(reading: Reading, node: Node, said: Stated) -> None:
    if said.contradicting:
        message = f"the dataset {shown(node)} says both full and partial; it is taken as partial"
        reading.tell("coverage-contradiction", message)
    for feature in said.unknown:
        message = f"the feature <{feature}> looks like full or partial but is not known, so it says nothing"
        reading.tell("feature-unknown", message + "; the setting `features` can add it", f"<{feature}>")


def _latest(reading: Reading, node: Node, *, tell: bool = False) -> datetime | None:
    dates = []
    for term in reading.objects(node, MODIFIED):
        date = read_date(term.value) if isinstance(term, Literal) else None
        if date:
            dates.append(date)
        elif tell:
            message = f"the dcterms:modified of {shown(node)} is no date: {term.value[:200]!r}"
            reading.tell("modified-unreadable", message, f'"{term.value}"', f"'{term.value}'", f">{term.value}<")
    return max(dates, default=None)


def _tell_missing_date(reading: Reading, node: Node, found: datetime | None) -> None:
    needle = f"<{node.value}>"
    if found:
        message = f"{shown(node)} has no readable date of its own; {found.isoformat()} was taken from around it"
        reading.tell("modified-inherited", message, needle)
    elif not reading.objects(node, MODIFIED):
        similar = [predicate for predicate in reading.said.get(node, {}) if predicate.lower().endswith("modified")]
        hint = f"; <{similar[0]}> is not dcterms:modified, <{MODIFIED}>" if similar else ""
        reading.tell("modified-absent", f"{shown(node)} has no dcterms:modified{hint}", needle)


def _description_nodes(reading: Reading) -> list[Node]:
    """The nodes that stand for the description as a whole."""
    typed = [node for node in reading.said if VOID + "DatasetDescription" in reading.types(node)]
    document = urldefrag(reading.text.url).url
    return list(dict.fromkeys([*typed, *(node for node in reading.said if node.value == document)]))
