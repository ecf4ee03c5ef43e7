"""What is shipped is whole, pinned, and installs on a fresh machine by the same steps as the image."""

from __future__ import annotations

import ast
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LOCKS = ROOT / "requirements"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
MADE = (".git", ".venv", "var", "dist", "__pycache__", ".*_cache", ".hypothesis", "realdata", "node_modules")
"""Names in a working copy that git does not hold."""

UNDISTRIBUTED = {"_typeshed", "compression"}
"""Modules that no distribution has: types that only type checkers know, and the standard library of a newer Python."""


def _canonical(name: str) -> str:
    """The name as package registries compare it. Source: PyPA, "Names and normalization"."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _names(requirements: list[str]) -> set[str]:
    return {_canonical(re.split(r"[<>=!~; \[]", text)[0]) for text in requirements}


def _pins(lock: str) -> dict[str, str]:
    """Version by package name."""
    lines = (LOCKS / lock).read_text("utf-8").splitlines()
    return {_canonical(pin[1]): pin[2] for pin in (re.match(r"([\w.-]+)==([\w.]+)", line) for line in lines) if pin}


def _imported() -> set[str]:
    """The distributions whose modules the packages import."""
    modules: set[str] = set()
    for path in (*ROOT.glob("harvest/**/*.py"), *ROOT.glob("sparql/**/*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                modules.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                modules.add(node.module)
    own = sys.stdlib_module_names | UNDISTRIBUTED | {"harvest", "sparql"}
    tops = {name.split(".")[0] for name in modules} - own
    providers = importlib.metadata.packages_distributions()
    return {_canonical(distribution) for top in tops for distribution in providers.get(top, [top])}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what git would hold, with leftovers of an instance in it."""
    folder = tmp_path_factory.mktemp("source") / "repository"
    leave = shutil.ignore_patterns(*MADE)
    shutil.copytree(ROOT, folder, ignore=leave)
    for leftover in ("var/ledger.sqlite", "exports/all.nq.gz", "config/.registry.yaml.tmp~"):
        (folder / leftover).parent.mkdir(exist_ok=True)
        (folder / leftover).write_text("left over")
    return folder


@pytest.fixture(scope="module")
def built(source: Path) -> Path:
    """The folder of a wheel and an sdist, built without the network."""
    command = [sys.executable, "-m", "build", "--no-isolation", "--sdist", "--wheel", "--outdir", "dist"]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return source / "dist"


def _files(folder: Path, *packages: str) -> set[str]:
    """Every file of some packages, by its path in the repository."""
    paths = (path for package in packages for path in (folder / package).rglob("*"))
    return {p.relative_to(folder).as_posix() for p in paths if p.is_file() and "__pycache__" not in p.parts}


def test_the_wheel_holds_the_packages_and_nothing_else(source: Path, built: Path) -> None:
    """Templates, static files and schemas are part of the packages; a wheel without them breaks when it is used."""
    (wheel,) = built.glob("*.whl")
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert names == _files(source, "harvest", "sparql")
    assert {"harvest/py.typed", "sparql/py.typed"} <= names


def test_the_wheel_has_the_licence_and_the_command(built: Path) -> None:
    """Whoever installs it gets `harvest`, and what they may do with it."""
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        metadata = {name.split(".dist-info/")[1]: name for name in archive.namelist() if ".dist-info/" in name}
        assert "harvest = harvest.cli.entry:main" in archive.read(metadata["entry_points.txt"]).decode()
        assert archive.read(metadata["licenses/LICENSE"]).lstrip().startswith(b"Apache License")


def test_the_sdist_holds_the_sources_and_no_data(source: Path, built: Path) -> None:
    """From an sdist the tests run and the project installs; what an instance wrote is nobody's business."""
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    wanted = _files(source, "harvest", "sparql", "tests", "requirements", "bench")
    assert wanted | {"Makefile", "LICENSE", "README.md", "pyproject.toml", "exports/.gitkeep"} <= names
    assert not [name for name in names if name.startswith(("var", "exports/all", "dist"))]


def test_what_is_imported_is_a_dependency() -> None:
    """A package that is there by chance is missing on the next machine; one that nobody uses is a burden."""
    optional = [each for extra in PROJECT["project"]["optional-dependencies"].values() for each in extra]
    declared = _names(PROJECT["project"]["dependencies"] + optional)
    assert _imported() == declared


def test_the_locks_pin_every_dependency_with_a_hash() -> None:
    """Installing is the same on every machine and every day, and a changed package is noticed."""
    assert _names(PROJECT["project"]["dependencies"]) <= _pins("runtime.lock").keys()
    groups = PROJECT["dependency-groups"]
    assert _names([r for r in groups["dev"] if isinstance(r, str)]) <= _pins("dev.lock").keys()
    assert _names(groups["build"]) <= _pins("build.lock").keys()
    for lock in LOCKS.glob("*.lock"):
        entries = re.split(r"\n(?=\S+==)", lock.read_text("utf-8"))[1:]
        assert [entry for entry in entries if "--hash=sha256:" not in entry] == []


def test_the_locks_agree() -> None:
    """What is tested is what runs: development adds packages and changes none."""
    development = _pins("dev.lock")
    for lock in ("runtime.lock", "build.lock"):
        pins = _pins(lock)
        assert pins == {name: development.get(name) for name in pins}


def test_the_locks_name_no_address() -> None:
    """Each machine takes packages from the registry that it is set up for."""
    for lock in filter(Path.is_file, LOCKS.iterdir()):
        assert not re.search(r"://|--index|--find-links|--trusted-host| @ ", lock.read_text("utf-8")), lock.name


def test_every_listed_skip_is_a_test() -> None:
    """A reason for a test that is gone would excuse another one later."""
    listed = tomllib.loads((ROOT / "tests" / "skips.toml").read_text("utf-8"))["skips"]
    for item, reason in listed.items():
        path, _, test = item.partition("::")
        name = test.split("::")[-1].split("[")[0]
        assert f"def {name}" in (ROOT / path).read_text("utf-8"), item
        assert reason


def test_the_citation_names_this_version() -> None:
    """Somebody who cites the software means the one they have."""
    assert f"version: {PROJECT['project']['version']}\n" in (ROOT / "CITATION.cff").read_text("utf-8")


def _make(source: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    return subprocess.run(
        ["make", *words], cwd=source, env=environment, capture_output=True, text=True, check=False, timeout=280
    )


def _python(folder: Path, change: str) -> str:
    """A Python that runs scripts after some statements, so that it is like one that lacks something."""
    program = folder / "python3"
    after = "import runpy, sys; sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')"
    program.write_text(f"""#!/bin/sh\nexec {sys.executable} -c "{change}; {after}" "$@"\n""")
    program.chmod(0o755)
    return f"PYTHON={program}"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("import sys; sys.version_info = (3, 9, 2)", "Python 3.9.2 is too old: 3.11 or later is needed"),
        ("import importlib.util as u; u.find_spec = lambda name: None", "apt-get install python3-venv"),
        ("import sys; sys.platform = 'darwin'", "this is darwin: Linux is needed"),
        (
            "import os; os.environ['PATH'] = '/nonexistent'",
            "coreutils is missing. On Debian: apt-get install",
        ),
    ],
    ids=["old Python", "no venv", "no Linux", "no sort"],
)
@pytest.mark.parametrize("target", ["demo", "run", "test"])
def test_what_is_missing_is_said_before_anything_is_installed(
    source: Path, tmp_path: Path, target: str, change: str, said: str
) -> None:
    """Debian 11 has Python 3.9, and Debian 12 splits venv off: a newcomer meets that first, not a traceback of pip."""
    done = _make(source, target, _python(tmp_path, change), f"VENV={tmp_path}/venv")
    assert done.returncode != 0
    assert said in done.stderr
    assert not (tmp_path / "venv").exists()


@pytest.mark.long
def test_the_steps_of_the_image_give_a_working_command(source: Path, tmp_path: Path) -> None:
    """The Dockerfile runs `make install`; here the same runs without an engine, into a folder of its own."""
    assert "RUN make install PREFIX=" in (ROOT / "Dockerfile").read_text("utf-8")
    prefix = tmp_path / "opt"
    done = _make(source, "install", f"PREFIX={prefix}")
    assert done.returncode == 0, done.stdout + done.stderr
    shown = subprocess.run(
        [prefix / "bin" / "harvest", "--help"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=240
    )
    assert shown.returncode == 0, shown.stderr
    for command in ("serve", "run", "check", "status", "demo"):
        assert command in shown.stdout
    assert not (prefix / "build").exists()


def _hook(source: Path, folder: Path) -> Path:
    """A copy of the build hook with what it reads and made."""
    for name in ("hatch_build.py", "sparql/web/assets", "sparql/web/static/yasgui"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if (source / name).is_dir() else shutil.copyfile
        copy(source / name, folder / name)
    return folder


def _made_by_hook(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the hook with a registry that is not there."""
    environment = {**os.environ, "npm_config_registry": "http://127.0.0.1:9", "npm_config_fetch_retries": "0"}
    environment["npm_config_cache"] = str(folder / "cache")
    return subprocess.run(
        [sys.executable, "hatch_build.py"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_the_editor_is_fetched_once(source: Path, tmp_path: Path) -> None:
    """A build needs npm's registry only when the lock has changed; the tests above build without it."""
    done = _made_by_hook(_hook(source, tmp_path))
    assert (done.returncode, done.stdout) == (0, "sparql/web/static/yasgui was there already.\n"), done.stderr


@pytest.mark.parametrize("name", ["yasgui.min.js", "licences.txt", "made.json"])
def test_a_damaged_editor_is_made_again(source: Path, tmp_path: Path, name: str) -> None:
    """When the editor cannot be made again, the build ends with what to do, and leaves what is there."""
    made = _hook(source, tmp_path) / "sparql" / "web" / "static" / "yasgui"
    (made / name).write_text("half", "utf-8")
    done = _made_by_hook(tmp_path)
    assert done.returncode == 1
    assert "`npm ci` in sparql/web/assets failed with exit code 1" in done.stderr
    assert "copy sparql/web/static/yasgui from a machine where the build went through" in done.stderr
    assert (made / name).read_text("utf-8") == "half"


def test_the_editor_is_pinned_and_may_be_passed_on() -> None:
    """Each package by its digest, from any registry, under a licence that asks for no more than its text."""
    lock = json.loads((ROOT / "sparql" / "web" / "assets" / "package-lock.json").read_text("utf-8"))
    packages = {name: package for name, package in lock["packages"].items() if name}
    assert [name for name, package in packages.items() if not package.get("integrity", "").startswith("sha512-")] == []
    assert [name for name, package in packages.items() if "resolved" in package] == []
    permissive = re.compile(r"\b(MIT|ISC|BSD-\d-Clause|Apache-2.0|CC0-1.0)\b")
    # jsuri names no licence in its description; its LICENSE is MIT's.
    assert [name for name, package in packages.items() if not permissive.search(package.get("license", ""))] == [
        "node_modules/jsuri"
    ]


def test_what_the_fast_tests_name_is_there() -> None:
    """A file that is renamed would drop out of `make test-fast`, or end it."""
    said = subprocess.run(["make", "-n", "test-fast"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    named = [word for word in said.split() if word.startswith("tests/")]
    assert len(named) > 30
    assert [name for name in named if not (ROOT / name).exists()] == []
    packages = {folder.name for folder in (ROOT / "tests").iterdir() if list(folder.glob("**/test_*.py"))}
    whole = {"browser", "clients", "w3c"}  # these need other programs, or test all of it at once
    assert {Path(name).parts[1] for name in named} >= packages - whole
