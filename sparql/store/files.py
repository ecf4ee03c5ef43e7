"""Folders and links that a power cut does not undo, and locks that end with their process."""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path


def sync(path: Path) -> None:
    """Make a file's content, or a folder's names, durable."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_tree(folder: Path) -> None:
    """Make a folder and the files in it durable; folders inside it are not followed."""
    for path in folder.iterdir():
        if path.is_file():
            sync(path)
    sync(folder)


def point(link: Path, target: str) -> None:
    """Make `link` a symbolic link to `target`, which is relative to its folder; it never is absent in between."""
    temporary = link.with_name(f"{link.name}.tmp")
    temporary.unlink(missing_ok=True)
    temporary.symlink_to(target)
    temporary.replace(link)
    sync(link.parent)


def target(link: Path) -> str | None:
    """What a symbolic link points to, or None when there is no such link."""
    with suppress(FileNotFoundError):
        return os.readlink(link)
    return None


def locked(descriptor: int, kind: int) -> bool:
    """
    Take a lock at once (fcntl.LOCK_EX or LOCK_SH), or say False when another process has one.

    The kernel ends it when the last descriptor of the open file is closed, whatever ended the process.

    Source: flock(2).
    """
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
