"""
Mirroring: under `removals: mirror` a graph is the union of the dumps of the datasets that the description names now.

A dataset has left when it was harvested and the description names it no more: its provider took it away, renamed it,
or serves the description at another address, where its relative IRIs mean other datasets. It leaves the graph with
the next mirrored harvest; if nothing else is due, a dataset that stays is harvested again from its filed dumps.
"""

from __future__ import annotations

from collections.abc import Sequence

from harvest.ledger import DatasetRecord, Ledger, ProviderRecord
from harvest.model import Announcement, Capture, Coverage, Dataset, Provider, Removals
from harvest.pipeline.instance import Instance


def is_mirrored(ledger: Ledger, provider: Provider, dataset: Dataset) -> bool:
    """Whether harvesting a dataset makes the graph the union: asked for or listed, and no part of it partial."""
    listed = dataset.listing is not None and dataset.listing.mirrored
    if (provider.removals is not Removals.MIRROR and not listed) or dataset.coverage is not Coverage.FULL:
        return False
    now = {each.iri: each for each in ledger.described.datasets(provider.name) if each.iri != dataset.iri}
    harvested = {each.iri: each for each in ledger.datasets(provider.name)}
    return all(
        each.coverage is Coverage.FULL and (iri not in harvested or harvested[iri].coverage is Coverage.FULL)
        for iri, each in now.items()
    )


def other_captures(ledger: Ledger, announcement: Announcement) -> list[tuple[str, Capture]]:
    """The dumps last harvested of the other datasets that the description names now, each with its dataset."""
    captures: list[tuple[str, Capture]] = []
    harvested = {each.iri: each for each in ledger.datasets(announcement.provider)}
    for other in ledger.described.datasets(announcement.provider):
        if other.iri != announcement.dataset.iri and other.iri in harvested:
            captures += ((other.iri, capture) for capture in _listed(other, harvested[other.iri].captures))
    return captures


def _listed(dataset: Dataset, captures: Sequence[Capture]) -> list[Capture]:
    """The captures whose dumps are listed still; all of them while one that is listed was not harvested yet."""
    known = {capture.url for capture in captures}
    return [capture for capture in captures if capture.url in dataset.dumps or not known.issuperset(dataset.dumps)]


def departed(ledger: Ledger, record: ProviderRecord) -> list[DatasetRecord]:
    """The datasets whose statements are in the graph and that the description names no more."""
    now = {dataset.iri for dataset in ledger.described.datasets(record.name)}
    # What updates wrote before the provider got a description was never in one.
    return [each for each in ledger.datasets(record.name) if now and each.iri not in now and each.iri != record.graph]


def announce_remaining(instance: Instance, provider: Provider) -> tuple[int, ...]:
    """Announce a dataset that stays, from its filed dumps, where another or a dump has left; nothing if more is due."""
    ledger, record = instance.ledger, instance.ledger.provider(provider.name)
    if provider.removals is not Removals.MIRROR or record is None:
        return ()
    harvested = {each.iri: each for each in ledger.datasets(provider.name)}
    has_departed = bool(departed(ledger, record))
    for dataset in ledger.described.datasets(provider.name):
        last = harvested.get(dataset.iri)
        listed = tuple(_listed(dataset, last.captures)) if last else ()
        if last is None or not (has_departed or listed != last.captures):
            continue
        if _is_taken_care_of(ledger, provider.name, listed):
            return ()
        if is_mirrored(ledger, provider, dataset) and not ledger.announcements.is_open(provider.name, dataset.iri):
            dumps = tuple(capture.url for capture in listed)
            again = Dataset(dataset.iri, dumps, last.coverage, last.modified, dataset.title)
            id = ledger.announcements.add(provider.name, again, instance.clock())
            ledger.announcements.fetched(id, listed)
            return (id,)
    return ()


def _is_taken_care_of(ledger: Ledger, name: str, captures: tuple[Capture, ...]) -> bool:
    """Whether something is announced that makes the graph anew, or that somebody has to decide about, or decided."""
    for standing in ledger.standings.of([name]).get(name, ()):
        if any(entry.state == "held" or not entry.failures for entry in standing.waiting):
            return True
    return ledger.announcements.is_skipped(name, captures)
