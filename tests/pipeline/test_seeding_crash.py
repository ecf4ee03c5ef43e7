"""The process is killed while it works on a seed; the next start takes up what was cut short, once."""

from __future__ import annotations

import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from sparql.reports import to_json
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_metadata import ask
from tests.provider import ProviderServer

ROOT = Path(__file__).resolve().parents[2]
VICTIM = """
import os, signal, sys
from pathlib import Path
from harvest.pipeline.seeds import seed_metadata
from harvest.pipeline.seeds.seeding import Seeding
from tests.pipeline.conftest import TemporaryInstance


def die(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    folder, url, step = sys.argv[1:]
    instance = TemporaryInstance(Path(folder))
    ledger = instance.harvester.instance.ledger
    hash, _ = ledger.seeds.add(url, instance.clock(), 86400.0)
    if step == "load":
        instance.harvester.seeding.run([])
        ledger.documents.filled = die
        instance.harvester.seeding.load(hash)
    elif step == "record":
        ledger.documents.record = die
    elif step == "fetch":
        instance.harvester.instance.crawl.download_all = die
    elif step == "write":
        seed_metadata.write_seed = die
    instance.harvester.seeding.run([])
"""


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("step", "asked", "due"), [("fetch", 1, True), ("record", 1, True), ("write", 1, True), ("load", 1, False)]
)
def test_a_killed_process_loses_nothing(
    instance: TemporaryInstance, provider: ProviderServer, tmp_path: Path, step: str, asked: int, due: bool
) -> None:
    """A download begins anew, a filed one is washed without asking again, a graph half loaded is loaded."""
    instance.register("{}\n")
    url = provider.put("/a.nt", "<http://x/a> <http://x/p> <http://x/b> .\n")
    script = tmp_path / "victim.py"
    script.write_text(VICTIM)
    command = [sys.executable, str(script), str(instance.folder), url, step]
    done = subprocess.run(command, cwd=ROOT, env={"PYTHONPATH": str(ROOT)}, check=False, timeout=240)
    assert done.returncode == -signal.SIGKILL
    seeding, ledger = instance.harvester.seeding, instance.harvester.instance.ledger
    assert seeding.due() == []
    instance.clock.now += timedelta(minutes=2)
    assert bool(seeding.due()) == due
    results = to_json(seeding.run([]))
    assert [result["status"] for result in results] == ["parsed"] * due
    assert len(provider.requests) == asked
    [seed] = ledger.seeds.page()
    downloads = ledger.documents.of_seed(seed.hash)
    assert (downloads[0].status, downloads[0].clean is not None) == ("parsed", True)
    assert len(downloads) == (2 if step == "fetch" else 1)
    assert seeding.due() == []
    status = "SELECT ?status { ?s a harvest:Seed ; harvest:status ?status }"
    assert ask(instance, status) == [("parsed",)]
    graph = f"http://h.example/graph/seed-{seed.hash}"
    assert instance.harvester.instance.store.count(graph) == (step == "load")
