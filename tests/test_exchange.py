"""One instance harvests a provider of another one by ResourceSync, over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import requests

from harvest.config.loader import load_settings
from harvest.pipeline import Look
from harvest.service.serve import Front
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_semantics import A1, A2, B1, C1, outcomes, release
from tests.ports import free_port
from tests.provider import ProviderServer, serving

BLANK = "<http://x/a> <http://x/at> [ <http://x/lat> 52 ; <http://x/lon> 4 ]"


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[TemporaryInstance, ProviderServer]]:
    """An instance that harvests a provider `p`, with its web front, and that provider."""
    folder, port = tmp_path_factory.mktemp("origin"), free_port()
    url = f"http://127.0.0.1:{port}"
    file = folder / "harvest.yaml"
    file.write_text(
        f"base_url: {url}\nbind: 127.0.0.1:{port}\ngraph_base: {url}/graph/\ndata_dir: var\nexports_dir: exports\n"
        "http: {allow_loopback: true}\nquery: {workers: 1}\n"
    )
    made = TemporaryInstance(folder)
    made.settings = replace(made.settings, base_url=url, graph_base=f"{url}/graph/")
    with serving() as provider:
        made.register(f"p:\n  void: {provider.url}/void.ttl\n  removals: mirror\n")
        release(provider, 1, A1, BLANK)
        made.tick("p")
        made.harvester.export()
        front = Front(load_settings(file, {}))
        front.start()
        try:
            yield made, provider
        finally:
            front.stop()
            made.close()


def test_an_instance_that_follows_another_one_has_its_graph(
    origin: tuple[TemporaryInstance, ProviderServer], instance: TemporaryInstance
) -> None:
    """The dataset at first, then only what changed; a break in between loses nothing, and repeats nothing."""
    source, provider = origin
    instance.register(f"p:\n  resourcesync: {source.settings.base_url}\n")
    assert outcomes(instance) == ["committed"]
    assert instance.graph("p") == source.graph("p") and len(instance.graph("p")) == 4
    assert instance.harvester.look("p") == Look()
    for day, lines in enumerate(((A2, B1, BLANK), (A2, C1, BLANK), (A1, C1)), start=2):
        release(provider, day, *lines)
        assert outcomes(source) == ["committed"]
        if day == 3:
            assert instance.harvester.look("p").announced
            instance.close()
    [*_, last] = [result.outcome.value for _ in range(2) for result in instance.tick("p")]
    assert last == "committed"
    assert instance.graph("p") == source.graph("p") == {A1, C1}
    assert instance.harvester.look("p") == Look()
    ledger = instance.harvester.instance.ledger
    taken = [dump.url for run in ledger.runs("p") for dump in run.dumps if run.version]
    assert len(taken) == len(set(taken)) == 4 and sum(url.endswith("/dataset.nq") for url in taken) == 1
    assert whole(instance) == whole(source).replace(source.settings.graph("p"), instance.settings.graph("p"))
    assert instance.proven("p")


def test_a_follower_goes_on_when_its_origin_dropped_versions(
    origin: tuple[TemporaryInstance, ProviderServer], instance: TemporaryInstance
) -> None:
    """By the sequence where it has what the baseline stands for, by the dataset file where it lies before that."""
    source, provider = origin

    def published(day: int, *lines: str) -> None:
        release(provider, day, *lines)
        source.tick("p", forced=True)

    published(11, A1, BLANK)
    instance.register(f"p:\n  resourcesync: {source.settings.base_url}\n")
    assert outcomes(instance) == ["committed"]
    published(12, A1, B1, BLANK)
    assert outcomes(instance) == ["committed"]
    source.harvester.maintenance.compact("p", 1)
    assert instance.harvester.look("p") == Look()
    for day in (13, 14):
        published(day, A1, B1, f'<http://x/c> <http://x/p> "{day}"')
        assert outcomes(instance) == ["committed"]
    ledger = instance.harvester.instance.ledger
    taken = [dump.url for run in ledger.runs("p") for dump in run.dumps if run.version]
    assert sum(url.endswith("/dataset.nq") for url in taken) == 1
    published(15, A1, C1)
    assert instance.harvester.look("p").announced  # the change that it names is gone when it is asked for
    published(16, A2, C1)
    source.harvester.maintenance.compact("p", 1)
    for _ in range(3):
        instance.clock.forward(hours=7)
        instance.tick("p")
    assert instance.graph("p") == source.graph("p") == {A2, C1}
    taken = [dump.url for run in ledger.runs("p") for dump in run.dumps if run.version]
    assert sum(url.endswith("/dataset.nq") for url in taken) == 2
    published(17, A2, B1)
    assert outcomes(instance) == ["committed"]
    assert whole(instance) == whole(source).replace(source.settings.graph("p"), instance.settings.graph("p"))
    assert instance.proven("p") and source.proven("p")


def test_what_was_dropped_is_gone_and_leads_to_the_baseline(
    origin: tuple[TemporaryInstance, ProviderServer],
) -> None:
    """Pages, changes of all kinds and whole versions: 410 with the address, in the header and in the reason."""
    source, provider = origin
    for day in (21, 22, 23):
        release(provider, day, A1, f'<http://x/c> <http://x/p> "{day}"')
        source.tick("p", forced=True)
    done = source.harvester.maintenance.compact("p", 2)
    base, url = done.baseline, source.settings.base_url
    here = f"{url}/providers/p"
    gone = [f"{here}/versions/{base - 1}", f"{here}/versions/{base - 1}.nq", f"{here}/versions/{base - 1}.nqud"]
    gone += [f"{here}/changes/{base}.nqud", f"{here}/changes/1.rdfp", f"{url}/resourcesync/p/changes/changes0.nqud"]
    gone += [f"{here}/ldes/{n}/1" for n in (1, base)]
    for address in gone:
        answer = requests.get(address, timeout=240)
        assert (answer.status_code, f"{here}/versions/{base}.nq" in answer.text) == (410, True), address
        assert answer.links["successor-version"]["url"] == f"{here}/versions/{base}.nq"
    stream, page = (requests.get(f"{here}/ldes{at}", timeout=240).text for at in ("", f"/from-{base}/1"))
    assert f"<{here}/ldes/from-{base}/1>" in stream and f"<{here}/ldes/{base}/1>" not in stream
    assert page.count("isVersionOf>") - 1 == len({line.split()[0] for line in source.graph("p")})
    graph = requests.get(f"{here}/versions/{base}.nq", timeout=240).text
    change = requests.get(f"{here}/versions/{base}.nqud", timeout=240).text
    assert graph == "".join(line.removeprefix("+") for line in change.splitlines(keepends=True))
    assert requests.get(f"{here}/versions/{base + 1}.nqud", timeout=240).text.startswith("+<http://x/a>")
    assert "baseline" in requests.get(f"{here}/versions/{base}", headers={"Accept": "text/html"}, timeout=240).text
    listed = requests.get(f"{here}/versions.json", timeout=240).json()
    assert (listed["baseline"], [version["n"] for version in listed["versions"]]) == (base, [base + 1, base])
    assert requests.get(f"{here}.json", timeout=240).json()["baseline"] == base
    feed = requests.get(f"{url}/changes.atom", timeout=240).text
    assert f"{here}/versions/{base}.nqud" in feed and f"{here}/changes/{base}.nqud" not in feed
    listed = requests.get(f"{url}/resourcesync/p/changelist.xml", timeout=240).text
    assert listed.count("<url>") == 2 and f"{here}/versions/{base}.nqud" in listed and 'change="created"' in listed


def whole(instance: TemporaryInstance) -> str:
    """The graph as its canonical snapshot."""
    running = instance.harvester.instance
    record = running.ledger.provider("p")
    assert record is not None
    with running.room() as room:
        return running.files("p").at(record.version, record.version, room).read_text("utf-8")


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[TemporaryInstance]:
    """The instance that harvests the other one."""
    made = TemporaryInstance(tmp_path)
    yield made
    made.close()
