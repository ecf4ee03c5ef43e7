"""Writing a graph that the registry keeps for updates: one writer of each graph at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from functools import partial

import structlog

from harvest.pipeline.instance import Instance
from harvest.pipeline.update.changing import change
from harvest.pipeline.update.permission import named, writable
from harvest.pipeline.update.updating import Written, write
from sparql.protocol.update import read_update

log = structlog.get_logger()


class Writing:
    """What operators write. `alone` keeps a provider from being harvested meanwhile, `work` does what waits for it."""

    def __init__(
        self,
        instance: Instance,
        alone: Callable[[str], AbstractContextManager[None]],
        work: Callable[[str], object],
    ) -> None:
        self._instance = instance
        self._alone = alone
        self._work = work

    def update(self, text: str) -> Written:
        """
        Carry out a SPARQL update, which makes a version of the one graph that it changes.

        Raises:
            SparqlError: It is refused, or went past its limits; nothing was changed.
            HarvestError: The disk is full, or the instance shuts down.
        """
        self._instance.roster.refresh()
        update = read_update(text, f"{self._instance.settings.base_url}/sparql")
        names = list(named(self._instance, update).values())
        return self._written(names, partial(write, self._instance, names, update))

    def change(self, graph: str, data: bytes) -> Written:
        """
        Apply an N-Quads unified diff to a graph; the rest as for `harvest.pipeline.update.changing.change`.

        Raises:
            SparqlError: It is refused, cannot be read, or does not fit; nothing was changed.
            HarvestError: The disk is full, or the instance shuts down.
        """
        self._instance.roster.refresh()
        name = writable(self._instance, graph).name
        return self._written([name], partial(change, self._instance, graph, data))

    def _written(self, names: Sequence[str], write: Callable[[], Written]) -> Written:
        for name in names:
            self._work(name)  # what a crash left
        with ExitStack() as stack, self._instance.crawl.working():
            for name in names:  # in order, so that no two updates wait for each other
                stack.enter_context(self._alone(name))
                self._instance.on_step(name, "update")
            written = write()
        log.info(
            "updated",
            provider=written.provider,
            outcome=written.outcome.value,
            added=written.added,
            removed=written.removed,
        )
        return written
