"""
Carrying out SPARQL updates: the graph that an update changes is filed and harvested as a whole dump of it would be.

So it has versions, changes, an export and a place in the provenance logs, and is made again from these like any other.
A graph that updates may write is a provider's, one that the registry has with `updates: true`. An update that
changes any other graph, or several, is refused.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from pyoxigraph import NamedNode, Triple

from harvest.archive.layout import HashName, digest_of
from harvest.archive.provenance import new_activity
from harvest.archive.syncing import sync_file
from harvest.errors import HarvestError, StoppedError, StorageError, WashCrash, WashTimeout
from harvest.ledger import RunFacts
from harvest.model import Announcement, Capture, Dataset, Download, Finding, Outcome, Provider
from harvest.pipeline.harvest.harvest import harvest
from harvest.pipeline.instance import Instance
from harvest.pipeline.trouble import is_stuck
from harvest.pipeline.update.evaluating import Effect, Evaluation, evaluated
from harvest.pipeline.update.permission import named, written_graph
from harvest.wash import process
from sparql.errors import (
    ForbiddenError,
    QueryCrash,
    QueryMemory,
    QueryTimeout,
    SparqlError,
    StoreError,
    UpdateNotTaken,
    UpdateUnanswered,
)
from sparql.protocol.update import Update
from sparql.rdf import PROV
from sparql.reports import RunReport
from sparql.store.address import address_in

TRIPLES: Final = "application/n-triples"
TEXT: Final = "application/sparql-update"


@dataclass(frozen=True, slots=True)
class Written:
    """
    The outcome of an update.

    Attributes:
        provider: Name of the provider whose graph it wrote to.
        graph: IRI of the graph.
        outcome: Committed; unchanged, where nothing in the graph is other than before; or held by the shrink guard.
        version: The version that the graph has now; 0 before the first.
        added: Triples.
        removed: Triples.
        triples: In the graph now.
        run: Ledger key of the run; None where there was no need for one.
    """

    provider: str
    graph: str
    outcome: Outcome
    version: int
    added: int
    removed: int
    triples: int
    run: int | None


def write(instance: Instance, names: Collection[str], update: Update) -> Written:
    """
    Carry out an update; nothing else may harvest the named providers meanwhile.

    Raises:
        SparqlError: It is refused, or went past its limits; nothing was changed.
        HarvestError: The disk is full, or the instance shuts down.
    """
    if stuck := [name for name in names if is_stuck(instance, name)]:
        raise StorageError(f"a version of {stuck[0]} is filed but not loaded yet; see the log, and try again later")
    # The registry may be another one by now: an update before this one may have taken its time.
    graphs = {graph: name for graph, name in named(instance, update).items() if name in names}
    began = instance.crawl.clock()
    with instance.room() as room:
        effect = _effect(instance, update, frozenset(graphs), room)
        graph = written_graph(instance, effect, graphs)
        provider = instance.roster.get(graphs[graph])
        assert provider is not None
        ledger = instance.ledger
        ledger.enrol(provider.name, graph)
        if effect.lines is None:
            return written_of(instance, provider, graph, None)
        digest, length = digest_of(effect.lines)
        capture = Capture(graph, graph, instance.crawl.clock(), 200, digest, length, TRIPLES)
        _file(instance, provider, update, effect.lines, (began, capture))
    dataset = Dataset(graph, (graph,), modified=capture.at)
    id = ledger.announcements.add(provider.name, dataset, capture.at)
    ledger.announcements.fetched(id, (capture,))
    harvest_now(instance, Announcement(provider.name, dataset, capture.at, id, (capture,)), provider)
    return written_of(instance, provider, graph, ledger.run_of(id))


def harvest_now(instance: Instance, announcement: Announcement, provider: Provider) -> None:
    """
    Harvest what an update made now, or never where its sender gets an error.

    Raises:
        UpdateUnanswered: It will be a version, but is none yet.
    """
    ledger = instance.ledger
    try:
        harvest(instance, announcement, provider)
    except StoppedError as error:
        raise UpdateUnanswered(
            "The instance shuts down; what the update made is filed, and becomes a version at the next start. Do not "
            "send it again."
        ) from error
    except Exception as error:  # whatever it was: an update whose sender got an error must not be harvested later
        if any(version.provider == provider.name for version in ledger.loading()):
            raise UpdateUnanswered(
                f"The new version is filed but could not be loaded ({error}); that is tried again every minute. Do not "
                "send the update again."
            ) from error
        ledger.announcements.settle(announcement.id, "failed")
        run = ledger.run_of(announcement.id)
        if run is not None and run.ended is None:
            finding = Finding("update", f"the update was given up: {error}", fatal=True)
            ledger.end_run(run.id, Outcome.FAILED, instance.clock(), RunFacts(findings=(*run.findings, finding)))
        raise


def written_of(instance: Instance, provider: Provider, graph: str, run: RunReport | None) -> Written:
    """What became of an update, by its run; HarvestError where it failed."""
    record = instance.ledger.provider(provider.name)
    assert record is not None
    outcome = Outcome.UNCHANGED if run is None or run.outcome is None else Outcome(run.outcome)
    if run is not None and outcome is Outcome.FAILED:
        raise HarvestError("; ".join(f.message for f in run.findings if f.fatal), url=graph)
    changed = run if outcome is Outcome.COMMITTED else None
    return Written(
        provider.name,
        graph,
        outcome,
        record.version,
        (changed.added if changed else 0) or 0,
        (changed.removed if changed else 0) or 0,
        record.triples,
        run.id if run else None,
    )


def _effect(instance: Instance, update: Update, graphs: frozenset[str], room: Path) -> Effect:
    """What an update does to a copy of what readers see."""
    limit = instance.settings.query.update_timeout_s
    bounds = process.Bounds(limit, update.base_iri, instance.stopping)
    began = time.monotonic()
    try:
        with _current(instance) as generation:
            evaluation = Evaluation(update, graphs, generation, room, instance.settings.wash.memory)
            effect = process.call(evaluated, bounds, evaluation)
    except StoppedError as error:
        raise UpdateNotTaken("The instance shuts down; nothing was changed.") from error
    except WashTimeout as error:
        if time.monotonic() - began >= limit:
            raise QueryTimeout(
                f"The update took longer than {limit:g} s (setting query.update_timeout_s) and was ended; nothing was "
                "changed."
            ) from error
        raise QueryMemory(f"The update needs more than {process.MEMORY >> 30} GiB of memory and was ended.") from error
    except WashCrash as error:
        raise QueryCrash(
            "The update ended its process, probably as it ran out of memory. Nothing was changed."
        ) from error
    if isinstance(effect, SparqlError):
        raise effect
    return effect


@contextmanager
def _current(instance: Instance) -> Iterator[Path]:
    """The folder of the current generation, which stays until the block ends."""
    lease = instance.generations.hold_current()
    if lease is None:
        raise StoreError("There is no generation of the store to work on; send the update again.")
    with lease:
        path = lease.generation.path
        if address_in(path) is not None:
            raise ForbiddenError(
                "An update is evaluated on a copy of the embedded store, and this instance's store is an engine; "
                "send the change as an N-Quads unified diff."
            )
        yield path


def _file(instance: Instance, provider: Provider, update: Update, made: Path, when: tuple[datetime, Capture]) -> None:
    """File the text and what it made in the archive, and record both for the next provenance log."""
    began, capture = when
    assert capture.digest is not None
    page = f"{instance.settings.base_url}/providers/{provider.name}#update"
    data = update.text.encode()
    text = Capture(page, page, began, 200, hashlib.sha256(data).hexdigest(), len(data), TEXT)
    assert text.digest is not None
    source = made.with_name("update.ru")
    source.write_bytes(data)
    asked, gave = new_activity(), new_activity()
    sync_file(made)
    with instance.content.guard:
        instance.content.file(source, text.digest)
        instance.content.file(made, capture.digest)
        instance.crawl.add(Download(asked, page, began, began, text, text.status))
        instance.crawl.add(Download(gave, capture.url, began, capture.at, capture, capture.status, None, asked))
    derived = Triple(
        NamedNode(HashName(capture.digest).uri),
        NamedNode(PROV + "wasDerivedFrom"),
        NamedNode(HashName(text.digest).uri),
    )
    instance.crawl.note(new_activity(), [derived])
