"""
Blank nodes become Skolem IRIs that stay the same while the data around the node stays the same.

`blanks` reads the statements, `records` and `labels` find local labels, `components` tells apart nodes that came to the
same one, `twins` makes names of them, and `parts` cuts up what memory cannot hold.

Isomorphic inputs give the same statements, and no two nodes ever share an IRI. There are two limits. In graphs made to
defeat canonical labelling (thousands of connected blank nodes that all look alike, and still are not interchangeable)
the search for an order stops; which node gets which name then depends on the order of the lines. And nodes connected
through triples between blank nodes are labelled together in memory, which takes 8 to 14 times the size of their lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from harvest.wash.naming.blanks import BLANK, CROWDED, Blanks, read, split
from harvest.wash.naming.components import Claim, settle
from harvest.wash.naming.labels import Labels
from harvest.wash.naming.lookup import Room
from harvest.wash.naming.parts import Claims, cut
from harvest.wash.naming.twins import name
from sparql.rdf import GENID

_SHARE = 8
"""
The largest file that is labelled at once is this share of the memory.

Labelling takes about four times the size of a file whose blank nodes are not connected, as most are.
"""


def skolemize(source: Path, graph: str, target: Path, scratch: Path, memory_bytes: int = 256 << 20) -> int:
    """
    Write `source` with every blank node replaced by its Skolem IRI to `target`; returns the number of blank nodes.

    The IRI is `{graph}/.well-known/genid/{hash}`, where the hash is 32 lower-case hex digits, the first 128 bits of a
    SHA-256. The lines of `target` are in no particular order; a line that `source` repeats may be repeated.

    Args:
        source: Canonical N-Triples, each line with at least one blank node; a label means the same node throughout.
        graph: IRI of the provider's graph.
        target: The file to write.
        scratch: A folder for temporary files, which are gone afterwards; they take up to three times the size of
            `source`, and none when it is small.
        memory_bytes: What labelling aims to stay under.

    Source: RDF 1.1 Concepts and Abstract Syntax, section 3.5.
    """
    prefix = b"<" + (graph + GENID).encode()
    limit = memory_bytes // _SHARE
    total = source.stat().st_size
    if total <= limit:
        return _at_once(source, prefix, target)
    with TemporaryDirectory(dir=scratch, prefix="skolem-") as folder, ExitStack() as opened:
        return _in_parts(source, prefix, target, Room.of(Path(folder), limit, total, opened))


def _at_once(source: Path, prefix: bytes, target: Path) -> int:
    """Label a file in memory."""
    with source.open("rb") as lines:
        blanks = read(lines)
    names = dict(name(*_claims(blanks)))
    iris = {label: prefix + names[node] + b">" for label, node in blanks.index.items()}
    with source.open("rb") as lines, target.open("wb") as out:
        out.writelines(_rewrite(lines, iris.__getitem__))
    return len(iris)


def _in_parts(source: Path, prefix: bytes, target: Path, room: Room) -> int:
    """Label a file part by part."""
    parts = cut(source, room)
    claims = Claims(room)
    for path in parts.paths:
        with path.open("rb") as lines:
            blanks = read(lines)
        claims.put([int(label[2:]) for label in blanks.index], *_claims(blanks))
    names = claims.names(parts.nodes)

    def iri(label: bytes) -> bytes:
        at = 16 * int(label[2:])
        return prefix + names[at : at + 16].hex().encode() + b">"

    with target.open("wb") as out:
        for path in parts.paths:
            with path.open("rb") as lines:
                out.writelines(_rewrite(lines, iri))
            path.unlink()
    return parts.nodes


def _claims(blanks: Blanks) -> tuple[Iterator[tuple[bytes, int]], list[Claim]]:
    """Which node claims which label: those that can only have interchangeable rivals, then the others."""
    labels = Labels(blanks)
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
