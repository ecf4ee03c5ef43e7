"""Servers and clients that end with the test."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from harvest.config.settings import HttpSettings
from harvest.fetch.client import Client, Surroundings
from harvest.fetch.guard import Sockaddr, look_up
from harvest.fetch.recording import Recorder
from tests.fetch.server import Answer, Server

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
TLS = Path(__file__).with_name("tls")
SETTINGS = HttpSettings(connect_s=5, read_s=5, total_s=30, allow_loopback=True)


class Bench:
    """
    Makes servers and clients, and remembers what the clients waited for.

    Attributes:
        into: The folder of temporary files.
        naps: Seconds of each pause, which took no time.
        names: What the names that a test invents resolve to.
    """

    def __init__(self, into: Path, stack: ExitStack) -> None:
        self.into = into
        self.naps: list[float] = []
        self.names: dict[str, list[str]] = {}
        self._stack = stack

    def serve(self, *answers: Answer, tls: bool = False) -> Server:
        """A server of these answers."""
        context = None
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(TLS / "localhost.pem")
        server = Server(answers, context)
        self._stack.callback(server.close)
        return server

    def client(self, trust: Path | None = None, recorder: Recorder | None = None, **settings: object) -> Client:
        """A client whose settings differ in these from SETTINGS, and which does not sleep."""
        around = Surroundings(self.nap, lambda: 1.0, self.resolve, trust)
        client = Client(
            replace(SETTINGS, **settings),  # type: ignore[arg-type]  # the tests give each its type
            "http://instance.example",
            lambda: NOW,
            around,
            recorder,
        )
        self._stack.callback(client.close)
        return client

    def files(self) -> list[Path]:
        """What is in the folder of temporary files."""
        return list(self.into.iterdir())

    def nap(self, stop: threading.Event, seconds: float) -> object:
        """Remember a pause; it takes no time."""
        self.naps.append(seconds)
        return None

    def resolve(self, host: str, port: int) -> list[tuple[int, Sockaddr]]:
        """The addresses of `names`, and those of the system for other hosts."""
        found = [look_up(address, port)[0] for address in self.names.get(host, ())]
        return found or look_up(host, port)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with ExitStack() as stack:
        into = tmp_path / "into"
        into.mkdir()
        yield Bench(into, stack)
