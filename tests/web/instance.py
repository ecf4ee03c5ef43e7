"""A small instance on loopback: a catalog in a folder, a store, and the real server in a process of its own."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import requests

from sparql.reports import (
    DocumentPage,
    IngestReport,
    PackedFile,
    ProviderReport,
    ProviderSummary,
    PublishedVersion,
    QueueReport,
    RunPage,
    RunReport,
    RunSummary,
    SeedList,
    SeedPage,
    StatisticsReport,
    StatusReport,
    VersionPage,
    VersionReport,
)
from sparql.web.app import Application, create_app
from sparql.web.catalog import Site
from sparql.worker.limits import QueryLimits
from tests.ports import free_port
from tests.web.records import statistics_of

VARIABLE = "SPARQL_TEST_INSTANCE"
ROOT = Path(__file__).resolve().parents[2]


class FolderCatalog:
    """A catalog whose records stand in `catalog.pickle` and whose files lie beside it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.exports_dir = folder / "exports"
        self.resourcesync_dir = folder / "resourcesync"

    def export_address(self, file: str, sha256: str) -> str | None:
        return None

    def providers(self) -> list[ProviderReport]:
        return list(self._read()["providers"])

    def summaries(self) -> list[ProviderSummary]:
        return [_summary(provider) for provider in self.providers()]

    def several(self, names: Sequence[str]) -> list[ProviderReport]:
        return [provider for provider in self.providers() if provider.name in names]

    def provider(self, name: str) -> ProviderReport | None:
        return next((provider for provider in self.providers() if provider.name == name), None)

    def ingests(self) -> list[IngestReport]:
        return [provider.ingest for provider in self.providers() if provider.ingest]

    def dump_receipt(self, name: str, digest: str) -> bytes | None:
        return None

    def receipt(self, name: str) -> bytes | None:
        path = self._folder / f"{name}.ttl"
        return path.read_bytes() if path.is_file() else None

    def statistics(self, name: str) -> StatisticsReport | None:
        found = self._read().get("statistics", {}).get(name)
        return None if found is None else statistics_of(found)

    def versions(self, name: str) -> list[VersionReport]:
        return list(self._read()["versions"].get(name, []))

    def runs(self, name: str) -> list[RunReport]:
        return list(self._read()["runs"].get(name, []))

    def run_page(self, name: str, page: int) -> RunPage:
        runs = tuple(self.runs(name))
        return RunPage(name, len(runs), page, 1, runs if page == 1 else ())

    def latest(self, page: int) -> VersionPage:
        found = [
            PublishedVersion(name, version) for name in self._read()["versions"] for version in self.versions(name)
        ]
        found.sort(key=lambda each: each.version.at, reverse=True)
        return VersionPage(page, 1, tuple(found) if page == 1 else ())

    def run(self, name: str, id: int) -> RunReport | None:
        return next((run for run in self.runs(name) if run.id == id), None)

    def sizes(self, names: Sequence[str], most: int) -> dict[str, list[VersionReport]]:
        return {name: found[-most:] for name in names if (found := self.versions(name))}

    def change(self, name: str, n: int) -> PackedFile | None:
        path = self._folder / "changes" / f"{name}-{n}.nqud.gz"
        return PackedFile(path, _length(path)) if path.is_file() else None

    def version(self, name: str, n: int) -> Iterator[bytes] | None:
        path = self._folder / "versions" / f"{name}-{n}.nq"
        return _lines(path) if path.is_file() else None

    def status(self) -> StatusReport:
        return StatusReport(tuple(self.providers()), 0, {}, None, None, 0, self.queue())

    def queue(self) -> QueueReport:
        return QueueReport((), (), (), (), {}, None, None)

    def content(self, sha256: str) -> Path | None:
        path = self._folder / "content" / sha256
        return path if path.is_file() else None

    def documents(self, state: str | None, page: int) -> SeedList:
        return SeedList((), state, page, pages=1, total=0, states={}, relative=0)

    def document(self, hash: str, page: int) -> SeedPage | DocumentPage | None:
        return None

    def document_turtle(self, hash: str) -> bytes | None:
        return None

    def _read(self) -> dict[str, Any]:
        found: dict[str, Any] = pickle.loads((self._folder / "catalog.pickle").read_bytes())
        return found


def _summary(provider: ProviderReport) -> ProviderSummary:
    run = provider.last_run
    return ProviderSummary(
        name=provider.name,
        state=provider.state,
        modified=provider.modified,
        version=provider.version,
        triples=provider.triples,
        last_run=RunSummary(run.id, run.started, run.ended, run.outcome, run.step) if run else None,
        next_check=provider.next_check,
        title=next((about.title for about in provider.about), None),
        tried=provider.trouble.at if provider.trouble else None,
    )


def _length(path: Path) -> int:
    """Of what a compressed file holds; 0 where it is damaged, which the pages are to find."""
    try:
        return len(gzip.decompress(path.read_bytes()))
    except (OSError, EOFError):
        return 0


def _lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a version; one that says BREAK stands for a disk that fails."""
    with path.open("rb") as lines:
        for line in lines:
            if line == b"BREAK\n":
                raise OSError("the disk failed")
            yield line


def application() -> Application:
    """The application of the process that `Server` starts."""
    settings = json.loads(os.environ[VARIABLE])
    limits = QueryLimits(**settings["limits"])
    queries = Path(settings["queries"]) if settings["queries"] else None
    site = Site(settings["base_url"], graph_base=f"{settings['base_url']}/graph/", queries=queries)
    root = Path(settings["root"])
    return create_app(FolderCatalog(Path(settings["folder"])), root, limits, site, root / "cache")


@dataclass
class Server:
    """
    A running server.

    Attributes:
        url: Its address, without a slash at the end.
        process: The server; its children are the front and the query workers.
    """

    url: str
    process: subprocess.Popen[bytes]

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(60)


def serve(
    folder: Path,
    root: Path,
    limits: QueryLimits,
    healthy: bool = True,
    base_url: str = "",
    queries: Path | None = None,
) -> Server:
    """Start a server over a catalog folder and a store, and wait until it answers, and can answer queries too."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    settings = {"folder": str(folder), "root": str(root), "limits": asdict(limits), "base_url": base_url or url}
    settings["queries"] = str(queries or "")
    command = f"from sparql.web.server import run; run('tests.web.instance:application', '127.0.0.1', {port})"
    environ = {**os.environ, VARIABLE: json.dumps(settings), "PYTHONPATH": str(ROOT)}
    server = Server(url, subprocess.Popen([sys.executable, "-c", command], cwd=ROOT, env=environ))
    _wait(server, healthy)
    return server


def _wait(server: Server, healthy: bool) -> None:
    end = time.monotonic() + 120
    while time.monotonic() < end and server.process.poll() is None:
        try:
            if requests.get(f"{server.url}/healthz", timeout=5).status_code == 200 or not healthy:
                return
        except (requests.ConnectionError, requests.Timeout):
            pass
        time.sleep(0.05)
    server.stop()
    raise AssertionError("the server did not start")


def export(folder: Path, name: str, data: bytes) -> None:
    """Write an export and its digest, each in one step, as the platform does."""
    folder.mkdir(parents=True, exist_ok=True)
    digest = f"{hashlib.sha256(data).hexdigest()}  {name}\n".encode()
    for file, contents in ((name, data), (f"{name}.sha256", digest)):
        temporary = folder / f".{file}.tmp"
        temporary.write_bytes(contents)
        temporary.replace(folder / file)
