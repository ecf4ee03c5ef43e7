"""The peers: what `oxigraph` (PyPI package of the same name, the Rust command line) does with the same files."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pyoxigraph

from bench.errors import BenchError
from bench.measure import Sample, clocked


def oxigraph() -> str:
    """
    The path of the command.

    Raises:
        BenchError: It is not installed beside this Python.
    """
    path = Path(sys.executable).with_name("oxigraph")
    if not path.exists():
        raise BenchError(f"{path} is not there; `make setup` installs the development dependencies")
    return str(path)


def load_command(store: Path, graph: str, file: Path) -> list[str]:
    """The command that loads a file into a graph."""
    return [oxigraph(), "load", "--location", str(store), "--graph", graph, "--file", str(file)]


def load(store: Path, graph: str, file: Path) -> Sample:
    """Load a file into a graph of a new store."""
    return _run(load_command(store, graph, file))


def dump(store: Path, target: Path) -> Sample:
    """Dump a store as N-Quads."""
    return _run([oxigraph(), "dump", "--location", str(store), "--file", str(target)])


def _run(command: Sequence[str]) -> Sample:
    with clocked() as sample:
        done = subprocess.run(command, check=False, capture_output=True, text=True)
    _check(command, done.returncode, done.stderr)
    return sample


def convert_and_sort(file: Path, target: Path) -> Sample:
    """Canonical N-Triples of a file, sorted and unique, by a pipe of two commands; blank nodes keep their labels."""
    convert = [oxigraph(), "convert", "--from-file", str(file), "--to-format", "nt"]
    sort = ["sort", "-u", f"--temporary-directory={target.parent}", f"--output={target}"]
    with clocked() as sample, subprocess.Popen(convert, stdout=subprocess.PIPE) as first:
        # When sort is gone, convert ends too: its pipe is broken.
        done = subprocess.run(sort, stdin=first.stdout, check=False, env=os.environ | {"LC_ALL": "C"})
    _check(convert, first.returncode, "")
    _check(sort, done.returncode, "")
    return sample


def _check(command: Sequence[str], code: int, said: str) -> None:
    if code != 0:
        raise BenchError(f"`{' '.join(command)}` ended with {code}: {said.strip()[-500:]}")


def count(store: Path, graph: str) -> int:
    """How many triples a graph of a store has, which nobody writes."""
    opened = pyoxigraph.Store.read_only(str(store))
    found = opened.query(f"SELECT (COUNT(*) AS ?n) {{ GRAPH <{graph}> {{ ?s ?p ?o }} }}")
    assert isinstance(found, pyoxigraph.QuerySolutions)
    return int(next(found)["n"].value)
