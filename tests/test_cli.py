"""The commands, as people call them: what they print, and how they exit."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harvest.cli.main import main
from tests.pipeline.test_semantics import A1, A2, B1, release
from tests.provider import ProviderServer, serving

REPOSITORY = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Command:
    """Calls `harvest` with the settings of a folder."""

    folder: Path

    def __call__(self, *words: str) -> Result:
        return CliRunner().invoke(main, [*words, "--config", str(self.folder / "harvest.yaml")])

    def json(self, *words: str) -> object:
        result = self(*words, "--json")
        return json.loads(result.stdout)


@pytest.fixture
def provider() -> Iterator[ProviderServer]:
    with serving() as server:
        yield server


@pytest.fixture
def harvest(tmp_path: Path, provider: ProviderServer) -> Command:
    (tmp_path / "harvest.yaml").write_text(
        "base_url: http://h.example\ngraph_base: http://h.example/graph/\ndata_dir: var\nexports_dir: exports\n"
        "http: {allow_loopback: true, retries: 0}\nguard: {floor: 0, share: 0.2}\n"
    )
    (tmp_path / "registry.yaml").write_text(f"p:\n  void: {provider.url}/void.ttl\n  removals: mirror\n")
    return Command(tmp_path)


def test_a_session_from_first_harvest_to_proof(harvest: Command, provider: ProviderServer) -> None:
    """run, status, history, diff, query, export, verify: each shows what the one before did."""
    release(provider, 1, A1, B1)
    first = harvest("run")
    assert first.exit_code == 0 and "committed" in first.stdout and "+2 -0" in first.stdout
    release(provider, 2, A1, A2, B1)
    assert harvest("run", "p").exit_code == 0
    table = harvest("status")
    assert table.exit_code == 0 and "idle" in table.stdout
    assert "+1" in harvest("history", "p").stdout
    diff = harvest("diff", "p", "1", "2")
    assert diff.stdout == f"+{A2} <http://h.example/graph/p> .\n"
    assert harvest("diff", "p", "2", "1").stdout == f"-{A2} <http://h.example/graph/p> .\n"
    assert harvest("diff", "p", "0", "1").stdout.count("\n") == 2
    count = harvest("query", "SELECT (COUNT(*) AS ?n) { GRAPH <http://h.example/graph/p> { ?s ?p ?o } }")
    assert count.stdout.splitlines()[-1] == "3"
    assert "p.nq.gz" in harvest("export").stdout
    assert "all exports are current" in harvest("export").stdout
    proof = harvest("verify")
    assert proof.exit_code == 0 and proof.stdout.count("ok ") == 14


def test_status_has_the_promised_shape(harvest: Command, provider: ProviderServer) -> None:
    """The keys that others build on are there, before the first harvest and after it."""
    release(provider, 1, A1)
    harvest("run")
    [item] = harvest.json("status")  # type: ignore[misc]  # a list with one object
    assert {
        "name", "graph", "state", "modified", "version", "triples", "last_run", "findings", "next_check",
    } <= item.keys()  # fmt: skip
    assert (item["name"], item["graph"], item["state"]) == ("p", "http://h.example/graph/p", "idle")
    assert (item["modified"], item["version"], item["triples"]) == ("2026-01-01T00:00:00Z", 1, 1)
    run = item["last_run"]
    assert {"started", "ended", "outcome", "added", "removed", "vanished_subjects", "dumps"} <= run.keys()
    assert run["outcome"] == "committed"
    assert {"url", "sha256", "bytes", "media_type"} <= run["dumps"][0].keys()


def test_a_failing_dump_is_reported_with_its_place_and_exits_with_1(harvest: Command, provider: ProviderServer) -> None:
    """The line itself is shown; the exit code says that something failed."""
    release(provider, 1, "<http://x/a> <http://p> oops")
    result = harvest("run", "p")
    assert result.exit_code == 1
    assert "line 1" in result.stdout and "oops" in result.stdout


def test_what_is_held_is_approved(harvest: Command, provider: ProviderServer) -> None:
    """`run` says that it is held and how to let it through, exits with 1, and `approve` commits it."""
    release(provider, 1, A1, B1)
    harvest("run")
    release(provider, 2, A1)
    held = harvest("run")
    assert held.exit_code == 1 and "harvest approve p" in held.stdout
    approved = harvest("approve", "p")
    assert approved.exit_code == 0 and "committed" in approved.stdout
    again = harvest("approve", "p")
    assert again.exit_code == 1 and "nothing of p is held" in again.stderr


def test_a_provider_is_forgotten_once_it_left_the_registry(harvest: Command, provider: ProviderServer) -> None:
    """Before that, the refusal says what to do first."""
    release(provider, 1, A1)
    harvest("run")
    assert "remove it there first" in harvest("forget", "p").stderr
    (harvest.folder / "registry.yaml").write_text("{}\n")
    assert harvest.json("status")[0]["state"] == "disabled"  # type: ignore[index]  # a list
    assert harvest("forget", "p").exit_code == 0
    assert harvest.json("status") == []


def test_a_good_registry_passes_the_check(harvest: Command, provider: ProviderServer) -> None:
    """Offline it asks nobody; online it says what would be harvested and writes nothing."""
    release(provider, 1, A1, partial=True)
    assert harvest("check").exit_code == 0
    assert provider.requests == []
    online = harvest("check", "--online")
    assert online.exit_code == 0
    assert "would harvest" in online.stdout and "partial, modified 2026-01-01" in online.stdout
    assert not (harvest.folder / "var").exists()


def test_a_bad_registry_fails_the_check_with_file_line_and_the_nearest_key(harvest: Command) -> None:
    """As for a pull request: where, what, and what was probably meant."""
    path = harvest.folder / "registry.yaml"
    path.write_text("p:\n  viod: http://x.example/void.ttl\n")
    result = harvest("check")
    assert result.exit_code == 1
    assert f"{path}:2:3" in result.stdout and "void" in result.stdout


def test_an_unreachable_description_fails_the_online_check(harvest: Command, provider: ProviderServer) -> None:
    """The check of a pull request that names a wrong address says so."""
    result = harvest("check", "--online")
    assert result.exit_code == 1 and "404" in result.stdout


@pytest.mark.parametrize("words", [("status",), ("run",), ("query", "ASK {}")])
def test_without_settings_the_error_names_the_places(words: tuple[str, ...], tmp_path: Path) -> None:
    """No traceback, no default instance somewhere: the message says where a settings file is looked for."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        patch.delenv("HARVEST_CONFIG", raising=False)
        result = CliRunner().invoke(main, list(words))
    assert result.exit_code == 1 and "config/harvest.yaml" in result.stderr


@pytest.mark.parametrize(
    "words", [("status",), ("history", "q"), ("diff", "q", "0", "1"), ("query", "ASK {}")], ids=lambda words: words[0]
)
def test_before_the_first_harvest_reading_commands_say_so(words: tuple[str, ...], harvest: Command) -> None:
    """An instance that was never started is no reason for a traceback."""
    result = harvest(*words)
    assert result.exit_code == 1 and "nothing is harvested yet" in result.stderr


@pytest.mark.parametrize("words", [("history", "q"), ("diff", "q", "0", "1"), ("verify", "q"), ("run", "q")])
def test_an_unknown_provider_is_named(words: tuple[str, ...], harvest: Command, provider: ProviderServer) -> None:
    """A typing error in a name ends with the name, and exit code 1."""
    release(provider, 1, A1)
    harvest("run")
    result = harvest(*words)
    assert result.exit_code == 1 and "q" in result.stderr


@pytest.mark.parametrize("words", [("nonsense",), ("run", "--nonsense"), ("diff", "p")])
def test_wrong_use_exits_with_2(words: tuple[str, ...]) -> None:
    """As the shell expects it, with the usage."""
    result = CliRunner().invoke(main, list(words))
    assert result.exit_code == 2 and "Usage" in result.stderr


def test_a_graph_can_be_written_to_a_file(harvest: Command, provider: ProviderServer) -> None:
    """Turtle without being asked for it, as a table is TSV; also where nobody sits at a terminal."""
    release(provider, 1, A1)
    harvest("run")
    query = "CONSTRUCT { ?s ?p ?o } WHERE { GRAPH <http://h.example/graph/p> { ?s ?p ?o } }"
    assert harvest("query", query).stdout == f"{A1} .\n"


@pytest.mark.parametrize(
    "query",
    [
        "SELECT nonsense",
        "SELECT * { SERVICE <http://x.example/> { ?s ?p ?o } }",
        f"SELECT * {'{' * 10_000}{'}' * 10_000}",
    ],
    ids=["no query", "calls out", "nested"],
)
def test_a_query_that_is_none_or_calls_out_is_refused(query: str, harvest: Command, provider: ProviderServer) -> None:
    """One line that says why, and exit code 1."""
    release(provider, 1, A1)
    harvest("run")
    result = harvest("query", query)
    assert result.exit_code == 1 and result.stderr.startswith("harvest: ")


@pytest.mark.timeout(900)
def test_the_demo_plays_to_its_end() -> None:
    """Five releases, the approval and the proof, by itself, in a process that ends and leaves nothing behind."""
    result = subprocess.run(
        [sys.executable, "-c", "from harvest.cli.main import main; main()", "demo", "--seconds", "1", "--port", "0"],
        cwd=REPOSITORY,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        timeout=800,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    output = result.stdout
    assert re.findall(r"^  (committed|failed|held)", output, re.MULTILINE) == [
        "committed", "committed", "failed", "committed", "held", "committed",
    ]  # fmt: skip
    assert "line 53" in output and "harvest approve fleet" in output
    assert len(re.findall("^ok ", output, re.MULTILINE)) == 6
    assert re.findall("^  exists  ([a-z.]+), ", output, re.MULTILINE) == ["crew.ttl", "voyages.csv"]
    assert "  Tomasz Ferreira, Calypso II" in output
    folder = re.search(r"instance in\s+(\S+)\. Starting", output)
    assert folder is not None and not Path(folder.group(1)).exists()
