"""Statements with something wrong in them: its neighbours are kept, nothing is made up, and the loss is counted."""

from __future__ import annotations

import pyoxigraph
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import RdfFormat

from harvest.wash.problems import Problems
from harvest.wash.textual.resume import transcribe
from sparql.rdf import TRIG, TURTLE, Format
from tests.wash.resumed import Lines, document, resumed
from tests.wash.textual.test_resume_properties import HALF, OBJECTS, RELAXED

P = "@prefix p: <http://p.example/#> .\n"
BAD = {
    "a language tag": '"x"@en_US',
    "a space in an IRI": "<http://e.org/a b>",
    "a brace in an IRI": "<http://e.org/{a}>",
    "an undeclared prefix": "q:x",
    "an undeclared datatype": '"1"^^q:x',
    "a datatype with a space": '"1"^^<http://e.org/a b>',
    "an escape": '"a\\qb"',
    "a slash in a name": "p:a/b",
    "an ampersand in a name": "p:a&b",
    "a date without quotes": "2024-01-02",
    "a version without quotes": "1.5.3",
    "a bad object in brackets": "[ p:x q:x ]",
    "a bad object in a list": "( q:x )",
    "a capital keyword": "True",
}
"""Objects that are none, each for itself."""


def lost(text: str, format: Format = TURTLE) -> int:
    """How many triples of a document are said to be lost."""
    problems = Problems()
    transcribe(document(text.encode()), format, Lines(), problems)
    return problems.lost


def said(text: str) -> set[str]:
    """The triples of a good document."""
    quads = pyoxigraph.parse(text.encode(), format=RdfFormat.TURTLE, base_iri="http://base.example/")
    lines = pyoxigraph.serialize((quad.triple for quad in quads), format=RdfFormat.N_TRIPLES)
    return set(lines.decode().split("\n")[:-1])


@pytest.mark.parametrize("format", [TURTLE, TRIG], ids=lambda format: format.name)
@pytest.mark.parametrize("what", BAD)
def test_a_bad_object_costs_its_own_triple(what: str, format: Format) -> None:
    """Objects and predicates before and behind it are kept, and the statement behind is."""
    bad, behind = BAD[what], "p:t p:b <http://e.org/bad> , p:y ."
    body = f"p:s p:b p:x , {bad} , p:y , {bad} ; p:c {bad} , 'z' ; a p:T .\n{behind}\np:u p:b q:z , 'v' .\n"
    found = resumed(P + body, format)
    kept = {line for line in found.triples if not HALF.search(line)}
    assert kept == said(f"{P}p:s p:b p:x , p:y ; p:c 'z' ; a p:T .\n{behind}\np:u p:b 'v' .")
    assert len(found.problems) == 4
    assert 4 <= lost(P + body, format) <= 7


PLAIN = {
    "a bad predicate": ("p:s p:b p:x ; q:c 1 , 2 , 3 ; p:d p:y .", "p:s p:b p:x ; p:d p:y .", 3),
    "a bad predicate behind a bad object": ("p:s p:b q:x ; q:c 1 , 2 ; p:d p:y .", "p:s p:d p:y .", 3),
    "a bad subject": ("q:s p:b 1 , 2 ; p:c [ p:x 1 ; p:y 2 ] .", "", 5),
    "a comma in a name": ("p:s p:b q:x,q:i,p:k , p:l .", "p:s p:b p:l .", 3),
    "no object": ("p:s p:b 1 ; p:c ; p:d 2 , 3 .", "p:s p:b 1 .", 3),
    "two objects": ("p:s p:b q:x , 1 ; p:c 2 3 ; p:d 4 , 5 .", "p:s p:b 1 .", 5),
    "no dot and no object": ("p:s p:b q:x ; p:c\np:t p:d 1 , 2 ; p:e 3 .", "", 4),
    "half a name": ("p:s p:b q:x ; p: c p:d ; p:e 3 .", "", 3),
    "half a subject": ("p: s a p:T ; p:b 1 .", "", 2),
    "a string with quotes in it": ('p:s p:b q:x , "he said "hi" to" , p:c .', "", 3),
    "an IRI that ends in a string": ('p:s p:b q:x , <http://e.org/a , "b>c" , "d" .', "", 3),
    "a comma in a string": ('p:s p:b q:x , "a , b ; c" , """d , e""" .', 'p:s p:b "a , b ; c" , """d , e""" .', 1),
    "a subject in brackets": ("[] p:b q:x , 1 , 2 .", "", 3),
    "semicolons at the end": ("p:s p:b q:x ; p:c 1 ; ; .", "p:s p:c 1 .", 1),
    "comments": ("p:s p:b q:x , # it's , \"one\np:c ; # two\np:d 1 . # three", "p:s p:b p:c ; p:d 1 .", 1),
    "a triple term": ("p:s p:b q:x , <<( p:a p:b p:c )>> , 1 .", "", 3),
}
"""A bad statement, what is said by what can be kept of it, and the triples that it costs."""


@pytest.mark.parametrize("what", PLAIN)
def test_what_stands_where_it_belongs_is_kept(what: str) -> None:
    """A statement whose structure is in doubt is kept up to there: what follows may belong to another subject."""
    body, kept, costs = PLAIN[what]
    assert set(resumed(P + body).triples) == said(P + kept)
    assert lost(P + body) == pytest.approx(costs, abs=1)


def test_a_long_statement_loses_what_uses_the_undeclared_prefix() -> None:
    """A dump may be one statement; one slip in its 100th line cost all but 531 of its 600,000 triples in silence."""
    objects = [f"p:o{n}" for n in range(20_000)]
    objects[100] = "q:o"
    body = f"{P}p:s p:b {' , '.join(objects)} .\n"
    assert len(resumed(body).triples) == 19_999
    assert lost(body) == 1


def test_the_loss_of_a_long_statement_that_is_given_up_is_what_it_holds() -> None:
    """Triples behind a missing separator are lost, and counted."""
    objects = [f"p:o{n}" for n in range(20_000)]
    objects[100] = "p:o p:o"
    body = f"{P}p:s p:b {' , '.join(objects)} .\n"
    assert 100 <= len(resumed(body).triples) <= 101
    assert lost(body) == 19_900


@pytest.mark.long
def test_the_loss_of_a_statement_that_is_too_long_is_estimated_by_its_bytes() -> None:
    """What is passed over is not counted, but there are about as many triples in it as in what was read."""
    body = f"{P}p:s p:b p:o p:o " + " , ".join(f"p:o{n:07}" for n in range(5_000_000)) + " .\np:t p:b 1 ."
    assert lost(body) > 4_000_000


@pytest.mark.parametrize("where", [0, 7])
def test_many_bad_objects_are_each_reported(where: int) -> None:
    """The first hundred with their place, all of them counted."""
    objects = [f"q:o{n}" if n % 10 == where else f"p:o{n}" for n in range(5000)]
    found = resumed(f"{P}p:s p:b " + "\n, ".join(objects) + " .")
    assert len(found.triples) == 4500
    assert found.counts == {"syntax": 500}
    assert [problem.line for problem in found.problems[:3]] == [2 + where, 12 + where, 22 + where]


def test_the_costliest_problem_is_kept_however_many_came_before() -> None:
    """It is the one that stopped the harvest."""
    body = P + "p:s p:b q:x .\n" * 150 + "p:s p:b 1 2 , " + " , ".join(["p:o"] * 900) + " .\n" + "p:s p:b q:y .\n" * 50
    worst = max(resumed(body).problems, key=lambda problem: problem.lost)
    assert (worst.lost, worst.line) == (901, 152)


TERMS = st.tuples(OBJECTS, st.just(True)) | st.tuples(st.sampled_from(sorted(BAD.values())), st.just(False))
LISTED = st.lists(TERMS, min_size=1, max_size=5)
PREDICATES = st.sampled_from([("p:b", True), ("a", True), ("<http://e.org/p>", True), ("q:b", False)])
PAIRS = st.lists(st.tuples(PREDICATES, LISTED), min_size=1, max_size=4)
STATEMENTS = st.lists(st.tuples(st.sampled_from(["p:s", "<http://e.org/s>", "_:x"]), PAIRS), min_size=1, max_size=4)


@RELAXED
@given(STATEMENTS, st.sampled_from([" , ", "\n, ", ", # it's , a\n"]), st.sampled_from([TURTLE, TRIG]))
def test_exactly_the_good_objects_of_a_bad_statement_come_out(
    statements: list[tuple[str, list[tuple[tuple[str, bool], list[tuple[str, bool]]]]]], comma: str, format: Format
) -> None:
    """None is lost that is good, and none comes out that the document does not say."""
    text, good, bad = P, P, 0
    for subject, pairs in statements:
        listed = [f"{predicate} {comma.join(term for term, _ in terms)}" for (predicate, _), terms in pairs]
        text += f"{subject} {' ; '.join(listed)} .\n"
        for (predicate, known), terms in pairs:
            good += "".join(f"{subject} {predicate} {term} .\n" for term, fine in terms if known and fine)
            bad += sum(not (known and fine) for _, fine in terms)
    found = resumed(text, format)
    assert {line for line in found.triples if not HALF.search(line)} == said(good), text
    assert bad <= lost(text, format) <= 2 * bad, text
