"""The operations of a process on its disk, each of which can be the last one, or fail."""

from __future__ import annotations

import errno
import os
import signal
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

from sparql.store import embedded
from sparql.store.embedded import EmbeddedStore

FATES: Final = ("before", "after", "fails")
"""What becomes of an operation: the process is killed before it, or after it, or it fails."""

SWITCHING: Final = ("commit", "replace", "rename", "link", "symlink", "store:")
"""Operations that make something another thing at once; after the others the disk is as it is before the next one."""

REMOVING: Final = ("unlink", "rmdir")
"""Operations that succeed on a full disk."""


class Disk:
    """
    The operations of this process on its disk, counted; one of them meets its fate.

    Attributes:
        seen: What they were, in order.
    """

    def __init__(self, at: int = 0, fate: str = "before") -> None:
        self.seen: list[str] = []
        self._at = at
        self._fate = fate
        self._guard = threading.Lock()

    def meet(self, what: str, fault: Exception) -> bool:
        """Count an operation that is about to be done; whether the process is to end after it."""
        with self._guard:
            self.seen.append(what)
            if len(self.seen) != self._at:
                return False
        if self._fate == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        if self._fate != "fails":
            return True
        if not what.startswith(REMOVING):
            raise fault
        return False

    def rest(self) -> None:
        """Let nothing happen any more."""
        self._at = 0

    def watch(self) -> None:
        """Count from now on what this process does; for good."""
        for name in ("replace", "rename", "link", "symlink", "mkdir", "unlink", "rmdir"):
            setattr(os, name, partial(self._done, name, getattr(os, name)))
        os.fsync = partial(self._done, "fsync", lambda descriptor: None)  # no power is cut here
        sqlite3.connect = partial(sqlite3.connect, factory=self._connections())
        embedded.BATCH = 5
        embedded.on_batch = partial(self._done, "batch", lambda: None)
        EmbeddedStore._write = self._writing(EmbeddedStore._write)

    def _done(self, what: str, operation: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        place = Path(os.fsdecode(args[0])).name if args and isinstance(args[0], str | Path) else ""
        ends = self.meet(f"{what} {place}".strip(), OSError(errno.ENOSPC, "No space left on device"))
        found = operation(*args, **kwargs)
        if ends:
            os.kill(os.getpid(), signal.SIGKILL)
        return found

    def _connections(self) -> type[sqlite3.Connection]:
        disk = self

        class Counted(sqlite3.Connection):
            def execute(self, sql: str, *parameters: Any) -> sqlite3.Cursor:
                if sql.startswith("PRAGMA synchronous"):
                    return super().execute("PRAGMA synchronous = OFF")
                if sql != "COMMIT":
                    return super().execute(sql, *parameters)
                ends = disk.meet("commit", sqlite3.OperationalError("database or disk is full"))
                found = super().execute(sql)
                if ends:
                    os.kill(os.getpid(), signal.SIGKILL)
                return found

        return Counted

    def _writing(self, real: Callable[..., Any]) -> Callable[..., Any]:
        @contextmanager
        def write(store: EmbeddedStore, what: str) -> Iterator[Any]:
            with real(store, what) as opened:
                ends = self.meet(f"store: {what}", OSError(errno.ENOSPC, "No space left on device"))
                yield opened
            if ends:
                os.kill(os.getpid(), signal.SIGKILL)

        return write
