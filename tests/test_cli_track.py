"""`harvest archive track`, as people call it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from harvest.config.loader import load_settings
from harvest.pipeline import Harvester, opened
from harvest.service.orders import Inbox
from tests.packages import install
from tests.provider import VOID, ProviderServer, dataset, serving
from tests.test_cli import Command

TTL = "<http://x/a> <http://x/p> <http://x/b> .\n"


@pytest.fixture
def provider() -> Iterator[ProviderServer]:
    with serving() as server:
        yield server


@pytest.fixture
def harvest(tmp_path: Path) -> Command:
    """An instance without providers."""
    (tmp_path / "harvest.yaml").write_text(
        "base_url: http://h.example\ngraph_base: http://h.example/graph/\ndata_dir: var\nexports_dir: exports\n"
        "http: {allow_loopback: true, retries: 0}\n"
    )
    (tmp_path / "registry.yaml").write_text("{}\n")
    return Command(tmp_path)


@pytest.fixture
def described(provider: ProviderServer) -> str:
    """A description with a dump."""
    return provider.put("/void.ttl", VOID + dataset("http://x/1", None, [provider.put("/a.ttl", TTL)]))


def test_a_session(harvest: Command, provider: ProviderServer, described: str) -> None:
    """What each URL gave and who asked; then the archive has it all, and nothing is new any more."""
    first = harvest("archive", "track", described)
    assert first.exit_code == 0, first.output
    one, two, last = first.stdout.splitlines()
    assert one.startswith("hash://sha256/") and one.endswith(f" {described}")
    assert two.startswith("  hash://sha256/") and two.endswith(f" {provider.url}/a.ttl  (void)")
    assert last == "2 resources, 2 new, 0 failed"
    assert harvest("archive", "get", f"{provider.url}/a.ttl").stdout == TTL
    assert harvest("archive", "verify").exit_code == 0
    again = harvest("archive", "track", described)
    assert "2 resources, 0 new, 0 failed" in again.stdout and again.stdout.count("known") == 2


def test_the_answer_as_json(harvest: Command, provider: ProviderServer, described: str) -> None:
    """The keys that others build on."""
    found = harvest.json("archive", "track", described, "--handler", "void", "--depth", "1", "--most", "10")
    assert isinstance(found, dict)
    assert (found["ok"], found["left"], found["findings"]) == (True, 0, [])
    _, dump = found["results"]
    assert {key: dump[key] for key in ("url", "handler", "asked_from", "depth", "new", "reason")} == {
        "url": f"{provider.url}/a.ttl", "handler": "void", "asked_from": described, "depth": 1, "new": True,
        "reason": None,
    }  # fmt: skip
    assert dump["media_type"] == "text/turtle" and dump["activity"].startswith("urn:uuid:")
    assert found["log"] in harvest("archive", "history").stdout
    replayed = harvest.json("archive", "track", "--replay", str(found["log"]))
    assert isinstance(replayed, dict) and [item["new"] for item in replayed["results"]] == [False, False]


def test_failures_are_reported_with_exit_code_1(
    harvest: Command, provider: ProviderServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Failures of downloads and of handlers; brackets in them are no markup."""
    install(tmp_path / "site", monkeypatch, "bad", {"bad": "bad:f"}, "def f(version): raise ValueError('[no]')")
    good = provider.put("/a.ttl", TTL)
    result = harvest("archive", "track", f"{provider.url}/gone[1]", good, "--most", "1")
    assert result.exit_code == 1
    assert f"failed {provider.url}/gone[1]" in result.stdout and "404" in result.stdout
    assert "1 more were not asked for" in result.stdout
    broken = harvest("archive", "track", good)
    assert broken.exit_code == 1
    assert f"handler bad of bad 1.2 failed over {good}: ValueError: [no]" in broken.stdout
    assert harvest("archive", "track", good, "--depth", "0").exit_code == 0


def test_a_package_that_cannot_be_loaded_is_a_warning(
    harvest: Command, provider: ProviderServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless it was asked for by name."""
    install(tmp_path / "site", monkeypatch, "bad", {"bad": "bad:f"}, "import there_is_no_such_module")
    good = provider.put("/a.ttl", TTL)
    result = harvest("archive", "track", good)
    assert result.exit_code == 0
    assert "handler-broken: the handler bad of bad 1.2 cannot be loaded: ModuleNotFoundError" in result.stdout
    assert harvest("archive", "track", good, "--handler", "bad").exit_code == 1


def test_wrong_use_is_reported(harvest: Command) -> None:
    """Nothing to track, no such handler, no such log."""
    assert harvest("archive", "track").exit_code == 2
    assert harvest("archive", "track", "http://x/", "--depth", "-1").exit_code == 2
    assert harvest("archive", "track", "http://x/", "--most", "0").exit_code == 2
    unknown = harvest("archive", "track", "http://x/", "--handler", "viod")
    assert unknown.exit_code == 1 and "nearest known handler is 'void'" in unknown.stderr
    missing = harvest("archive", "track", "--replay", "0" * 64)
    assert missing.exit_code == 1 and "holds nothing named" in missing.stderr
    answer = harvest("archive", "track", "http://x/", "--handler", "viod", "--json")
    assert answer.exit_code == 1 and json.loads(answer.stdout)["ok"] is False


def test_it_works_beside_a_running_instance(harvest: Command, described: str) -> None:
    """The process that has the data directory does it, and the command prints what came of it."""
    stop = threading.Event()

    def serve(inbox: Inbox) -> None:
        while not stop.wait(0.05):
            inbox.serve()

    with opened(load_settings(harvest.folder / "harvest.yaml", {})) as running:
        inbox = Inbox(Harvester(running))
        thread = threading.Thread(target=serve, args=(inbox,))
        thread.start()
        try:
            found = harvest.json("archive", "track", described)
        finally:
            stop.set()
            thread.join()
            inbox.stop()
        assert running.ledger.downloads.last(described) is not None
    assert isinstance(found, dict) and [item["handler"] for item in found["results"]] == [None, "void"]
