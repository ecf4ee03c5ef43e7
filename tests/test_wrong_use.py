"""Whatever is wrong: no stack trace, exit code 1 or 2, and the reason in the last line."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from harvest.cli.main import main
from harvest.pipeline import opened
from tests.pipeline.conftest import TemporaryInstance
from tests.unprivileged import python

ROOT = Path(__file__).resolve().parents[1]
HARVEST = "from harvest.cli.main import main; main()"
COMMANDS = [
    ("run",),
    ("status",),
    ("verify",),
    ("export",),
    ("query", "SELECT * {?s ?p ?o}"),
    ("history", "p"),
    ("diff", "p", "1", "2"),
    ("approve", "p"),
    ("rebuild", "p"),
    ("seeds", "list"),
    ("seeds", "run"),
    ("archive", "verify"),
    ("archive", "ls"),
    ("check",),
    ("update", "/nowhere.rq"),
    ("wash", "/nowhere.ttl"),
]


def file_for_data(folder: Path) -> None:
    (folder / "var").write_text("in the way")


def data_below_a_file(folder: Path) -> None:
    (folder / "var").symlink_to(folder / "registry.yaml" / "var")


def settings_of_other_bytes(folder: Path) -> None:
    (folder / "harvest.yaml").write_bytes(b"data_dir: \xff\xfe\n")


def registry_of_other_bytes(folder: Path) -> None:
    (folder / "registry.yaml").write_bytes(b"p:\n  void: http://x.example/\xff\n")


def registry_that_is_a_folder(folder: Path) -> None:
    (folder / "registry.yaml").unlink()
    (folder / "registry.yaml").mkdir()


WRONG = [
    file_for_data,
    data_below_a_file,
    settings_of_other_bytes,
    registry_of_other_bytes,
    registry_that_is_a_folder,
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "harvest.yaml").write_text("data_dir: var\nexports_dir: exports\n")
    (tmp_path / "registry.yaml").write_text("{}\n")
    return tmp_path


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.__name__)
def test_the_reason_is_printed_and_no_stack_trace(
    folder: Path, words: tuple[str, ...], wrong: Callable[[Path], None]
) -> None:
    """Whoever called the command has to mend it, and nobody can mend a stack trace."""
    wrong(folder)
    ended = CliRunner().invoke(main, [*words, "--config", str(folder / "harvest.yaml")])
    assert ended.exception is None or isinstance(ended.exception, SystemExit), ended.exception
    assert ended.exit_code in (0, 1, 2)
    if ended.exit_code:
        assert ended.output.strip().splitlines()[-1].strip()


FOREIGN = """
import subprocess, sys
for words in {commands!r}:
    ended = subprocess.run(
        [sys.executable, "-c", {harvest!r}, *words, "--config", sys.argv[1]],
        capture_output=True, text=True,
    )
    print([ended.returncode, "Traceback" in ended.stderr, (ended.stderr.strip().splitlines() or [""])[-1]])
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to somebody else")
def test_the_data_of_another_user_are_reported_as_such(tmp_path: Path) -> None:
    """Commands that read say that they may not, as those do that write."""
    instance = TemporaryInstance(tmp_path)
    instance.register("{}\n")
    (instance.folder / "harvest.yaml").write_text("data_dir: var\nexports_dir: exports\n")
    with opened(instance.settings):
        pass
    for place in (instance.settings.data_dir, *instance.settings.data_dir.rglob("*")):
        os.chown(place, 12345, 12345, follow_symlinks=False)
        if not place.is_symlink():
            place.chmod(0o700 if place.is_dir() else 0o600)
    commands = [("status",), ("query", "SELECT * {}"), ("run",), ("verify",), ("history", "p"), ("seeds", "list")]
    script = FOREIGN.format(commands=commands, harvest=HARVEST)
    lines = python(script, instance.folder / "harvest.yaml").splitlines()
    for line in lines:
        code, traceback, last = ast.literal_eval(line)
        assert (code, traceback) == (1, False), line
        assert last.startswith("harvest: "), line
    assert len(lines) == len(commands)


def test_a_pipe_that_is_closed_ends_a_command_quietly(folder: Path) -> None:
    """`harvest status | head -1`."""
    command = f"{sys.executable} -c '{HARVEST}' run --config {folder}/harvest.yaml"
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    piped = subprocess.run(["bash", "-c", f"{command} | true"], env=environment, capture_output=True, text=True)
    assert "Traceback" not in piped.stderr


def test_a_bare_environment_is_enough(folder: Path) -> None:
    """No home, no locale, no terminal: as under cron."""
    bare = {"LC_ALL": "C", "TERM": "dumb", "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-c", HARVEST, "run", "--config", folder / "harvest.yaml"]
    ended = subprocess.run(words, env=bare, capture_output=True, text=True, timeout=240)
    assert (ended.returncode, ended.stderr) == (0, "")
