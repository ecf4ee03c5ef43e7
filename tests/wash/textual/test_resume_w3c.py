"""The W3C's negative tests of RDF 1.1 syntaxes: each is reported, and none ends the reading."""

from __future__ import annotations

import re

import pyoxigraph
import pytest

from sparql.rdf import N_QUADS, N_TRIPLES, TRIG, TURTLE
from tests.realdata import realdata
from tests.wash.resumed import Resumed, resumed

SUITES = {"rdf-turtle": TURTLE, "rdf-trig": TRIG, "rdf-n-triples": N_TRIPLES, "rdf-n-quads": N_QUADS}


def _read(suite: str, kind: str) -> dict[str, Resumed]:
    """The tests of a suite whose kind contains a word, by the file's name."""
    folder = realdata() / "w3c/rdf/rdf11" / suite
    names: dict[str, str] = {}
    kinds: dict[str, str] = {}
    for quad in pyoxigraph.parse(path=folder / "manifest.ttl", base_iri="http://e.org/"):
        subject, value = str(quad.subject), getattr(quad.object, "value", "")
        if quad.predicate.value.endswith("#action"):
            names[subject] = value.rpartition("/")[2]
        elif quad.predicate.value.endswith("#type"):
            kinds[subject] = value
    chosen = [name for subject, name in names.items() if kind in kinds[subject]]
    return {name: resumed((folder / name).read_bytes(), SUITES[suite]) for name in chosen}


@pytest.mark.parametrize("suite", SUITES)
def test_invalid_documents_have_problems_with_places(suite: str) -> None:
    """Each gives at least one problem, whose line, column and text are there; only an unclosed long string ends it."""
    found = _read(suite, "Negative")
    assert len(found) >= 29
    assert [name for name, read in found.items() if not read.problems] == []
    for name, read in found.items():
        assert all(None not in (p.line, p.column, p.excerpt) for p in read.problems), name
        assert read.whole == (re.search(r"(turtle|trig)-syntax-bad-string-0[345]", name) is None), name


@pytest.mark.parametrize("suite", SUITES)
def test_valid_documents_have_none(suite: str) -> None:
    """What the grammar allows is not taken for an error."""
    found = _read(suite, "Positive") | _read(suite, "TestTurtleEval") | _read(suite, "TestTrigEval")
    assert len(found) >= 40
    assert {name: read.problems for name, read in found.items() if read.problems} == {}
