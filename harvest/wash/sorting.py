"""
Lines sorted bytewise without repeats, made in bounded memory.

A few are sorted here. More are sorted by coreutils `sort`, four times faster than in Python: run by run, while the next
lines are still being made, and the runs are merged. One `sort` that takes all of them takes none while it sorts.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from subprocess import PIPE, Popen
from tempfile import mkdtemp
from typing import Final

from harvest.errors import StorageError

FEW: Final = 1 << 20
"""Bytes of lines up to which they are sorted here: starting `sort` takes 3 ms, as long as sorting so many."""

_CHUNK = 1 << 20
_PIPE = 1 << 20
"""Bytes that the pipes to and from `sort` hold, so that it and the parser run at the same time."""
RUN: Final = 2 << 20
"""Bytes of a run at least; else it has half of the memory."""
_MERGED = 128
"""Files that `sort` merges at once; it has that many open."""


class Sorting:
    """
    Lines on their way into order.

    Write lines in pieces that end anywhere, read `chunks`, close; closing early removes what is on disk.
    """

    def __init__(self, scratch: Path, memory: int, files: Sequence[Path] = ()) -> None:
        """
        Args:
            scratch: Folder for temporary files.
            memory: Bytes that sorting aims to stay under.
            files: Files of lines in order, which are among them.
        """
        self._scratch = scratch
        self._memory = memory
        self._most = max(memory // 2, RUN)  # one run is taken while the one before is sorted
        self._files = list(files)
        self._folder: Path | None = None
        self._few: list[bytes] = []
        self._size = 0
        self._taking: _Sort | None = None
        self._others: list[_Sort] = []

    def write(self, data: bytes) -> int:
        """
        Take the next lines; a run ends where a line does.

        Raises:
            StorageError: `sort` gave up.
        """
        self._size += len(data)
        if self._taking is None:
            self._few.append(data)
            if self._size > FEW:
                self._taking = self._begun()
                self._taking.write(b"".join(self._few))
                self._few.clear()
        else:
            self._taking.write(data)
        if self._size >= self._most and self._taking is not None and data.endswith(b"\n"):
            self._end_run()
        return len(data)

    def chunks(self) -> Iterator[bytes]:
        """
        The lines in order, in pieces that end anywhere.

        Raises:
            StorageError: `sort` gave up.
        """
        if self._taking is not None:
            self._end_run()
        few = b"".join(sorted(set(b"".join(self._few).splitlines(keepends=True))))
        if not self._files:
            yield few
            return
        if few:
            self._files.append(self._place())
            self._files[-1].write_bytes(few)
        self._finish_runs()
        yield from self._merged()

    def close(self) -> None:
        """End what still runs, and remove what is on disk."""
        for child in filter(None, (self._taking, *self._others)):
            child.end()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _place(self) -> Path:
        """Where the next run is written."""
        if self._folder is None:
            self._folder = Path(mkdtemp(prefix="sort-", dir=self._scratch))
        return self._folder / str(len(self._files))

    def _begun(self) -> _Sort:
        """The next run, which takes lines."""
        place = self._place()
        self._files.append(place)
        return _Sort(self._scratch, self._memory, "--parallel=2", f"--output={place}")

    def _end_run(self) -> None:
        """Have the run sorted that took lines, once the one before is."""
        assert self._taking is not None
        self._finish_runs()
        self._taking.all_sent()
        self._others.append(self._taking)
        self._taking, self._size = None, 0

    def _finish_runs(self) -> None:
        while self._others:
            self._others[-1].finish()
            self._others.pop()

    def _merged(self) -> Iterator[bytes]:
        """All files as one."""
        merging = ("--merge", f"--batch-size={_MERGED}", *map(str, self._files))
        merger = _Sort(self._scratch, self._memory, *merging)
        self._others.append(merger)
        merger.all_sent()
        yield from merger.chunks()


class _Sort:
    """A `sort` that drops repeated lines."""

    def __init__(self, scratch: Path, memory: int, *arguments: str) -> None:
        options = ("--unique", f"--buffer-size={max(memory, 1 << 20)}b", f"--temporary-directory={scratch}")
        self._process = Popen(
            ["sort", *options, *arguments],
            bufsize=_PIPE,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env=os.environ | {"LC_ALL": "C"},
            pipesize=_PIPE,
        )
        assert self._process.stdin and self._process.stdout and self._process.stderr
        self._pipes = self._process.stdin, self._process.stdout, self._process.stderr

    def write(self, data: bytes) -> None:
        """
        Send lines.

        Raises:
            StorageError: It gave up.
        """
        try:
            self._pipes[0].write(data)
        except BrokenPipeError as error:
            raise self._failure() from error

    def all_sent(self) -> None:
        """
        No more lines come.

        Raises:
            StorageError: It gave up.
        """
        try:
            self._pipes[0].close()
        except BrokenPipeError as error:
            raise self._failure() from error

    def chunks(self) -> Iterator[bytes]:
        """
        What it writes, to its end.

        Raises:
            StorageError: It gave up.
        """
        while chunk := self._pipes[1].read(_CHUNK):
            yield chunk
        self.finish()

    def finish(self) -> None:
        """
        Wait for its end.

        Raises:
            StorageError: It gave up.
        """
        if self._process.wait() != 0:
            raise self._failure()
        self.end()

    def end(self) -> None:
        """End it, which removes its temporary files, and close what led to it."""
        self._process.terminate()
        for pipe in self._pipes:
            with suppress(OSError):
                pipe.close()
        self._process.wait()

    def _failure(self) -> StorageError:
        self._process.kill()
        said = self._pipes[2].read().decode("utf-8", "replace").strip()
        reason = said or f"exit status {self._process.wait()}"
        return StorageError(f"sorting failed, most likely for want of disk space: {reason}")
