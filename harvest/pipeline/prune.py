"""Pruning: captures that no rule keeps and nothing needs are removed, once a log says so."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime

from pyoxigraph import Literal, NamedNode, Triple

from harvest.archive.layout import HashName
from harvest.archive.provenance import INVALIDATED, new_activity
from harvest.pipeline.instance import Instance
from sparql.rdf import HASH_URI, XSD


@dataclass(frozen=True, slots=True)
class PruneRule:
    """
    What is kept of each URL; a capture that any rule keeps stays, and so does the newest one.

    Attributes:
        versions: So many different bytes, the newest; None sets no number.
        since: What was captured at this time (aware, UTC) or later; None sets no time.
    """

    versions: int | None = None
    since: datetime | None = None


def removable(captured: Iterable[tuple[str, str, datetime]], keep: PruneRule, needed: Collection[str]) -> list[str]:
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


__all__ = ["PruneRule", "Pruned", "prune"]


@dataclass(frozen=True, slots=True)
class Pruned:
    """
    Bytes that were removed, or would be.

    Attributes:
        uri: Their hash URI.
        bytes: How many.
    """

    uri: str
    bytes: int


def prune(instance: Instance, keep: PruneRule, *, dry_run: bool = False) -> list[Pruned]:
    """
    Remove the captures that `keep` does not keep and nothing needs; `dry_run` only returns them.

    A log states the removal before the first of them goes, so that a crash in between is no loss that `verify` finds.

    Raises:
        StorageError: The log cannot be written, or bytes cannot be removed.
    """
    with instance.content.guard:
        there = [digest for digest in _removable(instance, keep) if instance.content.holds(digest)]
        found = [Pruned(HashName(digest).uri, instance.content.path(digest).stat().st_size) for digest in there]
        if found and not dry_run:
            _log_removal(instance, there)
            for digest in there:
                instance.content.remove(digest)
        return found


def _removable(instance: Instance, keep: PruneRule) -> list[str]:
    downloads = instance.ledger.downloads
    registered = {match[1] for p in instance.roster.all().values() if (match := HASH_URI.fullmatch(p.url))}
    return removable(downloads.captured(), keep, downloads.needed() | registered)


def _log_removal(instance: Instance, digests: list[str]) -> None:
    at = instance.clock().isoformat(timespec="milliseconds").replace("+00:00", "Z")
    time = Literal(at, datatype=NamedNode(XSD + "dateTime"))
    facts = [Triple(NamedNode(HashName(digest).uri), NamedNode(INVALIDATED), time) for digest in digests]
    instance.crawl.note(new_activity(), facts)
    instance.crawl.seal()
