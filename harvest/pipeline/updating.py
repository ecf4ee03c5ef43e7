"""
Carrying out SPARQL updates: the graph that an update makes is filed and harvested as a whole dump of it would be.

So it has versions, changes, an export and a place in the provenance logs, and is made again from these like any other.
A graph that updates may write is a provider's, one that stands in the registry with `updates: true`.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from pyoxigraph import NamedNode, Triple

from harvest.archive.layout import Name, digest_of, sync_file
from harvest.archive.provenance import new_activity
from harvest.errors import HarvestError, StoppedError, WashCrash, WashTimeout
from harvest.ledger import Run
from harvest.model import Announcement, Capture, Dataset, Download, Finding, Outcome, Provider, Source
from harvest.pipeline.evaluating import evaluated
from harvest.pipeline.harvest import harvest
from harvest.pipeline.workshop import METADATA, Workshop
from harvest.registry import NAME
from harvest.wash import process
from sparql.errors import (
    ForbiddenError,
    QueryCrash,
    QueryMemory,
    QueryTimeout,
    SparqlError,
    StoreError,
    UnknownGraph,
    UpdateNotTaken,
    UpdateUnanswered,
)
from sparql.query.updating import Update, read_update
from sparql.rdf import PROV

TRIPLES: Final = "application/n-triples"
TEXT: Final = "application/sparql-update"


@dataclass(frozen=True, slots=True)
class Written:
    """
    What became of an update.

    Attributes:
        provider: Name of the provider whose graph it wrote to.
        graph: IRI of the graph.
        outcome: Committed, or unchanged: nothing in the graph is other than before.
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


def read(workshop: Workshop, text: str) -> Update:
    """
    The update that a request asks for.

    Raises:
        RequestError: It is no update request, or does not name one graph to write to.
        ForbiddenError: It has LOAD.
    """
    return read_update(text, f"{workshop.settings.base_url}/sparql")


def writer(workshop: Workshop, graph: str) -> Provider:
    """
    The provider whose graph it is, if updates may write it.

    Raises:
        ForbiddenError: They may not.
        UnknownGraph: There is no such graph.
    """
    base = workshop.settings.graph_base
    name = graph.removeprefix(base) if graph.startswith(base) else ""
    provider = workshop.roster.get(name)
    if provider is not None and provider.source is Source.UPDATES:
        if not provider.enabled:
            raise ForbiddenError(f"<{graph}> takes no updates now: {name} is disabled in the registry.")
        return provider
    if provider is not None:
        raise ForbiddenError(
            f"<{graph}> is made of what its provider publishes ({name} has `{provider.source}` in the registry), and "
            "takes no updates. Write to a graph of your own: an entry of the registry with `updates: true`."
        )
    if name == METADATA or name.startswith("seed-"):
        raise ForbiddenError(f"<{graph}> is written by the platform alone, and takes no updates.")
    if NAME.fullmatch(name):
        raise UnknownGraph(
            f"Nothing in the registry has the graph <{graph}>; an entry {name!r} with `updates: true` would let "
            "updates write it."
        )
    raise UnknownGraph(f"<{graph}> is no graph of a provider: those are {base} and a name that stands in the registry.")


def write(workshop: Workshop, provider: Provider, update: Update) -> Written:
    """
    Carry out an update; nothing else may harvest the provider meanwhile.

    Raises:
        SparqlError: It is refused, or went past its limits; nothing was changed.
        HarvestError: The disk is full, or the instance shuts down.
    """
    ledger = workshop.ledger
    ledger.enrol(provider.name, update.graph)
    began = workshop.crawl.clock()
    with workshop.room() as room:
        made = _made(workshop, update, room)
        digest, length = digest_of(made)
        if digest == _filed(workshop, provider, update):
            return _told(workshop, provider, update, None)
        capture = Capture(update.graph, update.graph, workshop.crawl.clock(), 200, digest, length, TRIPLES)
        _file(workshop, provider, update, made, (began, capture))
    dataset = Dataset(update.graph, (update.graph,), modified=capture.at)
    id = ledger.announcements.add(provider.name, dataset, capture.at)
    ledger.announcements.fetched(id, (capture,))
    _harvest(workshop, Announcement(provider.name, dataset, capture.at, id, (capture,)), provider)
    return _told(workshop, provider, update, ledger.run_of(id))


def _harvest(workshop: Workshop, announcement: Announcement, provider: Provider) -> None:
    """
    Harvest what an update made, or never: its sender is told that it failed.

    Raises:
        UpdateUnanswered: It will be a version, but is none yet.
    """
    ledger = workshop.ledger
    try:
        harvest(workshop, announcement, provider)
    except StoppedError as error:
        raise UpdateUnanswered(
            "The instance shuts down; what the update made is filed, and becomes a version at the next start. Do not "
            "send it again."
        ) from error
    except Exception as error:  # whatever it was: an update that is told to have failed must not be harvested later
        if any(version.provider == provider.name for version in ledger.loading()):
            raise UpdateUnanswered(
                f"The new version is filed but could not be loaded ({error}); that is tried again every minute. Do not "
                "send the update again."
            ) from error
        ledger.announcements.settle(announcement.id, "failed")
        run = ledger.run_of(announcement.id)
        if run is not None and run.ended is None:
            finding = Finding("update", f"the update was given up: {error}", fatal=True)
            ledger.end_run(run.id, Outcome.FAILED, workshop.clock(), findings=(*run.findings, finding))
        raise


def _filed(workshop: Workshop, provider: Provider, update: Update) -> str | None:
    """The digest of the lines that the graph has now, where an update made them or there are none."""
    versions = workshop.ledger.versions(provider.name)
    if not versions:
        return hashlib.sha256().hexdigest()
    last = workshop.ledger.dataset(provider.name, update.graph)
    # The provider may have had a description between two updates.
    return last.captures[0].digest if last is not None and versions[-1].dataset == update.graph else None


def _told(workshop: Workshop, provider: Provider, update: Update, run: Run | None) -> Written:
    record = workshop.ledger.provider(provider.name)
    assert record is not None
    outcome = Outcome.UNCHANGED if run is None or run.outcome is None else Outcome(run.outcome)
    if run is not None and outcome is Outcome.FAILED:
        raise HarvestError("; ".join(f.message for f in run.findings if f.fatal), url=update.graph)
    changed = run if outcome is Outcome.COMMITTED else None
    return Written(
        provider.name,
        update.graph,
        outcome,
        record.version,
        (changed.added if changed else 0) or 0,
        (changed.removed if changed else 0) or 0,
        record.triples,
        run.id if run else None,
    )


def _made(workshop: Workshop, update: Update, room: Path) -> Path:
    """The file with the graph as the update makes it."""
    limit = workshop.settings.query.update_timeout_s
    bounds = process.Bounds(limit, update.graph, workshop.stopping)
    began = time.monotonic()
    try:
        with _current(workshop) as generation:
            made = process.call(evaluated, bounds, update, generation, room, workshop.settings.wash.memory)
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
            "The update ended its process: out of memory, or nested too deep. Nothing was changed."
        ) from error
    if isinstance(made, SparqlError):
        raise made
    return made


@contextmanager
def _current(workshop: Workshop) -> Iterator[Path]:
    """The folder of the current generation, which stays until the block ends."""
    for _ in range(10):
        generation = workshop.generations.current()
        if generation is None:
            break
        try:
            lease = workshop.generations.hold(generation)
        except FileNotFoundError:  # a harvest published another one, and this was collected
            continue
        with lease:
            yield generation.path
        return
    raise StoreError("There is no generation of the store to work on; send the update again.")


def _file(workshop: Workshop, provider: Provider, update: Update, made: Path, when: tuple[datetime, Capture]) -> None:
    """File the text and what it made in the archive, and have the next log tell of both."""
    began, capture = when
    assert capture.digest is not None
    page = f"{workshop.settings.base_url}/providers/{provider.name}#update"
    data = update.text.encode()
    text = Capture(page, page, began, 200, hashlib.sha256(data).hexdigest(), len(data), TEXT)
    assert text.digest is not None
    source = made.with_name("update.ru")
    source.write_bytes(data)
    asked, gave = new_activity(), new_activity()
    sync_file(made)
    with workshop.content.guard:
        workshop.content.file(source, text.digest)
        workshop.content.file(made, capture.digest)
        workshop.crawl.add(Download(asked, page, began, began, text, text.status))
        workshop.crawl.add(Download(gave, update.graph, began, capture.at, capture, capture.status, None, asked))
    derived = Triple(
        NamedNode(Name(capture.digest).uri), NamedNode(PROV + "wasDerivedFrom"), NamedNode(Name(text.digest).uri)
    )
    workshop.crawl.note(new_activity(), [derived])
