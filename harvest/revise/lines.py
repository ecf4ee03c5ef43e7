"""
Sorted files of canonical N-Quads, seen as sets of lines.

Set operations run in coreutils (`comm`, `sort -m`), which read two million lines in half a second and hold two of
them in memory. A line's subject is what stands before its first space; lines of one subject stand together,
because a subject ends in `>` and no IRI holds one.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice, takewhile
from pathlib import Path
from typing import IO

from harvest.errors import StorageError
from harvest.model import Snapshot

_CHUNK = 1 << 20
_ENVIRONMENT = os.environ | {"LC_ALL": "C"}


def subject(line: bytes) -> bytes:
    """The subject term of a line, as written."""
    return line[: line.index(b" ")]


def object_(line: bytes) -> bytes:
    """The object term of a line, as written, without the graph that follows it."""
    value = line.split(b" ", 2)[2]
    return value[: value.rindex(b" <")]


@contextmanager
def merged(*command: str, stdin: IO[bytes] | None = None) -> Iterator[IO[bytes]]:
    """
    The output of a coreutils command over sorted files, as a stream; `stdin` is another one's.

    Raises:
        StorageError: The command failed: the disk is full or a file is gone.
    """
    process = subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=_ENVIRONMENT)
    assert process.stdout is not None and process.stderr is not None
    with process.stdout as output, process.stderr:
        try:
            yield output
            _check_end(process, command[0])
        finally:
            process.kill()
            process.wait()


def _check_end(process: subprocess.Popen[bytes], command: str) -> None:
    """
    Return unless the command failed after all of its output was read.

    Raises:
        StorageError: It did: what was read is not the whole.
    """
    assert process.stdout is not None and process.stderr is not None
    if process.stdout.read(1) == b"" and process.wait() != 0:
        said = process.stderr.read().decode("utf-8", "replace").strip()
        raise StorageError(f"{command} failed: {said or f'exit status {process.returncode}'}")


@contextmanager
def sorted_(source: Iterable[bytes], *options: str) -> Iterator[IO[bytes]]:
    """
    The lines of `source` in bytewise order, as a stream; sorted on disk where they do not fit in the buffer.

    Raises:
        StorageError: The disk is full, or the sorter was killed.
    """
    process = subprocess.Popen(
        ("sort", *options), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=_ENVIRONMENT
    )
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None
    with process.stdout as output, process.stderr as complaints:
        try:
            try:
                process.stdin.writelines(source)
                process.stdin.close()
            except BrokenPipeError as error:
                said = complaints.read().decode("utf-8", "replace").strip()
                raise StorageError(f"sorting failed, most likely for want of disk space: {said}") from error
            yield output
            _check_end(process, "sort")
        finally:
            process.kill()
            with suppress(OSError):
                process.stdin.close()
            process.wait()


def differing(old: Path, new: Path) -> Iterator[tuple[bool, bytes]]:
    """Each line that stands in one file only, in order: (True, line) for the new one's, (False, line) for the old's."""
    with merged("comm", "-3", "--nocheck-order", str(old), str(new)) as output:
        for line in output:
            # comm puts a tab before the second file's lines; a canonical line begins with "<".
            if line.startswith(b"\t"):
                yield True, line[1:]
            else:
                yield False, line


def union(target: Path, *sources: Path) -> Snapshot:
    """Write the lines of all sorted sources to `target`, sorted and unique."""
    with merged("sort", "-m", "-u", *map(str, sources)) as output:
        return write(target, iter(lambda: output.read(_CHUNK), b""))


def minus(target: Path, source: Path, gone: Path) -> Snapshot:
    """Write the lines of `source` that are not in `gone` to `target`."""
    with merged("comm", "-23", "--nocheck-order", str(source), str(gone)) as output:
        return write(target, iter(lambda: output.read(_CHUNK), b""))


def replaced(target: Path, source: Path, gone: Path, new: Path) -> Snapshot:
    """Write the lines of `source` that are not in `gone`, and those of `new`, to `target`, sorted and unique."""
    with (
        merged("comm", "-23", "--nocheck-order", str(source), str(gone)) as kept,
        merged("sort", "-m", "-u", "-", str(new), stdin=kept) as output,
    ):
        return write(target, iter(lambda: output.read(_CHUNK), b""))


def common(target: Path, one: Path, other: Path) -> Snapshot:
    """Write the lines that stand in both files to `target`."""
    with merged("comm", "-12", "--nocheck-order", str(one), str(other)) as output:
        return write(target, iter(lambda: output.read(_CHUNK), b""))


def write(target: Path, chunks: Iterable[bytes]) -> Snapshot:
    """Write chunks to `target`, durably; returns its lines and digest."""
    digest = hashlib.sha256()
    count = 0
    with target.open("wb") as out:
        for chunk in chunks:
            digest.update(chunk)
            count += chunk.count(b"\n")
            out.write(chunk)
        out.flush()
        os.fsync(out.fileno())
    return Snapshot(target, count, digest.hexdigest())


def count(path: Path) -> int:
    """How many lines a file has."""
    with path.open("rb") as stream:
        return sum(chunk.count(b"\n") for chunk in iter(lambda: stream.read(_CHUNK), b""))


def subjects(path: Path) -> Iterator[bytes]:
    """Each subject of a sorted file, once, in order."""
    last = b""
    with path.open("rb") as lines:
        for line in lines:
            if not (last and line.startswith(last)):
                last = subject(line) + b" "
                yield last[:-1]


class SortedFile:
    """
    The lines of a subject in a sorted file, found by binary search.

    A search costs about 25 reads of one line, whatever the size of the file, and no memory. Searches in ascending
    order start where the last one ended.
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb")
        self._size = path.stat().st_size
        self._low = 0
        self._last = b""
        self._held = False
        self._near = 0, b""

    def __enter__(self) -> SortedFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def holds(self, term: bytes) -> bool:
        """Whether any line has this subject."""
        if term == self._last:
            return self._held
        prefix = term + b" "
        low = self._low if prefix > self._last + b" " else 0
        self._low = self._first_at_least(prefix, low)
        self._last = term
        self._held = self._line_at(self._low).startswith(prefix)
        return self._held

    def has(self, line: bytes) -> bool:
        """Whether this line is there."""
        near, last = self._near
        near = self._first_at_least(line, near if line > last else 0)
        self._near = near, line
        return self._line_at(near) == line

    def size(self, term: bytes) -> int:
        """How many lines have this subject."""
        if not self.holds(term):
            return 0
        prefix = term + b" "
        self._file.seek(self._low)
        return sum(1 for _ in takewhile(lambda line: line.startswith(prefix), iter(self._file.readline, b"")))

    def of(self, term: bytes) -> list[bytes]:
        """The lines that have this subject, sorted."""
        if not self.holds(term):
            return []
        prefix = term + b" "
        self._file.seek(self._low)
        return list(takewhile(lambda line: line.startswith(prefix), iter(self._file.readline, b"")))

    def more_than(self, term: bytes, count: int) -> bool:
        """Whether more than `count` lines have this subject; no more than one further is read."""
        if not self.holds(term):
            return False
        prefix = term + b" "
        self._file.seek(self._low)
        found = takewhile(lambda line: line.startswith(prefix), islice(iter(self._file.readline, b""), count + 1))
        return sum(1 for _ in found) > count

    def _first_at_least(self, prefix: bytes, low: int) -> int:
        """Offset of the first line that is not less than `prefix`."""
        step = 1 << 12
        high = low
        while high < self._size and b"" < self._line_from(high)[1] < prefix:
            low = high
            high += step
            step *= 2
        high = min(high, self._size)
        while low < high:
            middle = (low + high) // 2
            start, line = self._line_from(middle)
            if start < self._size and line < prefix:
                low = start + len(line)
            else:
                high = middle
        return self._line_from(low)[0] if low else 0

    def _line_from(self, offset: int) -> tuple[int, bytes]:
        """The first line that begins at or after `offset`, and where; at the end an empty one."""
        if offset == 0:
            return 0, self._line_at(0)
        self._file.seek(offset - 1)
        self._file.readline()
        start = self._file.tell()
        return start, self._file.readline()

    def _line_at(self, offset: int) -> bytes:
        self._file.seek(offset)
        return self._file.readline()
