"""The independent client of ResourceSync keeps a copy of a dataset: `resync`, as its command `resync-sync` calls it."""

from __future__ import annotations

import hashlib
import io
import logging
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import requests
from resync.capability_list import CapabilityList
from resync.change_list import ChangeList
from resync.client import Client
from resync.resource_dump import ResourceDump
from resync.resource_dump_manifest import ResourceDumpManifest
from resync.resource_list import ResourceList
from resync.source_description import SourceDescription

from tests.clients.growing import Served, growing
from tests.pipeline.test_semantics import A1, A2, B1, C1


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with growing(tmp_path / "instance") as served:
        yield served


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
    assert copy.read_bytes() == requests.get(f"{served.url}/providers/p/versions/1.nq", timeout=240).content
    assert "IN SYNC" in audited(client, caplog).upper()
    served.harvest(2, A2, B1)
    assert "NOT IN SYNC" in audited(client, caplog).upper()
    served.harvest(3, '<http://x/b> <http://p> "3"', partial=True)
    served.harvest(4, A2, C1)
    client.incremental()
    assert copy.read_bytes() == requests.get(f"{served.url}/providers/p/versions/4.nq", timeout=240).content
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


def test_a_resource_dump_is_the_dataset_with_its_manifest(served: Served, caplog: pytest.LogCaptureFixture) -> None:
    """Read by the parsers of the client and by zipfile: every digest and length is that of what is there."""
    served.instance.settings = replace(served.instance.settings, resource_dumps=True)
    served.harvest(1, A1, B1)
    served.harvest(2, A2)
    feed = f"{served.url}/resourcesync/p"
    capabilities, dump = CapabilityList(), ResourceDump()
    capabilities.read(uri=f"{feed}/capabilitylist.xml")
    dump.read(uri=capabilities.capability_info("resourcedump").uri)
    [packed] = dump
    assert (packed.uri, packed.mime_type) == (f"{feed}/resourcedump.zip", "application/zip")
    answer = requests.get(packed.uri, timeout=240)
    assert answer.headers["Content-Type"] == "application/zip"
    assert (packed.length, packed.sha256) == (len(answer.content), hashlib.sha256(answer.content).hexdigest())
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert archive.testzip() is None
        assert sorted(archive.namelist()) == ["manifest.xml", "resources/dataset.nq"]
        manifest = archive.read("manifest.xml")
        data = archive.read("resources/dataset.nq")
    assert data == requests.get(f"{feed}/dataset.nq", headers={"Accept-Encoding": "identity"}, timeout=240).content
    contents = ResourceDumpManifest()
    contents.parse(fh=io.BytesIO(manifest))
    [member] = contents
    assert (member.uri, member.path) == (f"{feed}/dataset.nq", "/resources/dataset.nq")
    assert (member.length, member.sha256) == (len(data), hashlib.sha256(data).hexdigest())
    assert requests.get(packed.link_href("contents"), timeout=240).content == manifest
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


def test_a_download_of_a_dump_goes_on_where_it_broke_off(served: Served) -> None:
    """With a tag, its length and ranges; a dump that is not wanted any more goes with the next version."""
    served.instance.settings = replace(served.instance.settings, resource_dumps=True)
    served.harvest(1, A1, B1)
    url = f"{served.url}/resourcesync/p/resourcedump.zip"
    whole, head = requests.get(url, timeout=240), requests.head(url, timeout=240)
    assert head.headers["Content-Length"] == str(len(whole.content))
    assert head.headers["ETag"] == whole.headers["ETag"]
    part = requests.get(url, headers={"Range": "bytes=5-", "If-Range": whole.headers["ETag"]}, timeout=240)
    assert (part.status_code, part.content) == (206, whole.content[5:])
    assert requests.get(url, headers={"If-None-Match": whole.headers["ETag"]}, timeout=240).status_code == 304
    served.instance.close()
    served.instance.settings = replace(served.instance.settings, resource_dumps=False)
    served.instance.harvester.export()
    assert requests.get(url, timeout=240).status_code == 404
    assert "resourcedump" not in requests.get(f"{served.url}/resourcesync/p/capabilitylist.xml", timeout=240).text
