"""What a query worker gives up."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.processes import is_running

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is Linux's")

ROOT = Path(__file__).resolve().parents[2]


def run(code: str) -> str:
    """What a fresh Python process prints."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=240, check=True
    )
    return done.stdout.strip()


def test_a_closed_network_stays_closed_for_all_threads() -> None:
    """The store opens its connections in native code, whatever Python forbids."""
    printed = run(
        "import threading, pyoxigraph\n"
        "from sparql.worker.sandbox import close_network\n"
        "assert close_network()\n"
        "def ask():\n"
        "    try: list(pyoxigraph.Store().query('SELECT * { SERVICE <http://127.0.0.1:8080/> { ?s ?p ?o } }'))\n"
        "    except OSError as error: print(type(error).__name__)\n"
        "thread = threading.Thread(target=ask); thread.start(); thread.join()\n"
    )
    assert printed == "PermissionError"


def test_an_open_socket_still_works() -> None:
    """The worker talks to its front by one."""
    printed = run(
        "import socket\n"
        "from sparql.worker.sandbox import close_network\n"
        "a, b = socket.socketpair()\n"
        "close_network()\n"
        "a.sendall(b'whole')\n"
        "print(b.recv(9).decode())\n"
    )
    assert printed == "whole"


def test_the_system_ends_a_worker_before_its_front() -> None:
    """When memory runs out, one query is lost and not the service."""
    code = (
        "from sparql.worker.sandbox import offer_to_oom_killer as offer; offer();"
        "print(open('/proc/self/oom_score_adj').read())"
    )
    assert run(code) == "500"


def test_a_child_ends_with_its_parent_however_that_ends() -> None:
    """A parent that is killed cannot end anybody."""
    child = (
        "import os, time; from sparql.worker.sandbox import die_with_parent\n"
        "die_with_parent(os.getppid()); print(os.getpid(), flush=True); time.sleep(120)"
    )
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    with subprocess.Popen([sys.executable, "-c", parent], cwd=ROOT, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        process.kill()
        process.stdout.read()  # Ends when the last process that has the pipe does.
    assert not alive(pid)


def test_a_child_whose_parent_is_gone_already_ends_at_once() -> None:
    """The parent may end between starting the child and the child's asking."""
    assert run("from sparql.worker.sandbox import die_with_parent; die_with_parent(1 << 30); print('alive')") == ""


def alive(pid: int) -> bool:
    """Whether a process is still there after a while in which it has every chance to end."""
    end = time.monotonic() + 60
    while is_running(pid) and time.monotonic() < end:
        time.sleep(0.01)
    return is_running(pid)
