"""Graphs of blank nodes, and what becomes of them; for the tests of Skolem IRIs."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory

from harvest.wash.naming.skolem import Naming, skolemize

GRAPH = "http://example.org/graph/x"
AT_ONCE = 256 << 20
IRI = re.compile(r"<http://example\.org/graph/x/\.well-known/genid/([0-9a-f]{32})>")

Triple = tuple[str, str, str]


def skolemized(lines: Iterable[str], memory_bytes: int = AT_ONCE, *, steady: bool = False) -> list[str]:
    """The distinct lines with Skolem IRIs, sorted; every blank node of `lines` must have one of its own."""
    lines = list(lines)
    with TemporaryDirectory() as folder:
        source, target, scratch = Path(folder, "source.nt"), Path(folder, "target.nt"), Path(folder, "scratch")
        scratch.mkdir()
        source.write_bytes("".join(lines).encode())
        count = skolemize(source, GRAPH, target, scratch, Naming(steady=steady, memory=memory_bytes))
        written = sorted(set(target.read_bytes().decode().split("\n")[:-1]))
        assert list(scratch.iterdir()) == []
    assert len({name for line in written for name in IRI.findall(line)}) == count
    assert len(written) == len(set(lines))
    return written


def serialized(triples: Iterable[Triple]) -> list[str]:
    """Triples as lines of canonical N-Triples."""
    return [f"{subject} {predicate} {target} .\n" for subject, predicate, target in triples]


def relabelled(triples: Iterable[Triple], seed: int) -> list[str]:
    """The same graph with other blank node labels, as lines in another order, some of them twice."""
    triples = sorted(triples)
    chance = random.Random(seed)
    old = sorted({term for triple in triples for term in (triple[0], triple[2]) if term.startswith("_:")})
    new = [f"_:{chance.getrandbits(64):x}n{number}" for number in range(len(old))]
    chance.shuffle(new)
    names = dict(zip(old, new, strict=True))
    lines = serialized((names.get(s, s), p, names.get(o, o)) for s, p, o in triples)
    lines += chance.choices(lines, k=min(3, len(lines)))
    chance.shuffle(lines)
    return lines


def both_ways(edges: Iterable[tuple[object, object]]) -> set[Triple]:
    """An undirected graph of blank nodes."""
    pairs = [(f"_:n{one}", f"_:n{other}") for one, other in edges]
    return {triple for a, b in pairs for triple in ((a, "<http://p/x>", b), (b, "<http://p/x>", a))}


def beside(*graphs: set[Triple]) -> set[Triple]:
    """Graphs side by side."""
    return {(f"{s}g{at}", p, f"{o}g{at}") for at, graph in enumerate(graphs) for s, p, o in graph}


def below_one(graph: set[Triple]) -> set[Triple]:
    """A graph, and one more node that refers to all its nodes."""
    nodes = {term for s, _, o in graph for term in (s, o) if term.startswith("_:")}
    return graph | {("_:hub", "<http://p/has>", node) for node in nodes}


def clique(count: int) -> set[Triple]:
    """Every node is connected with every other one."""
    return both_ways(combinations(range(count), 2))


def ring(count: int) -> set[Triple]:
    """The nodes stand in a circle."""
    return both_ways((node, (node + 1) % count) for node in range(count))


def torus(rows: int, columns: int) -> set[Triple]:
    """A grid that closes in itself on both sides."""
    cells = [(row, column) for row in range(rows) for column in range(columns)]
    right = [(f"{row}c{column}", f"{row}c{(column + 1) % columns}") for row, column in cells]
    down = [(f"{row}c{column}", f"{(row + 1) % rows}c{column}") for row, column in cells]
    return both_ways(right + down)


def moebius(count: int) -> set[Triple]:
    """A Möbius ladder: a circle whose opposite nodes are connected."""
    return ring(count) | both_ways((node, node + count // 2) for node in range(count // 2))


def rook(side: int) -> set[Triple]:
    """The squares of a board, connected where a rook can go; strongly regular."""
    squares = [(row, column) for row in range(side) for column in range(side)]
    moves = [(a, b) for a, b in combinations(squares, 2) if a[0] == b[0] or a[1] == b[1]]
    return both_ways((f"{a[0]}c{a[1]}", f"{b[0]}c{b[1]}") for a, b in moves)


def shrikhande() -> set[Triple]:
    """The Shrikhande graph, strongly regular with the parameters of `rook(4)` but not isomorphic to it."""
    steps = ((0, 1), (1, 0), (1, 1))
    cells = [(row, column) for row in range(4) for column in range(4)]
    return both_ways((f"{r}c{c}", f"{(r + y) % 4}c{(c + x) % 4}") for r, c in cells for y, x in steps)


def paley(prime: int) -> set[Triple]:
    """Numbers connected where their difference is a square; strongly regular."""
    squares = {number * number % prime for number in range(1, prime)}
    return both_ways((a, b) for a, b in combinations(range(prime), 2) if (b - a) % prime in squares)


def twisted(edges: list[tuple[int, int]], twist: bool) -> set[Triple]:
    """A Cai-Fürer-Immerman graph, with a twist that colour refinement cannot see."""
    pairs: list[tuple[str, str]] = []
    for node in {node for edge in edges for node in edge}:
        own = [at for at, edge in enumerate(edges) if node in edge]
        for size in range(0, len(own) + 1, 2):
            for chosen in combinations(own, size):
                middle = f"{node}m{'m'.join(map(str, chosen))}"
                pairs += [(middle, f"{node}e{at}e{int(at in chosen)}") for at in own]
    for at, (one, other) in enumerate(edges):
        pairs += [(f"{one}e{at}e{end}", f"{other}e{at}e{end ^ int(twist and at == 0)}") for end in (0, 1)]
    return both_ways(pairs)


def regular(count: int, degree: int, seed: int) -> set[Triple]:
    """A random graph in which every node has the same degree."""
    chance = random.Random(seed)
    ends = [node for node in range(count) for _ in range(degree)]
    chance.shuffle(ends)
    pairs = [sorted(pair) for pair in zip(ends[::2], ends[1::2], strict=True)]
    while True:
        seen: set[tuple[int, ...]] = set()
        wrong = [pair for pair in pairs if pair[0] == pair[1] or tuple(pair) in seen or seen.add(tuple(pair))]
        if not wrong:
            return both_ways(seen)
        for pair in wrong:
            other = chance.choice(pairs)
            pair[1], other[1] = other[1], pair[1]
            pair.sort()
            other.sort()
