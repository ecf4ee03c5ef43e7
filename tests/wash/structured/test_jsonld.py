"""JSON-LD: streamed where that will do, expanded with contexts from files where not, and never from the network."""

from __future__ import annotations

import io
import json
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pyoxigraph
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import RdfFormat

from harvest.errors import ContextWanted
from harvest.wash.problems import Problems
from harvest.wash.process import Bounds, call
from harvest.wash.structured import contexts, jsonld, several
from harvest.wash.structured.depth import DEPTH, Depth
from harvest.wash.structured.strict import DocumentTooLarge
from tests.realdata import realdata
from tests.wash.texts import BASE, Outcome, comparable, damaged, outcome, text_of

CONTEXT = "http://example.org/data/context"

_IRIS = "pyoxigraph resolves such references otherwise (dots, and schemes without authority)"
_GENERAL = "the expected result holds blank predicates, which are not RDF"
_ONLY_1_0 = "a rule of JSON-LD 1.0 that 1.1 does away with"
_OPTION = "an option that a document cannot have"
OTHERWISE = {
    "t0118": _GENERAL,
    "te075": _GENERAL,
    "t0122": _IRIS,
    "t0123": _IRIS,
    "te062": _IRIS,
    "te091": _IRIS,
    "tc013": "pyoxigraph takes no scoped context from the key of a type map",
    "te026": _ONLY_1_0,
    "te071": _ONLY_1_0,
    "te077": _OPTION,
    "tdi09": _OPTION,
    "tdi10": _OPTION,
    "tdi11": _OPTION,
    "tdi12": _OPTION,
}
"""Positive tests with another result, each with the reason."""

ACCEPTED = {"tc029", "te115", "te116", "tep02", "ter21", "ter24", "ter32", "ter42", "ttn01"}
"""Negative tests of JSON-LD 1.0, or of the option to be one of its processors: fine in 1.1."""


@dataclass(frozen=True, slots=True)
class Case:
    """A test of the W3C's: its name, input, base IRI, and the file of its result, if it has one."""

    name: str
    data: bytes
    base: str
    result: Path | None
    negative: bool


def suite() -> tuple[dict[str, Path | None], list[Case]]:
    """The remote contexts of the toRdf suite, and its tests."""
    folder = realdata() / "w3c/json-ld"
    manifest = json.loads((folder / "toRdf-manifest.jsonld").read_bytes())
    files: dict[str, Path | None] = {}
    for path in folder.rglob("*.jsonld"):
        files[manifest["baseIri"] + str(path.relative_to(folder))] = path
    cases = []
    for entry in manifest["sequence"]:
        path = folder / entry["input"]
        if path.exists():
            base = entry.get("option", {}).get("base", manifest["baseIri"] + entry["input"])
            result = folder / entry["expect"] if "expect" in entry else None
            negative = "jld:NegativeEvaluationTest" in entry["@type"]
            cases.append(Case(entry["@id"].removeprefix("#"), path.read_bytes(), base, result, negative))
    return files, cases


def read(document: object, **known: Path | None) -> Outcome:
    """What a document gives; `known` are contexts by the end of their URL."""
    files = {BASE.rpartition("/")[0] + "/" + name: path for name, path in known.items()}
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    return outcome(jsonld.transcribe, text_of(data, contexts=files))


def filed(folder: Path, context: object) -> Path:
    """A context as it was downloaded."""
    path = folder / f"context-{len(list(folder.iterdir()))}"
    path.write_bytes(context if isinstance(context, bytes) else json.dumps(context).encode())
    return path


def test_valid_documents_of_the_w3c_give_their_triples() -> None:
    """All but those listed, each with its reason; a test that is mended leaves the list."""
    files, cases = suite()
    otherwise, count = set(), 0
    for case in cases:
        if case.negative:
            continue
        count += 1
        found = outcome(jsonld.transcribe, text_of(case.data, case.base, files))
        if case.result is None:
            assert not found.kinds, case.name
            continue
        try:
            expected = comparable(pyoxigraph.parse(case.result.read_bytes(), format=RdfFormat.N_QUADS))
        except SyntaxError:
            otherwise.add(case.name)
            continue
        if found.triples() != expected:
            otherwise.add(case.name)
        elif case.name != "tli12":  # its base is no IRI, which is reported
            assert not found.kinds, case.name
    assert count >= 350
    assert otherwise == OTHERWISE.keys()


def test_invalid_documents_of_the_w3c_have_problems() -> None:
    """All but those that are invalid in JSON-LD 1.0 alone; one wants a context from an address that is none."""
    files, cases = suite()
    accepted, wanted = set(), set()
    for case in cases:
        if case.negative:
            try:
                if not outcome(jsonld.transcribe, text_of(case.data, case.base, files)).kinds:
                    accepted.add(case.name)
            except ContextWanted as error:
                wanted.add(error.url)
    assert accepted == ACCEPTED
    assert wanted == {"tag:non-dereferencable-iri"}


def test_a_context_that_nobody_fetched_is_asked_for() -> None:
    """Its URL is the error's; the caller fetches it and calls again."""
    for wanting in (
        {"@context": CONTEXT, "p": 1},
        {"@context": "context", "p": 1},
        {"@context": [{"p": "http://p/"}, "context"], "p": 1},
        {"@context": {"@import": "context"}, "p": 1},
        {"@context": {"p": {"@id": "http://p/", "@context": "context"}}, "p": {"q": 1}},
    ):
        with pytest.raises(ContextWanted) as wanted:
            read(wanting)
        assert wanted.value.url == CONTEXT
        assert CONTEXT in wanted.value.message


def test_a_context_from_a_file_is_used(tmp_path: Path) -> None:
    """As downloaded, with a byte order mark if it has one; contexts may use others."""
    first = filed(tmp_path, {"@context": ["inner", {"q": "http://q/"}]})
    inner = filed(tmp_path, b"\xef\xbb\xbf" + json.dumps({"@context": {"p": "http://p/"}}).encode())
    found = read({"@context": CONTEXT, "@id": "http://a/", "p": 1, "q": 2}, context=first, inner=inner)
    assert {line.split()[1] for line in found.lines} == {b"<http://p/>", b"<http://q/>"}
    assert not found.kinds


def test_contexts_are_not_remembered_for_the_next_document(tmp_path: Path) -> None:
    """The file of the next harvest holds another version."""
    document = {"@context": CONTEXT, "@id": "http://a/", "p": 1}
    for number in range(2):
        found = read(document, context=filed(tmp_path, {"@context": {"p": f"http://p/{number}"}}))
        assert f"<http://p/{number}>".encode() in found.lines[0]


def test_lines_that_import_a_context_do_not_change_it_for_each_other(tmp_path: Path) -> None:
    """The contexts of a text are remembered, and PyLD writes what one line adds into what the next one imports."""
    imported = filed(tmp_path, {"@context": {"p": "http://p/"}})
    adding = {"@context": {"@import": "context", "q": "http://q/"}, "@id": "http://a/", "p": 1}
    plain = {"@context": {"@import": "context"}, "@id": "http://b/", "p": 1, "q": 2}
    data = b"\n".join(json.dumps(line).encode() for line in (adding, plain, {**plain, "@context": "context"}))
    found = read(data, context=imported)
    assert [line.split()[1] for line in found.lines] == [b"<http://p/>"] * 3


def test_lines_share_the_work_on_their_context(tmp_path: Path) -> None:
    """A context of 1,500 terms takes 30 ms to work out; a million lines must not take it each."""
    context = filed(tmp_path, {"@context": {f"t{i}": f"http://t/{i}" for i in range(1500)}})
    line = json.dumps({"@context": "context", "@id": "http://a/", "t1": 1}).encode()
    began = time.process_time()
    assert len(read(b"\n".join([line] * 400), context=context).lines) == 400
    assert time.process_time() - began < 4


def test_nothing_of_a_document_is_known_without_its_context() -> None:
    """The context's URL is reported; no term is guessed."""
    found = read({"@context": CONTEXT, "@id": "http://a/", "p": 1}, context=None)
    assert not found.lines
    assert found.kinds == {"context": 1, "cut-off": 1}
    assert CONTEXT in found.the("context").message


@pytest.mark.parametrize("content", [b"<html>", b"[]", b'{"@context": 3}', b"[" * 100_000, b'{"@context": "context"}'])
def test_a_context_that_is_none_is_a_problem(tmp_path: Path, content: bytes) -> None:
    """A page, a list, a wrong one, a bomb, one that includes itself."""
    found = read({"@context": CONTEXT, "p": 1}, context=filed(tmp_path, content))
    assert not found.lines
    assert "cut-off" in found.kinds


def test_contexts_that_include_each_other_end(tmp_path: Path) -> None:
    """PyLD counts the inclusions; the loop is reported."""
    found = read({"@context": "a", "p": 1}, a=filed(tmp_path, {"@context": "b"}), b=filed(tmp_path, {"@context": "a"}))
    assert found.kinds == {"context": 1, "cut-off": 1}


def test_a_context_beyond_the_limit_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The address is the provider's choice, and so is what it answers."""
    monkeypatch.setattr(contexts, "CONTEXT_BYTES", 10)
    found = read({"@context": CONTEXT, "p": 1}, context=filed(tmp_path, {"@context": {"p": "http://p/"}}))
    assert "more than 10" in found.the("context").message


def test_no_connection_is_ever_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even for a context at an address that answers."""

    def refuse(*_: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    for address in ("http://127.0.0.1:9/c", "file:///etc/passwd", "//127.0.0.1:9/c"):
        with pytest.raises(ContextWanted):
            read({"@context": address, "p": 1})


def test_messy_files_are_reported_for_what_they_are() -> None:
    """One needs a context; one is no JSON, from a place on."""
    folder = realdata() / "messy"
    bees = "SEMICeu__DCAT-AP__releases_3.0.0_html_examples_example-bee-population-dataset-series-combined.jsonld"
    with pytest.raises(ContextWanted, match="DCAT-AP/releases/3"):
        read((folder / bees).read_bytes())
    found = read((folder / "culturecreates__artsdata-data-model___gabarits-jsonld_Event_event.jsonld").read_bytes())
    assert found.kinds == {"syntax": 1, "cut-off": 1}
    assert (found.the("cut-off").line, found.the("cut-off").column) == (40, 162)
    assert "..." in str(found.the("cut-off").excerpt)


def test_what_precedes_an_error_in_the_json_is_kept() -> None:
    """The stream's statements are the document's, whatever follows."""
    found = read(b'[{"@id":"http://a/","http://p/":"a"},\n {"http://q/":"c')
    assert found.lines == (b'<http://a/> <http://p/> "a" .\n',)
    assert (found.the("syntax").line, found.the("syntax").column) == (2, 15)


def test_a_node_that_is_none_costs_itself_alone(tmp_path: Path) -> None:
    """One bad datatype among 10,000 nodes must not cost them all; blank nodes stay the same ones."""
    nodes = [{"@id": f"_:n{i}", "p": {"@id": f"_:n{i + 1}"}} for i in range(40)]
    bad = {"@id": "http://a/", "p": {"@value": "x", "@type": "no good"}}
    context = {"p": "http://p/"}
    found = read({"@context": context, "@graph": [*nodes[:17], bad, *nodes[17:]]})
    assert found.kinds == {"syntax": 1, "fallback": 1}
    assert found.triples() == read({"@context": context, "@graph": nodes}).triples()


def test_statements_with_terms_that_are_none_are_dropped() -> None:
    """JSON can hold half a character, and a base that is no IRI."""
    found = read(b'{"@id":"http://a/","http://p/":["\\ud800","b"]}')
    assert found.lines == (b'<http://a/> <http://p/> "b" .\n',)
    assert found.kinds == {"invalid-literal": 1, "fallback": 1}


def test_base_directions_are_left_out() -> None:
    """JSON-LD 1.1 leaves them out of RDF; text that looks like one stays."""
    value = {"@value": "x", "@language": "ar", "@direction": "rtl"}
    found = read({"@id": "http://a/", "http://p/": [value, '"@ar--rtl .\n']})
    assert sorted(found.lines)[0] == rb'<http://a/> <http://p/> "\"@ar--rtl .\n" .' + b"\n"
    assert sorted(found.lines)[1] == b'<http://a/> <http://p/> "x"@ar .\n'


def test_each_line_may_be_a_document() -> None:
    """A bad one costs itself, with its place; the blank nodes of one are not those of another."""
    good = b'{"@id":"_:b","http://p/":{"@id":"_:b"}}\n'
    found = read(good + b'{"http://p/":oops}\n\n' + good + b'{"@context":3}\n' + b'{"http://p/":"\\ud800"}\n' + good)
    assert len({line.split()[0] for line in found.lines}) == len(found.lines) == 3
    lines = [problem.line for problem in found.problems.first if problem.kind == "syntax"]
    assert (found.problems.first[0].line, found.problems.first[0].column) == (2, 14)
    assert len(lines) == 2
    assert found.kinds["invalid-literal"] == 1


def test_documents_may_follow_each_other_in_any_layout() -> None:
    """Up to one that is no JSON: what follows it could be the inside of it."""
    found = read(b'{\n"http://p/":1\n}\n{"http://p/":2}\n{"http://p/":\n oops,\n{"http://p/":3}\n')
    assert [line.split()[2][:3] for line in found.lines] == [b'"1"', b'"2"']
    assert (found.the("cut-off").line, found.the("cut-off").column) == (6, 2)


def test_nothing_is_written_when_a_later_line_wants_a_context() -> None:
    """The document is read again when the context is there."""
    sink = io.BytesIO()
    with pytest.raises(ContextWanted):
        jsonld.transcribe(text_of(b'{"http://p/":1}\n{"@context":"context","p":1}\n'), sink, Problems())
    assert not sink.getvalue()


def test_documents_beyond_the_limit_are_streamed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines one by one, else piece by piece; what is beyond the memory that there is, is reported."""
    monkeypatch.setattr(several, "LINE_BYTES", 30)

    def little(document: object) -> Outcome:
        data = document if isinstance(document, bytes) else json.dumps(document).encode()
        return outcome(jsonld.transcribe, replace(text_of(data), memory=20 * 40))

    lines = b'{"http://p/":1}\n' * 3
    assert len(little(lines).lines) == 3
    found = little(lines + b'{"http://p/":"%s"}\n' % (b"x" * 40) + lines)
    assert (len(found.lines), found.kinds) == (3, {"too-large": 1, "cut-off": 1})
    found = little([{"http://p/": 1}, {"@context": "context", "p": 1}])
    assert (len(found.lines), found.kinds) == (1, {"too-large": 1, "cut-off": 1})
    found = little('[{"http://p/":"é"},\n"é" x'.encode())
    assert (len(found.lines), found.kinds) == (1, {"syntax": 1, "cut-off": 1})
    assert (found.the("syntax").line, found.the("syntax").column) == (2, 5)


def test_damage_of_the_file_is_reported_and_costs_only_what_follows() -> None:
    """A cut-off gzip: the message of the decompressor is the problem."""
    found = outcome(jsonld.transcribe, damaged(b'[{"@id":"http://a/","http://p/":"a"},'))
    assert len(found.lines) == 1
    assert found.kinds == {"cut-off": 1}
    assert "says gzip" in found.the("cut-off").message


def _nested(opening: bytes, closing: bytes, depth: int) -> Outcome:
    found = read(opening * depth + b"1" + closing * depth)
    return Outcome(found.lines, found.problems)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("depth", [400, 1_000, 100_000])
@pytest.mark.parametrize(
    ("opening", "closing"),
    [(b'{"http://p/":', b"}"), (b'{"@graph":', b"}"), (b"[", b"]"), (b'{"@context":{"a":', b"}}")],
)
def test_nesting_without_end_is_a_problem_and_no_crash(opening: bytes, closing: bytes, depth: int) -> None:
    """pyoxigraph's parser dies with its process past 2,500 objects; PyLD raises errors past some 100."""
    found = call(_nested, Bounds(240, BASE), opening, closing, depth)
    if depth > DEPTH:
        assert found.kinds == {"too-large": 1, "cut-off": 1}


@given(st.recursive(st.text('"\\{}[],: a', max_size=6) | st.integers(), lambda inner: st.lists(inner, max_size=4)))
def test_the_depth_of_json_is_counted_whatever_its_strings_hold(value: object) -> None:
    """Brackets in strings count nothing, wherever the blocks end."""
    data = json.dumps({"a": value}).encode()
    for size in (1, 2, 3, 5, len(data)):
        watch = Depth()
        for start in range(0, len(data), size):
            watch.watch(data[start : start + size])
        # At the end it is as deep as at the beginning: from there, one less than the limit still goes.
        watch.watch(b"[" * (DEPTH - 1))
        with pytest.raises(DocumentTooLarge):
            watch.watch(b"[[[")


def _values() -> st.SearchStrategy[object]:
    """JSON that often looks like JSON-LD."""
    keys = st.sampled_from(
        ("@id", "@type", "@value", "@graph", "@list", "@language", "@context", "http://p/", "p", "_:x")
    )
    leaves = (
        st.none() | st.booleans() | st.floats() | st.sampled_from(("http://a/", "_:x", "rel", "", "@id", "en", "a b"))
    )
    return st.recursive(leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4))


@given(_values())
def test_no_document_makes_another_error_escape(value: object) -> None:
    """Whatever JSON it is, what comes out is canonical, and what is wrong is reported."""
    try:
        read(json.dumps(value).encode())
    except ContextWanted as error:
        assert error.url


def _pieces() -> Iterator[bytes]:
    whole = b'{"@context":{"p":"http://p/"},"@graph":[{"@id":"http://a/","p":["x",{"@id":"http://b/","p":1}]},{"p":2}]}'
    for end in range(len(whole)):
        yield whole[:end]


def test_a_document_that_is_cut_gives_a_part_of_the_whole() -> None:
    """Wherever it is cut, no statement is given that the whole document does not make."""
    allowed = {b'<http://a/> <http://p/> "x" .\n', b"<http://a/> <http://p/> <http://b/> .\n"}
    allowed.add(b'<http://b/> <http://p/> "1"^^<http://www.w3.org/2001/XMLSchema#integer> .\n')
    for piece in _pieces():
        found = read(piece)
        assert {line for line in found.lines if not line.startswith(b"_:")} <= allowed
        assert found.kinds == {"syntax": 1, "cut-off": 1}


@pytest.mark.parametrize("property", ["title", "dcterms", "a/b", "./p", "#p", "_:p", "http://e.org/ p"])
def test_a_property_without_an_iri_makes_no_statement(property: str, tmp_path: Path) -> None:
    """A key is never resolved against the address of the document, by neither reader."""
    context = tmp_path / "context"
    context.write_text('{"@context": {}}')
    node = {"@id": "http://e.org/s", property: "x", "http://e.org/p": "y"}
    for document in (node, {"@context": CONTEXT, **node}):
        found = outcome(jsonld.transcribe, text_of(json.dumps(document).encode(), contexts={CONTEXT: context}))
        assert found.lines == (b'<http://e.org/s> <http://e.org/p> "y" .\n',)
