"""Object storage for tests: an S3-speaking server on loopback, or a folder; what it has outlives its stops."""

from __future__ import annotations

import itertools
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from xml.etree import ElementTree

import pytest
from moto.moto_server.threaded_moto_server import ThreadedMotoServer

from harvest.archive.storage import connected
from tests.ports import free_port

SECRET = "never-to-be-seen-in-a-message"
_NUMBERS = itertools.count()


class ObjectServer:
    """
    A server that can be stopped and started again.

    Attributes:
        bucket: The name of a bucket that it has.
        address: Its endpoint.
    """

    def __init__(self) -> None:
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.bucket = f"archive-{next(_NUMBERS)}"
        self._server: ThreadedMotoServer | None = None

    @property
    def url(self) -> str:
        return f"s3://{self.bucket}/instance/one"

    def start(self) -> None:
        self._server = ThreadedMotoServer("127.0.0.1", self.port, verbose=False)
        self._server.start()

    def stop(self) -> None:
        if self._server is not None:
            self._server.stop()
            self._server = None

    def ask(self, method: str, path: str, data: bytes | None = None) -> bytes:
        kind = {"Content-Type": "application/octet-stream"}
        request = urllib.request.Request(f"{self.address}{path}", data, kind, method=method)
        with urllib.request.urlopen(request, timeout=240) as response:
            return bytes(response.read())

    def listed(self) -> list[str]:
        """The names of all objects, below what the URL names."""
        found = ElementTree.fromstring(self.ask("GET", f"/{self.bucket}?list-type=2"))
        names = [each.text or "" for each in found.iter("{http://s3.amazonaws.com/doc/2006-03-01/}Key")]
        return sorted(name.removeprefix("instance/one/") for name in names)

    def refuse(self, *, all_keys: bool) -> None:
        """Whether every access key is unknown to it from now on."""
        self.ask("POST", "/moto-api/reset-auth", b"0" if all_keys else b"inf")


class ObjectFolder:
    """
    A folder that can be there and not, as a share that is mounted.

    Attributes:
        folder: Where it is while it is there.
        url: Its address.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.url = f"file://{folder}"
        self._away = folder.with_name(f"{folder.name}-away")

    def start(self) -> None:
        if self._away.exists():
            self.folder.rmdir()
            self._away.rename(self.folder)
        self.folder.mkdir(exist_ok=True)

    def stop(self) -> None:
        """Leave the empty folder where it was mounted."""
        self.folder.rename(self._away)
        self.folder.mkdir()

    def listed(self) -> list[str]:
        """The names of all files."""
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*") if path.is_file())


@contextmanager
def serving(monkeypatch: pytest.MonkeyPatch) -> Iterator[ObjectServer]:
    """A running server with an empty bucket, and its address and a key in the environment."""
    server = ObjectServer()
    monkeypatch.setenv("AWS_ENDPOINT_URL", server.address)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "harvester")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    connected.cache_clear()
    server.start()
    try:
        server.ask("PUT", f"/{server.bucket}")
        yield server
    finally:
        server.stop()
        connected.cache_clear()
