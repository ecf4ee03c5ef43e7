"""Full, partial and mirror, against a specification in plain sets."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis.strategies import booleans

from harvest.revise import delta as deltas
from harvest.revise import lines, replace
from harvest.revise.partial import partial
from harvest.revise.replace import Revision
from harvest.revise.target import Origin
from sparql.rdf import RDF
from tests.revise.model import (
    DATASET,
    GRAPH,
    NODE,
    blanks_of,
    entailed,
    got,
    graphs,
    graphs_of_two,
    is_blank,
    mapping,
    put,
    renamed,
    stays,
    subject,
    value,
)

Graph = frozenset[bytes]


class Lines:
    """A graph held as a set of lines, which answers what `partial` asks of a store."""

    def __init__(self, held: frozenset[bytes]) -> None:
        self.held = held

    def describe(self, graph: str, subjects: Iterable[bytes]) -> Iterator[bytes]:
        for term in subjects:
            yield from sorted(line for line in self.held if subject(line) == term)

    def has(self, graph: str, line: bytes) -> bool:
        return line in self.held

    def size(self, graph: str, term: bytes) -> int:
        return sum(subject(line) == term for line in self.held)

    def referrers(self, graph: str, object: bytes) -> Iterator[bytes]:
        yield from (line for line in self.held if value(line) == object)


def after(old: Path, revision: Revision, folder: Path) -> frozenset[bytes]:
    """The graph once the revision's delta is applied; also checks that nothing is in the delta needlessly."""
    removed, added = got(revision.delta.removed), got(revision.delta.added)
    assert removed <= got(old) and not added & got(old)
    assert (len(removed), len(added)) == (revision.delta.removed_triples, revision.delta.added_triples)
    return got(deltas.apply(old, revision.delta, folder / "after").path)


@given(graphs, graphs)
def test_mirror_ends_in_exactly_the_input(a: frozenset[bytes], b: frozenset[bytes]) -> None:
    """Whatever the graph was, mirroring leaves the input, and counts the IRIs that went."""
    with TemporaryDirectory() as name:
        root = Path(name)
        old, new = put(root / "a", a), put(root / "b", b)
        revision = replace.mirror(old, new, GRAPH, root)
        assert after(old, revision, root) == b
        gone = {subject(line) for line in a} - {subject(line) for line in b}
        assert revision.vanished == len({term for term in gone if not is_blank(term)})


def checked(a: Graph, b: Graph, result: Graph, left: Graph, given: Graph) -> None:
    """What stays and the input are the whole of the result, and no node of the input is taken for another one."""
    assert result == left | given
    names = mapping(b, given, one_to_one=True)
    assert names is not None and renamed(b, names) == given
    assert blanks_of(b) - blanks_of(left) <= blanks_of(given)
    assert entailed(result, a, b)


@given(graphs_of_two, graphs, booleans())
def test_full_replaces_the_subjects_of_the_input_and_keeps_the_others(
    a: frozenset[bytes], b: frozenset[bytes], inherits: bool
) -> None:
    """The result is that of the specification, says nothing that neither said, and stays when the input comes again."""
    with TemporaryDirectory() as name:
        root, origin = Path(name), Origin(DATASET, inherits)
        old, new = put(root / "a", a), put(root / "b", b)
        revision = replace.full(old, new, GRAPH, root, origin)
        result = after(old, revision, root)
        checked(a, b, result, stays(a, b, full=True, inherits=inherits), got(revision.input))
        assert revision.kept is not None
        assert got(lines.union(root / "union", revision.input, revision.kept).path) == result
        gone = {subject(line) for line in a} - {subject(line) for line in b}
        assert revision.vanished == len({term for term in gone if not is_blank(term)})
        (root / "again").mkdir()
        again = replace.full(put(root / "c", result), new, GRAPH, root / "again", origin)
        assert (again.delta.added_triples, again.delta.removed_triples) == (0, 0)


@given(graphs_of_two, graphs)
def test_partial_replaces_the_subjects_of_the_input_and_leaves_the_rest(
    a: frozenset[bytes], b: frozenset[bytes]
) -> None:
    """The same, found by looking up subjects and what refers to them alone."""
    with TemporaryDirectory() as name:
        root, origin = Path(name), Origin(DATASET)
        old, new = put(root / "a", a), put(root / "b", b)
        revision = partial(GRAPH, new, Lines(a), root, origin)
        result = after(old, revision, root)
        checked(a, b, result, stays(a, b, full=False), got(revision.input))
        (root / "again").mkdir()
        again = partial(GRAPH, new, Lines(result), root / "again", origin)
        assert (again.delta.added_triples, again.delta.removed_triples) == (0, 0)


@given(graphs, graphs)
def test_membership_agrees_with_a_set(a: frozenset[bytes], b: frozenset[bytes]) -> None:
    """Binary search in the file finds just the subjects that are there, asked in order or not."""
    with TemporaryDirectory() as name:
        path = put(Path(name) / "a", a)
        terms = [subject(line) for line in b]
        with lines.SortedFile(path) as known:
            for term in sorted(terms) + terms:
                assert known.holds(term) == (term in {subject(line) for line in a})


def test_the_predecessors_own_case_keeps_both_subjects(tmp_path: Path) -> None:
    """First dump {A}, second dump {B}: both subjects are there afterwards (NOTES, GeoLink)."""
    a = put(tmp_path / "a", {f'<http://x/A> <http://p> "1" <{GRAPH}> .\n'.encode()})
    b = put(tmp_path / "b", {f'<http://x/B> <http://p> "1" <{GRAPH}> .\n'.encode()})
    revision = replace.full(a, b, GRAPH, tmp_path)
    assert len(after(a, revision, tmp_path)) == 2
    assert revision.vanished == 1


def test_membership_is_right_over_files_longer_than_one_step(tmp_path: Path) -> None:
    """Every one of 5,000 subjects is found and no other, in ascending order and at random jumps."""
    have = [f'<http://x/{i:06d}> <http://p> "{"v" * (i % 90)}" <{GRAPH}> .\n'.encode() for i in range(0, 10_000, 2)]
    path = put(tmp_path / "a", set(have))
    with lines.SortedFile(path) as known:
        assert [known.holds(f"<http://x/{i:06d}>".encode()) for i in range(10_002)] == [
            i % 2 == 0 and i < 10_000 for i in range(10_002)
        ]
        assert all(known.holds(f"<http://x/{(i * 7919) % 5000 * 2:06d}>".encode()) for i in range(3000))


def list_of(cells: int) -> frozenset[bytes]:
    """The lines of an IRI and the list that it refers to."""
    found = {f"<http://x.example/s> <http://x.example/p> {NODE}{0:032x}> <{GRAPH}> .\n"}
    for cell in range(cells):
        rest = f"{NODE}{cell + 1:032x}>" if cell + 1 < cells else f"<{RDF}nil>"
        found.add(f'{NODE}{cell:032x}> <{RDF}first> "{cell}" <{GRAPH}> .\n')
        found.add(f"{NODE}{cell:032x}> <{RDF}rest> {rest} <{GRAPH}> .\n")
    return frozenset(line.encode() for line in found)


def test_a_long_list_that_stays_is_followed_in_one_go(tmp_path: Path) -> None:
    """20,000 cells of a subject that the input lacks take as long as other lines, not as long as their square."""
    other = {f'<http://x.example/o{n}> <http://x.example/p> "{n}" <{GRAPH}> .\n'.encode() for n in range(20_000)}
    loose = {f'{NODE}f{n:031x}> <http://x.example/p> "{n}" <{GRAPH}> .\n'.encode() for n in range(100)}
    kept = list_of(20_000)
    old = put(tmp_path / "a", kept | other | loose)
    new = put(tmp_path / "b", frozenset(other))
    began = time.process_time()
    revision = replace.full(old, new, GRAPH, tmp_path)
    assert time.process_time() - began < 10
    assert got(revision.delta.removed) == loose
    assert revision.kept is not None and got(revision.kept) == kept


class Indexed(Lines):
    """The same, found in no time."""

    def __init__(self, held: frozenset[bytes]) -> None:
        super().__init__(held)
        self.own: dict[bytes, list[bytes]] = defaultdict(list)
        self.into: dict[bytes, list[bytes]] = defaultdict(list)
        for line in sorted(held):
            self.own[subject(line)].append(line)
            self.into[value(line)].append(line)

    def describe(self, graph: str, subjects: Iterable[bytes]) -> Iterator[bytes]:
        return (line for term in subjects for line in self.own.get(term, []))

    def size(self, graph: str, term: bytes) -> int:
        return len(self.own.get(term, []))

    def referrers(self, graph: str, object: bytes) -> Iterator[bytes]:
        return iter(self.into.get(object, []))


def test_many_nodes_that_go_with_replaced_subjects_are_found_in_one_go(tmp_path: Path) -> None:
    """A partial dump that ends a list of 30,000 cells takes time that follows them, not their square."""
    old = list_of(30_000)
    new = put(tmp_path / "new", frozenset({f'<http://x.example/s> <http://x.example/p> "1" <{GRAPH}> .\n'.encode()}))
    other = {f'{NODE}f{n:031x}> <http://x.example/p> "{n}" <{GRAPH}> .\n'.encode() for n in range(100)}
    began = time.process_time()
    revision = partial(GRAPH, new, Indexed(old | other), tmp_path)
    assert time.process_time() - began < 4  # 0.4 s; 7 s when each step looks at all nodes so far
    assert got(revision.delta.removed) == old
