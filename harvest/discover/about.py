"""What a description says of a dataset: title, licence and the like, of its own or from around it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pyoxigraph import Literal, NamedNode

from harvest.discover.parsing import Node, Term
from harvest.discover.reading import (
    DESCRIPTIONS,
    EXAMPLE,
    HOMEPAGES,
    LICENCES,
    NAMES,
    PUBLISHERS,
    TITLES,
    DescriptionReading,
)
from harvest.model import About

LONGEST: Final = 2000
"""Characters of a text that are kept."""

EXAMPLES: Final = 10
"""Example resources that are kept."""


def about(reading: DescriptionReading, node: Node, iri: str) -> About:
    """Title, licence and the like of a dataset; what it does not say itself is taken from the datasets around it."""
    return About(
        iri,
        _text(reading, reading.objects(node, TITLES[0]) or reading.objects(node, TITLES[1])),
        _text(reading, _said(reading, node, DESCRIPTIONS)),
        _text(reading, _said(reading, node, LICENCES)),
        _text(reading, _said(reading, node, PUBLISHERS)),
        _iri(_said(reading, node, HOMEPAGES)),
        tuple(_iris(_said(reading, node, (EXAMPLE,))))[:EXAMPLES],
    )


def _said(reading: DescriptionReading, node: Node, predicates: tuple[str, ...]) -> list[Term]:
    """What the nearest dataset that says something says by the first of these predicates that it has."""
    for each in (node, *reading.surrounding(node)):
        for predicate in predicates:
            if found := reading.objects(each, predicate):
                return found
    return []


def _text(reading: DescriptionReading, terms: list[Term]) -> str | None:
    """The English text, else the one without a language, else the first; of a node its name, else its IRI."""
    literals = [term for term in terms if isinstance(term, Literal)]
    if literals:
        best = min(literals, key=lambda t: (not (t.language or "").startswith("en"), t.language is not None))
        return best.value.strip()[:LONGEST] or None
    for term in terms:
        if not isinstance(term, Literal):
            names = (reading.objects(term, predicate) for predicate in NAMES)
            name = next(
                (_text(reading, [t for t in found if isinstance(t, Literal)]) for found in names if found), None
            )
            if name or isinstance(term, NamedNode):
                return name or term.value[:LONGEST]
    return None


def _iri(terms: list[Term]) -> str | None:
    return next(_iris(terms), None)


def _iris(terms: list[Term]) -> Iterator[str]:
    return (term.value for term in terms if isinstance(term, NamedNode) and len(term.value) <= LONGEST)
