"""Copies of the exports in object storage: readers are led to them while they are those of now."""

from __future__ import annotations

import gzip
import hashlib
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from harvest.catalog.export_copies import COPIES
from harvest.catalog.instance import InstanceCatalog
from harvest.errors import StorageError
from sparql.web.app import create_pages
from sparql.web.catalog import Site
from sparql.web.site import Context
from sparql.worker.limits import QueryLimits
from tests.objects import ObjectFolder, ObjectServer, serving
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_semantics import A1, A2, B1, outcomes, release
from tests.provider import ProviderServer

DumpRecords = Callable[..., None]
FILES = ["all.nq.gz", "all.nq.gz.sha256", "p.nq.gz", "p.nq.gz.sha256", "void.ttl", "void.ttl.sha256"]


@pytest.fixture
def bucket(instance: TemporaryInstance, monkeypatch: pytest.MonkeyPatch) -> Iterator[ObjectServer]:
    with serving(monkeypatch) as running:
        instance.settings = replace(instance.settings, exports_storage=running.url)
        yield running
        instance.close()


def front(instance: TemporaryInstance) -> FlaskClient:
    catalog = InstanceCatalog(instance.settings)
    return create_pages(Context(catalog, Site("http://h.example"), QueryLimits(), lambda: 0)).test_client()


def answered(instance: TemporaryInstance, file: str = "p.nq.gz") -> tuple[str, bytes]:
    """The address that a reader is led to, which may be empty, and the bytes that come from there or here."""
    answer = front(instance).get(f"/exports/{file}")
    if answer.status_code == 200:
        return "", answer.data
    assert (answer.status_code, answer.headers["Cache-Control"], answer.data) == (307, "no-store", b"")
    address = answer.headers["Location"]
    return address, urllib.request.urlopen(address, timeout=240).read()


def harvested(instance: TemporaryInstance, provider: ProviderServer, day: int, *lines: str) -> bytes:
    """The export of a release."""
    release(provider, day, *lines)
    assert outcomes(instance) == ["committed"]
    instance.harvester.export()
    return (instance.settings.exports_dir / "p.nq.gz").read_bytes()


def test_readers_are_led_to_signed_copies(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords, bucket: ObjectServer
) -> None:
    """The bytes there are those of here, in parts as well; what asks for no bytes is answered here."""
    registered()
    here = harvested(instance, provider, 1, A1, B1)
    assert bucket.listed() == FILES
    address, data = answered(instance)
    assert "Signature=" in address and address.startswith(bucket.address) and data == here
    part = urllib.request.Request(address, headers={"Range": "bytes=2-5"})
    assert urllib.request.urlopen(part, timeout=240).read() == here[2:6]
    client = front(instance)
    head = client.head("/exports/p.nq.gz")
    assert (head.status_code, head.content_length) == (200, len(here))
    assert client.get("/exports/p.nq.gz", headers={"If-None-Match": head.headers["ETag"]}).status_code == 304
    line = client.get("/exports/p.nq.gz.sha256")
    assert line.data.decode().split() == [hashlib.sha256(here).hexdigest(), "p.nq.gz"]


def test_a_public_address_is_led_to_as_it_is(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords, bucket: ObjectServer
) -> None:
    """Such as that of a CDN before the bucket."""
    public = f"{bucket.address}/{bucket.bucket}/instance/one"
    instance.settings = replace(instance.settings, exports_url=public)
    registered()
    harvested(instance, provider, 1, A1)
    answer = front(instance).get("/exports/all.nq.gz")
    assert (answer.status_code, answer.headers["Location"]) == (307, f"{public}/all.nq.gz")


def test_a_storage_that_is_away_leaves_readers_here(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords, bucket: ObjectServer
) -> None:
    """They never get the version of before; the next export makes up for it, also where nothing else is to be done."""
    registered()
    harvested(instance, provider, 1, A1)
    bucket.stop()
    release(provider, 2, A2)
    assert outcomes(instance) == ["committed"]
    with pytest.raises(StorageError, match="the storage is away or failed"):
        instance.harvester.export()
    address, data = answered(instance)
    assert address == "" and A2 in gzip.decompress(data).decode()
    bucket.start()
    instance.harvester.export()
    address, data = answered(instance)
    assert address and A2 in gzip.decompress(data).decode()


def test_what_is_forgotten_leaves_the_bucket(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords, bucket: ObjectServer
) -> None:
    """And all.nq.gz has no line of it there."""
    registered()
    harvested(instance, provider, 1, A1)
    instance.register("{}\n")
    instance.harvester.forget("p")
    instance.harvester.export()
    assert bucket.listed() == [file for file in FILES if not file.startswith("p.")]
    assert gzip.decompress(answered(instance, "all.nq.gz")[1]) == b""


def test_copies_in_a_folder_are_for_others(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords, tmp_path: Path
) -> None:
    """A folder has no address of its own, so readers are led there by `exports_url` alone."""
    share = ObjectFolder(tmp_path / "share")
    share.start()
    instance.settings = replace(instance.settings, exports_storage=share.url)
    registered()
    here = harvested(instance, provider, 1, A1)
    assert share.listed() == FILES and (share.folder / "p.nq.gz").read_bytes() == here
    assert answered(instance) == ("", here)
    share.stop()
    with pytest.raises(StorageError, match="the share is not mounted"):
        harvested(instance, provider, 2, A2)
    assert list(share.folder.iterdir()) == []


VICTIM = """
import os, signal, sys
from dataclasses import replace
from pathlib import Path
from harvest.archive import storage
from harvest.publish import checksums
from tests.pipeline.conftest import TemporaryInstance


def counted(call):
    def dying(*args, **names):
        global left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*args, **names)
    return dying


instance = TemporaryInstance(Path(sys.argv[1]))
instance.settings = replace(instance.settings, exports_storage=sys.argv[2])
left = 1_000_000
for owner, name in ((storage.Bucket, "put"), (storage.Bucket, "remove"), (checksums, "replace")):
    setattr(owner, name, counted(getattr(owner, name)))
harvester = instance.harvester
from harvest.pipeline import harvester as module
export, left_then = module.export, int(sys.argv[3])


def exported(*args):
    global left
    done = export(*args)
    left = left_then
    return done


module.export = exported
harvester.export()
"""


def test_a_kill_while_copying_leads_nobody_to_another_version(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords, bucket: ObjectServer
) -> None:
    """Before each object and each line of what is there; the next export ends with the files of now and no others."""
    registered()
    harvested(instance, provider, 1, A1)
    release(provider, 2, A2, B1)
    assert outcomes(instance) == ["committed"]
    instance.close()
    cuts = 0
    while True:
        command = [sys.executable, "-c", VICTIM, str(instance.folder), bucket.url, str(cuts)]
        environ = os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[2])}
        done = subprocess.run(command, env=environ, check=False, timeout=240, capture_output=True)
        assert done.returncode in (0, -signal.SIGKILL), done.stderr.decode()
        address, data = answered(instance)
        assert gzip.decompress(data) == gzip.decompress((instance.settings.exports_dir / "p.nq.gz").read_bytes())
        if done.returncode == 0:
            assert address and bucket.listed() == FILES
            break
        cuts += 1
    assert cuts > 2
    assert COPIES in [path.name for path in instance.settings.exports_dir.iterdir()]
