"""
Blank nodes become Skolem IRIs that stay the same while the data around the node stays the same.

`blanks` reads the statements, `records` and `labels` find local labels, `components` distinguishes nodes that came to
the same one and makes names of them, and `parts` cuts up what memory cannot hold.

Isomorphic inputs give the same statements, and no two nodes ever share an IRI. There are two limits. In graphs made to
defeat canonical labelling (connected blank nodes that look alike, also where one of them is set apart, and still cannot
be exchanged; or thousands of them) which node gets which name depends on the order of the lines. And nodes connected
through triples between blank nodes are labelled together in memory, which takes 8 to 14 times the size of their lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from harvest.model import dataset_mark
from harvest.wash.naming.blanks import BLANK, CROWDED, Blanks, read, split
from harvest.wash.naming.components import Claim, name, settle
from harvest.wash.naming.labels import Labels, Roots
from harvest.wash.naming.lookup import Room
from harvest.wash.naming.parts import Claims, cut
from harvest.wash.naming.roots import named_roots
from sparql.rdf import GENID

_AT_ONCE = 5
"""
The largest file that is labelled at once is this share of the memory.

Labelling takes 4.1 times the size of a file of records, 5.4 times that of one of lists, and half the time of parts.
"""

_PART = 8
"""The largest part of a larger file is this share: beside it there are 34 bytes for each node of the whole file."""


@dataclass(frozen=True, slots=True)
class Naming:
    """
    How blank nodes are named.

    Attributes:
        dataset: IRI of the dataset that they are from, which their names have then.
        steady: Whether roots of which there are few get names that survive edits (`roots`): for full dumps.
        memory: Bytes that labelling aims to stay under.
    """

    dataset: str | None = None
    steady: bool = False
    memory: int = 256 << 20

    def form(self, graph: str) -> tuple[bytes, bytes]:
        """What stands before and after a node's own part of its IRI."""
        end = f"-{dataset_mark(self.dataset)}>" if self.dataset else ">"
        return b"<" + (graph + GENID).encode(), end.encode()


_PLAIN = Naming()


def skolemize(source: Path, graph: str, target: Path, scratch: Path, naming: Naming = _PLAIN) -> int:
    """
    Write `source` with every blank node replaced by its Skolem IRI to `target`; returns the number of blank nodes.

    The IRI is `{graph}/.well-known/genid/{hash}`, where the hash is 32 lower-case hex digits, the first 128 bits of a
    SHA-256; after it come, for a dataset, a hyphen and its mark (`dataset_mark`), 12 more. The lines of `target` are in
    no particular order; a line that `source` repeats may be repeated.

    Args:
        source: Canonical N-Triples, each line with at least one blank node; a label means the same node throughout.
        graph: IRI of the provider's graph.
        target: The file to write.
        scratch: A folder for temporary files, which are gone afterwards; they take up to three times the size of
            `source`, and none when it is small.
        naming: How they are named.

    Source: RDF 1.1 Concepts and Abstract Syntax, section 3.5.
    """
    form = naming.form(graph)
    total = source.stat().st_size
    if total <= naming.memory // _AT_ONCE:
        return _at_once(source, form, target, steady=naming.steady)
    with TemporaryDirectory(dir=scratch, prefix="skolem-") as folder, ExitStack() as opened:
        room = Room.of(Path(folder), naming.memory // _PART, total, opened)
        return _in_parts(source, form, target, room, steady=naming.steady)


def _at_once(source: Path, form: tuple[bytes, bytes], target: Path, *, steady: bool) -> int:
    """Label a file in memory."""
    with source.open("rb") as lines:
        blanks = read(lines)
    names = dict(name(*_claims(blanks, partial(named_roots, blanks.facts) if steady else _unnamed)))
    begin, end = form
    iris = {label: begin + names[node] + end for label, node in blanks.index.items()}
    with source.open("rb") as lines, target.open("wb") as out:
        out.writelines(_rewrite(lines, iris.__getitem__))
    return len(iris)


def _in_parts(source: Path, form: tuple[bytes, bytes], target: Path, room: Room, *, steady: bool) -> int:
    """Label a file part by part."""
    parts = cut(source, room, steady=steady)
    claims = Claims(room)
    for path in parts.paths:
        with path.open("rb") as lines:
            blanks = read(lines)
        numbers = [int(label[2:]) for label in blanks.index]
        claims.put(numbers, *_claims(blanks, partial(_known, parts.roots, numbers)))
    names = claims.names(parts.nodes)
    begin, end = form

    def iri(label: bytes) -> bytes:
        at = 16 * int(label[2:])
        return begin + names[at : at + 16].hex().encode() + end

    with target.open("wb") as out:
        for path in parts.paths:
            with path.open("rb") as lines:
                out.writelines(_rewrite(lines, iri))
            path.unlink()
    return parts.nodes


def _unnamed(roots: list[int]) -> dict[int, bytes]:
    """No root has a name of its own."""
    return {}


def _known(labels: Mapping[int, bytes], numbers: Sequence[int], roots: list[int]) -> dict[int, bytes]:
    """The labels that roots of a part have in the file as a whole, where these are their numbers."""
    return {root: labels[numbers[root]] for root in roots if numbers[root] in labels}


def _claims(blanks: Blanks, roots: Roots) -> tuple[Iterator[tuple[bytes, int]], list[Claim]]:
    """Which node claims which label: those that can only have interchangeable rivals, then the others."""
    labels = Labels(blanks, roots)
    settled = list(settle(labels))
    apart = {claim.node for claim in settled}
    return ((labels.label[node], node) for node in labels.order if node not in apart), settled


def _rewrite(lines: Iterable[bytes], iri: Callable[[bytes], bytes]) -> Iterator[bytes]:
    """The lines with an IRI for every blank node."""
    for line in lines:
        if line[0] == CROWDED:
            line = line[1:]
        end, gap = split(line)
        subject = iri(line[:end]) if line[0] == BLANK else line[:end]
        if line[gap + 1] == BLANK:
            yield subject + line[end : gap + 1] + iri(line[gap + 1 : -3]) + b" .\n"
        else:
            yield subject + line[end:]
