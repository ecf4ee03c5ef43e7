"""The blocks of docs/clients.md print what the document says."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sparql.worker.limits import QueryLimits
from tests.clients.instance import front, skies
from tests.clients.programs import Node, run
from tests.web.instance import Server

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "clients.md").read_text("utf-8")
ADDRESS = "https://data.example.org"
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
BLOCKS = FENCE.findall(TEXT)
PAIRS = list(zip(BLOCKS[::2], BLOCKS[1::2], strict=True))
PACKAGES = {"curl": "curl", "roqet": "rasqal-utils"}


@pytest.fixture(scope="module")
def sky(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """An instance of the graphs that the document describes, and no others."""
    server = front(tmp_path_factory.mktemp("sky"), QueryLimits(workers=1, timeout_s=20, wait_s=240), skies)
    yield server
    server.stop()


def test_every_block_is_followed_by_what_it_prints() -> None:
    """A block without its output would not be tested."""
    assert {code[0] for code, _ in PAIRS} == {"python", "javascript", "bash"}
    assert {printed[0] for _, printed in PAIRS} == {"text"}
    assert TEXT.count("```") == 4 * len(PAIRS)


@pytest.mark.parametrize(
    ("language", "code", "printed"),
    [(language, code, printed) for (language, code), (_, printed) in PAIRS],
    ids=[f"{language}-{number}" for number, ((language, _), _) in enumerate(PAIRS)],
)
def test_a_block_prints_what_the_document_says(
    sky: Server, node: Node, tmp_path: Path, language: str, code: str, printed: str
) -> None:
    """A reader copies it, with the address of the instance."""
    assert ADDRESS in code
    source = code.replace(ADDRESS, sky.url)
    if language == "javascript":
        done = node.run(source)
    elif language == "python":
        (tmp_path / "block.py").write_text(source, "utf-8")
        done = run(sys.executable, "-W", "ignore", tmp_path / "block.py", package="python3")
    else:
        done = _shell(source, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.replace("\r\n", "\n").replace(sky.url, ADDRESS) == printed


def _shell(source: str, folder: Path) -> subprocess.CompletedProcess[str]:
    for program, package in PACKAGES.items():
        if re.search(rf"^{program} ", source, re.MULTILINE):
            run(program, "--version", package=package)
    return run("bash", "-euo", "pipefail", "-c", f'cd "$1"\n{source}', "bash", folder, package="bash")
