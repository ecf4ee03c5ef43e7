"""A plain model of graphs as sets of lines, which the file operations are compared with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from hypothesis import strategies as st

from harvest.model import dataset_mark

GRAPH = "http://h.example/graph/p"
NODE = f"<{GRAPH}/.well-known/genid/"

iris = st.sampled_from([f"<http://x.example/{c}>" for c in "abcdef"])
DATASET, OTHER = "http://h.example/void#d", "http://h.example/void#other"
OWN, FOREIGN = (f"-{dataset_mark(iri)}>" for iri in (DATASET, OTHER))
blanks = st.sampled_from([f"{NODE}{i:032x}{OWN}" for i in range(4)])
other_blanks = st.sampled_from([f"{NODE}{i:032x}{end}" for i in range(2) for end in (">", FOREIGN)])
predicates = st.sampled_from(["<http://x.example/p>", "<http://x.example/q>"])
literals = st.sampled_from(
    ['"1"', '"a <b> ."', '"é"@fr', '"\\u0001 \\" "', '"2"^^<http://www.w3.org/2001/XMLSchema#integer>']
)
statements = st.builds(
    lambda s, p, o: f"{s} {p} {o} <{GRAPH}> .\n".encode(),
    st.one_of(iris, blanks),
    predicates,
    st.one_of(iris, blanks, literals),
)
ground_statements = st.builds(
    lambda s, p, o: f"{s} {p} {o} <{GRAPH}> .\n".encode(), iris, predicates, st.one_of(iris, literals)
)
other_statements = st.builds(
    lambda s, p, o: f"{s} {p} {o} <{GRAPH}> .\n".encode(),
    st.one_of(iris, other_blanks),
    predicates,
    st.one_of(iris, other_blanks, literals),
)
graphs = st.frozensets(statements, max_size=14)
graphs_of_two = st.builds(frozenset.union, graphs, st.frozensets(other_statements, max_size=6))
ground_graphs = st.frozensets(ground_statements, max_size=14)


def put(path: Path, lines: frozenset[bytes] | set[bytes]) -> Path:
    """Write a set of lines as a canonical snapshot."""
    path.write_bytes(b"".join(sorted(lines)))
    return path


def got(path: Path) -> frozenset[bytes]:
    """The lines of a file; fails if they are not sorted and unique."""
    lines = path.read_bytes().splitlines(keepends=True)
    assert lines == sorted(set(lines))
    return frozenset(lines)


def subject(line: bytes) -> bytes:
    return line.split(b" ", 1)[0]


def value(line: bytes) -> bytes:
    return line.split(b" ", 2)[2].rsplit(b" <", 1)[0]


def is_blank(term: bytes) -> bool:
    return term.startswith(NODE.encode())


def blanks_of(lines: Iterable[bytes]) -> frozenset[bytes]:
    """The blank nodes of some lines."""
    return frozenset(term for line in lines for term in (subject(line), value(line)) if is_blank(term))


def stays(old: frozenset[bytes], new: frozenset[bytes], *, full: bool, inherits: bool = True) -> frozenset[bytes]:
    """
    What subject replacement leaves of a graph, when the blank nodes of the input are others than those of the graph.

    A specification: sets, and reachability by repeated union. The input is of `DATASET`; `inherits` says whether nodes
    that name no dataset are, too.
    """
    subjects = {subject(line) for line in new if not is_blank(subject(line))}
    rest = {line for line in old if subject(line) not in subjects}
    suspects = _closure({value(line) for line in old - rest}, rest)
    if full:
        theirs = (FOREIGN.encode(),) if inherits else (FOREIGN.encode(), b"0>", b"1>")
        suspects |= {node for node in blanks_of(rest) if node.endswith(OWN.encode()) or not node.endswith(theirs)}
    staying = {subject(line) for line in rest} - suspects
    roots = staying | {value(line) for line in rest if subject(line) in staying}
    gone = suspects - _closure(roots, rest)
    return frozenset(line for line in rest if subject(line) not in gone)


def _closure(nodes: set[bytes], lines: set[bytes]) -> set[bytes]:
    reached = {node for node in nodes if is_blank(node)}
    while True:
        more = {value(line) for line in lines if subject(line) in reached and is_blank(value(line))}
        if more <= reached:
            return reached
        reached |= more


def renamed(lines: Iterable[bytes], names: Mapping[bytes, bytes]) -> frozenset[bytes]:
    """Lines with other terms for their blank nodes."""
    found = set()
    for line in lines:
        one, other = subject(line), value(line)
        predicate = line.split(b" ", 2)[1]
        found.add(b" ".join((names.get(one, one), predicate, names.get(other, other), f"<{GRAPH}> .\n".encode())))
    return frozenset(found)


def mapping(lines: frozenset[bytes], into: frozenset[bytes], *, one_to_one: bool = False) -> dict[bytes, bytes] | None:
    """Terms for the blank nodes of some lines under which all of them stand in other lines, if there are such terms."""
    terms = sorted(blanks_of(into) if one_to_one else {term for line in into for term in (subject(line), value(line))})
    order = sorted(blanks_of(lines), key=lambda node: -sum(node in line for line in lines))

    def search(names: dict[bytes, bytes], place: int) -> dict[bytes, bytes] | None:
        if place == len(order):
            return names
        for term in terms:
            if one_to_one and term in names.values():
                continue
            more = names | {order[place]: term}
            known = [line for line in lines if order[place] in line and blanks_of([line]) <= more.keys()]
            if renamed(known, more) <= into and (found := search(more, place + 1)) is not None:
                return found
        return None

    return search({}, 0)


def apart(lines: frozenset[bytes], number: int) -> frozenset[bytes]:
    """Lines with blank nodes that no other document has."""
    nodes = blanks_of(lines)
    return renamed(lines, {node: node[:-1] + b"document%d>" % number for node in nodes})


def entailed(lines: frozenset[bytes], *documents: frozenset[bytes]) -> bool:
    """Whether documents, none of which shares a blank node with another, say all that some lines say."""
    every = frozenset[bytes]().union(*(apart(document, number) for number, document in enumerate(documents)))
    return mapping(lines, every) is not None
