"""`harvest diff` and `harvest patch` over files, without an instance, against `sort | diff`."""

from __future__ import annotations

import os
import subprocess
from contextlib import chdir
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harvest.cli.main import main
from harvest.revise.line_files import sorted_lines
from tests.realdata import realdata

OLD = b'<http://x/a> <http://x/p> "1" .\n<http://x/b> <http://x/p> "\\u00e9" .\n<http://x/c> <http://x/p> "3" .\n'
NEW = b'<http://x/c> <http://x/p> "4" .\n<http://x/a> <http://x/p> "1"^^<http://www.w3.org/2001/XMLSchema#string> .\n'
DIFF = b'-<http://x/b> <http://x/p> "\xc3\xa9" .\n-<http://x/c> <http://x/p> "3" .\n+<http://x/c> <http://x/p> "4" .\n'


def harvest(*words: object, folder: Path, code: int = 0) -> Result:
    """Run a command in a folder; files are named as they are there."""
    with chdir(folder):
        done = CliRunner().invoke(main, [str(word) for word in words])
    assert done.exit_code == code, done.output
    return done


def gnu_diff(old: Path, new: Path, folder: Path) -> bytes:
    """What the recipe of the Timbuctoo document gives."""
    script = 'sort -u "$1" > old.sorted; sort -u "$2" > new.sorted; diff --unified=0 old.sorted new.sorted'
    words = ["bash", "-c", script, "-", str(old), str(new)]
    return subprocess.run(words, cwd=folder, env=os.environ | {"LC_ALL": "C"}, capture_output=True, check=False).stdout


def test_two_files_are_compared_by_terms(tmp_path: Path) -> None:
    """Order, repeats and spelling do not count; the diff takes the one to the other."""
    (tmp_path / "old.nt").write_bytes(OLD)
    (tmp_path / "new.nt").write_bytes(NEW + NEW)
    assert harvest("diff", "old.nt", "new.nt", folder=tmp_path).stdout_bytes == DIFF
    (tmp_path / "c.nqud").write_bytes(DIFF)
    done = harvest("patch", "old.nt", "c.nqud", folder=tmp_path)
    assert done.stdout_bytes == b'<http://x/a> <http://x/p> "1" .\n<http://x/c> <http://x/p> "4" .\n'
    assert done.stderr_bytes == b"c.nqud: 2 removed, 1 added\n"
    (tmp_path / "g.nqud").write_bytes(gnu_diff(tmp_path / "old.nt", tmp_path / "new.nt", tmp_path))
    assert harvest("patch", "old.nt", "g.nqud", folder=tmp_path).stdout_bytes == done.stdout_bytes


def test_other_formats_are_washed_first(tmp_path: Path) -> None:
    """Turtle against N-Triples: blank nodes have names that stay, relative IRIs one base."""
    (tmp_path / "old.ttl").write_text('<#a> <http://x/p> [ <http://x/q> 1 ] , "x" .')
    (tmp_path / "new.ttl").write_text('<#a> <http://x/p> "y" , [ <http://x/q> 1 ] .')
    found = harvest("diff", "old.ttl", "new.ttl", "--base", "http://x/doc", folder=tmp_path).stdout_bytes
    assert found == b'-<http://x/doc#a> <http://x/p> "x" .\n+<http://x/doc#a> <http://x/p> "y" .\n'
    (tmp_path / "c.nqud").write_bytes(found)
    harvest("patch", "old.ttl", "c.nqud", "--base", "http://x/doc", "-o", "out.nt", folder=tmp_path)
    washed = harvest("wash", "new.ttl", "--base", "http://x/doc", folder=tmp_path).stdout_bytes
    assert (tmp_path / "out.nt").read_bytes() == washed.replace(b" <http://x/doc> .", b" .")


def test_several_diffs_are_applied_one_after_the_other(tmp_path: Path) -> None:
    """What the graph is like already is counted, and no failure."""
    (tmp_path / "old.nt").write_bytes(OLD)
    (tmp_path / "1.nqud").write_bytes(DIFF)
    (tmp_path / "2.nqud").write_bytes(b"@@ -1 +1 @@\n" + DIFF)
    done = harvest("patch", "old.nt", "1.nqud", "2.nqud", folder=tmp_path)
    assert done.stdout_bytes == b'<http://x/a> <http://x/p> "1" .\n<http://x/c> <http://x/p> "4" .\n'
    odd = b"2.nqud: 0 removed, 0 added; 2 to be removed not there; 1 to be added there already\n"
    assert done.stderr_bytes == b"1.nqud: 2 removed, 1 added\n" + odd


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("diff", "old.nt"), 2, b"two files, or a provider and two versions"),
        (("diff", "p", "1", "two"), 2, b"'two' is no version"),
        (("diff", "old.nt", "none.nt"), 1, b"none.nt is no file"),
        (("diff", "old.nt", "bad.nt"), 1, b"bad.nt, line 2 is no statement"),
        (("patch", "old.nt", "none.nqud"), 1, b"none.nqud is no file"),
        (("patch", "old.nt", "bad.nqud"), 1, b"bad.nqud: line 1 of the change is no statement"),
        (("diff", "old.nt", "bad.ttl"), 1, b"cannot be parsed"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_line(
    tmp_path: Path, words: tuple[str, ...], code: int, said: bytes
) -> None:
    """Nothing is compared with half a file."""
    (tmp_path / "old.nt").write_bytes(OLD)
    (tmp_path / "bad.nt").write_bytes(b'<http://x/a> <http://x/p> "1" .\n<http://x/a> .\n')
    (tmp_path / "bad.nqud").write_bytes(b"+<http://x/a> .\n")
    (tmp_path / "bad.ttl").write_bytes(b"<http://x/a> <http://x/p> <http://x/b> . <http://x/a> <http://x/p> .\n")
    done = harvest(*words, folder=tmp_path, code=code)
    assert said in done.stderr_bytes and b"Traceback" not in done.stderr_bytes and done.stdout_bytes == b""


def test_releases_of_schema_org_agree_with_sort_and_diff(tmp_path: Path) -> None:
    """Real N-Triples: the figures are those that are true, and GNU's diff patches as ours does."""
    folder = realdata() / "series" / "schemaorg"
    old, new = folder / "schemaorg-all-https_28.1.nt", folder / "schemaorg-all-https_29.0.nt"
    (tmp_path / "ours.nqud").write_bytes(harvest("diff", old, new, folder=tmp_path).stdout_bytes)
    (tmp_path / "gnu.nqud").write_bytes(gnu_diff(old, new, tmp_path))
    signs = [line[:1] for line in (tmp_path / "ours.nqud").read_bytes().splitlines()]
    assert (signs.count(b"+"), signs.count(b"-")) == (463, 10)
    sorted_lines(new, tmp_path / "new.nq", tmp_path)
    for change in ("ours.nqud", "gnu.nqud"):
        done = harvest("patch", old, change, folder=tmp_path)
        assert done.stdout_bytes == (tmp_path / "new.nq").read_bytes()
        assert done.stderr_bytes == change.encode() + b": 10 removed, 463 added\n"
