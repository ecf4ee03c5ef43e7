"""An S3-speaking server on loopback, for tests of content in object storage; what it has outlives its stops."""

from __future__ import annotations

import itertools
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from moto.moto_server.threaded_moto_server import ThreadedMotoServer

from harvest.archive.objects import at
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
        with urllib.request.urlopen(request, timeout=60) as response:
            return bytes(response.read())

    def refuse(self, *, all_keys: bool) -> None:
        """Whether every access key is unknown to it from now on."""
        self.ask("POST", "/moto-api/reset-auth", b"0" if all_keys else b"inf")


@contextmanager
def serving(monkeypatch: pytest.MonkeyPatch) -> Iterator[ObjectServer]:
    """A running server with an empty bucket, and its address and a key in the environment."""
    server = ObjectServer()
    monkeypatch.setenv("AWS_ENDPOINT_URL", server.address)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "harvester")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    at.cache_clear()
    server.start()
    try:
        server.ask("PUT", f"/{server.bucket}")
        yield server
    finally:
        server.stop()
        at.cache_clear()
