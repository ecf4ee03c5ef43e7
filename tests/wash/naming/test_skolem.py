"""Skolem IRIs: what they look like, and what a change to the data does to them."""

from __future__ import annotations

import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from harvest.wash.naming.skolem import Naming, skolemize
from tests.wash.skolem_graphs import AT_ONCE, GRAPH, IRI, Triple, serialized, skolemized

FIRST = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#first>"
REST = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#rest>"
NIL = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#nil>"
S, P, Q, NAME, PART = "<http://s/1>", "<http://p/1>", "<http://p/2>", "<http://p/name>", "<http://p/part>"


def changes(before: list[Triple], after: list[Triple]) -> tuple[int, int]:
    """How many lines are added and removed."""
    old, new = set(skolemized(serialized(before))), set(skolemized(serialized(after)))
    return len(new - old), len(old - new)


def chain(subject: str, stem: str, members: list[str]) -> list[Triple]:
    """An RDF list."""
    triples = [(subject, P, f"_:{stem}0" if members else NIL)]
    for at, member in enumerate(members):
        rest = f"_:{stem}{at + 1}" if at + 1 < len(members) else NIL
        triples += [(f"_:{stem}{at}", FIRST, member), (f"_:{stem}{at}", REST, rest)]
    return triples


def records(names: list[str]) -> list[Triple]:
    """Blank objects of one subject and predicate, each with a name and a part that has a size."""
    return [
        triple
        for at, name in enumerate(names)
        for triple in (
            (S, P, f"_:r{at}"),
            (f"_:r{at}", NAME, f'"{name}"'),
            (f"_:r{at}", PART, f"_:p{at}"),
            (f"_:p{at}", Q, f'"size of {name}"'),
        )
    ]


def test_a_blank_node_becomes_an_iri_below_its_graph() -> None:
    """Readers recognise Skolem IRIs by their path, and consumers may turn them back into blank nodes."""
    lines = skolemized([f"{S} {P} _:a .\n", f'_:a {Q} "x"@en .\n'])
    name = IRI.findall(lines[0])[0]
    assert lines == [
        f'<{GRAPH}/.well-known/genid/{name}> {Q} "x"@en .',
        f"{S} {P} <{GRAPH}/.well-known/genid/{name}> .",
    ]


def test_names_are_those_of_the_first_release() -> None:
    """If names came to be made otherwise, every graph with blank nodes would change at its next harvest."""

    def digest(text: str) -> str:
        return sha256(text.encode()).hexdigest()[:32]

    lines = skolemized(
        serialized([(S, P, "_:a"), (S, Q, "_:b"), (S, Q, "_:c"), ("_:b", NAME, '"b"'), ("_:c", NAME, '"c"')])
    )
    siblings = [digest(f"some {S} {Q} " + digest(f'{NAME} "{name}"')) for name in "bc"]
    assert {name for line in lines for name in IRI.findall(line)} == {digest(f"path {S} {P}"), *siblings}


@pytest.mark.parametrize("literal", ['"_:a"', '"x _:a <http://i> ."', '"a\\" _:b .\\n"', '"\u2028_:a ."@en', '"> _:a"'])
@pytest.mark.parametrize("memory_bytes", [AT_ONCE, 8])
def test_what_looks_like_a_blank_node_in_a_literal_stays(literal: str, memory_bytes: int) -> None:
    """Only the subject and the object of a line can be blank nodes."""
    lines = skolemized([f"_:a {P} {literal} .\n"], memory_bytes)
    assert [line.split(" ", 2)[2] for line in lines] == [f"{literal} ."]


def test_no_line_gives_an_empty_file(tmp_path: Path) -> None:
    """Most graphs have no blank nodes at all."""
    source, target = tmp_path / "source.nt", tmp_path / "target.nt"
    source.touch()
    assert skolemize(source, GRAPH, target, tmp_path, Naming(memory=0)) == 0
    assert target.read_bytes() == b""


def test_editing_the_only_blank_object_changes_the_edited_line_alone() -> None:
    """Where the path singles a node out, its name says nothing of its content."""
    before = [(S, P, "_:a"), ("_:a", PART, "_:b"), ("_:b", NAME, '"old"'), ("_:b", Q, '"same"')]
    assert changes(before, [*before[:2], ("_:b", NAME, '"new"'), before[3]]) == (1, 1)


def test_editing_one_sibling_changes_its_own_lines() -> None:
    """Siblings are told apart by their content, which no other sibling has a part in."""
    before = records(["a", "b", "c", "d"])
    assert changes(before, records(["a", "B", "c", "d"])) == (4, 4)
    assert changes(before, [*before[:4], *before[8:]]) == (0, 4)
    assert changes(before, records(["a", "b", "c", "d", "e"])) == (4, 0)


def test_twins_are_counted() -> None:
    """Two descriptions that say the same are still two, and the first keeps its name when a third one comes."""
    assert changes(records(["a", "b", "b"]), records(["a", "b", "b", "b"])) == (4, 0)


def test_inserting_a_member_leaves_the_other_cells_of_a_list_alone() -> None:
    """Cells are named by their member and not by their place, or all that follow would change."""
    members = [f'"{number}"' for number in range(100)]
    for place in (0, 1, 50):
        inserted = [*members[:place], '"new"', *members[place:]]
        added, removed = changes(chain(S, "c", members), chain(S, "c", inserted))
        assert (added, removed) == ((4, 2) if place == 0 else (3, 1))
    assert changes(chain(S, "c", members), chain(S, "c", [*members[:50], *members[51:]])) == (1, 3)


def test_editing_a_member_leaves_the_other_cells_of_a_list_alone() -> None:
    """One cell has another name then, so the line that leads to it changes too."""
    members = [f'"{number}"' for number in range(100)]
    assert changes(chain(S, "c", members), chain(S, "c", [*members[:50], '"new"', *members[51:]])) == (3, 3)


def test_editing_a_record_in_a_list_leaves_the_other_cells_alone() -> None:
    """A list of descriptions is as common as a list of values."""
    members = [f"_:m{number}" for number in range(50)]
    names = [(member, NAME, f'"{member}"') for member in members]
    before = chain(S, "c", members) + names
    assert changes(before, [*before[:-20], ("_:m30", NAME, '"new"'), *before[-19:]]) == (4, 4)
    assert changes(before, [*chain(S, "c", ["_:new", *members]), *names, ("_:new", NAME, '"new"')]) == (5, 2)


def test_a_list_with_equal_members_has_a_cell_for_each() -> None:
    """The place among equal members is all that tells such cells apart."""
    assert changes(chain(S, "c", ['"a"', '"b"'] * 3), chain(S, "c", ['"a"', '"b"'] * 4)) == (5, 1)


@pytest.mark.parametrize(
    "more",
    [
        [("_:c1", FIRST, '"second"')],
        [("_:c1", REST, "_:c3")],
        [("<http://s/2>", Q, "_:c2")],
        [("_:c3", REST, "_:c0")],
        [("_:c3", REST, "_:c1")],
        [("_:c3", REST, "_:c3")],
    ],
    ids=["two members", "two tails", "tail in use elsewhere", "round", "round later", "round at the end"],
)
def test_a_malformed_list_is_named_all_the_same(more: list[Triple]) -> None:
    """Nothing keeps a provider from writing such lists."""
    triples = [*chain(S, "c", ['"a"', '"b"', '"c"', '"d"']), *more]
    names = {IRI.findall(line)[0] for line in skolemized(serialized(triples))}
    assert len(names) == 4


def test_a_cycle_that_begins_at_a_subject_is_named_by_its_path() -> None:
    """Links back to the parent are common, and make no name depend on content."""
    before = [(S, P, "_:a"), ("_:a", PART, "_:b"), ("_:b", Q, "_:a"), ("_:b", PART, "_:c"), ("_:c", Q, "_:b")]
    assert changes([*before, ("_:c", NAME, '"old"')], [*before, ("_:c", NAME, '"new"')]) == (1, 1)


def test_a_node_with_several_paths_keeps_its_name_when_it_is_edited() -> None:
    """Which of the paths counts is a matter of the paths alone."""
    before = [(S, P, "_:a"), ("<http://s/2>", Q, "_:a"), (S, Q, "_:b"), ("_:b", PART, "_:a")]
    assert changes([*before, ("_:a", NAME, '"old"')], [*before, ("_:a", NAME, '"new"')]) == (1, 1)


def web(names: list[str]) -> list[Triple]:
    """People of whom each knows three others, and is known by three."""
    people = [(f"_:p{at}", NAME, f'"{name}"') for at, name in enumerate(names)]
    return people + [
        (f"_:p{at}", Q, f"_:p{(at + step) % len(names)}") for at in range(len(names)) for step in (1, 7, 12)
    ]


def test_editing_a_person_leaves_the_people_who_know_them_alone() -> None:
    """In a web of blank nodes without any subject outside, content is all there is; other people's content is not."""
    names = [str(at) for at in range(40)]
    assert changes(web(names), web(["new", *names[1:]])) == (7, 7)


def test_namesakes_are_told_apart_by_what_surrounds_them() -> None:
    """What is said of people further away leaves them alone."""
    names = ["same", *(str(at) for at in range(18)), "same", *(str(at) for at in range(18, 38))]
    assert changes(web(names), web([*names[:24], "new", *names[25:]])) == (7, 7)


@pytest.mark.long
def test_labelling_in_parts_stays_within_its_memory(tmp_path: Path) -> None:
    """The size of a dump must not decide whether it can be washed."""
    source = tmp_path / "source.nt"
    with source.open("w") as out:
        for at in range(75_000):
            out.write(f"<http://example.org/resource/{at // 3}> <http://schema.org/keywords> _:b{at} .\n")
            out.write(f'_:b{at} <http://schema.org/name> "The keyword with the number {at % 1000}" .\n')
            out.write(f"_:b{at} <http://schema.org/inDefinedTermSet> _:c{at} .\n")
            out.write(f'_:c{at} <http://schema.org/name> "The set of terms with the number {at % 10}" .\n')
    command = (
        "import resource, sys; from pathlib import Path; from harvest.wash.naming.skolem import Naming, skolemize\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "before = peak(); source, target, scratch = map(Path, sys.argv[1:])\n"
        "print(skolemize(source, 'http://g/x', target, scratch, Naming(memory=8 << 20)), peak() - before)"
    )
    places = [str(source), str(tmp_path / "target.nt"), str(tmp_path)]
    done = subprocess.run([sys.executable, "-c", command, *places], capture_output=True, text=True, check=True)
    count, grown_kib = map(int, done.stdout.split())
    assert count == 150_000
    assert grown_kib < 40 * 1024
