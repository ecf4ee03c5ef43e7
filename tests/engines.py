"""Engines on loopback, for tests of the store on an engine."""

from __future__ import annotations

import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.ports import free_port

STARTED_S = 60


@dataclass
class EngineServer:
    """
    An Oxigraph server, which can be killed and started again on the same data.

    Attributes:
        folder: Its data.
        port: On 127.0.0.1.
    """

    folder: Path
    port: int
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def settings(self) -> str:
        """The lines of harvest.yaml that name it."""
        return f"store:\n  query: {self.url}/query\n  update: {self.url}/update\n  graph_store: {self.url}/store\n"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        program = Path(sys.executable).with_name("oxigraph")
        command = [program, "serve", "--location", self.folder, "--bind", f"127.0.0.1:{self.port}"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + STARTED_S
        while time.monotonic() < until:
            try:
                with urllib.request.urlopen(f"{self.url}/query?query=ASK%20%7B%7D", timeout=STARTED_S):
                    return
            except urllib.error.URLError:
                time.sleep(0.05)
        raise TimeoutError(f"{self.url} does not answer")

    def kill(self) -> None:
        """End it as a power cut would."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


@contextmanager
def oxigraph(folder: Path) -> Iterator[EngineServer]:
    """A running Oxigraph server with an empty folder."""
    server = EngineServer(folder, free_port())
    try:
        server.start()
        yield server
    finally:
        server.kill()
