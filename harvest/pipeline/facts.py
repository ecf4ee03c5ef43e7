"""Telling the metadata graph what happened, so that SPARQL can ask it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import chain
from typing import Any

import pyoxigraph

from harvest.ledger import VersionRecord
from harvest.model import Outcome
from harvest.pipeline.workshop import Workshop
from harvest.publish.provenance import Facts, n_quads
from harvest.status import provider_object, run_object, version_object


def tell(workshop: Workshop, name: str, id: int | None = None) -> None:
    """Write a provider's state and a run, the last one if none is named, to the metadata graph, and publish it."""
    provider = _provider(workshop, name)
    facts = Facts(workshop.settings.base_url, provider)
    named = workshop.ledger.run(id) if id is not None else None
    run = run_object(named) if named is not None else provider["last_run"]
    with workshop.writing:
        _write(
            workshop, chain(facts.of_provider(), facts.of_run(run) if run else (), facts.of_dumps(run) if run else ())
        )
        workshop.publish()


def describe(workshop: Workshop, name: str, version: VersionRecord) -> None:
    """Write a version that is about to be committed to the metadata graph; the caller publishes it."""
    provider = _provider(workshop, name)
    run = workshop.ledger.run(version.run)
    assert run is not None
    ended = run_object(run) | {
        "ended": workshop.clock().isoformat().replace("+00:00", "Z"),
        "outcome": Outcome.COMMITTED.value,
        "added": version.added,
        "removed": version.removed,
    }
    item = version_object(version)
    modified = max(filter(None, (provider["modified"], item["modified"])), key=datetime.fromisoformat, default=None)
    now = provider | {
        "state": "idle",
        "version": version.n,
        "triples": version.triples,
        "statistics": workshop.ledger.figures.totals(name, version.n),
        "modified": modified,
        "last_run": ended,
    }
    facts = Facts(workshop.settings.base_url, now)
    _write(
        workshop,
        chain(facts.of_provider(), facts.of_run(ended), facts.of_dumps(ended), facts.of_version(item, ended)),
    )


def _provider(workshop: Workshop, name: str) -> dict[str, Any]:
    found = provider_object(workshop.ledger, workshop.settings, name, workshop.roster.get(name), workshop.clock())
    assert found is not None
    return found


def _write(
    workshop: Workshop, facts: Iterator[tuple[pyoxigraph.NamedNode, str, pyoxigraph.NamedNode | pyoxigraph.Literal]]
) -> None:
    """Replace all that the metadata graph says of the subjects of the facts."""
    held = list(facts)
    graph = workshop.metadata_graph
    with workshop.room() as room:
        path = room / "facts.nq"
        path.write_bytes(b"".join(sorted(set(n_quads(iter(held), graph).splitlines(keepends=True)))))
        workshop.store.replace_subjects(graph, sorted({subject.value for subject, _, _ in held}), path)
