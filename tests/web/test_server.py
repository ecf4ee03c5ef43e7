"""Starting the server."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

from tests.ports import free_port

ROOT = Path(__file__).resolve().parents[2]


def start(target: str, port: int) -> subprocess.CompletedProcess[str]:
    """What a server says that does not come up."""
    code = f"from sparql.web.server import run; run({target!r}, '127.0.0.1', {port})"
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=240, check=False
    )


def test_a_port_that_is_taken_is_reported() -> None:
    """Granian would share it with another instance of itself, and nobody would notice."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        done = start("tests.web.instance:application", other.getsockname()[1])
    assert done.returncode == 1
    assert "Address already in use" in done.stderr


def test_an_application_that_fails_ends_the_server() -> None:
    """A server that answers nothing is worse than none."""
    done = start("tests.web.instance:application", free_port())
    assert done.returncode == 1
    assert "SPARQL_TEST_INSTANCE" in done.stderr
