"""
Washing alone.

Each format beside a pipe of `oxigraph convert` and `sort`, which leaves blank nodes as they are; two documents at once
beside one after the other; and many small documents in an archive.
"""

from __future__ import annotations

import subprocess
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from bench import peer
from bench.data import Recipe
from bench.errors import BenchError, Disagreement
from bench.ground import Ground, millions
from bench.measure import Sample, clocked, interleaved
from bench.stage import GRAPH
from bench.table import Row, Target, compared
from harvest.config.settings import WashSettings
from harvest.model import Document
from harvest.wash import process
from harvest.wash.canonical import Washed, wash
from harvest.wash.launder import launder
from harvest.wash.leaves import Terms
from harvest.wash.unpacking.volume import Volume

KINDS = (("2 % of them touch blank nodes", 0.05), ("30 % of them touch blank nodes", 0.8))
"""The description of a file, and the share of items with an address: three of the eight triples of those touch it."""

FORMATS = (("N-Triples", "nt"), ("Turtle", "ttl"), ("RDF/XML", "rdf"))
AGAINST_THE_PIPE = Target(1.5, "slower")

BESIDE = Target(0.85, "slower")
"""Two at once beside the same two one after the other: 1.0 where only one core works, 0.7 is what two cores give."""

SMALL = 10_000
"""Documents in the archive of small ones."""

SMALL_RATE = 300
"""Of those, a second."""


@dataclass(frozen=True, slots=True)
class Kind:
    """
    A file to wash.

    Attributes:
        path: Where it is.
        data: What the table calls it: format, size, and the share of its triples that touch blank nodes.
        target: What is to be reached.
    """

    path: Path
    data: str
    target: Target | None


def run(ground: Ground) -> Iterator[Row]:
    """A row for each kind of file, one for two at once, one for many small ones."""
    for kind in _kinds(ground):
        ground.say(f"washing {kind.path.name}")
        yield _row(ground, kind)
    yield _two(ground)
    yield _small(ground)


def _kinds(ground: Ground) -> Iterator[Kind]:
    triples = ground.scale.triples
    for touched, share in KINDS:
        source = ground.source(Recipe(triples, blank_share=share))
        for name, extension in FORMATS:
            path = _converted(source, extension)
            yield Kind(path, f"{name}, {millions(triples)}, {touched}", AGAINST_THE_PIPE)
            if path != source:
                path.unlink()


def _converted(source: Path, extension: str) -> Path:
    """The file in another format, written by the peer."""
    target = source.with_suffix(f".{extension}")
    if not target.exists():
        command = [peer.oxigraph(), "convert", "--from-file", str(source), "--to-file", str(target)]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode != 0:
            raise BenchError(f"`{' '.join(command)}` ended with {done.returncode}: {done.stderr[-500:]}")
    return target


def _row(ground: Ground, kind: Kind) -> Row:
    counts: dict[str, int] = {}

    def ours() -> Sample:
        with ground.room("wash") as room:
            sample, washed = _washed(kind.path, room / "snapshot.nq")
        counts["ours"] = washed.snapshot.triples
        return sample

    def theirs() -> Sample:
        with ground.room("peer") as room:
            sample = peer.convert_and_sort(kind.path, room / "sorted.nt")
            with (room / "sorted.nt").open("rb") as lines:
                counts["peer"] = sum(1 for _ in lines)
        return sample

    series = interleaved({"ours": ours, "peer": theirs}, ground.scale.runs)
    if counts["ours"] != counts["peer"]:
        raise Disagreement(f"{kind.data}: we keep {counts['ours']} triples, the peer {counts['peer']}")
    return compared("washing", kind.data, series["ours"], series["peer"], kind.target)


def _washed(source: Path, target: Path) -> tuple[Sample, Washed]:
    limits = WashSettings()
    document = Document(source, source.as_uri())
    with clocked() as sample:
        washed: Washed = process.call(
            wash, process.Bounds(limits.timeout_s, str(source)), [document], GRAPH, target, limits.memory
        )
    return sample, washed


def _two(ground: Ground) -> Row:
    """Two documents at once, as two providers are washed, beside the same two one after the other."""
    source = ground.source(Recipe(ground.scale.triples, blank_share=0.0))

    def washed(at_once: int) -> Sample:
        with ground.room("two") as room, clocked() as sample, ThreadPoolExecutor(at_once) as threads:
            list(threads.map(lambda i: _washed(source, room / f"{i}.nq"), range(2)))
        return sample

    ground.say("washing two documents at once")
    series = interleaved({"ours": lambda: washed(2), "peer": lambda: washed(1)}, ground.scale.runs)
    data = f"two documents of {millions(ground.scale.triples)} at once; one after the other as peer"
    return compared("washing", data, series["ours"], series["peer"], BESIDE)


def _small(ground: Ground) -> Row:
    """Many small documents in a zip, each with a clean document of its own."""
    number = SMALL if ground.scale.judged else SMALL // 20
    packed = _archive(ground, number)
    limits = WashSettings()

    def ours() -> Sample:
        with ground.room("small") as room, clocked() as sample:
            bounds = process.Bounds(limits.timeout_s, str(packed))
            document, terms = Document(packed, packed.as_uri()), Terms(Volume(), room)
            parts = process.call(launder, bounds, document, _graph, room, limits.memory, terms)
        clean = sum(part.clean is not None for part in parts)
        if clean != number:
            raise Disagreement(f"{number} small documents gave {clean} clean ones")
        return sample

    ground.say(f"washing {number} small documents")
    series = interleaved({"ours": ours}, ground.scale.runs)
    target = Target(round(number / SMALL_RATE, 1), "ours")
    row = compared("washing", f"{number} documents of 1 to 50 kB in a zip", series["ours"], None, target)
    row.notes.append(f"{number / series['ours'].seconds:.0f} documents a second; target {SMALL_RATE}")
    return row


def _graph(names: tuple[str, ...]) -> str:
    return "/".join((GRAPH, *names))


def _archive(ground: Ground, number: int) -> Path:
    """A zip of N-Triples documents of 1 to 50 kB, 7 kB on average."""
    target = ground.folder / "data" / f"small-{number}.zip"
    if not target.exists():
        source = ground.source(Recipe(max(ground.scale.triples, 80_000)))
        with source.open("rb") as lines, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for i in range(number):
                # Many small ones, few large ones: 8 to 400 lines of about 125 bytes.
                text = b"".join(islice(lines, 8 + (i * i * 7919) % 393 * (i % 5 == 0)))
                archive.writestr(f"{i // 100:03d}/{i:05d}.nt", text)
    return target
