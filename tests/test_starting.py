"""Ctrl-C while `harvest` starts: one line and exit code 130, wherever it comes."""

from __future__ import annotations

import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

AT_AN_IMPORT = """
import builtins, signal
real, count = builtins.__import__, 0

def counted(*words, **named):
    global count
    count += 1
    if count == {number}:
        signal.raise_signal(signal.SIGINT)
    return real(*words, **named)

from harvest.cli.entry import main
builtins.__import__ = counted
main()
"""
"""Sends itself the signal of Ctrl-C at the import of that number."""

AT_A_CONTEXT = """
import click, signal
real, count = click.Command.make_context, 0

def counted(*words, **named):
    global count
    count += 1
    if count == {number}:
        signal.raise_signal(signal.SIGINT)
    return real(*words, **named)

from harvest.cli.entry import main
click.Command.make_context = counted
main()
"""
"""Sends it when the words of the group (1) or of the command (2) are about to be read."""


def started(text: str, disposition: signal.Handlers = signal.SIG_DFL) -> subprocess.CompletedProcess[str]:
    """What becomes of `harvest wash --help` when it is started by a program."""
    return subprocess.run(
        [sys.executable, "-c", text, "wash", "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        preexec_fn=partial(signal.signal, signal.SIGINT, disposition),
    )


@pytest.mark.parametrize("number", [1, 2, 30, 300, 1000])
def test_an_interrupt_during_the_imports_ends_in_one_line(number: int) -> None:
    """What is being imported neither prints nor swallows it."""
    done = started(AT_AN_IMPORT.format(number=number))
    assert (done.returncode, done.stdout) == (130, ""), done.stderr
    assert done.stderr == "harvest: interrupted before it began\n"


@pytest.mark.parametrize("number", [1, 2])
def test_an_interrupt_while_the_words_are_read_ends_in_one_line(number: int) -> None:
    """Click would say "Aborted!" and end with 1."""
    done = started(AT_A_CONTEXT.format(number=number))
    assert (done.returncode, done.stdout) == (130, ""), done.stderr
    (line,) = done.stderr.split("\n")[:-1]
    assert line.startswith("harvest: interrupted")


def test_an_interrupt_that_is_ignored_stays_so() -> None:
    """As in a job that a shell started in the background."""
    done = started(AT_AN_IMPORT.format(number=30), signal.SIG_IGN)
    assert done.returncode == 0, done.stderr
    assert "Usage: " in done.stdout
