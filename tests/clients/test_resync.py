"""The independent client of ResourceSync keeps a copy of a dataset: `resync`, as its command `resync-sync` calls it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
import requests
from resync.change_list import ChangeList
from resync.client import Client
from resync.resource_list import ResourceList
from resync.source_description import SourceDescription

from harvest.config.loader import load_settings
from harvest.service.serve import Front
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_semantics import A1, A2, B1, C1, release
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


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with serving() as provider, _front(tmp_path / "instance") as url:
        served = Served(tmp_path / "instance", url, provider)
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


@pytest.fixture
def client(served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Client:
    """The client with the dataset mapped to a folder; its state is a file where it is called."""
    monkeypatch.chdir(tmp_path)
    client = Client(hashes=["sha-256"])
    client.set_mappings((f"{served.url}/resourcesync/p", str(tmp_path / "copy")))
    return client


def audited(client: Client, caplog: pytest.LogCaptureFixture) -> str:
    """What the client says of its copy beside the list of resources."""
    caplog.clear()
    with caplog.at_level(logging.INFO, "resync.client"):
        client.baseline_or_audit(audit_only=True)
    return next(record.getMessage() for record in caplog.records if "Status:" in record.getMessage())


def test_a_copy_is_made_and_kept_up_to_date(
    served: Served, client: Client, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Baseline, then increments by the list of changes after three more harvests; an audit finds no difference."""
    served.harvest(1, A1, B1)
    client.baseline_or_audit()
    copy = tmp_path / "copy" / "dataset.nq"
    assert copy.read_bytes() == requests.get(f"{served.url}/providers/p/versions/1.nq", timeout=30).content
    assert "IN SYNC" in audited(client, caplog).upper()
    served.harvest(2, A2, B1)
    assert "NOT IN SYNC" in audited(client, caplog).upper()
    served.harvest(3, '<http://x/b> <http://p> "3"', partial=True)
    served.harvest(4, A2, C1)
    client.incremental()
    assert copy.read_bytes() == requests.get(f"{served.url}/providers/p/versions/4.nq", timeout=30).content
    assert "NOT IN SYNC" not in audited(client, caplog).upper()
    mismatches = [record for record in caplog.records if "mismatch" in record.getMessage()]
    assert mismatches == []


def test_the_documents_are_read_without_a_complaint(served: Served, caplog: pytest.LogCaptureFixture) -> None:
    """By the parsers of the client, which know what each document has to say."""
    served.harvest(1, A1)
    served.harvest(2, A2)
    source = SourceDescription()
    source.read(uri=f"{served.url}/.well-known/resourcesync")
    assert [resource.capability for resource in source] == ["capabilitylist"]
    listed, changed = ResourceList(), ChangeList()
    listed.read(uri=f"{served.url}/resourcesync/p/resourcelist.xml")
    changed.read(uri=f"{served.url}/resourcesync/p/changelist.xml")
    assert [resource.change for resource in changed] == ["created", "updated"]
    [dataset] = listed
    assert dataset.sha256 == changed.resources[-1].sha256
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []
