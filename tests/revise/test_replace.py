"""Full, partial and mirror, against a specification in plain sets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given

from harvest.revise import delta as deltas
from harvest.revise import lines, replace
from harvest.revise.partial import partial
from harvest.revise.replace import Revision
from tests.revise.model import GRAPH, got, graphs, is_blank, put, replaced, subject, value


class Lines:
    """A graph held as a set of lines, which answers what `partial` asks of a store."""

    def __init__(self, held: frozenset[bytes]) -> None:
        self.held = held

    def describe(self, graph: str, subjects: Iterable[bytes]) -> Iterator[bytes]:
        for term in subjects:
            yield from sorted(line for line in self.held if subject(line) == term)

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


@given(graphs, graphs)
def test_full_replaces_the_subjects_of_the_input_and_keeps_the_others(a: frozenset[bytes], b: frozenset[bytes]) -> None:
    """The result is that of the specification, and the new graph is the input and the kept lines."""
    with TemporaryDirectory() as name:
        root = Path(name)
        old, new = put(root / "a", a), put(root / "b", b)
        revision = replace.full(old, new, GRAPH, root)
        assert after(old, revision, root) == replaced(a, b, full=True)
        assert revision.kept is not None
        assert got(lines.union(root / "union", new, revision.kept).path) == replaced(a, b, full=True)
        gone = {subject(line) for line in a} - {subject(line) for line in b}
        assert revision.vanished == len({term for term in gone if not is_blank(term)})


@given(graphs, graphs)
def test_partial_replaces_the_subjects_of_the_input_and_leaves_the_rest(
    a: frozenset[bytes], b: frozenset[bytes]
) -> None:
    """The result is that of the specification, found by looking up subjects alone."""
    with TemporaryDirectory() as name:
        root = Path(name)
        old, new = put(root / "a", a), put(root / "b", b)
        revision = partial(GRAPH, new, Lines(a), root)
        assert after(old, revision, root) == replaced(a, b, full=False)


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
