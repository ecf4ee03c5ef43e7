"""
Whether commits were lost from the write-ahead log of a ledger that nobody closed.

    ledger.sqlite.boot     the start of the machine at which the ledger was opened for writing last

After a crash SQLite takes the log as far as its checksums hold, and drops the rest without a word: a flipped byte takes
away all commits behind it. While the machine goes on, what a process wrote is there; so a commit behind the end that
SQLite sees was damaged. After a power cut it may never have been written as a whole, which is no damage.

Source: SQLite, "WAL-mode File Format", sections 1.1, 1.2 and 2.1.
"""

from __future__ import annotations

import sqlite3
import struct
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

_HEADER: Final = struct.Struct(">8I")
_FRAME: Final = struct.Struct(">6I")
_LAST_FRAME: Final = struct.Struct("=I")
_LAST_FRAME_AT: Final = 16
_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")


def mark(path: Path) -> None:
    """Note at which start of the machine a ledger is opened; where that cannot be written, opening it says why."""
    with suppress(OSError):
        _marked(path).write_text(_boot())


def lost_commits(path: Path) -> int:
    """How many commits stand in a ledger's log behind what SQLite takes; 0 where that may be of a power cut."""
    log = Path(f"{path}-wal")
    try:
        if not _boot() or _marked(path).read_text() != _boot() or log.stat().st_size <= _HEADER.size:
            return 0
        taken = _taken(path)
        with log.open("rb") as stream:
            head = stream.read(_HEADER.size)
            _, _, page, _, *salts, _, _ = _HEADER.unpack(head)
            if head[24:] != _checksum(head):
                return 1
            size = _FRAME.size + page
            stream.seek(_HEADER.size + taken * size)
            found = 0
            while len(frame := stream.read(_FRAME.size)) == _FRAME.size:
                _, commit, *salt, _, _ = _FRAME.unpack(frame)
                found += bool(commit) and salt == salts
                stream.seek(page, 1)
            return found
    except (OSError, sqlite3.DatabaseError, struct.error):
        return 0  # opening it says what is wrong


def _taken(path: Path) -> int:
    """The frames that SQLite takes, which it says in the index of the log while somebody has the file open."""
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        connection.execute("SELECT 1 FROM sqlite_schema").fetchone()
        with Path(f"{path}-shm").open("rb") as index:
            index.seek(_LAST_FRAME_AT)
            [last] = _LAST_FRAME.unpack(index.read(_LAST_FRAME.size))
            return int(last)


def _checksum(head: bytes) -> bytes:
    """Of the header of a log. Source: section 4.2, "Checksum Algorithm"; the first word says in which byte order."""
    order = ">" if head[3] & 1 else "<"
    first = second = 0
    words = struct.unpack(f"{order}6I", head[:24])
    for one, other in zip(words[::2], words[1::2], strict=True):
        first = (first + one + second) & 0xFFFFFFFF
        second = (second + other + first) & 0xFFFFFFFF
    return struct.pack(">2I", first, second)


def _boot() -> str:
    try:
        return _BOOT_ID.read_text().strip()
    except OSError:
        return ""


def _marked(path: Path) -> Path:
    return path.with_name(f"{path.name}.boot")
