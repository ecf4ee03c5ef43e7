"""A replica follows its origin: the same versions, and of them the same files."""

from __future__ import annotations

import hashlib
import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
import requests
from click.testing import CliRunner

from harvest.cli.main import main
from harvest.config.loader import load_settings
from harvest.config.settings import HttpSettings
from harvest.errors import DescriptionError, SettingsError
from harvest.fetch.client import Client
from harvest.ledger import SitemapReading
from harvest.pipeline.following.origin import Asking
from harvest.service.following import as_replica
from harvest.service.orders import execute
from harvest.service.schedule import Scheduler
from harvest.service.serve import Front
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_semantics import A1, A2, B1, C1, release
from tests.ports import free_port
from tests.provider import ProviderServer, serving

BLANK = "<http://x/a> <http://x/at> [ <http://x/lat> 52 ; <http://x/lon> 4 ]"
TOKEN = "0123456789abcdef0123"


class Node:
    """An instance with a port for its web front, which runs while the node is `served`."""

    def __init__(self, folder: Path, origin: str = "") -> None:
        folder.mkdir(exist_ok=True)
        self.folder = folder
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self.file = folder / "harvest.yaml"
        self.file.write_text(
            f"base_url: {self.url}\nbind: 127.0.0.1:{port}\ngraph_base: {self.url}/graph/\ndata_dir: var\n"
            "exports_dir: exports\nhttp: {allow_loopback: true, retries: 0}\nguard: {floor: 1000000}\n"
            f"query: {{workers: 1, operator_token: {TOKEN}}}\n" + (f"follow: {origin}\n" if origin else "")
        )
        self.instance = TemporaryInstance(folder)
        self.instance.settings = as_replica(load_settings(self.file, {}))

    @contextmanager
    def served(self) -> Iterator[None]:
        assert self.instance.harvester  # whose ledger the front reads
        front = Front(load_settings(self.file, {}))
        front.start()
        try:
            yield
        finally:
            front.stop()

    def follow(self) -> bool:
        done = self.instance.harvester.maintenance.following.tick()
        self.instance.harvester.export()
        return done

    def files(self) -> dict[str, str]:
        """The digests of all files of the providers that hold statements, by their places."""
        data, found = self.instance.settings.data_dir, {}
        folders = [(data, "providers/*/*.nq"), (data, "providers/*/*.gz"), (data, "providers/*/changes/*")]
        for folder, pattern in (*folders, (data, "resourcesync/*/dataset.nq"), (self.folder / "exports", "*.nq.gz")):
            for path in folder.glob(pattern):
                found[str(path.relative_to(folder))] = hashlib.sha256(path.read_bytes()).hexdigest()
        return found

    def versions(self, name: str = "p") -> list[int]:
        return [version.n for version in self.instance.harvester.instance.ledger.versions(name)]


class Publisher:
    """A node that harvests a provider."""

    def __init__(self, folder: Path, provider: ProviderServer) -> None:
        self.node = Node(folder)
        self.provider = provider
        self.day = 0
        self.node.instance.register(
            f"p:\n  void: {provider.url}/void.ttl\n  removals: mirror\nnotes:\n  updates: true\n"
        )

    def publish(self, *lines: str, partial: bool = False) -> None:
        self.day += 1
        release(self.provider, self.day, *lines, partial=partial)
        [result] = self.node.instance.tick("p")
        assert result.outcome.value == "committed"

    def note(self, text: str) -> None:
        graph = self.node.instance.settings.graph("notes")
        self.node.instance.harvester.update(
            f'INSERT DATA {{ GRAPH <{graph}> {{ <http://n/1> <http://n/p> "{text}" }} }}'
        )


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Publisher]:
    with serving() as provider:
        made = Publisher(tmp_path_factory.mktemp("origin"), provider)
        with made.node.served():
            yield made
        made.node.instance.close()


@pytest.fixture
def node(origin: Publisher, tmp_path: Path) -> Iterator[Callable[[], Node]]:
    """Makes a replica of the origin."""
    with ExitStack() as stack:

        def make() -> Node:
            made = Node(tmp_path / "replica", origin.node.url)
            stack.callback(made.instance.close)
            return made

        yield make


def test_a_replica_ends_with_the_files_of_its_origin(origin: Publisher, node: Callable[[], Node]) -> None:
    """Snapshots, changes, datasets and exports, after full and partial harvests and updates, and a compaction."""
    origin.publish(A1, BLANK)
    origin.note("one")
    replica = node()
    assert replica.instance.settings.graph_base == origin.node.instance.settings.graph_base
    assert replica.follow()
    origin.publish(A2, B1, BLANK)
    origin.publish("<http://x/new> <http://x/p> 1", partial=True)
    origin.note("two")
    assert replica.follow() and replica.versions() == origin.node.versions()
    origin.node.instance.harvester.export()
    assert replica.files() == origin.node.files() and len(replica.files()) > 8
    assert replica.instance.graph("p") == origin.node.instance.graph("p")
    origin.publish(A1, C1)
    origin.node.instance.harvester.maintenance.compact("p", 2)
    assert replica.follow()  # it lies before the baseline's change, or on it
    origin.node.instance.harvester.export()
    assert replica.files() == origin.node.files() and replica.versions() == origin.node.versions()
    proofs = [proof for proof in replica.instance.harvester.maintenance.prove_all() if not proof.holds]
    assert proofs == []


def test_a_replica_that_is_far_behind_begins_with_the_baseline(origin: Publisher, node: Callable[[], Node]) -> None:
    """Also a new one, and after a restart."""
    origin.publish(A1, '<http://x/far> <http://x/p> "1"')
    replica = node()
    assert replica.follow()
    for n in range(3):
        origin.publish(A1, f'<http://x/far> <http://x/p> "behind {n}"')
    origin.node.instance.harvester.maintenance.compact("p", 2)
    replica.instance.close()
    assert replica.follow() and replica.versions() == origin.node.versions()
    origin.node.instance.harvester.export()
    assert replica.files() == origin.node.files()
    assert all(proof.holds for proof in replica.instance.harvester.maintenance.prove_all())
    origin.publish(A2)
    assert replica.follow() and replica.versions() == origin.node.versions()


@pytest.fixture
def large(tmp_path: Path) -> Iterator[tuple[Publisher, Node, Callable[[int], list[str]]]]:
    """An origin of 100,200 statements and a replica that has them; and the lines of a version."""

    def lines(changed: int) -> list[str]:
        return [f'<http://x/{n}> <http://x/p> "{n if n >= changed else -n}"' for n in range(100_200)]

    with serving() as provider:
        origin = Publisher(tmp_path / "origin", provider)
        with origin.node.served():
            origin.publish(*lines(0))
            replica = Node(tmp_path / "replica", origin.node.url)
            assert replica.follow()
            yield origin, replica, lines
        replica.instance.close()
        origin.node.instance.close()


class StoppedHere(Exception):
    """Raised where a process would have been killed."""


def test_a_small_change_of_a_large_graph_is_read_before_its_snapshot_is_written(
    large: tuple[Publisher, Node, Callable[[int], list[str]]],
) -> None:
    """A replica that ends in between has the version, and its snapshot when the next export needs it."""
    origin, replica, lines = large
    origin.publish(*lines(50))
    seen: list[tuple[str, int, bool]] = []
    folder = replica.folder / "var" / "providers" / "p"

    def on_step(name: str, step: str) -> None:
        if step == "snapshot":
            assert '<http://x/7> <http://x/p> "-7"' in replica.instance.graph("p")
            seen.append((step, len(replica.instance.graph("p")), (folder / "snapshot-000002.nq").exists()))
            raise StoppedHere

    replica.instance.at_step = on_step
    with pytest.raises(StoppedHere):
        replica.follow()
    assert seen == [("snapshot", 100_200, False)] and replica.versions() == [1, 2]
    replica.instance.close()
    replica.instance.at_step = lambda name, step: None
    origin.publish(*lines(60))
    assert replica.follow() and replica.versions() == [1, 2, 3]
    origin.node.instance.harvester.export()
    assert replica.files() == origin.node.files()
    assert all(proof.holds for proof in replica.instance.harvester.maintenance.prove_all())


@pytest.mark.long
def test_a_snapshot_that_is_not_that_of_the_origin_is_reported(
    large: tuple[Publisher, Node, Callable[[int], list[str]]],
) -> None:
    """Here a value was changed in the replica's own file; nothing is exported of it."""
    origin, replica, lines = large
    snapshot = replica.folder / "var" / "providers" / "p" / "snapshot-000001.nq"
    snapshot.write_bytes(snapshot.read_bytes().replace(b'"99999"', b'"99998"'))
    origin.publish(*lines(50))
    assert not replica.instance.harvester.maintenance.following.tick()
    assert replica.versions() == [1, 2] and not snapshot.with_name("snapshot-000002.nq").exists()
    [finding] = replica.instance.harvester.instance.ledger.damages.of("p")
    assert "version 2 comes to SHA-256 " in finding.message and f"by {origin.node.url}" in finding.message
    assert [proof.what for proof in replica.instance.harvester.maintenance.prove_all() if not proof.holds]


@pytest.mark.long
def test_a_change_of_another_graph_is_refused(large: tuple[Publisher, Node, Callable[[int], list[str]]]) -> None:
    """Here the statement that goes is gone from the replica's own file."""
    origin, replica, lines = large
    snapshot = replica.folder / "var" / "providers" / "p" / "snapshot-000001.nq"
    snapshot.write_bytes(snapshot.read_bytes().replace(b'"49"', b'"48"'))
    origin.publish(*lines(50))
    assert not replica.instance.harvester.maintenance.following.tick()
    assert replica.versions() == [1]


def test_a_replica_takes_no_orders_and_no_updates(origin: Publisher, node: Callable[[], Node]) -> None:
    """The reason names the origin."""
    origin.publish(A1, '<http://x/orders> <http://x/p> "1"')
    replica = node()
    sitemaps = replica.instance.harvester.instance.ledger.sitemaps
    sitemaps.read("http://127.0.0.1:9/sitemap.xml", SitemapReading(None, None, 0, 0), datetime(2025, 1, 1, tzinfo=UTC))
    Scheduler(replica.instance.harvester).update()  # a tick
    assert [(each.failures, each.next_read.year) for each in sitemaps.all()] == [(0, 2025)]  # it has no seed list
    assert replica.versions() == origin.node.versions()
    for command in ("run", "compact", "forget", "rebuild"):
        answer = execute(replica.instance.harvester, command, ["p", "1"])
        assert not answer["ok"] and f"read-only replica of {origin.node.url}" in answer["error"]
    assert execute(replica.instance.harvester, "verify", [])["ok"]
    with replica.served():
        answer = requests.post(
            f"{replica.url}/sparql",
            data={"update": "INSERT DATA { GRAPH <http://g> { <http://a> <http://b> 1 } }"},
            headers={"Authorization": f"Bearer {TOKEN}"},
            timeout=240,
        )
        assert answer.status_code == 403 and f"{origin.node.url}/sparql" in answer.text
        known = requests.get(f"{replica.url}/follow.json", timeout=240).json()
        assert known["origin"] == origin.node.url
        assert known["graph_base"] == origin.node.instance.settings.graph_base
        assert requests.get(f"{replica.url}/providers/p.json", timeout=240).json()["state"] == "idle"


def test_a_directory_that_was_something_else_is_refused(origin: Publisher, node: Callable[[], Node]) -> None:
    """An instance of its own, or the replica of another origin: nothing is changed."""
    with pytest.raises(SettingsError, match="holds an instance of its own"):
        as_replica(replace(origin.node.instance.settings, follow="http://other.example"))
    replica = node()
    with pytest.raises(SettingsError, match="is a replica of"):
        as_replica(replace(replica.instance.settings, follow="http://other.example"))


@pytest.mark.parametrize("words", [("run",), ("export",), ("seeds", "add", "http://x/a"), ("seeds", "list")])
def test_a_command_before_the_first_start_leaves_room_for_the_replica(
    origin: Publisher, tmp_path: Path, words: tuple[str, ...]
) -> None:
    """It is refused and makes no ledger, which the first start would take for another instance."""
    file = tmp_path / "harvest.yaml"
    file.write_text(
        f"base_url: http://h.example\ndata_dir: var\nfollow: {origin.node.url}\nhttp: {{allow_loopback: true}}\n"
    )
    (tmp_path / "registry.yaml").write_text("{}\n")
    found = CliRunner().invoke(main, [*words, "--config", str(file)])
    assert found.exit_code == 1 and "`harvest serve` makes it one at its first start" in found.stderr
    made = as_replica(load_settings(file, {}))
    assert made.graph_base == origin.node.instance.settings.graph_base
    later = CliRunner().invoke(main, ["seeds", "add", "http://x/b", "--config", str(file)])
    assert later.exit_code == 1 and f"read-only replica of {origin.node.url}" in later.stderr


def test_what_is_to_be_followed_is_an_address(tmp_path: Path) -> None:
    """Anything else is wrong use, before anything is opened."""
    file = tmp_path / "harvest.yaml"
    file.write_text("data_dir: var\n")
    found = CliRunner().invoke(main, ["serve", "--config", str(file), "--follow", "origin"])
    assert found.exit_code == 2 and "--follow is the http or https address" in found.output
    assert not (tmp_path / "var").exists()


def test_an_origin_that_is_away_leaves_what_is_there(
    origin: Publisher, node: Callable[[], Node], tmp_path: Path
) -> None:
    """The replica serves on, and follows when the origin is back; a provider that it forgot is forgotten here."""
    with serving() as provider:
        other = Publisher(tmp_path / "other", provider)
        with other.node.served():
            other.publish(A1)
            other.note("a")
            replica = Node(tmp_path / "away", other.node.url)
            assert replica.follow()
        assert not replica.follow() and replica.versions() == [1]
        replica.instance.close()
        assert not replica.follow() and replica.versions() == [1]
        other.publish(A2)
        other.node.instance.register(f"p:\n  void: {provider.url}/void.ttl\n  removals: mirror\n")
        other.node.instance.harvester.forget("notes")
        with other.node.served():
            assert replica.follow()
        assert replica.versions() == [1, 2] and replica.versions("notes") == []
        other.node.instance.harvester.export()
        assert replica.files() == other.node.files()
        replica.instance.close()
        other.node.instance.close()


def killed(node: Node, moment: int) -> None:
    """Let a node do its work in a process that kills itself at the given step; the next of them does what is left."""
    node.instance.close()
    subprocess.run(
        [sys.executable, "-m", "tests.crash_following", str(node.file), str(moment)], timeout=120, check=False
    )


def chain(folder: Path, seed: int, rounds: int) -> None:
    """Play an origin, its replica and the replica of that, each killed once a round, and compare them in the end."""
    chance = random.Random(seed)
    with serving() as provider, ExitStack() as stack:
        first = Publisher(folder / "first", provider)
        first.publish(A1, BLANK)
        nodes = [first.node]
        for name in ("second", "third"):
            stack.enter_context(nodes[-1].served())
            nodes.append(Node(folder / name, nodes[-1].url))
            assert nodes[-1].follow()
        for _ in range(rounds):
            first.day += 1
            lines = [f'<http://x/{chance.randrange(9)}> <http://x/p> "{first.day}"' for _ in range(5)]
            release(provider, first.day, *lines, partial=chance.random() < 0.3)
            for each in nodes:
                killed(each, chance.randrange(1, 40))
                each.instance.tick("p") if each is first.node else None
            if chance.random() < 0.3:
                first.node.instance.harvester.maintenance.compact("p", chance.randrange(1, 4))
        first.node.instance.tick("p")
        first.node.instance.harvester.export()
        for each in nodes[1:]:
            assert each.follow()
        assert nodes[0].files() == nodes[1].files() == nodes[2].files()
        assert nodes[0].versions() == nodes[1].versions() == nodes[2].versions()
        for each in nodes:
            assert [p for p in each.instance.harvester.maintenance.prove_all() if not p.holds] == []
            each.instance.close()


@pytest.mark.long
@pytest.mark.timeout(900)
def test_three_in_a_chain_that_are_killed_end_the_same(tmp_path: Path) -> None:
    """A short one; the long one below has other seeds and more rounds."""
    chain(tmp_path, 1, 1)


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("seed", range(5))
def test_three_in_a_long_chain_that_are_killed_end_the_same(tmp_path: Path, seed: int) -> None:
    """Whatever step each of them was in."""
    chain(tmp_path, 100 + seed, 12)


@pytest.mark.parametrize(
    ("name", "graph"),
    [
        ("../p", "http://o.example/graph/../p"),
        ("p", "http://o.example/graph/harvest-metadata"),
        (7, "http://o.example/7"),
    ],
)
def test_an_origin_names_no_file_and_no_graph_but_those_of_its_providers(
    tmp_path: Path, name: object, graph: str
) -> None:
    """Names become folders here."""
    said = {"name": name, "graph": graph, "version": 1, "baseline": 0, "at": "2026-01-01T00:00:00+00:00"}
    known = {"format": 1, "graph_base": "http://o.example/graph/", "providers": [said]}
    client = Client(HttpSettings(allow_loopback=True), "http://h.example")
    with serving() as server:
        server.put("/follow.json", json.dumps(known), "application/json")
        with pytest.raises(DescriptionError, match="no document of an instance that can be followed"):
            Asking(client, server.url, tmp_path).state()
    client.close()
