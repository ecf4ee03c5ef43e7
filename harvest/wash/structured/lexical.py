"""rdflib's terms as pyoxigraph has them, with the text of literals as it was written."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import rdflib
from pyoxigraph import BlankNode, Literal, NamedNode, Triple
from rdflib.term import Identifier

from harvest.wash.structured.terms import NoTerm, blank, iri, literal

Statement = tuple[Identifier, Identifier, Identifier]

_TAG: Final = re.compile(r"[a-zA-Z]+(-[a-zA-Z0-9]+)*")
"""What rdflib takes for a language tag; pyoxigraph looks closer later."""

_STAND_IN: Final = "x-invalid-"


@contextmanager
def as_written() -> Iterator[None]:
    """
    Have rdflib leave the text of literals alone, and keep its opinion of terms to itself.

    It rewrites "01"^^xsd:integer as "1", and logs each term that it finds odd; here odd ones are problems.
    """
    logger = logging.getLogger("rdflib.term")
    before = rdflib.NORMALIZE_LITERALS, logger.disabled
    rdflib.NORMALIZE_LITERALS, logger.disabled = False, True
    try:
        yield
    finally:
        rdflib.NORMALIZE_LITERALS, logger.disabled = before


def language(tag: str) -> str:
    """
    The language tag, or one that stands in for it where it is none.

    rdflib gives up a whole document for `en_US`. A statement with a stand-in is refused by `triple` instead.
    """
    return tag if not tag or _TAG.fullmatch(tag) else _STAND_IN + tag.encode(errors="replace").hex()


def triple(subject: Identifier, predicate: Identifier, value: Identifier) -> Triple:
    """
    A statement.

    Raises:
        NoTerm: One of its terms is none.
    """
    return Triple(_node(subject), iri(str(predicate)), _term(value))


def _node(term: Identifier) -> NamedNode | BlankNode:
    if isinstance(term, rdflib.BNode):
        return blank(str(term))
    if isinstance(term, rdflib.URIRef):
        return iri(str(term))
    raise NoTerm("syntax", f"{term!r} cannot be a subject")


def _term(term: Identifier) -> NamedNode | BlankNode | Literal:
    if isinstance(term, rdflib.Literal):
        if term.language and term.language.startswith(_STAND_IN):
            tag = bytes.fromhex(term.language.removeprefix(_STAND_IN)).decode()
            raise NoTerm("invalid-literal", f'"{tag}" is no language tag')
        return literal(str(term), term.language, None if term.datatype is None else str(term.datatype))
    return _node(term)
