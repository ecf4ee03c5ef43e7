"""
Example queries: files `*.rq` in a folder, each with its title in the first comment line and a description in the next.
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

LARGEST: Final = 1 << 16
"""Bytes of a file; what is larger is no example that somebody would read."""
_COMMENT: Final = re.compile(r"#+[ \t]*(.*)")

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Example:
    """
    A query to begin with.

    Attributes:
        name: Of its file, without `.rq`.
        title: What it says.
        description: In a sentence or two; may be empty.
        query: Without title and description.
    """

    name: str
    title: str
    description: str
    query: str


def read_examples(folder: Path | None) -> list[Example]:
    """The examples of a folder by file name; what is wrong with one is logged, once for each state of it."""
    if folder is None:
        return []
    try:
        paths = sorted(path for path in folder.glob("*.rq") if not path.name.startswith("."))
    except OSError as error:
        log.warning("The example queries in %s cannot be listed: %s", folder, error.strerror)
        return []
    found = (_as_it_is(path) for path in paths)
    return [example for example in found if example is not None]


def parse_example(name: str, text: str) -> Example:
    """
    The example that a file says.

    Raises:
        ValueError: It has no title or no query.
    """
    lines = text.splitlines()
    comments: list[str] = []
    for line in lines:
        match = _COMMENT.fullmatch(line.strip())
        if match is None:
            break
        comments.append(match[1].strip())
    if not comments or not comments[0]:
        raise ValueError("its first line is no comment with a title; begin it with `# Title`")
    query = "\n".join(lines[len(comments) :]).strip()
    if not query:
        raise ValueError("there is no query after its comments")
    return Example(name, comments[0], " ".join(" ".join(comments[1:]).split()), f"{query}\n")


def _as_it_is(path: Path) -> Example | None:
    try:
        state = path.stat()
    except OSError as error:
        log.warning("The example query %s cannot be read: %s", path, error.strerror)
        return None
    return _read(path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=256)
def _read(path: Path, changed: int, size: int) -> Example | None:
    """What a file said when it was changed last, or None; read and complained of once."""
    try:
        if size > LARGEST:
            raise ValueError(f"it has {size} bytes; an example may have {LARGEST}")
        return parse_example(path.stem, path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        reason = str(error.strerror)
    except ValueError as error:  # Not UTF-8, too.
        reason = str(error)
    log.warning("The example query %s is left out: %s", path, reason)
    return None
