"""Writing to the metadata graph what happened, so that SPARQL can ask it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from typing import Final

import pyoxigraph

from harvest.catalog.filesets import ingest_report
from harvest.catalog.providers import provider_report
from harvest.catalog.runs import version_report
from harvest.ledger import VersionRecord
from harvest.model import Announcement
from harvest.pipeline.instance import Instance
from harvest.publish.manifest import FILE, checksums_of, of_manifest
from harvest.publish.provenance import TRACKS, ProviderFacts, n_quads
from sparql.rdf import HARVEST, VOID
from sparql.reports import ProviderReport, RunReport

_LINKS: Final = (TRACKS, f"{VOID}classPartition", f"{VOID}propertyPartition", f"{HARVEST}fileset", FILE)
"""What leads from a graph to its parts in the metadata graph."""

Fact = tuple[pyoxigraph.NamedNode, str, pyoxigraph.NamedNode | pyoxigraph.Literal]


def write_run(instance: Instance, name: str, id: int | None = None) -> None:
    """
    Write a provider's state and a run, the last one if none is named, to the metadata graph, and publish it.

    The ledger is read while nobody else writes the store: what was read before another thread's commit would undo it.
    """
    named = instance.ledger.run(id) if id is not None else None
    with instance.changing():
        describe(instance, name, named)
        instance.publish()


def describe(instance: Instance, name: str, run: RunReport | None = None) -> None:
    """Write a provider's state and a run, its last one without a name, to the metadata graph; not published."""
    provider = _provider(instance, name)
    facts = ProviderFacts(instance.settings.base_url, provider)
    run = run or provider.last_run
    of_run = chain(facts.of_run(run), facts.of_dumps(run)) if run else ()
    _write(instance, chain(_of_provider(instance, facts), of_run))


def write_version(instance: Instance, version: VersionRecord, announcement: Announcement | None) -> None:
    """Write a version to the metadata graph, as the ledger will have it once it is committed; not published."""
    with instance.ledger.as_committed(version, announcement, instance.clock()):
        provider = _provider(instance, version.provider)
        run = instance.ledger.run(version.run)
    assert run is not None
    facts = ProviderFacts(instance.settings.base_url, provider)
    _write(
        instance,
        chain(
            _of_provider(instance, facts),
            facts.of_run(run),
            facts.of_dumps(run),
            facts.of_version(version_report(version)),
        ),
    )


def stated(instance: Instance, name: str) -> set[str]:
    """What the metadata graph describes of a provider as it is: its graph, datasets, most frequent terms and files."""
    graph = instance.settings.graph(name)
    return {graph, *_linked(instance, graph)}


def _of_provider(instance: Instance, facts: ProviderFacts) -> Iterator[Fact]:
    """What a provider is like now: its state, what its version is made of, once counted, and its files."""
    provider = facts.provider
    found = instance.ledger.figures.get(provider.name, provider.version)
    return chain(
        facts.of_provider(),
        facts.of_figures(found) if found else (),
        of_manifest(facts.graph, facts.page, provider),
    )


def _provider(instance: Instance, name: str) -> ProviderReport:
    entry = instance.roster.get(name)
    found = provider_report(instance.ledger, instance.settings, name, entry, instance.clock())
    assert found is not None
    return replace(found, ingest=ingest_report(instance.ledger, entry))


def _write(instance: Instance, facts: Iterator[Fact]) -> None:
    """Replace all that the metadata graph says of the subjects of the facts; the first is the provider's graph."""
    held = list(facts)
    graph = instance.metadata_graph
    with instance.room() as room:
        path = room / "facts.nq"
        path.write_bytes(b"".join(sorted(set(n_quads(iter(held), graph).splitlines(keepends=True)))))
        subjects = {subject.value for subject, _, _ in held} | _linked(instance, held[0][0].value)
        instance.store.replace_subjects(graph, sorted(subjects), path)


def _linked(instance: Instance, graph: str) -> set[str]:
    """The parts of a graph that the metadata graph describes until now: some may be none of it any more."""
    lines = list(instance.store.describe(instance.metadata_graph, [f"<{graph}>".encode()]))
    linked = {link: _objects(lines, f"<{graph}> <{link}> <") for link in _LINKS}
    return set().union(*linked.values(), *map(checksums_of, linked[FILE]))


def _objects(lines: Iterable[bytes], start: str) -> set[str]:
    """The IRIs that follow the start of a line."""
    begun = start.encode()
    return {line.removeprefix(begun).split(b">")[0].decode() for line in lines if line.startswith(begun)}
