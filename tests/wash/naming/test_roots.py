"""Roots that nothing refers to keep their names through edits, and so does what is below them."""

from __future__ import annotations

import pytest

from sparql.rdf import RDF
from tests.wash.skolem_graphs import AT_ONCE, IRI, Triple, relabelled, serialized, skolemized

TYPE = f"<{RDF}type>"
SMALL = 8 << 10
"""Memory that has a file of 100 records cut into parts."""


def catalog(name: str, records: int, *more: tuple[str, str], kind: str = "<http://x/Catalog>") -> list[str]:
    """A root with records below it, each with a value and a node of its own."""
    triples = {(f"_:{name}", TYPE, kind), *((f"_:{name}", predicate, value) for predicate, value in more)}
    for n in range(records):
        record = f"_:{name}r{n}"
        triples |= {
            (f"_:{name}", "<http://x/record>", record),
            (record, "<http://x/value>", f'"{name} {n}"'),
            (record, "<http://x/place>", f"{record}p"),
            (f"{record}p", "<http://x/name>", f'"place {n}"'),
        }
    return serialized(triples)


def triple_of(line: str) -> Triple:
    subject, predicate, value = line[:-3].split(" ", 2)
    return subject, predicate, value


def changed(old: list[str], new: list[str], memory: int = AT_ONCE) -> tuple[int, int]:
    """How many lines are added and removed."""
    before, after = (set(skolemized(lines, memory, steady=True)) for lines in (old, new))
    return len(after - before), len(before - after)


TITLE, OTHER = ("<http://x/title>", '"one"'), ("<http://x/title>", '"other"')


@pytest.mark.parametrize("memory", [AT_ONCE, SMALL])
def test_an_edit_of_the_only_root_of_its_kind_changes_the_edited_lines(memory: int) -> None:
    """What is said of the root, or of one record, leaves the names of all other records as they were."""
    old = catalog("c", 100, TITLE)
    assert changed(old, catalog("c", 100, OTHER), memory) == (1, 1)
    assert changed(old, catalog("c", 101, TITLE), memory) == (4, 0)
    edited = [line.replace('"c 7"', '"c seven"') for line in old]
    assert changed(old, edited, memory) == (4, 4)


@pytest.mark.parametrize("memory", [AT_ONCE, SMALL])
def test_a_few_roots_of_a_kind_are_told_apart_by_a_statement_of_their_own(memory: int) -> None:
    """An IRI before words, words before dates; an edit of anything else leaves the names of what is below."""
    home, other_home = ("<http://x/home>", "<http://x/1>"), ("<http://x/home>", "<http://x/2>")
    first, second = catalog("a", 50, home, TITLE), catalog("b", 50, other_home, TITLE)
    assert changed(first + second, first + catalog("b", 50, other_home, OTHER), memory) == (1, 1)
    third = catalog("c", 5, ("<http://x/home>", "<http://x/3>"))
    assert changed(first + second, first + second + third, memory) == (len(third), 0)


def test_statements_that_change_often_come_last() -> None:
    """A date alone tells two roots apart, and is not looked at where a word does."""
    day = '"{}"^^<http://www.w3.org/2001/XMLSchema#date>'
    dated = [
        catalog("a", 9, ("<http://x/date>", day.format(n)), TITLE)
        + catalog("b", 9, ("<http://x/date>", day.format(9)), OTHER)
        for n in (1, 2)
    ]
    assert changed(dated[0], dated[1]) == (1, 1)


def test_roots_that_no_statement_tells_apart_are_named_by_content() -> None:
    """Twins stay two, and do not depend on labels or order."""
    graph: set[Triple] = {triple_of(line) for line in catalog("a", 2, TITLE) + catalog("b", 2, TITLE)}
    graph = {(s, p, o.replace('"b ', '"a ')) for s, p, o in graph}
    lines = skolemized(relabelled(graph, 1), steady=True)
    assert skolemized(relabelled(graph, 2), steady=True) == lines
    assert len({name for line in lines for name in IRI.findall(line)}) == 10


def test_many_lone_records_are_named_by_content_as_ever() -> None:
    """Where there are more roots of a kind than a few, an edit of one leaves the others alone."""
    lone = [line for n in range(200) for line in catalog(f"l{n}", 0, ("<http://x/n>", f'"{n}"'))]
    assert skolemized(lone, steady=True) == skolemized(lone)
    assert changed(lone, [line.replace('"7"', '"seven"') for line in lone]) == (2, 2)
