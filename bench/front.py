"""The two servers that are compared: our web front, and `oxigraph serve-read-only` over the same generation."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from bench import peer
from bench.data import Recipe
from bench.errors import BenchError
from bench.ground import Ground, millions
from bench.instance import instance
from bench.provider import provider
from harvest.config.loader import load_settings
from harvest.config.settings import Settings
from harvest.service.serve import free_port

READY_S = 30.0
STOP_S = 15.0
ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, slots=True)
class Server:
    """
    A running server.

    Attributes:
        url: Where it answers queries.
        pid: The process that was started.
    """

    url: str
    pid: int


def served(ground: Ground, triples: int) -> Path:
    """
    The folder of an instance that harvested a generated catalogue as provider `p`, for fronts to stand on.

    It is made once, and again used by whoever names the same folder with `--keep`.
    """
    recipe = Recipe(triples)
    source = ground.source(recipe)
    folder = source.with_name(f"served-{triples}")
    if not (folder / "made").exists():
        shutil.rmtree(folder, ignore_errors=True)
        ground.say(f"importing {millions(triples)}")
        with ground.room("first") as room, provider(room / "served") as first:
            first.announce("p", source)
            with instance(folder, {"p": f"{first.url}/p.ttl"}) as made:
                made.harvest("p")
        (folder / "made").touch()
    return folder


def settings(folder: Path, **changed: Any) -> Settings:
    """The settings of an instance as `bench.instance` makes it, from a file, as `harvest serve` reads them."""
    port = free_port()
    entries = {
        "base_url": f"http://127.0.0.1:{port}",
        "bind": f"127.0.0.1:{port}",
        "graph_base": "http://bench.example/graph/",
        "registry": "registry.yaml",
        "data_dir": "var",
        "exports_dir": "exports",
        "http": {"allow_loopback": True, "retries": 0},
    }
    file = folder / "harvest.yaml"
    file.write_text(yaml.safe_dump(entries | changed))
    return load_settings(file, {})


@contextmanager
def ours(folder: Path, **query: Any) -> Iterator[Server]:
    """Our front over an instance's folder, with an empty cache; `query` are settings of that section."""
    # A machine that others keep busy must not end what is measured.
    # The peer's default graph is the union of all graphs.
    found = settings(folder, query={"timeout_s": 600, "listed_graphs": 0} | query)
    shutil.rmtree(found.data_dir / "cache", ignore_errors=True)
    # The command that `harvest serve` starts its front by.
    command = [sys.executable, "-m", "harvest.service.serve", str(os.getpid())]
    with _server(command, f"http://{found.bind}/sparql", {"HARVEST_CONFIG": str(found.file)}) as server:
        yield server


@contextmanager
def theirs(folder: Path) -> Iterator[Server]:
    """`oxigraph serve-read-only` over the generation that our front reads, with the same default graph."""
    bind = f"127.0.0.1:{free_port()}"
    generation = (folder / "var" / "store" / "current").resolve()
    command = [peer.oxigraph(), "serve-read-only", "--location", str(generation), "--union-default-graph"]
    with _server([*command, "--bind", bind], f"http://{bind}/query", {}) as server:
        yield server


@contextmanager
def _server(command: Sequence[str], url: str, environment: dict[str, str]) -> Iterator[Server]:
    """A process that answers queries at `url`; ended with the block."""
    variables = os.environ | environment
    with ended(subprocess.Popen(command, env=variables, cwd=ROOT, stderr=subprocess.DEVNULL)) as process:
        until_answered(url, process)
        yield Server(url, process.pid)


@contextmanager
def ended(process: subprocess.Popen[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    """A process that gets SIGTERM at the end of the block, and SIGKILL if it does not end."""
    with process:
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()


def until_answered(url: str, process: subprocess.Popen[bytes]) -> None:
    """
    Wait until a server answers a query.

    Raises:
        BenchError: It does not, in half a minute.
    """
    end = time.monotonic() + READY_S
    while time.monotonic() < end and process.poll() is None:
        with suppress(urllib.error.HTTPError, OSError):
            urllib.request.urlopen(f"{url}?query=ASK%7B%7D", timeout=5).close()
            return
        time.sleep(0.02)
    raise BenchError(f"{url} did not answer a query within {READY_S:g} s")
