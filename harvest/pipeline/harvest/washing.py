"""Washing by the instance's workers, with what it needs from outside: contexts, limits, and a callback for progress."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

from harvest.config.settings import WashSettings
from harvest.errors import WashCrash, WashTimeout
from harvest.model import Document, Part
from harvest.pipeline.harvest.contexts import with_contexts
from harvest.pipeline.instance import Instance
from harvest.pipeline.workers import side_by_side
from harvest.pipeline.workers.task import Task
from harvest.wash import process, tasks
from harvest.wash.canonical import Washed
from harvest.wash.leaves import Progress, Terms
from harvest.wash.unpacking.volume import Volume

CRASHES: Final = 5
"""Entries of one archive that may end their process before the archive is given up."""


def _nothing(progress: Progress) -> None:
    """Nobody listens."""


def union(
    instance: Instance,
    documents: Sequence[Document],
    graph: str,
    room: Path,
    on_report: Callable[[Progress], None] = _nothing,
) -> tuple[Washed, list[Document]]:
    """
    The union of the documents as one snapshot in `room`, with what became of each; and the documents with the JSON-LD
    contexts that they asked for.

    Raises:
        WashError: The process died, or went past its limits.
        StoppedError: The instance is shutting down.
    """
    settings = instance.settings.wash
    bounds = process.Bounds(settings.timeout_s, documents[0].url, instance.stopping, on_report)

    def washed(contexts: Mapping[str, Path | None]) -> tuple[Washed, list[Document]]:
        given = [replace(document, contexts=dict(contexts)) for document in documents]
        task = Task(partial(tasks.union, graph=graph), tuple(given), terms(settings, room))
        return side_by_side.union(instance.workers, task, graph, bounds, room), given

    # Those of a version that is made again stand in the log: the ones that were used then, not those of today.
    known = {url: path for document in documents for url, path in document.contexts.items()}
    return with_contexts(instance, washed, known)


def separately(
    instance: Instance,
    document: Document,
    graph: Callable[[tuple[str, ...]], str],
    room: Path,
    on_report: Callable[[Progress], None] = _nothing,
) -> tuple[Part, ...]:
    """
    What became of a document and of all that is in it; each part that holds RDF has its `clean` snapshot in `room`.

    A part of an archive that ends the washing process is skipped, and the others are washed again without it.

    Args:
        instance: The tools.
        document: The document.
        graph: The graph IRI of a part, by the names of the archive entries that lead to it; can be pickled.
        room: A temporary folder; the snapshots are in it.
        on_report: Called with how far it is, in this thread.

    Raises:
        WashError: The process died at the document itself, or more than `CRASHES` times, or ran out of time.
        StoppedError: The instance is shutting down.
    """
    return _Separate(instance, document, graph, room, on_report).washed()


@dataclass(slots=True)
class _Separate:
    """A document that is washed part by part."""

    instance: Instance
    document: Document
    graph: Callable[[tuple[str, ...]], str]
    room: Path
    on_report: Callable[[Progress], None]
    skipped: frozenset[tuple[str, ...]] = frozenset()
    at: tuple[str, ...] = ()

    def washed(self) -> tuple[Part, ...]:
        """The parts, without those that ended their process."""
        began = time.monotonic()
        while True:
            try:
                return with_contexts(self.instance, self._once)
            except (WashCrash, WashTimeout):
                late = time.monotonic() - began >= self.instance.settings.wash.timeout_s
                if late or not self.at or self.at in self.skipped or len(self.skipped) >= CRASHES:
                    raise
                self.skipped |= {self.at}

    def _once(self, contexts: Mapping[str, Path | None]) -> tuple[Part, ...]:
        settings = self.instance.settings.wash
        bounds = process.Bounds(settings.timeout_s, self.document.url, self.instance.stopping, self._hear)
        given = replace(self.document, contexts=dict(contexts))
        limits = replace(terms(settings, self.room), skip=self.skipped)
        function = partial(tasks.separate, graph=self.graph)
        return self.instance.workers.call(Task(function, (given,), limits), bounds, self.room)

    def _hear(self, progress: Progress) -> None:
        self.at = progress.names
        self.on_report(progress)


def terms(settings: WashSettings, room: Path) -> Terms:
    """On what terms dumps are unpacked."""
    volume = Volume(settings.max_bytes, settings.max_ratio, settings.max_entries, settings.max_depth)
    return Terms(volume, room, memory=settings.memory)
