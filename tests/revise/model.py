"""A plain model of graphs as sets of lines, which the file operations are compared with."""

from __future__ import annotations

from pathlib import Path

from hypothesis import strategies as st

GRAPH = "http://h.example/graph/p"
NODE = f"<{GRAPH}/.well-known/genid/"

iris = st.sampled_from([f"<http://x.example/{c}>" for c in "abcdef"])
blanks = st.sampled_from([f"{NODE}{i}>" for i in range(4)])
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
graphs = st.frozensets(statements, max_size=14)
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


def replaced(old: frozenset[bytes], new: frozenset[bytes], *, full: bool) -> frozenset[bytes]:
    """Subject replacement as a specification: sets, and reachability by repeated union."""
    subjects = {subject(line) for line in new}
    rest = {line for line in old if subject(line) not in subjects}
    if full:
        roots = {value(line) for line in rest if not is_blank(subject(line))}
        suspects = {subject(line) for line in rest if is_blank(subject(line))}
    else:
        led_to = {value(line) for line in old if subject(line) in subjects}
        suspects = _closure(led_to, rest)
        roots = {value(line) for line in rest if subject(line) not in suspects}
    alive = _closure(roots, rest)
    gone = {node for node in suspects if is_blank(node) and node not in alive and node not in subjects}
    return new | frozenset(line for line in rest if subject(line) not in gone)


def _closure(nodes: set[bytes], lines: set[bytes]) -> set[bytes]:
    reached = {node for node in nodes if is_blank(node)}
    while True:
        more = {value(line) for line in lines if subject(line) in reached and is_blank(value(line))}
        if more <= reached:
            return reached
        reached |= more
