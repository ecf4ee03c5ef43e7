"""The code keeps its shape: who imports whom, how long things are, what they are called."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MODULES = sorted([*ROOT.glob("harvest/**/*.py"), *ROOT.glob("sparql/**/*.py")])
SCRIPTS = sorted(ROOT.glob("sparql/web/static/*.js"))
TESTS = sorted(ROOT.glob("tests/**/*.py"))
CONTRACTS = {
    contract["id"]: contract["name"]
    for contract in tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
}

MODULE_LINES = 300
FUNCTION_LINES = 40
ARGUMENTS = 5
NAMELESS = re.compile(r"(^|_)(utils?|helpers?|commons?|managers?)(_|$)|(Utils?|Helpers?|Manager)$")
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|NotImplementedError)\b")
UNEXPLAINED = re.compile(r"#\s*(type:\s*ignore\b(?!\[[\w, -]+\]\s*\S)|noqa\b(?!:\s*[A-Z0-9, ]++\S))")
BROAD_HANDLERS = {"harvest/pipeline": 1, "sparql/web": 1}
"""Where `except Exception` may stand, and how often: one provider must not stop others, nor one request the server."""

FORBIDDEN = [
    ("stage", "harvest.wash", "import harvest.fetch"),
    ("stage", "harvest.revise", "from harvest import ledger"),
    ("stage", "harvest.publish", "from sparql.store import base"),
    ("stage", "harvest.archive", "import harvest.newcomer"),
    ("pipeline", "harvest.schedule", "from harvest.wash import parse"),
    ("pipeline", "harvest.cli", "from harvest.revise import delta"),
    ("sparql", "sparql.rdf", "from harvest import model"),
    ("flask", "harvest.cli", "from flask import Flask"),
    ("flask", "sparql.query", "import flask"),
    ("apscheduler", "harvest.serve", "from apscheduler.schedulers.background import BackgroundScheduler"),
    ("sqlite3", "harvest.pipeline", "import sqlite3"),
    ("requests", "harvest.discover", "import requests"),
    ("requests", "sparql.store", "from requests import Session"),
    ("sparqlwrapper", "harvest.ask", "from SPARQLWrapper import SPARQLWrapper"),
]
"""Contract, module, and an import there that breaks it."""


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def _lint(folder: Path) -> tuple[int, str]:
    """Check the import rules of the packages in `folder`; the exit code and what was printed."""
    command = "import sys; from importlinter.cli import lint_imports_command; sys.exit(lint_imports_command())"
    done = subprocess.run(
        [sys.executable, "-c", command, "--no-cache", "--no-logo"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.returncode, done.stdout + done.stderr


def test_the_import_rules_are_kept() -> None:
    """Data flows one way: stages know no other stage, and each library has one home."""
    code, printed = _lint(ROOT)
    assert code == 0, printed
    for name in CONTRACTS.values():
        assert f"{name} KEPT" in printed


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the packages and their rules, for tests to break."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copy(ROOT / "pyproject.toml", folder)
    for package in ("harvest", "sparql"):
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__", "static"))
    (folder / "harvest" / "newcomer.py").write_text("")
    return folder


@pytest.mark.parametrize(("contract", "module", "statement"), FORBIDDEN, ids=[f"{c}: {s}" for c, _, s in FORBIDDEN])
def test_a_forbidden_import_is_reported(copy: Path, contract: str, module: str, statement: str) -> None:
    """A rule that cannot fail would guard nothing."""
    place = copy.joinpath(*module.split("."))
    path = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    whole = path.read_text("utf-8")
    path.write_text(f"{whole}\n{statement}\n", "utf-8")
    try:
        code, printed = _lint(copy)
    finally:
        path.write_text(whole, "utf-8")
    assert code == 1, printed
    assert f"{CONTRACTS[contract]} BROKEN" in printed


def test_every_import_rule_is_proved_to_fail() -> None:
    """A rule added later needs its own proof."""
    assert {contract for contract, _, _ in FORBIDDEN} == set(CONTRACTS)


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_a_module_is_short(path: Path) -> None:
    """What does not fit on a few screens is two modules; what does not fit on one is two functions."""
    text = path.read_text("utf-8")
    assert text.count("\n") <= MODULE_LINES
    long = {f.name: f.end_lineno - f.lineno + 1 for f in _functions(ast.parse(text)) if f.end_lineno}
    assert {name: lines for name, lines in long.items() if lines > FUNCTION_LINES} == {}


@pytest.mark.parametrize("path", SCRIPTS, ids=_name)
def test_a_script_is_short(path: Path) -> None:
    """The same holds for the scripts of pages, which are modules too."""
    assert path.read_text("utf-8").count("\n") <= MODULE_LINES


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_a_function_takes_few_arguments(path: Path) -> None:
    """Beyond five, the values belong together and have a name."""
    wide = {}
    for function in _functions(ast.parse(path.read_text("utf-8"))):
        given = function.args
        names = [a.arg for a in (*given.posonlyargs, *given.args, *given.kwonlyargs) if a.arg not in ("self", "cls")]
        if len(names) > ARGUMENTS:
            wide[function.name] = names
    assert wide == {}


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_a_name_says_what_it_names(path: Path) -> None:
    """A module of helpers has no subject, and grows without end."""
    classes = [node.name for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.ClassDef)]
    assert [name for name in (*path.relative_to(ROOT).with_suffix("").parts, *classes) if NAMELESS.search(name)] == []


def _is_broad(handler: ast.ExceptHandler) -> bool:
    """Whether it catches everything and does not raise it again."""
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    broad = any(kind is None or ast.unparse(kind) in ("Exception", "BaseException") for kind in kinds)
    last = handler.body[-1]
    return broad and not (isinstance(last, ast.Raise) and last.exc is None)


def test_everything_is_caught_in_two_places_only() -> None:
    """One provider must not stop others, nor one request the server; anywhere else it hides a mistake."""
    found: dict[str, list[str]] = {}
    for path in MODULES:
        home = next((place for place in BROAD_HANDLERS if _name(path).startswith(place)), "elsewhere")
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ExceptHandler) and _is_broad(node):
                found.setdefault(home, []).append(f"{_name(path)}:{node.lineno}")
    assert found.get("elsewhere", []) == []
    assert {home: places for home, places in found.items() if len(places) > BROAD_HANDLERS[home]} == {}


@pytest.mark.parametrize("path", [*MODULES, *(p for p in TESTS if p != Path(__file__).resolve())], ids=_name)
def test_nothing_is_left_unfinished_or_unexplained(path: Path) -> None:
    """What is not built does not stand in the code; a check that is switched off says which and why."""
    lines = enumerate(path.read_text("utf-8").splitlines(), start=1)
    assert [f"{n}: {line}" for n, line in lines if UNFINISHED.search(line) or UNEXPLAINED.search(line)] == []


@pytest.mark.parametrize("path", TESTS, ids=_name)
def test_a_test_says_why_it_is_there(path: Path) -> None:
    """The name states the behaviour, one sentence the reason."""
    tests = [f for f in _functions(ast.parse(path.read_text("utf-8"))) if f.name.startswith("test_")]
    assert [f.name for f in tests if not (ast.get_docstring(f) or "").endswith((".", "?", "!"))] == []
