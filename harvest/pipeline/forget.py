"""
Forgetting a provider that no longer stands in the registry.

The provenance log holds it, so that nothing of before is made again when the provider comes back.
"""

from __future__ import annotations

import shutil

from harvest.archive.provenance import facts_of, new_activity
from harvest.model import Note
from harvest.pipeline.commits import forgotten
from harvest.pipeline.feeding import lead
from harvest.pipeline.instance import Instance
from harvest.pipeline.metadata import stated


def forget(instance: Instance, name: str) -> None:
    """Remove a provider's graph, files and rows; what was filed of it stays in the archive."""
    with instance.changing():
        instance.store.drop(instance.settings.graph(name))
        _forget_facts(instance, name)
        instance.publish()
    shutil.rmtree(instance.files(name).folder, ignore_errors=True)
    shutil.rmtree(instance.settings.layout.feed(name), ignore_errors=True)
    shutil.rmtree(instance.settings.layout.pages(name), ignore_errors=True)
    facts = facts_of(forgotten(name, instance.settings.base_url, instance.crawl.clock()))
    instance.ledger.forget(name, Note(new_activity(), instance.crawl.clock(), facts))
    instance.crawl.noted()
    lead(instance)


def _forget_facts(instance: Instance, name: str) -> None:
    """Remove what the metadata graph says of the provider as it is; its runs stay, as history."""
    with instance.room() as room:
        nothing = room / "nothing.nq"
        nothing.touch()
        instance.store.replace_subjects(instance.metadata_graph, sorted(stated(instance, name)), nothing)
