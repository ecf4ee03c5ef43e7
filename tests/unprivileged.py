"""Commands that file permissions hold for, also where the tests run as root."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def unprivileged() -> list[str]:
    """
    What to put before a command that may not write where permissions forbid it.

    Root may write everywhere; setpriv, which belongs to every Debian, takes that privilege away.
    """
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("root without setpriv may write everywhere")
    return ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]


def python(script: str, *arguments: str | Path) -> str:
    """What a script prints, run in an interpreter that may not write where permissions forbid it."""
    command = [*unprivileged(), sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stderr
    return done.stdout


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Forbid to write in a folder, and what is in it, until the block ends."""
    paths = [folder, *folder.rglob("*")]
    modes = [(path, path.lstat().st_mode) for path in paths if not path.is_symlink()]
    try:
        for path, mode in modes:
            path.chmod(mode & ~0o222)
        yield
    finally:
        for path, mode in modes:
            if path.exists():
                path.chmod(mode)
