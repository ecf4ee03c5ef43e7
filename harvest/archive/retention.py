"""Which captures may go: those that no rule keeps and nothing needs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Keep:
    """
    What is kept of each URL; a capture that any rule keeps stays, and so does the newest one.

    Attributes:
        versions: So many different bytes, the newest; None sets no number.
        since: What was captured at this time (aware, UTC) or later; None sets no time.
    """

    versions: int | None = None
    since: datetime | None = None


def removable(captured: Iterable[tuple[str, str, datetime]], keep: Keep, needed: Collection[str]) -> list[str]:
    """
    The SHA-256 of what may go, the newest first.

    Args:
        captured: URL, SHA-256 and time of all captures, newest first.
        keep: The rules.
        needed: What must stay whatever they say.
    """
    different: defaultdict[str, set[str]] = defaultdict(set)
    kept = set(needed)
    found: dict[str, None] = {}
    for url, digest, at in captured:
        different[url].add(digest)
        newest = len(different[url]) <= max(keep.versions or 1, 1)
        if newest or (keep.since is not None and at >= keep.since):
            kept.add(digest)
        found[digest] = None
    return [digest for digest in found if digest not in kept]
