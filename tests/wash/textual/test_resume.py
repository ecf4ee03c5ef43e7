"""Documents with errors in them: what is kept, and what is reported of the rest."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

import pytest

from harvest.errors import WashError
from harvest.wash.problems import Problems
from harvest.wash.text import Text
from harvest.wash.textual.resume import transcribe
from sparql.rdf import N3, N_QUADS, N_TRIPLES, TRIG, TURTLE, Format
from tests.realdata import realdata
from tests.wash.resumed import URL, Lines, document, resumed

P = "@prefix p: <p:> .\n"
GOOD = "<p:c> <p:d> <p:e> ."
LATER = "<p:f> <p:g> <p:h> ."

LINES = {
    "an unclosed string": ('<p:a> <p:b> "3 .', ("invalid-literal", 13)),
    "an unclosed IRI": ("<p:a> <p:b> <p:c .", ("invalid-iri", 13)),
    "a space in an IRI": ("<p:a> <p:b> <p:c d> .", ("invalid-iri", 13)),
    "a relative IRI": ("<p:a> <b> <p:c> .", ("invalid-iri", 7)),
    "a bad language tag": ('<p:a> <p:b> "é"@e_ .', ("invalid-literal", 17)),
    "a bad escape": ('<p:a> <p:b> "\\q" .', ("invalid-literal", 14)),
    "no dot": ("<p:a> <p:b> <p:c>", ("syntax", 18)),
    "no object": ("<p:a> <p:b>", ("syntax", 12)),
    "no UTF-8": (b'<p:a> <p:b> "\xff" .', ("encoding", 14)),
    "Turtle": ("<p:a> <p:b> 5 .", ("syntax", 13)),
}


@pytest.mark.parametrize("format", [N_TRIPLES, N_QUADS], ids=lambda format: format.name)
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("what", LINES)
def test_a_bad_line_is_dropped_alone(what: str, newline: str, format: Format) -> None:
    """Lines before and behind it are kept, whatever it leaves open."""
    line, (kind, column) = LINES[what]
    bad = line if isinstance(line, bytes) else line.encode()
    found = resumed(newline.encode().join((GOOD.encode(), bad, LATER.encode(), bad, GOOD.encode())), format)
    assert found.triples == [GOOD, LATER, GOOD]
    places = [(p.kind, p.line, p.column) for p in found.problems]
    assert places == [(kind, 2, column), (kind, 4, column)]
    assert [p.excerpt for p in found.problems] == [bad.decode("utf-8", "replace")] * 2


def test_the_first_line_with_two_statements_keeps_the_first() -> None:
    """pyoxigraph gives the first before it sees the second, and it is the same triple as on a line of its own."""
    found = resumed(f"{GOOD} {LATER}\n{LATER}\n", N_TRIPLES)
    assert found.triples == [GOOD, LATER]
    assert [(p.line, p.column) for p in found.problems] == [(1, len(GOOD) + 2)]


STATEMENTS: dict[str, tuple[str, list[str], tuple[str, int, int]]] = {
    # The text between two good statements, what is kept of it, and the problem with its line and column.
    "an unclosed string": ('p:a p:b "x .', [], ("invalid-literal", 3, 9)),
    "an unclosed string with more behind": ('p:a p:b "x ;\n p:i p:i .', [], ("invalid-literal", 3, 9)),
    "a line end in a string": ('p:a p:b "x\nyz." ;\n p:i p:i .', [], ("invalid-literal", 3, 9)),
    "an unclosed IRI": ("p:a p:b <p:i .", [], ("invalid-iri", 3, 9)),
    "a space in an IRI": ("p:a p:b <p:i i> .", [], ("invalid-iri", 3, 9)),
    "an apostrophe in a name": ("p:a p:b p:O'Neil .", [], ("invalid-literal", 3, 12)),
    "a slash in a name": ("p:a p:b p:i/i .", [], ("syntax", 3, 12)),
    "brackets in a name": ("p:a p:b p:i_(i) .", [], ("syntax", 3, 13)),
    "a comma in a name": ("p:a p:b p:i,_i .", [], ("syntax", 3, 13)),
    "a slash in a later name": ("p:a p:b p:c , p:i/i .", ["<p:a> <p:b> <p:c> ."], ("syntax", 3, 18)),
    "a slash in a predicate": ("p:a p:b p:c ; p:i/i p:d .", ["<p:a> <p:b> <p:c> ."], ("syntax", 3, 18)),
    "a version as a number": ("p:a p:b 1.5.3 .", [], ("syntax", 3, 12)),
    "an underscore in a language tag": ('p:a p:b "x y"@en_US .', [], ("syntax", 3, 17)),
    "triples before it": ("p:a p:b p:c ; p:d p:e , [] [ p:i p:i ] .", ["p:c", "p:e", "_:"], ("syntax", 3, 28)),
    "an escape, with a statement behind": ('p:a p:b "\\q . p:i p:i p:i . " .', [], ("invalid-literal", 3, 10)),
    "an unclosed bracket": ("p:a p:b [ .", [], ("syntax", 3, 11)),
    "a dot in brackets": ("p:a p:b [ p:i . p:i p:i p:i ] .", [], ("syntax", 3, 15)),
    "no object": ("p:a p:b .", [], ("syntax", 3, 9)),
    "no object and no dot": ("p:a p:b\np:i p:i p:i .", [], ("syntax", 4, 5)),
    "a stray bracket": ("] .", [], ("syntax", 3, 1)),
    "an unknown prefix": ("p:a q:b p:i .", [], ("syntax", 3, 5)),
    "a list that is not closed": ('p:a p:b ("x\n p:i p:i p:i\n p:i ) .', [], ("invalid-literal", 3, 10)),
}


@pytest.mark.parametrize("format", [TURTLE, TRIG], ids=lambda format: format.name)
@pytest.mark.parametrize("what", STATEMENTS)
def test_a_bad_statement_is_dropped_from_the_error_on(what: str, format: Format) -> None:
    """Triples before the error stay; what is behind belongs to no statement, and no word is taken for half of it."""
    bad, kept, (kind, line, column) = STATEMENTS[what]
    found = resumed(f"{P}{GOOD}\n{bad}\n{GOOD}\n{LATER}\n", format)
    middle = [triple for triple in found.triples if triple not in (GOOD, LATER)]
    assert [triple for triple in found.triples if triple in (GOOD, LATER)] in ([GOOD, GOOD, LATER], [GOOD, LATER])
    assert not any("p:i" in triple for triple in middle)
    assert len(middle) == len(kept)
    assert all(part in triple for part, triple in zip(kept, middle, strict=True))
    first = found.problems[0]
    assert (first.kind, first.line, first.column) == (kind, line, column)


UNCLOSED = {
    "to the end of the document": 'p:a p:b p:c ; p:d """x .\n' + f"{GOOD}\n{LATER}\n",
    "in single quotes": "p:a p:b p:c ; p:d '''x .\n" + f"{GOOD}\n{LATER}\n",
    "up to the next one": 'p:a p:b p:c ; p:d """x .\n' + f'{GOOD}\np:i p:i """y .\n p:i p:i p:i . z""" .\n{LATER}\n',
    "behind something else in its statement": 'p:a p:b p:c , p:i/i ; p:d """x .\n' + f"{GOOD}\n{LATER}\n",
}


@pytest.mark.parametrize("format", [TURTLE, TRIG, N3], ids=lambda format: format.name)
@pytest.mark.parametrize("what", UNCLOSED)
def test_a_long_string_that_is_not_closed_ends_the_document(what: str, format: Format) -> None:
    """Nobody knows what behind it is text; up to it all counts, and the document is not whole."""
    found = resumed(f"{P}{GOOD}\n{UNCLOSED[what]}", format)
    assert found.triples == [GOOD, "<p:a> <p:b> <p:c> ."]
    assert not found.whole
    cut = found.problems[-1]
    assert (cut.kind, cut.line, cut.column) == ("cut-off", 3, UNCLOSED[what].index("p:d") + 5)
    assert cut.message == "a long string that is not closed; what follows it was not read"
    assert cut.excerpt == UNCLOSED[what].partition("\n")[0]


def test_what_a_long_string_that_is_not_closed_costs_is_estimated() -> None:
    """By the bytes behind it, as nothing of them is counted."""
    text = f"{GOOD}\n" * 1000 + 'p:a p:b """x .\n' + f"{GOOD}\n" * 500
    problems = Problems()
    transcribe(document(text.encode()), TURTLE, Lines(), problems)
    assert problems.lost == pytest.approx(500, rel=0.05)


def test_a_broken_prefix_is_forgotten() -> None:
    """With what it was before, names would be taken for others; the base likewise."""
    found = resumed(f"{P}@prefix p: <p:i i> .\np:a p:b p:c .\n{GOOD}\n@base <p:i i> .\n<a> <b> <c> .\n{LATER}")
    assert found.triples == [GOOD, LATER]
    assert [p.line for p in found.problems] == [2, 3, 5, 6]


def test_declarations_of_sparql_stand_for_themselves() -> None:
    """No dot ends them, and one that is bad does not take the next with it."""
    found = resumed(f"PREFIX q: <i i>\nPREFIX p: <p:>\nBASE <p:>\np:a <b> p:c .\n{GOOD}\nq:i p:i p:i .\n{LATER}")
    assert found.triples == ["<p:a> <p:b> <p:c> .", GOOD, LATER]
    assert [p.line for p in found.problems] == [1, 6]


def test_graphs_stay_open_behind_an_error() -> None:
    """The brace that closes a graph is no error of its own, and the next graph begins."""
    body = f"{P}p:g {{ {GOOD} p:a p:b . p:a p:b p:c }}\nGRAPH <i i> {{ {GOOD} }}\np:h {{ {LATER} }} }}\n{GOOD}\n{LATER}"
    found = resumed(body, TRIG)
    assert found.triples == [GOOD, "<p:a> <p:b> <p:c> .", GOOD, LATER, GOOD, LATER]
    assert [(p.line, p.column) for p in found.problems] == [(2, 35), (3, 7), (4, 29)]


def test_formulas_are_dropped_whole() -> None:
    """What a formula holds is not asserted, be it the first statement in it or another."""
    inner = "{ p:i p:i p:i . p:i p:i p:i . }"
    found = resumed(f"{P}{GOOD}\n{inner} => {inner} .\n{GOOD}\np:a p:b p:c ; p:d {inner} , p:i .\n{GOOD} {LATER}", N3)
    assert found.triples == [GOOD, GOOD, "<p:a> <p:b> <p:c> .", GOOD, LATER]
    assert not any("p:i" in triple for triple in found.triples)
    assert [(p.kind, p.line, p.column) for p in found.problems] == [("syntax", 3, 1), ("syntax", 5, 19)]


def test_a_labelled_blank_node_stays_the_same() -> None:
    """Its label is the document's, also where the document is read in parts."""
    found = resumed(f"{P}_:x p:b p:c .\np:a .\n{GOOD}\np:a p:b _:x .\n")
    assert found.triples == ["_:x <p:b> <p:c> .", GOOD, "<p:a> <p:b> _:x ."]


@pytest.mark.parametrize("end", ["p:i", '"x', '"x"', '"x"@e', "12", "<p:i", '"12"^^p:i'])
def test_half_a_term_at_the_end_is_no_term(end: str) -> None:
    """A document that was cut off in a name, a number or before a language tag ends there in something else."""
    found = resumed(f"{P}{GOOD}\np:a p:b p:c , {end}")
    assert found.triples == [GOOD, "<p:a> <p:b> <p:c> ."]
    assert len(found.problems) == 1


def test_damage_ends_the_document() -> None:
    """What came before the damage is kept, and its reason reported."""

    class Damaged(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            if found := super().read(size):
                return found
            raise WashError("the gzip stream breaks off", url=URL)

    found = resumed(document(f"{P}{GOOD}\n{LATER}\np:a p:b p:i".encode(), Damaged))
    assert found.triples == [GOOD, LATER]
    assert found.problems[-1].kind == "cut-off"
    assert found.problems[-1].message == "the gzip stream breaks off"
    assert not found.whole


def test_problems_far_down_have_their_place() -> None:
    """Lines, columns and texts are those of the document, also where it is read in blocks."""
    good = f"{GOOD} # é\r\n"
    body = good * 20_000 + "\t" + "é" * 300 + " p:b\n" + good * 20_000 + "<p:é> <p:b> ; .\n" + LATER
    found = resumed(body)
    assert len(found.triples) == 40_000
    assert [(p.line, p.column) for p in found.problems] == [(20_001, 2), (40_002, 13)]
    assert found.problems[0].excerpt == "\t" + "é" * 199
    assert found.problems[1].excerpt == "<p:é> <p:b> ; ."


def test_a_document_that_is_none_costs_no_more_than_its_length() -> None:
    """A table under the name of a vocabulary is read once, and each of its lines looked at a few times."""
    reads = []

    @contextmanager
    def opened() -> Iterator[BinaryIO]:
        reads.append(1)
        with io.BytesIO(b"<p:a> <p:b> name . \n" * 20_000) as stream:
            yield stream

    found = resumed(Text(URL, URL, URL, 0, opened))
    assert found.triples == []
    assert found.counts == {"syntax": 20_000}
    assert len(found.problems) == 100
    assert len(reads) == 2


@pytest.mark.parametrize("format", [TURTLE, N_TRIPLES], ids=lambda format: format.name)
@pytest.mark.parametrize("before", ["", "<p:i> .\n"])
def test_deep_triple_terms_are_refused(before: str, format: Format) -> None:
    """pyoxigraph ends the process at some thousands of them inside each other."""
    depth = 50_000
    deep = "<p:i> <p:i> " + "<<( <p:i> <p:i> " * depth + "<p:i> " + ")>> " * depth + "."
    found = resumed(f"{GOOD}\n{before}{deep}\n{GOOD}\n{LATER}\n", format)
    assert found.triples == [GOOD, GOOD, LATER]
    assert found.problems[-1].kind == "too-large"
    assert found.problems[-1].line == 2 + bool(before)


@pytest.mark.long
@pytest.mark.parametrize(("term", "end"), [('"', '"'), ('"""', '"""'), ("<p:", ">")])
def test_a_term_that_is_too_large_is_dropped(term: str, end: str) -> None:
    """The parser's buffer ends at 16 MB; the statements around it are kept."""
    found = resumed(f"{GOOD}\n<p:a> <p:b> <p:c> , {term}{'x' * (40 << 20)}{end} ; <p:i> <p:i> .\n{LATER}\n{GOOD}\n")
    assert found.triples == [GOOD, "<p:a> <p:b> <p:c> .", LATER, GOOD]
    assert [(p.kind, p.line, p.column) for p in found.problems] == [("too-large", 2, 21)]


@pytest.mark.long
def test_a_long_string_unclosed_in_a_large_document_is_reported_at_its_end() -> None:
    """Where it begins, it is reported as too large."""
    found = resumed(f'{GOOD}\n<p:a> <p:b> """x .\n' + f"{LATER}\n" * 2_000_000)
    assert found.triples == [GOOD]
    assert [(p.kind, p.line) for p in found.problems] == [("too-large", 2), ("cut-off", 2_000_003)]
    assert found.problems[1].message == "the long string that begins in line 2 is not closed"
    assert not found.whole


KEPT = {
    "berorgs_03_2023-11-14_acbca745.ttl": (306, 3),
    "berorgs_07_2024-01-15_58bbcce5.ttl": (306, 2),
    "berorgs_11_2024-02-01_a0606ac1.ttl": (242, 1),
}


@pytest.mark.parametrize("name", KEPT)
def test_real_documents_lose_few_statements(name: str) -> None:
    """Releases that the provider published without reading them once."""
    found = resumed((realdata() / "series/berlin-vocabulary" / name).read_bytes())
    assert (len(found.triples), len(found.problems)) == KEPT[name]
