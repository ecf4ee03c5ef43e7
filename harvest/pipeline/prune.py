"""Pruning: raw bytes that nothing needs are removed, once a log says so."""

from __future__ import annotations

from dataclasses import dataclass

from pyoxigraph import Literal, NamedNode, Triple

from harvest.archive.layout import Name
from harvest.archive.provenance import INVALIDATED, new_activity
from harvest.archive.retention import Keep, removable
from harvest.pipeline.workshop import Workshop
from sparql.rdf import HASH_URI, XSD

__all__ = ["Keep", "Pruned", "prune"]


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


def prune(workshop: Workshop, keep: Keep, *, dry_run: bool = False) -> list[Pruned]:
    """
    Remove the captures that `keep` does not keep and nothing needs; `dry_run` only tells them.

    A log tells of the removal before the first of them goes, so that a crash in between is no loss that `verify` finds.

    Raises:
        StorageError: The log cannot be written, or bytes cannot be removed.
    """
    with workshop.content.guard:
        there = [digest for digest in _removable(workshop, keep) if workshop.content.holds(digest)]
        found = [Pruned(Name(digest).uri, workshop.content.path(digest).stat().st_size) for digest in there]
        if found and not dry_run:
            _tell(workshop, there)
            for digest in there:
                workshop.content.remove(digest)
        return found


def _removable(workshop: Workshop, keep: Keep) -> list[str]:
    downloads = workshop.ledger.downloads
    registered = {match[1] for p in workshop.roster.all().values() if (match := HASH_URI.fullmatch(p.url))}
    return removable(downloads.captured(), keep, downloads.needed() | registered)


def _tell(workshop: Workshop, digests: list[str]) -> None:
    at = workshop.clock().isoformat(timespec="milliseconds").replace("+00:00", "Z")
    time = Literal(at, datatype=NamedNode(XSD + "dateTime"))
    facts = [Triple(NamedNode(Name(digest).uri), NamedNode(INVALIDATED), time) for digest in digests]
    workshop.crawl.note(new_activity(), facts)
    workshop.crawl.seal()
