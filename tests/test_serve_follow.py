"""`harvest serve --follow URL` as an operator runs it, beside a `harvest serve` that it follows: two instances."""

from __future__ import annotations

import hashlib
import random
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.pipeline.test_semantics import A1, A2, B1, C1, release
from tests.ports import free_port
from tests.processes import descendants, is_running
from tests.provider import ProviderServer, serving
from tests.test_serve import Served, launch


class Running:
    """
    An instance in a folder, started, ended and killed by the id of its process.

    Attributes:
        served: The process, with what its front answers.
    """

    def __init__(self, folder: Path, *words: str, registry: str = "{}\n") -> None:
        folder.mkdir()
        port = free_port()
        (folder / "harvest.yaml").write_text(
            f"base_url: http://127.0.0.1:{port}\nbind: 127.0.0.1:{port}\ngraph_base: http://127.0.0.1:{port}/graph/\n"
            "data_dir: var\nexports_dir: exports\nhttp: {allow_loopback: true}\nguard: {floor: 1000000}\n"
            "schedule: {update: 1, export: 1}\nquery: {workers: 1}\n"
        )
        (folder / "registry.yaml").write_text(registry)
        self._words = words
        self._port = port
        self._folder = folder
        self.start()

    def start(self) -> None:
        process = launch(self._folder, "serve", *self._words)
        self.served = Served(self._folder, self._port, process)

    def end(self, number: signal.Signals) -> int:
        """Send a signal to the process; its exit status, once all its processes are gone and the port is free."""
        process = self.served.process
        below = descendants(process.pid)
        process.send_signal(number)
        process.communicate(timeout=240)
        gone = Served(self._folder, self._port, process)
        gone.until(lambda: not any(is_running(pid) for pid in below), "the processes of the instance are gone")
        return process.returncode

    def files(self) -> dict[str, str]:
        """The digests of snapshots, changes, datasets and exports, by their places; of those that are there now."""
        data, found = self._folder / "var", {}
        folders = [(data, "providers/*/*.nq"), (data, "providers/*/changes/*"), (data, "resourcesync/*/dataset.nq")]
        for folder, pattern in (*folders, (self._folder / "exports", "*.nq.gz")):
            for path in folder.glob(pattern):
                try:
                    found[str(path.relative_to(folder))] = hashlib.sha256(path.read_bytes()).hexdigest()
                except FileNotFoundError:
                    continue  # a newer one took its place
        return found


class Pair:
    """An origin that harvests a provider, and its replica."""

    def __init__(self, folder: Path, provider: ProviderServer) -> None:
        self.provider = provider
        self.day = 0
        entry = f"p:\n  void: {provider.url}/void.ttl\n  removals: mirror\n"
        self.publish(A1)
        self.origin = Running(folder / "origin", registry=entry)
        self.replica: Running | None = None
        try:
            self.origin.served.until(lambda: self.origin.served.provider()["version"] == 1, "the first version")
            self.replica = Running(folder / "replica", "--follow", self.origin.served.url)
        except BaseException:
            self.close()
            raise

    def publish(self, *lines: str) -> None:
        self.day += 1
        release(self.provider, self.day, *lines)

    def harvested(self) -> None:
        """Return once the origin has what was published last; a dump may be overtaken by the one after it."""
        day = f"-01-{self.day:02d}"
        self.origin.served.until(lambda: day in str(self.origin.served.provider()["modified"]), "the last dump")

    def alike(self, version: int) -> None:
        """Return once both are at a version and have the same files, to the byte."""
        assert self.replica is not None
        origin, replica = self.origin, self.replica
        for each in (origin, replica):
            each.served.until(lambda each=each: each.served.provider()["version"] == version, f"version {version}")
        change = f"providers/p/changes/{version:06d}.nqud.gz"
        replica.served.until(
            lambda: change in (found := replica.files()) and len(found) >= 5 and found == origin.files(),
            f"the files of version {version}",
        )

    def close(self) -> None:
        for each in filter(None, (self.replica, self.origin)):
            if each.served.process.poll() is None:
                each.end(signal.SIGKILL)


@contextmanager
def pair(folder: Path) -> Iterator[Pair]:
    with serving() as provider:
        made = Pair(folder, provider)
        try:
            yield made
        finally:
            made.close()


@pytest.mark.long
@pytest.mark.timeout(600)
def test_a_replica_has_the_files_of_its_origin(tmp_path: Path) -> None:
    """What was there before its first start, and what is published then."""
    with pair(tmp_path) as both:
        both.publish(A2, B1)
        both.alike(2)


@pytest.mark.long
@pytest.mark.timeout(600)
def test_a_replica_that_is_killed_goes_on_where_its_origin_is(tmp_path: Path) -> None:
    """It has the files of the origin after a start, a change, and what was published while it was dead."""
    with pair(tmp_path) as both:
        both.alike(1)
        both.publish(A2, B1)
        both.alike(2)
        assert both.replica is not None
        assert both.replica.end(signal.SIGKILL) == -signal.SIGKILL
        both.publish(A1, C1)
        both.origin.served.until(lambda: both.origin.served.provider()["version"] == 3, "a version while it is dead")
        both.replica.start()
        both.alike(3)
        graph = f"{both.origin.served.url}/graph/p"
        asked = f"/sparql?query={quote(f'ASK {{ GRAPH <{graph}> {{ <http://x/c> ?p ?o }} }}')}"
        replica = both.replica.served
        replica.until(lambda: b"true" in replica.get(asked, "application/sparql-results+json"), "version 3 in SPARQL")
        assert both.replica.end(signal.SIGTERM) == 0 and both.origin.end(signal.SIGTERM) == 0


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", range(3))
def test_both_are_killed_at_any_moment_and_end_alike(tmp_path: Path, seed: int) -> None:
    """Origin and replica, in turn or together, while changes come; the replica has all versions in the end."""
    chance = random.Random(seed)
    with pair(tmp_path) as both:
        assert both.replica is not None
        for _ in range(8):
            both.publish(*(f'<http://x/{chance.randrange(9)}> <http://x/p> "{both.day}"' for _ in range(5)))
            victims = chance.choice([(both.replica,), (both.origin,), (both.replica, both.origin)])
            if chance.random() < 0.5:  # else at once, in whatever they begin with
                both.harvested()
            for each in victims:
                each.end(signal.SIGKILL)
            for each in victims:
                each.start()
        both.harvested()
        both.alike(int(both.origin.served.provider()["version"]))
        assert both.replica.end(signal.SIGTERM) == 0 and both.origin.end(signal.SIGTERM) == 0
