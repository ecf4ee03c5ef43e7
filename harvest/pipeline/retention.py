"""Letting the past go: rows and statements of runs that changed nothing, once they are old, and memory that is free."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from harvest.ledger.old_rows import OldRows, OldRun
from harvest.pipeline.instance import Instance


@dataclass(slots=True)
class Retention:
    """
    Lets a bounded part of the past go at each call.

    Attributes:
        instance: The tools.
    """

    instance: Instance

    def let_go(self) -> int:
        """
        Remove what the settings keep no longer, the oldest first; returns how many rows, not counting those below them.

        A run goes from the metadata graph first: a crash in between leaves it in the ledger, and the next call goes on.
        """
        instance, keep = self.instance, self.instance.settings.keep
        before = instance.clock() - timedelta(seconds=keep.age)
        rows = OldRows(instance.ledger.database)
        runs = rows.old_runs(before, keep.newest)
        if runs:
            _remove_facts(instance, runs)
            rows.let_go_runs(runs)
        gone = len(runs) + rows.let_go(before, keep.newest)
        return_memory()
        return gone


def return_memory() -> None:
    """
    Return memory that is free to the operating system; where the C library cannot, nothing.

    glibc keeps freed pieces between those in use: of the soak up to 38 MB beside 21 to 26 in use. Source:
    malloc_trim(3).
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _remove_facts(instance: Instance, runs: Sequence[OldRun]) -> None:
    """Remove what the metadata graph says of runs, of their findings, and of dumps that no other run used."""
    graph, base = instance.metadata_graph, instance.settings.base_url
    subjects = set()
    for run in runs:
        node = f"{base}/providers/{run.provider}#run-{run.id}"
        subjects |= {node, *(f"{node}-finding-{number}" for number in range(1, run.findings + 1))}
    dumps = {f"{base}/content/{digest}" for run in runs for digest in run.dumps}
    with instance.room() as room, instance.changing():
        nothing = room / "nothing.nq"
        nothing.touch()
        instance.store.replace_subjects(graph, sorted(subjects), nothing)
        unused = [dump for dump in sorted(dumps) if not any(instance.store.referrers(graph, f"<{dump}>".encode()))]
        instance.store.replace_subjects(graph, unused, nothing)
        instance.publish()
