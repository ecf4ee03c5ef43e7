"""The limit of open files: raised where it may be, and reported where it is too low."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
HARVEST = "from harvest.cli.main import main; main()"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "harvest.yaml").write_text("data_dir: var\nexports_dir: exports\nbind: 127.0.0.1:0\n")
    (tmp_path / "registry.yaml").write_text("{}\n")
    return tmp_path


def harvest(folder: Path, command: str, soft: int, hard: int) -> subprocess.CompletedProcess[str]:
    """A command in a process that may have so many files open."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    return subprocess.run(
        [
            sys.executable,
            "-c",
            HARVEST,
            command,
            "--config",
            str(folder / "harvest.yaml"),
        ],
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
        preexec_fn=limit,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


@pytest.mark.parametrize("command", ["run", "serve", "verify"])
def test_too_low_a_limit_is_reported_at_the_start(folder: Path, command: str) -> None:
    """The store refused to open, and the command waited for ever for a process that did not have it."""
    ended = harvest(folder, command, 64, 64)
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1].startswith("harvest: only 64 files may be open at once, and 512 are needed;")
    assert "Traceback" not in ended.stderr


def test_a_limit_that_may_be_raised_is(folder: Path) -> None:
    """Many systems give 1,024, and grant more to who asks."""
    ended = harvest(folder, "run", 64, 2048)
    assert (ended.returncode, ended.stderr) == (0, "")
