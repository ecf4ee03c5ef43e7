"""An instance that is harvested while its web front is asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from harvest.config.loader import load_settings
from harvest.service.serve import Front
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_semantics import release
from tests.ports import free_port
from tests.provider import ProviderServer, serving


class Served:
    """An instance with one provider, `p`, and its web front."""

    def __init__(self, folder: Path, url: str, provider: ProviderServer) -> None:
        self.url = url
        self.provider = provider
        self.instance = TemporaryInstance(folder)
        self.instance.settings = replace(self.instance.settings, base_url=url, graph_base=f"{url}/graph/")
        self.instance.register(f"p:\n  void: {provider.url}/void.ttl\n  removals: mirror\n")

    def harvest(self, day: int, *triples: str, partial: bool = False) -> None:
        release(self.provider, day, *triples, partial=partial)
        self.instance.clock.forward(minutes=1)
        assert [result.outcome.value for result in self.instance.tick("p")] == ["committed"]


@contextmanager
def growing(folder: Path) -> Iterator[Served]:
    """Serve an instance that the test harvests meanwhile."""
    with serving() as provider, _front(folder) as url:
        served = Served(folder, url, provider)
        yield served
        served.instance.close()


@contextmanager
def _front(folder: Path) -> Iterator[str]:
    """The front of an instance, whose data directory is made before; nothing is harvested by it."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    folder.mkdir()
    file = folder / "harvest.yaml"
    file.write_text(
        f"base_url: {url}\nbind: 127.0.0.1:{port}\ngraph_base: {url}/graph/\ndata_dir: var\nexports_dir: exports\n"
    )
    (folder / "registry.yaml").write_text("{}\n")
    empty = TemporaryInstance(folder)
    empty.settings = replace(empty.settings, base_url=url, graph_base=f"{url}/graph/")
    assert empty.harvester is not None
    empty.close()
    front = Front(load_settings(file, {}))
    front.start()
    try:
        yield url
    finally:
        front.stop()
