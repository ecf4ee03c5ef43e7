"""Programs that are clients: Debian's, and Node.js with its packages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.debian import require

HERE = Path(__file__).parent
PACKAGES = HERE.parent / "node" / "node_modules"
TIMEOUT_S = 240


def run(*words: str | Path, package: str) -> subprocess.CompletedProcess[str]:
    """
    What a program said, and its exit code.

    Without the Debian package that has the program the test is skipped.
    """
    require(package)
    return _run([*words])


def _run(words: list[str | Path], environ: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """As subprocess does it, but for the ends of lines, which stay as they are."""
    done = subprocess.run(words, capture_output=True, timeout=TIMEOUT_S, env=environ, check=False)
    return subprocess.CompletedProcess(words, done.returncode, done.stdout.decode(), done.stderr.decode())


def curl(*words: str | Path) -> str:
    """What curl printed; it must succeed."""
    done = run("curl", "--silent", "--show-error", "--max-time", "240", *words, package="curl")
    assert done.returncode == 0, done.stderr
    return done.stdout


class Node:
    """
    Node.js, which comes with the Python packages of the set-up.

    Scripts run in a folder where they find the npm packages as a user's scripts do.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._program = Path(sys.executable).with_name("node")
        for path in (self._program, PACKAGES):
            if not path.exists():
                pytest.fail(f"{path} is not there; `make setup` installs it")
        (folder / "node_modules").symlink_to(PACKAGES)

    def printed(self, script: str, *words: str) -> Any:
        """The JSON that one of the scripts of this folder prints."""
        done = self.run((HERE / script).read_text("utf-8"), *words)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def run(self, source: str, *words: str) -> subprocess.CompletedProcess[str]:
        """What a module said, and its exit code."""
        script = self._folder / "script.mjs"
        script.write_text(source, "utf-8")
        return _run([self._program, script, *words], os.environ | {"NODE_OPTIONS": "", "NO_COLOR": "1"})
