"""
Statistics of a version: counted while it is committed, or when it is exported where they were not.

What changed little is updated from its delta. What is counted as a whole, such as a first import, is counted in
a process of its own while the store is loaded. What a crash left uncounted is counted when the version is finished.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from harvest.errors import HarvestError
from harvest.ledger import ProviderRecord, VersionRecord
from harvest.model import Statistics
from harvest.pipeline.harvest.load import Loadable
from harvest.pipeline.instance import Instance
from harvest.revise import statistics
from harvest.wash import process

BESIDE: Final = 50_000
"""Lines from which counting them (25 ms) takes longer than starting a process."""

SHARE: Final = 64
"""
Where all lines are at hand, a delta of more than this part of them is not looked at: a subject that has to be looked up
costs 20 to 40 us, a line that is read 0.4.
"""


def counting(instance: Instance, version: VersionRecord, loadable: Loadable) -> Callable[[], Statistics | None]:
    """
    What counts a version that is loaded now; to be called in any thread, once.

    It returns None where the whole graph would have to be read, though only a part of it changed: that is done when
    it is exported.
    """
    delta, after = loadable.delta, loadable.after
    size = delta.added_triples + delta.removed_triples
    before = statistics.EMPTY if version.n == 1 else instance.ledger.figures.get(version.provider, version.n - 1)
    if before is not None and before.triples + delta.added_triples - delta.removed_triples != version.triples:
        before = None
    # Only where the version has a snapshot, the lines afterwards are all of them.
    is_whole = instance.files(version.provider).snapshot_file(version.n).exists()
    if is_whole and (before is None or size > version.triples // SHARE):
        return partial(_counted, instance, after, version.triples)
    if before is None:
        return lambda: None
    if size < BESIDE:
        return partial(statistics.changed, before, delta, after)
    return partial(_apart, instance, after, partial(statistics.changed, before, delta))


def figures(instance: Instance, record: ProviderRecord, snapshot: Callable[[], Path]) -> Statistics:
    """The statistics of a provider's version, counted from its snapshot where they were not yet."""
    known = instance.ledger.figures.get(record.name, record.version)
    if known is None:
        known = statistics.whole(snapshot())
        instance.ledger.figures.put(record.name, record.version, known)
    return known


def _counted(instance: Instance, path: Path, triples: int) -> Statistics | None:
    return statistics.whole(path) if triples < BESIDE else _apart(instance, path, statistics.whole)


def _apart(instance: Instance, path: Path, count: Callable[[Path], Statistics]) -> Statistics | None:
    """What `count` says of a file, in a process of its own; None when that failed: no harvest fails for its figures."""
    try:
        return process.call(count, process.Bounds(instance.settings.wash.timeout_s, str(path)), path)
    except HarvestError:
        return None
