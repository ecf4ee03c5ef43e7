"""
Whether the ledger can be written, for those who only read it.

    ledger.sqlite.unwritten     there from a write for which there was no room until the next one that succeeds

Where the ledger has no room, nothing can be filed about that in the ledger. A file without contents needs a name and no
block, which a full disk still has; where not even that can be made, the free space is what shows it.
"""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

LEAST: Final = 64 << 10
"""Bytes that a write of the ledger may take: a few pages of its WAL."""


def is_lack_of_room(error: Exception) -> bool:
    """Whether SQLite says that the disk took no more, and not that the file is in use or damaged."""
    return any(said in str(error) for said in ("disk is full", "disk I/O error"))


def failed(path: Path) -> None:
    """Have readers see that the ledger was not written; the first time counts."""
    with suppress(OSError):
        _marker(path).touch(exist_ok=False)


def succeeded(path: Path) -> None:
    """Have readers see that the ledger was written."""
    if _marker(path).exists():
        with suppress(OSError):
            _marker(path).unlink()


def is_at_rest(path: Path) -> bool:
    """Whether all of the ledger is in its file: nobody writes it, and no process that was killed has left a WAL."""
    wal = path.with_name(f"{path.name}-wal")
    return not wal.exists() or not wal.stat().st_size


def problem(path: Path, *, apart: bool = False) -> str | None:
    """
    Why the ledger cannot be written, for people, or None as far as is known.

    To a process `apart` its disk may be read-only on purpose, while another process writes it.
    """
    marker = _marker(path)
    with suppress(OSError):
        since = datetime.fromtimestamp(marker.stat().st_mtime, UTC)
        return (
            f"the ledger {path} could not be written since {since:%Y-%m-%d %H:%M} UTC, so nothing since is "
            "filed: make room on its disk; the next harvest that can be filed ends this"
        )
    with suppress(OSError):
        found = os.statvfs(path.parent)
        if found.f_flag & os.ST_RDONLY and not apart:
            return f"the ledger {path} cannot be written: its disk is read-only"
        if found.f_blocks and found.f_bavail * found.f_frsize < LEAST:
            return f"the ledger {path} cannot be written: its disk is full; make room"
    return None


def _marker(path: Path) -> Path:
    return path.with_name(f"{path.name}.unwritten")
