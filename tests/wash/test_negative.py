"""The W3C's tests of what is not RDF, all of a suite in one washing: none of them stops it, and each is reported."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pyoxigraph
import pytest
from pyoxigraph import NamedNode

from harvest.errors import ContextWanted
from harvest.model import Document, Part
from harvest.wash.canonical import Washed, wash
from tests.realdata import realdata
from tests.wash.structured.test_jsonld import ACCEPTED, suite
from tests.wash.test_conformance import SUITES

GRAPH = "http://example.org/graph"
GOOD = b'<http://example.org/good/%d> <http://example.org/p> _:b%d .\n_:b%d <http://example.org/p> "%d" .\n'
NUMBERS = {"rdf-turtle": 94, "rdf-trig": 115, "rdf-n-triples": 29, "rdf-n-quads": 34, "rdf-xml": 40}
"""How many negative tests each suite has."""


SAYING_NOTHING = {"tc029", "ter21", "tep02"}
"""Documents of JSON-LD that are fine in 1.1 and hold no statement, which is reported."""


def good(folder: Path) -> Document:
    """A document with nothing wrong."""
    path = folder / "good"
    path.write_bytes(b"".join(GOOD % (n, n, n, n) for n in range(50)))
    return Document(path, "http://example.org/good.nt")


def rdf11(name: str) -> list[Document]:
    """The documents of the negative tests of a suite of RDF 1.1."""
    folder = realdata() / "w3c/rdf/rdf11" / name
    base = f"https://w3c.github.io/rdf-tests/rdf/rdf11/{name}/"
    triples = list(pyoxigraph.parse(path=folder / "manifest.ttl", base_iri=base + "manifest.ttl"))
    negative = {q.subject for q in triples if isinstance(q.object, NamedNode) and "Negative" in q.object.value}
    urls = [str(q.object.value) for q in triples if q.subject in negative and q.predicate.value.endswith("#action")]
    return [Document(folder / url.removeprefix(base), url) for url in urls]


def json_ld(folder: Path) -> list[Document]:
    """The documents of the negative tests of JSON-LD, with the contexts that there are."""
    files, cases = suite()
    documents = []
    for case in cases:
        if case.negative:
            path = folder / f"{case.name}.jsonld"
            path.write_bytes(case.data)
            documents.append(Document(path, case.base, contexts=files))
    return documents


def together(documents: Iterable[Document], folder: Path) -> Washed:
    """All of them in one washing; a context that is wanted and not there cannot be had."""
    given = list(documents)
    while True:
        try:
            return wash(given, GRAPH, folder / "clean.nq", 32 << 20)
        except ContextWanted as wanted:
            assert wanted.url
            assert wanted.url not in given[0].contexts
            given = [replace(document, contexts={**document.contexts, wanted.url: None}) for document in given]


def washed_beside_a_good_one(documents: list[Document], folder: Path) -> dict[str, tuple[Part, ...]]:
    """What became of each bad document, by its path, when a good one stood in the middle of them."""
    half = len(documents) // 2
    fine = good(folder)
    alone = together([fine], folder).snapshot.path.read_bytes().splitlines()
    assert len(alone) == 100
    washed = together([*documents[:half], fine, *documents[half:]], folder)
    clean = washed.snapshot.path.read_bytes().splitlines()
    assert len(clean) == washed.snapshot.triples
    assert set(alone) <= set(clean)
    (record,) = washed.documents[half]
    assert (record.statements, record.whole, record.dropped, record.problems) == (100, True, 0, ())
    found = (*washed.documents[:half], *washed.documents[half + 1 :])
    return {str(document.path): parts for document, parts in zip(documents, found, strict=True)}


@pytest.mark.parametrize("name", SUITES)
def test_every_bad_document_of_rdf_is_reported_and_stops_no_other(name: str, tmp_path: Path) -> None:
    """Even those that are fine in another format have the finding that they are not in their own."""
    documents = rdf11(name)
    found = washed_beside_a_good_one(documents, tmp_path)
    assert len(found) == len(documents) == NUMBERS[name]
    assert [file for file, parts in found.items() if not all(part.problems for part in parts)] == []


def test_every_bad_document_of_json_ld_is_reported_and_stops_no_other(tmp_path: Path) -> None:
    """All but those that are invalid in JSON-LD 1.0 alone."""
    documents = json_ld(tmp_path)
    assert len(documents) >= 100
    found = washed_beside_a_good_one(documents, tmp_path)
    silent = {Path(file).stem for file, parts in found.items() if not all(part.problems for part in parts)}
    assert silent == ACCEPTED - SAYING_NOTHING


def test_all_bad_documents_of_all_suites_stop_no_other(tmp_path: Path) -> None:
    """One provider that publishes nothing else still has its one good dump harvested."""
    documents = [document for name in SUITES for document in rdf11(name)] + json_ld(tmp_path)
    found = washed_beside_a_good_one(documents, tmp_path)
    assert len(found) >= 400
