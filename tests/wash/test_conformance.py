"""The W3C's tests of RDF 1.1 syntaxes: what is valid is read as it is meant, what is not has a problem with a place."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pyoxigraph
import pytest
from pyoxigraph import Quad

from harvest.model import Document
from harvest.wash.problems import STATEMENTS
from sparql.rdf import by_extension
from tests.realdata import realdata
from tests.wash.documents import expected, triples, washed

MANIFEST = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
SUITES = ("rdf-turtle", "rdf-trig", "rdf-n-triples", "rdf-n-quads", "rdf-xml")

_NOT_LINES = "bad-uri-06 bad-uri-07 bad-uri-08 bad-uri-09 bad-prefix-01 bad-base-01 bad-struct-01 bad-string-02 "
_NOT_LINES += "bad-string-03 bad-string-04 bad-string-05 bad-num-01 bad-num-02 bad-num-03"
ACCEPTED = {
    # Not one statement can be read as N-Triples or N-Quads, and all of it as Turtle: it is Turtle under a wrong name.
    **{f"nt-syntax-{name}.nt": "Turtle" for name in _NOT_LINES.split()},
    **{f"nt-syntax-{name}.nq": "Turtle" for name in _NOT_LINES.split()},
    # `=>` and `<=`, a block of TriG, and statements of N-Quads.
    "turtle-syntax-bad-n3-extras-09.ttl": "N3",
    "turtle-syntax-bad-n3-extras-10.ttl": "N3",
    "turtle-syntax-bad-struct-01.ttl": "TriG",
    "turtle-syntax-bad-struct-03.ttl": "N-Quads",
    "trig-syntax-bad-struct-03.trig": "N-Quads",
}
"""Files that are no valid instance of what their name says, but of another format, and are read as that."""

OTHERWISE = {"xml-canon/test001.rdf", "xml-canon/test002.rdf"}
"""Files with an XML literal into which pyoxigraph writes more namespaces than exclusive canonicalisation leaves."""


def _tests(suite: str) -> Iterator[tuple[str, Path, str, Path | None]]:
    """Kind, file, URL and expected result of each test of a suite."""
    folder = realdata() / "w3c/rdf/rdf11" / suite
    base = f"https://w3c.github.io/rdf-tests/rdf/rdf11/{suite}/"
    found: dict[str, dict[str, str]] = {}
    for quad in pyoxigraph.parse(path=folder / "manifest.ttl", base_iri=base + "manifest.ttl"):
        if isinstance(quad.object, pyoxigraph.NamedNode):
            entry = found.setdefault(str(quad.subject), {})
            entry[quad.predicate.value.rpartition("#")[2]] = quad.object.value
    for entry in found.values():
        if "action" in entry:
            result = folder / entry["result"].removeprefix(base) if "result" in entry else None
            yield entry["type"].rpartition("#")[2], folder / entry["action"].removeprefix(base), entry["action"], result


@cache
def _result(path: Path) -> frozenset[Quad]:
    format = by_extension(path.name)
    assert format is not None
    return frozenset(expected(path.read_bytes(), format, "http://example.org/"))


@pytest.mark.parametrize("suite", SUITES)
def test_valid_documents_give_their_triples(suite: str) -> None:
    """Evaluation tests against their result, with the graphs of both left out; syntax tests without an error."""
    count = 0
    otherwise = set()
    for kind, path, url, result in _tests(suite):
        if "Negative" not in kind:
            found = triples(Document(path, url))
            count += 1
            if result is not None and found != _result(result):
                otherwise.add(f"{path.parent.name}/{path.name}")
    assert count >= 40
    assert otherwise == (OTHERWISE if suite == "rdf-xml" else set())


@pytest.mark.parametrize("suite", SUITES)
def test_invalid_documents_have_a_problem_with_a_place(suite: str) -> None:
    """The whole way: line, column and text, or the document is on the list of those that another format allows."""
    accepted = {}
    count = 0
    for kind, path, url, _ in _tests(suite):
        if "Negative" in kind:
            count += 1
            part, _, _ = washed(Document(path, url))
            if part.format is None:
                assert part.counts == {"no-rdf": 1}
                continue
            if part.whole and not part.dropped:
                assert "format" in part.counts
                accepted[path.name] = part.format
                continue
            costly = [p for p in part.problems if p.kind in STATEMENTS | {"cut-off"}]
            assert None not in (costly[0].line, costly[0].column, costly[0].excerpt), path.name
    assert count >= 29
    assert accepted == {name: format for name, format in ACCEPTED.items() if _of(suite, name)}


def _of(suite: str, name: str) -> bool:
    endings = {"rdf-turtle": ".ttl", "rdf-trig": ".trig", "rdf-n-triples": ".nt", "rdf-n-quads": ".nq"}
    return name.endswith(endings.get(suite, "none"))
