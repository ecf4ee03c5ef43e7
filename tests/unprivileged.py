"""Commands that file permissions hold for, also where the tests run as root."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def python(script: str, *arguments: str | Path) -> str:
    """
    What a script prints, run in an interpreter that may not write where permissions forbid it.

    Root may write everywhere; setpriv, which belongs to every Debian, takes that privilege away.
    """
    command = [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)]
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("root without setpriv may write everywhere")
        command = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", *command]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout
