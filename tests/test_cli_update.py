"""`harvest update`, as people call it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.test_cli import Command

GRAPH = "http://h.example/graph/notes"


@pytest.fixture
def harvest(tmp_path: Path) -> Command:
    """An instance with a graph that updates write; nobody serves it, and its settings have no token."""
    (tmp_path / "harvest.yaml").write_text(
        "base_url: http://h.example\ngraph_base: http://h.example/graph/\ndata_dir: var\nexports_dir: exports\n"
    )
    (tmp_path / "registry.yaml").write_text("notes:\n  updates: true\n  interval: 1d\n")
    return Command(tmp_path)


@pytest.fixture
def update(tmp_path: Path) -> Path:
    """A file with an update."""
    path = tmp_path / "add.ru"
    path.write_text(f"INSERT DATA {{ GRAPH <{GRAPH}> {{ <a> <p> 'ü' , 2 }} }}", "utf-8-sig")
    return path


def test_a_session(harvest: Command, update: Path) -> None:
    """Without a token, as whoever has the data directory is the operator; then everything that reads sees it."""
    first = harvest("update", str(update))
    assert (first.exit_code, first.stdout) == (0, "notes  version 1, +2 -0, 2 triples\n"), first.output
    assert harvest("update", str(update)).stdout == "notes  nothing changed; version 1, 2 triples\n"
    assert '"ü"' in harvest("query", f"SELECT ?o {{ GRAPH <{GRAPH}> {{ ?s ?p ?o }} }}", "--format", "tsv").stdout
    assert len(harvest("diff", "notes", "0", "1").stdout.splitlines()) == 2
    assert "+2" in harvest("history", "notes").stdout
    assert harvest("archive", "history", "http://h.example/providers/notes#update").exit_code == 0
    assert "INSERT DATA" in harvest("archive", "get", "http://h.example/providers/notes#update").stdout
    for command in (("export",), ("verify",), ("archive", "verify"), ("rebuild", "notes", "--check")):
        done = harvest(*command)
        assert done.exit_code == 0, done.output


def test_the_answer_as_json(harvest: Command, update: Path) -> None:
    """The keys are those of the answer over HTTP."""
    (answer,) = json.loads(harvest("update", str(update), "--json").stdout)["results"]
    assert answer == {
        "provider": "notes",
        "graph": GRAPH,
        "outcome": "committed",
        "version": 1,
        "added": 2,
        "removed": 0,
        "triples": 2,
        "run": 1,
    }


def test_what_cannot_be_carried_out_is_printed_in_one_line(harvest: Command, tmp_path: Path) -> None:
    """Exit code 1, and nothing was changed."""
    (tmp_path / "bytes.ru").write_bytes(b"CLEAR \xff")
    (tmp_path / "unnamed.ru").write_text("INSERT DATA { <a> <b> <c> }")
    for file, said in (
        ("missing.ru", "cannot be read: No such file"),
        (".", "cannot be read: Is a directory"),
        ("bytes.ru", "is not UTF-8: byte 6 is 0xff"),
        ("unnamed.ru", "writes to the default graph"),
    ):
        done = harvest("update", str(tmp_path / file))
        assert (done.exit_code, said in done.output) == (1, True), done.output


def test_commands_say_that_nothing_is_fetched(harvest: Command) -> None:
    """Nobody waits for a harvest that never comes."""
    assert "nothing to fetch" in harvest("run", "notes").stdout
    assert harvest("run").exit_code == 0
    checked = harvest("check").stdout
    assert "notes.interval says nothing here" in checked and "nothing is fetched" in checked
    assert "the registry is good" in checked
    assert harvest("check", "--online").exit_code == 0
    assert "notes" in harvest("status").stdout
