"""Documents of two datasets, washed and revised one after the other: a graph says what they say, and no more."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harvest.model import Document
from harvest.revise import delta as deltas
from harvest.revise import replace
from harvest.revise.partial import partial
from harvest.revise.target import Origin
from harvest.wash.canonical import wash
from tests.revise.model import DATASET, GRAPH, OTHER, entailed, got, mapping
from tests.revise.test_replace import Lines

IRIS = ["<http://x.example/a>", "<http://x.example/b>"]
NODES = ["_:n0", "_:n1", "_:n2"]
PREDICATES = ["<http://x.example/p>", "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"]
BLANK = re.compile(r"_:(n\d)")
# So few triples that dumps speak of the same things: without care for names, a tenth of them would be merged wrongly.
TRIPLES = [(subject, PREDICATES[0], node) for subject in IRIS for node in NODES[:2]]
TRIPLES += [(node, PREDICATES[1], value) for node in NODES for value in ('"1"', '"2"', *NODES[:2])]


@dataclass(frozen=True)
class Dump:
    """A document that is harvested."""

    triples: frozenset[tuple[str, str, str]]
    dataset: str
    full: bool


dumps = st.builds(
    Dump,
    st.frozensets(st.sampled_from(TRIPLES), min_size=2, max_size=6),
    st.sampled_from([DATASET, DATASET, OTHER]),
    st.booleans(),
)


def harvested(graph: frozenset[bytes], dump: Dump, root: Path) -> frozenset[bytes]:
    """The graph after a dump, by way of files as in a harvest."""
    source, old = root / "dump.nt", root / "before.nq"
    source.write_text("".join(f"{' '.join(triple)} .\n" for triple in sorted(dump.triples)))
    document = Document(source, "http://x.example/", "application/n-triples", {}, dump.dataset, dump.full)
    new = wash([document], GRAPH, root / "input.nq", 64 << 20).snapshot.path
    room = root / "revision"
    room.mkdir()
    old.write_bytes(b"".join(sorted(graph)))
    if dump.full:
        revision = replace.full(old, new, GRAPH, room, Origin(dump.dataset))
    else:
        revision = partial(GRAPH, new, Lines(graph), room, Origin(dump.dataset))
    return got(deltas.apply(old, revision.delta, root / "after.nq").path)


def said(dump: Dump) -> frozenset[bytes]:
    """What a document says, with nodes that no name of a graph can be."""
    node = f"<{GRAPH}/.well-known/genid/said-\\1>"
    lines_ = (f"{' '.join(triple)} <{GRAPH}> .\n" for triple in dump.triples)
    return frozenset(BLANK.sub(node, line).encode() for line in lines_)


def check(given_dumps: list[Dump]) -> None:
    """
    After each dump, what the graph says maps into the documents so far, none of which shares a node with another.

    All that the last one says is there, and when it comes again nothing changes.
    """
    graph = frozenset[bytes]()
    with TemporaryDirectory() as name:
        for number, dump in enumerate(given_dumps, 1):
            graph = after(graph, dump, Path(name))
            assert mapping(said(dump), graph) is not None
            assert entailed(graph, *map(said, given_dumps[:number]))
            assert after(graph, dump, Path(name)) == graph


@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(dumps, min_size=2, max_size=3))
def test_dumps_in_any_order_never_say_together_what_none_of_them_said(given_dumps: list[Dump]) -> None:
    """Two or three dumps, full and partial, of two datasets."""
    check(given_dumps)


@pytest.mark.long
@settings(max_examples=1000, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(dumps, min_size=2, max_size=5))
def test_many_dumps_never_say_together_what_none_of_them_said(given_dumps: list[Dump]) -> None:
    """The same for longer sequences, and many more of them."""
    check(given_dumps)


def after(graph: frozenset[bytes], dump: Dump, root: Path) -> frozenset[bytes]:
    """The same in a folder of its own."""
    with TemporaryDirectory(dir=root) as folder:
        return harvested(graph, dump, Path(folder))
