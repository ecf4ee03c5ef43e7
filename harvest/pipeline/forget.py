"""Forgetting a provider that no longer stands in the registry."""

from __future__ import annotations

import shutil

from harvest.pipeline.workshop import Workshop


def forget(workshop: Workshop, name: str) -> None:
    """Remove a provider's graph, files and rows; what was filed of it stays in the archive."""
    workshop.store.drop(workshop.settings.graph(name))
    _forget_facts(workshop, name)
    workshop.publish()
    shutil.rmtree(workshop.folder(name), ignore_errors=True)
    workshop.ledger.forget(name)


def _forget_facts(workshop: Workshop, name: str) -> None:
    """Remove what the metadata graph says of the provider's graph; its runs stay, as history."""
    with workshop.room() as room:
        nothing = room / "nothing.nq"
        nothing.touch()
        workshop.store.replace_subjects(workshop.metadata_graph, [workshop.settings.graph(name)], nothing)
