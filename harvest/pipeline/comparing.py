"""
Comparing and patching files of RDF without an instance: what `harvest diff` and `harvest patch` do.

Files of N-Triples and N-Quads are compared as they are: graphs and labels of blank nodes count, as for `sort | diff`.
Where one is in another format both are washed: blank nodes get Skolem IRIs, and graphs do not count.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from harvest.config.settings import Settings
from harvest.discover.dumps import extension
from harvest.errors import StorageError
from harvest.model import Document
from harvest.pipeline.harvest import verdict
from harvest.pipeline.harvest.alone import WashedDocument, WashOrder, wash_alone
from harvest.revise import delta as deltas
from harvest.revise import file_difference, line_files, lines
from harvest.wash.leaves import Progress
from sparql.rdf import N_QUADS, N_TRIPLES


def difference(settings: Settings, old: Path, new: Path, base: str | None = None) -> Iterator[bytes]:
    """
    What takes one file to another, as lines of an N-Quads unified diff.

    Args:
        settings: Limits of washing.
        old: A file of RDF.
        new: Another one.
        base: Base IRI of both; None takes the address of `old`.

    Raises:
        WashError: A file is no RDF, or not whole, or too much of it is bad.
        StorageError: It cannot be read, or the disk for temporary files is full.
    """
    with _room() as room:
        if _are_lines((old, new)):
            delta = file_difference.difference(old, new, room)
        else:
            first, second = _sorted_files(settings, (old, new), base, room)
            delta = deltas.compare(first, second, room)
        yield from line_files.signed(delta)


@contextmanager
def patched(
    settings: Settings, file: Path, changes: Sequence[Path], base: str | None = None
) -> Iterator[tuple[Path, list[line_files.Patched]]]:
    """
    A file with N-Quads unified diffs applied, one after the other, and what each did; gone when the block ends.

    Raises:
        WashError: The file or a diff cannot be read.
        StorageError: It cannot be opened, or the disk for temporary files is full.
    """
    with _room() as room:
        [current] = _sorted_files(settings, (file,), base, room)
        done = []
        for number, change in enumerate(changes):
            folder = room / str(number)
            folder.mkdir()
            done.append(line_files.patched(current, change, folder))
            current = done[-1].snapshot.path
        yield current, done


@contextmanager
def _room() -> Iterator[Path]:
    with TemporaryDirectory(prefix="harvest-compare-") as folder:
        yield Path(folder)


def _sorted_files(settings: Settings, files: Sequence[Path], base: str | None, room: Path) -> list[Path]:
    """The statements of files, sorted."""
    given = [(file, room / f"{number}.nq") for number, file in enumerate(files)]
    if _are_lines(files):
        with ThreadPoolExecutor(len(given)) as threads:
            list(threads.map(lambda each: line_files.sorted_lines(each[0], each[1], room), given))
        return [target for _, target in given]
    for file, target in given:
        _washed(settings, file, base or files[0].resolve().as_uri(), target)
    return [target for _, target in given]


def _are_lines(files: Sequence[Path]) -> bool:
    """Whether all files are N-Triples or N-Quads, by their names; StorageError where one is not there."""
    for file in files:
        if not file.is_file():
            raise StorageError(f"{file} is no file", url=str(file))
    return all(extension(f"file:///{file.name}") in (*N_QUADS.extensions, *N_TRIPLES.extensions) for file in files)


def _washed(settings: Settings, file: Path, base: str, target: Path) -> None:
    """Write what washing makes of a file, without the graph."""

    def deliver(clean: WashedDocument) -> None:
        verdict.check([Document(file, str(file))], [clean.parts], settings.wash.threshold)
        ending = f" <{clean.graph}> .\n".encode()
        with clean.snapshot.path.open("rb") as stream:
            lines.write(target, (line.removesuffix(ending) + b" .\n" for line in stream))

    wash_alone(settings, WashOrder(str(file), sys.stdin.buffer, base, base, None, _nobody), deliver)


def _nobody(progress: Progress) -> None:
    """Nobody listens."""
