"""Large JSON-LD: read in parts, with the triples that it has as a whole, and in bounded memory."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harvest.errors import ContextWanted
from harvest.wash.problems import Problems
from harvest.wash.process import Bounds, call
from harvest.wash.structured import batches, jsonld, members
from harvest.wash.structured.jsonjob import STRICT
from tests.wash.structured.test_jsonld import suite
from tests.wash.texts import BASE, Outcome, damaged, outcome, text_of

CONTEXT = "http://example.org/data/context"
VOCABULARY = {"@vocab": "http://v.example/", "of": {"@type": "@id"}, "row": {"@container": "@list"}}
LITTLE = 75 * 40
"""Memory for which documents of more than 40 bytes are large, and pieces may have 150."""


@pytest.fixture
def context(tmp_path: Path) -> Path:
    path = tmp_path / "context"
    path.write_text(json.dumps({"@context": VOCABULARY}))
    return path


def read(document: object, memory: int, context: Path | None = None) -> Outcome:
    """What comes of a document for which there is so much memory."""
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    return outcome(jsonld.transcribe, replace(text_of(data, contexts={CONTEXT: context}), memory=memory))


def node(n: int, **more: object) -> dict[str, object]:
    return {"@id": f"http://n.example/{n}", "name": f"\u00e9 {n}", "of": f"http://n.example/{n + 1}", **more}


def documents(context: object) -> dict[str, Any]:
    """Documents that can be taken apart, with a context."""
    nodes = [node(n) for n in range(9)]
    shared = [node(n, knows={"@id": "_:same"}) for n in range(5)]
    return {
        "a graph": {"@context": context, "@graph": nodes},
        "a context behind its graph": {"@graph": nodes, "@context": context},
        "a named graph": {"@context": context, "@id": "http://g.example/", "@graph": nodes, "title": "of it"},
        "a graph of a blank node": {"@context": context, "@graph": nodes, "title": "of it"},
        "an array": [{"@context": context, **each} for each in nodes],
        "graphs in an array": [{"@context": context, "@graph": nodes[:4]}, {"@graph": nodes[4:], "@context": context}],
        "nodes and graphs": [{"@context": context, **nodes[0]}, {"@context": context, "@graph": nodes}],
        "a blank node in many": {"@context": context, "@graph": shared},
        "lists": {"@context": context, "@graph": [node(n, row=["a", "b", {"x": "y"}]) for n in range(4)]},
        "an empty graph": {"@context": context, "@graph": [], "title": "a title that is longer than all of the rest"},
    }


@pytest.mark.parametrize("what", documents(None))
@pytest.mark.parametrize("remote", [False, True], ids=["inline", "remote"])
def test_the_parts_say_what_the_whole_says(
    what: str, remote: bool, context: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blank nodes included, which are shared by the parts; the strict parser and the patient one."""
    monkeypatch.setattr(batches, "_PART", 100)
    monkeypatch.setattr(members, "_BLOCK", 64)
    document = documents(CONTEXT if remote else VOCABULARY)[what]
    found = read(document, 75 * 1000 if remote else STRICT * 250, context)
    whole = read(document, 1 << 30, context)
    assert not found.kinds
    assert found.triples() == whole.triples()
    assert found.triples()


def test_documents_of_the_w3c_say_the_same_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of the suite, as far as its documents can be taken apart: with their contexts, lists and named graphs."""
    monkeypatch.setattr(members, "_BLOCK", 64)
    files, cases = suite()
    count, others = 0, set()
    for case in cases:
        text = text_of(case.data, case.base, files)
        if case.negative or len(case.data) < 100:
            continue
        whole = outcome(jsonld.transcribe, replace(text, memory=1 << 30))
        found = outcome(jsonld.transcribe, replace(text, memory=75 * (len(case.data) - 1)))
        if not whole.kinds.keys() & {"cut-off"}:
            count += 1
            others |= {case.name} if found.triples() != whole.triples() else set()
    assert count > 300
    assert others == set()


def test_one_piece_that_is_too_large_is_refused_with_what_to_do() -> None:
    """An object of 59 MB took 1.3 GB, though wash.memory is 256 MiB."""
    catalogue = {"@context": VOCABULARY, "@id": "http://c.example/", "dataset": [node(n) for n in range(500)]}
    found = read(catalogue, LITTLE)
    assert not found.lines
    assert set(found.kinds) == {"too-large", "cut-off"}
    message = found.the("too-large").message
    assert "characters in one piece" in message
    assert "wash.memory" in message
    assert "publish it as an array of objects, or in N-Triples" in message


def test_one_member_that_is_too_large_keeps_those_before_it() -> None:
    """Nobody knows what follows."""
    found = read({"@context": VOCABULARY, "@graph": [node(0), node(1, name="x" * 4_000_000)]}, 20 * 200_000)
    assert len(found.lines) == 2
    assert set(found.kinds) == {"too-large", "cut-off"}


@pytest.mark.parametrize(
    ("text", "line", "column", "kept"),
    [
        (b'{"@context": {"@vocab": "http://v/"},\n "@graph": [{"a": "1"},\n {"a": }]}' + b" " * 40, 3, 8, 1),
        (b'[{"http://v/a": "1"},\n\n {"http://v/a": "2"} {"http://v/a": "3"}]' + b" " * 40, 3, 21, 2),
        (b'[{"http://v/a": "1"},\n {"http://v/a": "2"},\n {"http://v/a": "2', 3, 1, 2),
        (b'[\n{"http://v/a": "1"}]\n{"http://v/a": "2"}\n' + b" " * 40, 3, 1, 1),
    ],
)
def test_an_error_has_its_place_and_what_came_before_is_kept(text: bytes, line: int, column: int, kept: int) -> None:
    """As in a small document."""
    found = read(text, LITTLE)
    problem = found.the("syntax")
    assert problem.line == line
    assert problem.column is not None and (problem.column == column or line == 3)
    assert len(found.lines) == kept
    assert found.kinds["cut-off"] == 1
    assert not found.problems.whole


def test_a_context_that_is_not_there_is_asked_for() -> None:
    """A context that cannot be had is reported."""
    document = {"@context": CONTEXT, "@graph": [node(n) for n in range(9)]}
    text = replace(text_of(json.dumps(document).encode()), memory=STRICT * 4000)
    with pytest.raises(ContextWanted) as wanted:
        outcome(jsonld.transcribe, replace(text, memory=75 * 300))
    assert wanted.value.url == CONTEXT
    found = read(document, 75 * 300, None)
    assert set(found.kinds) == {"context", "cut-off"}


def test_a_bad_member_costs_itself(context: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a large document as in a small one, with the triples that it holds."""
    monkeypatch.setattr(batches, "_PART", 200)
    nodes: list[object] = [node(n) for n in range(20)]
    nodes[7] = {"@id": 7, "a": "1", "b": ["2", "3"]}
    found = read({"@context": CONTEXT, "@graph": nodes}, 75 * 1000, context)
    assert len(found.lines) == 38
    assert found.kinds == {"syntax": 1}
    assert found.problems.lost == 3


def test_damage_of_the_file_is_reported() -> None:
    """What came before it is kept."""
    data = json.dumps([{"http://v.example/a": str(n)} for n in range(99)]).encode()
    found = outcome(jsonld.transcribe, replace(damaged(data[:1000]), memory=LITTLE, size=1000))
    assert found.lines
    assert found.kinds["cut-off"] == 1


def test_lines_are_told_apart_from_one_long_line() -> None:
    """A document without a line break is no JSON Lines, also with one at its end."""
    one = json.dumps({"@context": VOCABULARY, "@graph": [node(n) for n in range(9)]}).encode()
    assert len(read(one + b"\n\n", STRICT * 700).lines) == 18
    lines = b"\n".join(json.dumps({"@context": VOCABULARY, **node(n)}).encode() for n in range(9))
    assert len(read(lines, STRICT * 700).lines) == 18


@given(st.text('[]{}",:@ \\n1a\n', max_size=60), st.sampled_from(["", "[", '{"@graph":[', '{"@context":{},"@graph":[']))
def test_no_text_makes_an_error_escape(junk: str, start: str) -> None:
    """Whatever it is, reading it ends, and says so."""
    found = read((start + junk).encode() + b" " * 50, LITTLE)
    assert found.lines or found.kinds or not found.problems.counts


class Nowhere:
    """Takes N-Triples, and keeps nothing."""

    def write(self, data: bytes, /) -> None:
        """Forget the bytes."""


def _peak(path: Path) -> int:
    """How much memory reading a file takes beyond what there was, in bytes; in a process of its own."""
    text = replace(text_of(b""), size=path.stat().st_size, open=lambda: path.open("rb"))
    before = _high()
    jsonld.transcribe(text, Nowhere(), Problems())
    return _high() - before


def _high() -> int:
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) << 10


@pytest.mark.long
def test_a_large_graph_takes_no_more_memory_than_a_small_one(tmp_path: Path) -> None:
    """60 MB in an object took 1.3 GB."""
    path = tmp_path / "large.jsonld"
    with path.open("w") as out:
        out.write('{"@context": {"@vocab": "http://v.example/"}, "@graph": [')
        out.write(",".join(json.dumps(node(n, note="x" * 100)) for n in range(300_000)))
        out.write("]}")
    assert path.stat().st_size > 55_000_000
    assert call(_peak, Bounds(600, BASE), path) < 128 << 20
