"""A whole instance as an operator runs it: `harvest serve`, its schedule looking every second, and its front."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import front
from bench.errors import Disagreement
from bench.family import processor_s
from harvest.config.settings import Settings

PATIENCE_S = 900.0
STOP_S = 30.0
_LOOK_S = 0.5
_REST_S = 2.0
_REST_SHARE = 0.1
"""Of a core, that an instance takes which looks at its providers every second."""
_COMMAND = [sys.executable, "-c", "from harvest.cli.main import main; main()", "serve", "--config"]


@dataclass(frozen=True, slots=True)
class Served:
    """
    A running instance.

    Attributes:
        settings: Its settings.
        pid: Of the harvesting process; the front and all workers are its descendants.
        log: What it says.
    """

    settings: Settings
    pid: int
    log: Path

    @property
    def url(self) -> str:
        """Where it answers queries."""
        return f"http://{self.settings.bind}/sparql"

    def register(self, providers: dict[str, str]) -> None:
        """Make these all its providers, each with the URL of its VoID file."""
        text = "".join(f"{name}:\n  void: {url}\n" for name, url in providers.items())
        part = self.settings.registry.with_suffix(".part")
        part.write_text(text)
        part.rename(self.settings.registry)

    def version(self, name: str) -> int:
        """The version of a provider's graph; 0 until there is one, or while nobody answers."""
        try:
            with urllib.request.urlopen(f"http://{self.settings.bind}/providers/{name}.json", timeout=30) as response:
                return int(json.load(response)["version"] or 0)
        except OSError:
            return 0

    def until(self, name: str, version: int) -> None:
        """
        Wait until a version is published.

        Raises:
            Disagreement: It is not, in a quarter of an hour.
        """
        end = time.monotonic() + PATIENCE_S
        while self.version(name) < version:
            if time.monotonic() > end:
                logged = self.log.read_text(errors="replace")[-1000:]
                raise Disagreement(f"{name} had no version {version} within {PATIENCE_S:g} s: {logged}")
            time.sleep(_LOOK_S)

    def rest(self) -> None:
        """
        Wait until the instance has nothing to do: after an import the store compacts its files for some seconds.

        Raises:
            Disagreement: It goes on for a quarter of an hour.
        """
        end = time.monotonic() + PATIENCE_S
        while True:
            before = processor_s(self.pid)
            time.sleep(_REST_S)
            if processor_s(self.pid) - before < _REST_SHARE * _REST_S:
                return
            if time.monotonic() > end:
                raise Disagreement(f"the instance had work to do for {PATIENCE_S:g} s that nobody gave it")


@contextmanager
def serving(folder: Path, **query: Any) -> Iterator[Served]:
    """An instance without providers in `folder`, which is made; ended with the block."""
    folder.mkdir()
    (folder / "registry.yaml").write_text("")
    schedule = {"update": 1, "export": 3600, "status": 3600}
    settings = front.settings(folder, schedule=schedule, write_back=False, query=query)
    log = folder / "log"
    with log.open("wb") as said:
        command = [*_COMMAND, str(settings.file)]
        started = subprocess.Popen(command, cwd=front.ROOT, stdout=said, stderr=subprocess.STDOUT)
        with front.ended(started) as process:
            served = Served(settings, process.pid, log)
            front.until_answered(served.url, process)
            yield served
