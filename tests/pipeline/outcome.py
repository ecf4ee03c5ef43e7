"""What an instance holds in the end, but for times and how often something was tried."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harvest.archive.history import Archive
from harvest.archive.verify import VERDICTS, verify
from harvest.ledger.rows import version_of
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.scenario import Phase


def outcome(instance: TemporaryInstance, phase: Phase) -> dict[str, Any]:
    """Do what is left a day later and the day after, and say what all of it came to."""
    for _ in range(2):
        instance.clock.forward(days=1)
        instance.harvester.instance.crawl.seal_again()  # as each tick does, and the next line
        instance.harvester.instance.roster.refresh()
        phase.act(instance)
    instance.harvester.export()
    running = instance.harvester.instance
    ledger, data = running.ledger, instance.settings.data_dir
    names = [record.name for record in ledger.providers()]
    wrong = [f"{name}: {proof}" for name in names for proof in instance.harvester.prove(name) if not proof.holds]
    checks = verify(Archive(data / "content"))
    wrong += [str(check) for check in checks if VERDICTS[check.state] == "FAIL"]
    wrong += [f"open run {run.id} of {name}" for name in names for run in ledger.runs(name) if run.ended is None]
    wrong += [str(path.relative_to(data)) for path in _left(data)]
    if ledger.loading() or ledger.downloads.waits():
        wrong.append("a version is loading, or something waits for a log")
    return {
        "wrong": wrong,
        "registry": instance.settings.registry.read_text(),
        "providers": {name: _provider(instance, name) for name in names},
        "graphs": {graph: len(list(running.store.dump(graph))) for graph in running.store.graphs() if "seed" in graph},
        "seeds": [[seed.uri, seed.status] for seed in ledger.seeds.page()],
        "exports": {
            path.name: gzip.decompress(path.read_bytes()).decode()
            for path in sorted(instance.settings.exports_dir.glob("*.nq.gz"))
        },
    }


def _left(data: Path) -> Iterator[Path]:
    """The files that should have been removed."""
    for pattern in ("content/incoming/*", "scratch/*", "store/generations/*.tmp", "exports/*.tmp", "exports/.*"):
        yield from data.glob(pattern)


def _provider(instance: TemporaryInstance, name: str) -> dict[str, Any]:
    """All of a provider but times, and how often something was tried."""
    ledger = instance.harvester.instance.ledger
    record = ledger.provider(name)
    assert record is not None
    versions = [version_of(row) for row in ledger.database.rows("SELECT * FROM version WHERE provider = ?", name)]
    prefix = f"{instance.settings.base_url}/providers/{name}/versions/"
    metadata = (
        line.decode() for line in instance.harvester.instance.store.dump(instance.harvester.instance.metadata_graph)
    )
    return {
        "record": [record.version, record.triples, str(record.modified if record.written else ""), str(record.written)],
        "versions": sorted([v.state, v.coverage, v.added, v.removed] for v in versions),  # datasets may change places
        "last": [[v.n, v.triples] for v in versions][-1:],  # who proves counts a missing digest; the lines stand below
        "datasets": [
            [d.iri, str(d.modified if record.written else ""), [c.digest for c in d.captures]]
            for d in ledger.datasets(name)
        ],
        "graph": sorted(instance.graph(name)),
        "findings": sorted(finding.kind for finding in ledger.findings(name)),
        "open": sorted(
            [row["iri"], row["state"]]
            for row in ledger.database.rows(
                "SELECT iri, state FROM announcement WHERE provider = ? AND state IN ('seen', 'fetched', 'held')", name
            )
        ),
        "described": sorted({" ".join(line.split(" ")[:2]) for line in metadata if line.startswith(f"<{prefix}")}),
    }
