"""The rules of tests/conftest.py hold: skips count under CI, and no test leaves this machine."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parent

LACKING = """
import pytest
from tests import debian

debian.MISSING.extend(["curl", "chromium"])

@pytest.fixture
def browser():
    debian.require("chromium")

def test_curl():
    debian.require("curl")

@pytest.mark.parametrize("n", range(3))
def test_page(browser, n): ...

def test_runs(): ...
"""

SAMPLE = """
import pytest

@pytest.mark.skip(reason="no engine here")
def test_marked(): ...

def test_called():
    pytest.skip("no data here")

@pytest.mark.xfail(reason="known")
def test_expected_failure():
    assert False

def test_runs(): ...
"""


def _run(folder: Path, sample: str, *, ci: bool, listed: str = "", flags: tuple[str, ...] = ()) -> tuple[int, str]:
    """Run pytest on a sample beside a copy of the conftest; its exit code and what it printed."""
    (folder / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    (folder / "tests").mkdir()
    (folder / "requirements").mkdir()
    for name in ("tests/conftest.py", "tests/debian.py", "tests/selection.py", "requirements/machine.py"):
        shutil.copy(ROOT / name, folder / name)
    (folder / "tests" / "skips.toml").write_text(f"[skips]\n{listed}")
    (folder / "tests" / "test_sample.py").write_text(sample)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment["CI"] = "true" if ci else "false"
    unused = [f"-pno:{name}" for name in ("cacheprovider", "schemathesis", "anyio")]
    command = [sys.executable, "-m", "pytest", "-ra", *unused, *flags]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    return done.returncode, done.stdout + done.stderr


def test_a_skip_passes_on_a_developers_machine(tmp_path: Path) -> None:
    """Whoever lacks an engine or the data can still run the rest."""
    code, printed = _run(tmp_path, SAMPLE, ci=False)
    assert code == 0, printed
    assert "1 passed, 2 skipped, 1 xfailed" in printed


@pytest.mark.sampled(1)
@pytest.mark.parametrize("flags", [("-n", "1"), ()], ids=["xdist", "one process"])
def test_an_unlisted_skip_fails_under_ci(tmp_path: Path, flags: tuple[str, ...]) -> None:
    """A check that silently stopped running must not look like one that passed, an expected failure neither."""
    code, printed = _run(tmp_path, SAMPLE, ci=True, flags=flags)
    assert code == 1
    for name in ("test_marked", "test_called", "test_expected_failure"):
        assert f"tests/test_sample.py::{name} does not run under CI" in printed
    assert "no engine here" in printed
    assert "1 passed" in printed
    assert "skipped" not in printed.splitlines()[-1]


def test_a_listed_skip_passes_under_ci(tmp_path: Path) -> None:
    """The list with its reasons is the one way to leave a test out."""
    names = ("test_marked", "test_called", "test_expected_failure")
    listed = "".join(f'"tests/test_sample.py::{name}" = "because"\n' for name in names)
    code, printed = _run(tmp_path, SAMPLE, ci=True, listed=listed)
    assert code == 0, printed


@pytest.mark.sampled(1)
@pytest.mark.parametrize("flags", [("-n", "1"), ()], ids=["xdist", "one process"])
def test_a_skipped_module_fails_under_ci(tmp_path: Path, flags: tuple[str, ...]) -> None:
    """A module that skips itself takes all its tests along, and counts as much as one test."""
    sample = "import pytest\npytest.importorskip('no_such_module')\ndef test_runs(): ...\n"
    code, printed = _run(tmp_path, sample, ci=True, flags=flags)
    assert code != 0
    assert "tests/test_sample.py does not run under CI" in printed


@pytest.mark.sampled(1)
@pytest.mark.parametrize("flags", [("-n", "1"), ()], ids=["xdist", "one process"])
def test_missing_debian_packages_are_named_at_the_end(tmp_path: Path, flags: tuple[str, ...]) -> None:
    """Whoever may not install them still sees what was not tried; under CI it is a failure."""
    lines = [
        "3 tests need chromium, which is missing: apt-get install chromium",
        "1 test needs curl, which is missing: apt-get install curl",
    ]
    for ci, counted in ((False, "1 passed, 4 skipped"), (True, "1 failed, 1 passed, 3 errors")):
        (folder := tmp_path / str(ci)).mkdir()
        code, printed = _run(folder, LACKING, ci=ci, flags=flags)
        assert code == ci, printed
        assert counted in printed
        last = [line for line in printed.splitlines()[-4:] if "missing" in line]
        assert last == lines


def test_a_connection_elsewhere_is_stopped() -> None:
    """A test that depends on the network would fail on another day, and shows others that it ran."""
    with pytest.raises(RuntimeError, match="tests may only connect to loopback"):
        socket.create_connection(("192.0.2.1", 80), timeout=1)


def test_a_name_lookup_elsewhere_is_stopped() -> None:
    """Looking up a name already asks somebody outside."""
    with pytest.raises(RuntimeError, match="looks up"):
        socket.getaddrinfo("example.org", 80)


def test_a_reserved_name_is_unknown_without_asking() -> None:
    """Names under .invalid never resolve, so tests of unknown hosts may use them."""
    with pytest.raises(socket.gaierror):
        socket.getaddrinfo("nowhere.invalid", 80)


def test_loopback_is_open() -> None:
    """Servers of the tests can be reached by address and by name."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(("localhost", server.getsockname()[1]), timeout=5).close()
