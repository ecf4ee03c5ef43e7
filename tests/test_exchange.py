"""One instance harvests a provider of another one by ResourceSync, over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

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
