"""Who imports whom: the contracts of pyproject.toml are kept, and each of them can fail."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from itertools import chain
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("harvest", "sparql", "tests", "bench")
CONTRACTS = {
    contract["id"]: contract["name"]
    for contract in tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
}

FORBIDDEN = [
    ("stage", "harvest.wash", "import harvest.fetch"),
    ("stage", "harvest.revise", "from harvest import ledger"),
    ("stage", "harvest.publish", "from sparql.store import base"),
    ("stage", "harvest.archive", "import harvest.newcomer"),
    ("pipeline", "harvest.service.schedule", "from harvest.wash import parse"),
    ("pipeline", "harvest.cli.main", "from harvest.revise import delta"),
    ("sparql", "sparql.rdf", "from harvest import model"),
    ("flask", "harvest.cli.main", "from flask import Flask"),
    ("flask", "sparql.query", "import flask"),
    ("apscheduler", "harvest.service.serve", "from apscheduler.schedulers.background import BackgroundScheduler"),
    ("sqlite3", "harvest.pipeline", "import sqlite3"),
    ("requests", "harvest.discover", "import requests"),
    ("requests", "sparql.store", "from requests import Session"),
    ("distributed", "harvest.wash", "import distributed"),
    ("sparqlwrapper", "harvest.cli.query", "from SPARQLWrapper import SPARQLWrapper"),
    ("layers", "harvest.catalog", "import harvest.service"),
    ("query-layers", "sparql.protocol", "import sparql.query"),
]
"""Contract, module, and an import there that breaks it."""


def _lint(folder: Path) -> tuple[int, str]:
    """Check the import rules of the packages in `folder`; the exit code and what was printed."""
    command = "import sys; from importlinter.cli import lint_imports_command; sys.exit(lint_imports_command())"
    done = subprocess.run(
        [sys.executable, "-c", command, "--no-cache", "--no-logo"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    return done.returncode, done.stdout + done.stderr


def test_the_import_rules_are_kept() -> None:
    """Data flows one way: stages know no other stage, and each library has one home."""
    code, printed = _lint(ROOT)
    assert code == 0, printed
    for name in CONTRACTS.values():
        assert f"{name} KEPT" in printed


def test_each_import_rule_can_fail(tmp_path: Path) -> None:
    """A rule that cannot fail would guard nothing; a rule added later needs its own proof."""
    assert {contract for contract, _, _ in FORBIDDEN} == set(CONTRACTS)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for package in ("harvest", "sparql"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__", "static"))
    (tmp_path / "harvest" / "newcomer.py").write_text("")
    for _, module, statement in FORBIDDEN:
        place = tmp_path.joinpath(*module.split("."))
        path = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
        path.write_text(f"{path.read_text('utf-8')}\n{statement}\n", "utf-8")
    code, printed = _lint(tmp_path)
    assert code == 1, printed
    for contract, module, statement in FORBIDDEN:
        assert f"{CONTRACTS[contract]} BROKEN" in printed
        # An external package is printed by its first name alone.
        root = statement.split()[1].split(".")[0]
        assert re.search(rf"{re.escape(module)} -> {root}\b", printed), (module, statement)


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    """Which module imports which."""
    return grimp.build_graph("harvest", "sparql", cache_dir=None)


def _room(module: str) -> str:
    return ".".join(module.split(".")[:2])


def test_there_are_few_folders_and_few_arrows_between_them(graph: grimp.ImportGraph) -> None:
    """A stranger finds each part by its name, and can draw what it needs."""
    pairs = (
        (_room(one), _room(other)) for one in graph.modules for other in graph.find_modules_directly_imported_by(one)
    )
    assert len({pair for pair in pairs if pair[0] != pair[1]}) <= 110
    folders = (path for package in ("harvest", "sparql") for path in (ROOT / package).glob("*/__init__.py"))
    assert len(list(folders)) <= 20


def _followed(section: str) -> list[str]:
    """The files that a section of ARCHITECTURE names in its table, in order."""
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8").split(f"## {section}\n")[1].split("\n## ")[0]
    return re.findall(r"^\| \d+ \| `([\w/]+\.py)`", text, re.MULTILINE)


def test_a_dump_is_followed_through_files_that_lead_to_one_another(graph: grimp.ImportGraph) -> None:
    """A reader who opens them in this order comes from the URL to the store."""
    files = _followed("Follow a dump")
    assert 10 <= len(files) <= 15
    modules = [file.removesuffix(".py").replace("/", ".") for file in files]
    pipeline = {module for module in graph.modules if module.startswith("harvest.pipeline.")}
    for number, module in enumerate(modules[1:], 1):
        importers = graph.find_modules_that_directly_import(module)
        assert importers & {*modules[:number], *pipeline}, f"{module} is imported by none of those before it"


def test_the_words_are_few_and_each_stands_once() -> None:
    """A glossary that nobody can keep in mind is none."""
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8").split("## Words\n")[1].split("\n## ")[0]
    words = re.findall(r"^\| ([a-z][a-z ]*[a-z]) \|", text, re.MULTILINE)[1:]
    assert 20 <= len(words) == len(set(words)) <= 30


def test_every_module_that_a_document_names_is_there() -> None:
    """A reader looks for it."""
    there = [path.relative_to(ROOT).as_posix() for path in chain(*(ROOT.glob(f"{f}/**/*.py") for f in PARTS))]
    for document in (ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", ROOT / "README.md"):
        for name in re.findall(r"`([\w./-]+\.py)`", document.read_text("utf-8")):
            assert any(f"/{path}".endswith(f"/{name}") for path in there), f"{document.name} names {name}"
