"""
Whether the ledger's file is what it was when the instance was last stopped.

    ledger.sqlite.sha256     its digest, from a clean stop until somebody opens the ledger for writing

SQLite keeps no checksums: a flipped byte inside a value is read as another value. What was not stopped cleanly has no
digest; its pages are checked by SQLite, its rows by their sums (`row_sums.py`), and its log by what follows in it
(`wal.py`).
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from pathlib import Path
from typing import Final

from harvest.errors import LedgerDamage
from harvest.ledger import wal

MEND: Final = "`harvest rebuild` makes it again from logs, snapshots and change files"


def check(path: Path, providers: Path) -> None:
    """
    Return unless the ledger is known to be damaged, or is gone and there are files below `providers`.

    Raises:
        LedgerDamage: It is.
    """
    if not path.exists() or not path.stat().st_size:
        if providers.is_dir() and any(providers.iterdir()):
            what = "empty" if path.exists() else "gone"
            raise LedgerDamage(f"the ledger {path} is {what}; {MEND}", url=str(path))
    elif _listed(path).exists() and _listed(path).read_text().strip() != _digest(path):
        raise LedgerDamage(
            f"the ledger {path} is damaged: its bytes are not those of the last stop; {MEND}", url=str(path)
        )
    elif lost := wal.lost_commits(path):
        raise LedgerDamage(
            f"the ledger {path} is damaged: {path}-wal is, and so {lost} or more of its commits are lost; {MEND}",
            url=str(path),
        )


def is_damage(error: Exception) -> bool:
    """Whether SQLite says that the file is damaged, and not that it is in use or may not be written."""
    return any(said in str(error) for said in ("malformed", "not a database", "corrupt", "decode"))


def is_trouble(error: Exception) -> bool:
    """Whether what SQLite says may be of the moment, and not of what stands in the file."""
    return any(said in str(error) for said in ("locked", "disk", "unable to open", "memory"))


def open_for_writing(path: Path) -> None:
    """Have nobody hold the ledger against an older digest, and note since when it is open."""
    wal.mark(path)
    if _listed(path).exists():
        _listed(path).unlink()
        _sync(path.parent)


def closed(path: Path) -> None:
    """File the digest of a ledger that is closed, unless somebody else has it open, or its folder is gone."""
    if not path.parent.is_dir():
        return
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        [busy, _, _] = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except sqlite3.DatabaseError:
        return
    finally:
        connection.close()
    if not busy:
        _listed(path).write_text(_digest(path) + "\n")


def set_aside(path: Path) -> Path:
    """Move a damaged ledger, where there is one, out of the way; returns where it is."""
    aside = path.with_name(f"{path.name}.damaged")
    for ending in ("-wal", "-shm", ""):
        old, new = Path(f"{path}{ending}"), Path(f"{aside}{ending}")
        new.unlink(missing_ok=True)
        if old.exists():
            old.rename(new)
    _listed(path).unlink(missing_ok=True)
    _sync(path.parent)
    return aside


def _listed(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
