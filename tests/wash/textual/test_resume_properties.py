"""Damage that is made up: what is not damaged is kept, and nothing else comes out."""

from __future__ import annotations

import re

import pyoxigraph
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyoxigraph import RdfFormat

from sparql.rdf import N3, N_QUADS, N_TRIPLES, TRIG, TURTLE, Format
from tests.wash.resumed import resumed

RELAXED = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])

IRIS = st.sampled_from(["<http://e.org/a>", "<http://e.org/b#c>", "<urn:x:y.z>", "<http://e.org/é>"])
TEXTS = st.text(
    st.sampled_from("ab .,;<>[]{}()#'@:é\\\"\n\t_^") | st.characters(codec="utf-8", max_codepoint=0xFFF), max_size=12
)


def _escaped(text: str) -> str:
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"}
    return "".join(escapes.get(c, c) for c in text)


LITERALS = st.builds(
    lambda text, end: f'"{_escaped(text)}"{end}', TEXTS, st.sampled_from(["", "@en", "^^<http://e.org/d>", "@de-at"])
)
BLANKS = st.sampled_from(["_:x", "_:y.1"])
LINES = st.builds(
    lambda s, p, o, end: f"{s} {p} {o}{end}",
    IRIS | BLANKS,
    IRIS,
    IRIS | LITERALS | BLANKS,
    st.sampled_from([" .", "."]),
)


@st.composite
def _damaged(draw: st.DrawFn) -> tuple[list[str], set[int]]:
    """Lines, and which of them were damaged by leaving out, putting in or doubling some characters."""
    lines = draw(st.lists(LINES, min_size=1, max_size=8))
    bad = draw(st.sets(st.integers(0, len(lines) - 1)))
    for index in bad:
        line = lines[index]
        at = draw(st.integers(0, len(line)))
        upto = draw(st.integers(at, min(len(line), at + 4)))
        lines[index] = line[:at] + draw(st.text(st.sampled_from('<>"\\ ._@^a:\t{'), max_size=3)) + line[upto:]
    return lines, bad


def _alone(text: str, format: Format) -> list[str]:
    """The triples that pyoxigraph finds in a text before the first error."""
    base = None if format in (N_TRIPLES, N_QUADS) else "http://base.example/"
    found = []
    try:
        for quad in pyoxigraph.parse(text.encode(), format=format.parser, base_iri=base):
            found.append(pyoxigraph.serialize([quad.triple], format=RdfFormat.N_TRIPLES).decode().rstrip("\n"))
    except SyntaxError:
        pass
    return found


@RELAXED
@given(_damaged(), st.sampled_from(["\n", "\r\n"]), st.booleans(), st.sampled_from([N_TRIPLES, N_QUADS]))
def test_damaged_lines_take_no_other_line_with_them(
    damaged: tuple[list[str], set[int]], newline: str, ended: bool, format: Format
) -> None:
    """Each line of a line format stands for itself, so that exactly what is valid on its own remains."""
    lines, _ = damaged
    found = resumed(newline.join(lines) + (newline if ended else ""), format)
    whole = [triple for line in lines for triple in _alone(line + newline, format)]
    short = whole[:-1] if not ended else whole
    # At the end of a document without a line end, what may be half a term is left out.
    assert found.triples == whole or (not ended and found.triples == short)
    assert bool(found.problems) <= bool(damaged[1]) or not ended


OBJECTS = (
    IRIS
    | LITERALS
    | BLANKS
    | st.sampled_from(["p:é.b", "1.5", "-7", "1e5", "true", "'it\\'s'", '"""one\n"two" . \n"""@en'])
)
LISTED = st.lists(OBJECTS, min_size=1, max_size=3).map(" , ".join)
PREDICATES = IRIS | st.sampled_from(["a", "p:b", "p:c-d"])
PAIRS = st.lists(st.builds("{} {}".format, PREDICATES, LISTED), min_size=1, max_size=3).map(" ;\n   ".join)
STATEMENTS = st.builds(
    lambda s, pairs, end: f"{s} {pairs}{end}", IRIS | BLANKS | st.just("p:s"), PAIRS, st.sampled_from([" .", "\n."])
)
WITH_COMMENTS = st.builds(
    lambda s, after: s + after, STATEMENTS, st.sampled_from(["", ' # it\'s a "comment" .', "\n# <unclosed", "\n\n"])
)

BROKEN = st.sampled_from(
    [
        '<http://e.org/z> p:z "unclosed .',
        '<http://e.org/z> p:z "unclosed ;\n  p:y <http://e.org/q> .',
        "<http://e.org/z> p:z 'unclosed .",
        "<http://e.org/z> p:z <http://unclosed .",
        "<http://e.org/z> p:z <http://un closed> .",
        "<http://e.org/z p:z p:z .",
        "@prefix q: <http://un closed> .",
        "@prefix q <http://e.org/> .",
        "PREFIX q: <http://un closed>",
        "<http://e.org/z> p:z ] .",
        "<http://e.org/z> p:z [ p:z .",
        "<http://e.org/z> p:z ( p:z .",
        '<http://e.org/z> p:z "bad \\q . p:i p:i p:i . " .',
        '<http://e.org/z> p:z "x"@en_US .',
        "<http://e.org/z> p:z p:a/b .",
        "<http://e.org/z> p:z p:O'Neil .",
        "<http://e.org/z> p:z .",
        "<http://e.org/z> q:z p:z .",
        "<http://e.org/z> p:z",
        "} .",
        "name,price,it's",
    ]
)
HALF = re.compile("_:[0-9a-f]{20,32}")
PREFIX = "@prefix p: <http://p.example/#> .\n"


@RELAXED
@given(
    st.lists(st.tuples(WITH_COMMENTS, st.booleans(), BROKEN), min_size=1, max_size=9),
    st.sampled_from([TURTLE, TRIG, N3]),
)
def test_broken_statements_cost_at_most_the_next(parts: list[tuple[str, bool, str]], format: Format) -> None:
    """All triples remain but those of the statement right behind a broken one, and none comes out that was not in."""
    text, kept, allowed = PREFIX, [], []
    before = False
    for statement, broken, what in parts:
        triples = _alone(PREFIX + statement, TURTLE)
        allowed += triples
        kept += [] if before else triples
        text += statement + "\n"
        before = broken
        if broken:
            text += what + "\n"
    found = resumed(text, format)
    # Half a list or blank node of a broken statement is there before it breaks.
    assert {triple for triple in found.triples if not HALF.search(triple)} <= set(allowed), text
    assert set(kept) <= set(found.triples), text
    assert bool(found.problems) == any(broken for _, broken, _ in parts)


UNCLOSED = st.sampled_from(
    ['<http://e.org/z> p:z """unclosed .', '<http://e.org/z> p:z """unclosed\n  more .', "p:z p:z '''unclosed ."]
)


@RELAXED
@given(
    st.lists(WITH_COMMENTS, max_size=5),
    UNCLOSED,
    st.lists(WITH_COMMENTS, max_size=5),
    st.sampled_from([TURTLE, TRIG, N3]),
)
def test_a_long_string_that_is_not_closed_ends_a_document(
    before: list[str], unclosed: str, behind: list[str], format: Format
) -> None:
    """Other long strings may stand before and behind it: what is before is kept, and nothing behind it counts."""
    good = PREFIX + "".join(f"{statement}\n" for statement in before)
    found = resumed(good + unclosed + "\n" + "\n".join(behind), format)
    assert found.triples == _alone(good, TURTLE)
    assert found.counts == {"cut-off": 1}
    assert not found.whole


@RELAXED
@given(st.lists(WITH_COMMENTS, max_size=9), st.sampled_from([TURTLE, TRIG, N3]))
def test_valid_documents_have_no_problems(parts: list[str], format: Format) -> None:
    """What pyoxigraph reads by itself comes out as it does there, in the same order."""
    text = PREFIX + "\n".join(parts)
    found = resumed(text, format)
    assert found.problems == []
    assert found.triples == _alone(text, format)


@RELAXED
@given(st.lists(st.tuples(WITH_COMMENTS, st.booleans()), max_size=9))
def test_graphs_of_trig_stay_open_behind_errors(parts: list[tuple[str, bool]]) -> None:
    """Statements behind a bad one are still in its graph, and the brace that closes it is no error."""
    text, kept, bad = PREFIX, [], 0
    for statement, broken in parts:
        mark = "<http://e.org/z> p:z .\n" if broken else ""
        text += f"<http://e.org/g> {{ {mark}{statement}\n {statement}\n}}\n"
        triples = _alone(PREFIX + statement, TURTLE)
        kept += triples
        bad += broken
    found = resumed(text, TRIG)
    assert set(found.triples) == set(kept)
    assert len(found.problems) == bad
