"""
Engines on loopback, for tests of the store on an engine.

`make test` has Oxigraph's server, from PyPI. `make test-engines` names more in HARVEST_ENGINES, and where Fuseki is in
HARVEST_FUSEKI.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sparql.store.engine import EngineAddress
from tests.ports import free_port

ENGINES = os.environ.get("HARVEST_ENGINES", "oxigraph").split()
STARTED_S = 120


class EngineServer:
    """
    A server that can be killed and started again on the same data.

    Attributes:
        address: Where it takes queries and updates.
    """

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> EngineAddress:
        url = f"http://127.0.0.1:{self.port}"
        return EngineAddress(f"{url}/query", f"{url}/update", f"{url}/store")

    def command(self) -> list[str | Path]:
        """What starts it."""
        program = Path(sys.executable).with_name("oxigraph")
        return [program, "serve", "--location", self._folder, "--bind", f"127.0.0.1:{self.port}"]

    def start(self) -> None:
        """Start it, and wait until it answers."""
        with (self._folder.parent / f"{self._folder.name}.log").open("ab") as log:
            self._process = subprocess.Popen(self.command(), stdout=log, stderr=log, cwd=self._folder)
        until = time.monotonic() + STARTED_S
        while time.monotonic() < until:
            try:
                with urllib.request.urlopen(f"{self.address.query}?query=ASK%20%7B%7D", timeout=STARTED_S):
                    return
            except urllib.error.URLError:
                time.sleep(0.05)
        raise TimeoutError(f"{self.address.query} does not answer")

    def kill(self) -> None:
        """End it as a power cut would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


class Fuseki(EngineServer):
    """Apache Jena Fuseki over TDB2."""

    @property
    def address(self) -> EngineAddress:
        url = f"http://127.0.0.1:{self.port}/ds"
        return EngineAddress(f"{url}/query", f"{url}/update", f"{url}/data")

    def command(self) -> list[str | Path]:
        """What starts it."""
        jar, port = os.environ["HARVEST_FUSEKI"], str(self.port)
        return ["java", "-Xmx1g", "-jar", jar, "--port", port, "--localhost", "--update", "--tdb2", "--loc", ".", "/ds"]


SERVERS = {"oxigraph": EngineServer, "fuseki": Fuseki}


@contextmanager
def serving(name: str, folder: Path) -> Iterator[EngineServer]:
    """A running server of an engine, with an empty folder."""
    server = SERVERS[name](folder)
    try:
        server.start()
        yield server
    finally:
        server.kill()
