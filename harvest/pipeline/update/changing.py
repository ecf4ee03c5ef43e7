"""
Applying a change that was sent for a graph: an N-Quads unified diff, filed and harvested as one that is downloaded.

It is of one state of the graph. Where the graph has not what it removes, or has already what it adds, it is of another
one, and nothing of it is applied. The shrink guard may hold it, like any dump.
"""

from __future__ import annotations

import hashlib

from harvest.archive.provenance import new_activity
from harvest.archive.syncing import sync_file
from harvest.errors import HarvestError, MisfitError, StorageError, WashError
from harvest.model import Announcement, Capture, Coverage, Dataset, Download, Provider
from harvest.pipeline.instance import Instance
from harvest.pipeline.trouble import is_stuck
from harvest.pipeline.update.permission import writable
from harvest.pipeline.update.updating import Written, harvest_now, written_of
from sparql.errors import Conflict, UnreadableChange
from sparql.rdf import NQUD
from sparql.reports import RunReport

_CONFLICT = MisfitError("").kind
_UNREADABLE = WashError("").kind


def change(instance: Instance, graph: str, data: bytes) -> Written:
    """
    Apply an N-Quads unified diff, gzip or not, to a graph; nothing else may harvest its provider meanwhile.

    Raises:
        SparqlError: It is refused, cannot be read, or does not fit; nothing was changed.
        HarvestError: The disk is full, washing went past its limits, or the instance shuts down.
    """
    provider = writable(instance, graph)  # the registry may be another one by now
    ledger, name = instance.ledger, provider.name
    if is_stuck(instance, name):
        raise StorageError(f"a version of {name} is filed but not loaded yet; see the log, and try again later")
    ledger.enrol(name, graph)
    if waiting := ledger.announcements.open(name):
        raise Conflict(
            f"Change {waiting[0].announcement} of {name} waits for approval, and this one would come before it: "
            f"`harvest approve {name}` or `harvest skip {name}` first. Nothing was changed."
        )
    capture = _filed(instance, name, data)
    dataset = Dataset(graph, (capture.url,), Coverage.PARTIAL, capture.at)
    id = ledger.announcements.add(name, dataset, capture.at)
    ledger.announcements.fetched(id, (capture,))
    harvest_now(instance, Announcement(name, dataset, capture.at, id, (capture,)), provider)
    return _outcome(instance, provider, graph, ledger.run_of(id))


def _filed(instance: Instance, name: str, data: bytes) -> Capture:
    """The bytes in the archive, and recorded for the next provenance log."""
    now, url = instance.crawl.clock(), f"{instance.settings.base_url}/providers/{name}#change"
    digest = hashlib.sha256(data).hexdigest()
    capture = Capture(url, url, now, 200, digest, len(data), NQUD)
    with instance.room() as room:
        place = room / "change.nqud"
        place.write_bytes(data)
        sync_file(place)
        with instance.content.guard:
            instance.content.file(place, digest)
            instance.crawl.add(Download(new_activity(), url, now, now, capture, capture.status))
    return capture


def _outcome(instance: Instance, provider: Provider, graph: str, run: RunReport | None) -> Written:
    """What became of a change."""
    try:
        return written_of(instance, provider, graph, run)
    except HarvestError as error:
        kinds = {finding.kind for finding in run.findings if finding.fatal} if run else set()
        if _CONFLICT in kinds:
            raise Conflict(f"The change does not fit the graph: {error.message}. Nothing was changed.") from error
        if _UNREADABLE in kinds:
            raise UnreadableChange(f"{error.message}. Nothing was changed.") from error
        raise
