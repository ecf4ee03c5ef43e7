"""Statistics of graphs: counted whole, and updated from deltas, against sets."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harvest.model import Statistics
from harvest.revise import delta as deltas
from harvest.revise import statistics
from sparql.rdf import RDF
from tests.revise.model import GRAPH, graphs, iris, literals, put, subject, value

TYPE = f"<{RDF}type>"
typed = st.builds(
    lambda s, o: f"{s} {TYPE} {o} <{GRAPH}> .\n".encode(),
    iris,
    st.one_of(iris, literals, st.just(f'"{TYPE} <http://x.example/a>"'), st.just(f"<<( {TYPE} {TYPE} {TYPE} )>>")),
)
mixed = st.builds(lambda a, b: a | b, graphs, st.frozensets(typed, max_size=8))


def counted(lines: frozenset[bytes]) -> Statistics:
    """What the statistics of a set of lines are, by definition."""
    properties = Counter(line.split(b" ")[1][1:-1].decode() for line in lines)
    types = (value(line).decode() for line in lines if line.split(b" ")[1] == TYPE.encode())
    classes = Counter(term[1:-1] for term in types if term.startswith("<") and not term.startswith("<<"))
    return Statistics(len(lines), len({subject(line) for line in lines}), dict(properties), dict(classes))


@given(mixed)
def test_a_graph_is_counted_as_defined(lines: frozenset[bytes]) -> None:
    """Literals that look like statements, and types that are no IRIs, count as what they are."""
    with TemporaryDirectory() as name:
        assert statistics.whole(put(Path(name) / "a", lines)) == counted(lines)


@given(mixed, mixed)
def test_updated_from_the_delta_equals_counted_anew(a: frozenset[bytes], b: frozenset[bytes]) -> None:
    """A partial harvest never reads the graph, and its figures are exact all the same."""
    with TemporaryDirectory() as name:
        root = Path(name)
        delta = deltas.compare(put(root / "a", a), put(root / "b", b), root)
        assert statistics.changed(counted(a), delta, root / "b") == counted(b)


@given(mixed, mixed)
def test_the_lines_of_the_changed_subjects_are_enough(a: frozenset[bytes], b: frozenset[bytes]) -> None:
    """After a partial harvest the input is all that is at hand of the graph as it is then."""
    with TemporaryDirectory() as name:
        root = Path(name)
        delta = deltas.compare(put(root / "a", a), put(root / "b", b), root)
        touched = {subject(line) for line in a ^ b}
        after = put(root / "after", {line for line in b if subject(line) in touched})
        assert statistics.changed(counted(a), delta, after) == counted(b)


@given(st.lists(mixed, min_size=2, max_size=5))
def test_errors_do_not_add_up(versions: list[frozenset[bytes]]) -> None:
    """The figures of each version come from those of the one before, for years."""
    with TemporaryDirectory() as name:
        root = Path(name)
        known = statistics.EMPTY
        before = put(root / "empty", set())
        for number, lines in enumerate(versions):
            folder = root / str(number)
            folder.mkdir()
            now = put(folder / "graph", lines)
            known = statistics.changed(known, deltas.compare(before, now, folder), now)
            before = now
        assert known == counted(versions[-1])


@pytest.mark.parametrize(("before", "after", "gained"), [(0, 1, 1), (1, 0, -1), (1, 2, 0), (2, 1, 0), (3, 3, 0)])
def test_a_subject_is_new_or_gone_only_with_its_last_line(tmp_path: Path, before: int, after: int, gained: int) -> None:
    """Between two neighbours whose names begin as its own does."""
    others = {f'<http://x/a{c}> <http://p> "1" <{GRAPH}> .\n'.encode() for c in ("", "ab", "b")}
    a, b = (
        frozenset(others | {f'<http://x/aa> <http://p> "{i}" <{GRAPH}> .\n'.encode() for i in range(n)})
        for n in (before, after)
    )
    delta = deltas.compare(put(tmp_path / "a", a), put(tmp_path / "b", b), tmp_path)
    assert statistics.changed(counted(a), delta, tmp_path / "b").subjects == counted(a).subjects + gained


def test_a_subject_with_many_lines_is_not_read_to_its_end(tmp_path: Path) -> None:
    """One line more than the delta adds shows whether a subject is new."""
    hub = frozenset(f'<http://x/hub> <http://p> "{i:05d}" <{GRAPH}> .\n'.encode() for i in range(20_000))
    more = hub | {f'<http://x/hub> <http://p> "new" <{GRAPH}> .\n'.encode()}
    delta = deltas.compare(put(tmp_path / "a", hub), put(tmp_path / "b", more), tmp_path)
    assert statistics.changed(counted(hub), delta, tmp_path / "b") == counted(more)
