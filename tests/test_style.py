"""Every rule of tests/style.py finds what it is there for; a rule that cannot fail would guard nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests import style

LONG = "def f():\n" + "    x = 1\n" * 40

BREACHES = [
    ("harvest/a.py", "x = 1\n" * 301, "301 lines"),
    ("sparql/web/static/a.js", "x = 1;\n" * 301, "301 lines"),
    ("harvest/a.py", LONG, "f has 41 lines"),
    ("sparql/a.py", "def f(a, b, c, *, d, e, g): ...\n", "f takes 6 arguments"),
    ("harvest/utils.py", "", "utils does not say what it names"),
    ("sparql/a.py", "class StoreManager: ...\n", "StoreManager does not say"),
    ("harvest/a.py", "x = 1  # TODO\n", "unfinished"),
    ("tests/test_a.py", "import b  # type: ignore\n", "switched off without"),
    ("tests/test_a.py", "import b  # noqa\n", "switched off without"),
    ("tests/test_a.py", "def test_a(): ...\n", "test_a has no sentence"),
    ("harvest/a.py", "try: ...\nexcept Exception: ...\n", "catches everything"),
    ("harvest/a.py", "try: ...\nexcept (OSError, BaseException): ...\n", "catches everything"),
    ("harvest/pipeline/a.py", "try: ...\nexcept Exception: ...\n" * 2, "catches everything"),
]
"""Path, what stands there, and a part of what is said."""

SOUND = [
    ("harvest/a.py", "x = 1\n" * 300),
    ("harvest/a.py", "def f(self, a, b, c, d, e): ...\n"),
    ("harvest/a.py", "import b  # type: ignore[import-untyped] # it ships none\n"),
    ("harvest/pipeline/a.py", "try: ...\nexcept Exception: ...\n"),
    ("harvest/a.py", "try: ...\nexcept Exception:\n    raise\n"),
    ("tests/test_a.py", 'def test_a():\n    """It says why."""\n'),
]


def _found(root: Path, name: str, text: str) -> list[str]:
    path = root / name
    path.parent.mkdir(parents=True)
    path.write_text(text, "utf-8")
    return list(style.breaches(root))


@pytest.mark.parametrize(("name", "text", "said"), BREACHES, ids=[said for _, _, said in BREACHES])
def test_a_breach_is_found_and_named(tmp_path: Path, name: str, text: str, said: str) -> None:
    """Whoever broke a rule reads the file, the line and the rule."""
    found = _found(tmp_path, name, text)
    assert len(found) == 1
    assert found[0].startswith(f"{name}:") and said in found[0]


@pytest.mark.parametrize(("name", "text"), SOUND, ids=[text.strip()[:40] for _, text in SOUND])
def test_sound_code_is_no_breach(tmp_path: Path, name: str, text: str) -> None:
    """A rule that finds too much gets switched off."""
    assert _found(tmp_path, name, text) == []


@pytest.mark.long
def test_the_command_exits_by_what_it_found() -> None:
    """`make lint` stops on a breach; this tree has none."""
    done = subprocess.run([sys.executable, "-m", "tests.style"], cwd=style.ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "No breach of the rules in tests/style.py.\n")
