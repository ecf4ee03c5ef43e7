"""`harvest history`: versions, runs that made none, and why."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from harvest.cli.main import main
from tests.catalog.rich import rich


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rich")
    rich(folder)
    (folder / "harvest.yaml").write_text("base_url: http://h.example\nregistry: registry.yaml\ndata_dir: var\n")
    return folder / "harvest.yaml"


def history(config: Path, *words: str) -> str:
    answer = CliRunner().invoke(main, ["history", "mixed", "--config", str(config), *words])
    assert answer.exit_code == 0, answer.output
    return answer.output


def test_runs_that_made_no_version_are_listed_with_their_findings(config: Path) -> None:
    """Newest first, each with the place and the text around it; a run that committed is listed as its version."""
    lines = history(config).splitlines()
    runs = [n for n, line in enumerate(lines) if line.startswith("run ")]
    assert [lines[n].split()[1] + " " + lines[n].split()[-1] for n in runs] == ["5 held", "4 failed", "3 failed"]
    held, failed = lines[runs[0] : runs[1]], lines[runs[1] : runs[2]]
    assert "  held: 900 of 1,000 triples would go" in held
    wash = failed.index("  wash (line 3, column 4): Größe <b>: 3 of 4 are no RDF. Mend it.")
    assert failed[wash + 1 :] == ["    <a> <b>", "  odd: something is odd"]


def test_what_is_wrong_now_stands_below_the_runs(config: Path) -> None:
    """What stopped a harvest first, whatever dataset it is of."""
    lines = history(config).splitlines()
    below = lines[next(n for n, line in enumerate(lines) if line.startswith("run 3")) :]
    kinds = [line.split()[0].rstrip(":") for line in below if line.startswith("  ") and not line.startswith("   ")]
    assert kinds[:3] == ["wash", "wash", "odd"], "of run 3, with its step of 60 s"
    assert kinds[3] == "damaged"
    assert set(kinds[3:]) == {"damaged", "wash", "held", "odd", "no-feature", "dataset-departed"}


def test_json_of_the_history_has_what_the_pages_have(config: Path) -> None:
    """The same runs and findings, under the names that /providers/NAME.json has."""
    answer = json.loads(history(config, "--json"))
    assert [version["n"] for version in answer["versions"]] == [1, 2]
    assert [(run["id"], run["outcome"]) for run in answer["runs"]][:3] == [(5, "held"), (4, "failed"), (3, "failed")]
    assert answer["findings"][0]["kind"] == "damaged"
    assert [finding["fatal"] for finding in answer["findings"]] == sorted(
        (finding["fatal"] for finding in answer["findings"]), reverse=True
    )
