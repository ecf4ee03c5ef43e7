"""The lines of the exports page, as a reader copies them: run against a real instance."""

from __future__ import annotations

import gzip
import html
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from tests.harvested import Harvested, harvested

HTML = {"Accept": "text/html"}


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Harvested]:
    with harvested(tmp_path_factory.mktemp("instance")) as served:
        yield served


@pytest.fixture(scope="module")
def lines(instance: Harvested) -> dict[str, str]:
    """The lines of the page of one file, by their name."""
    text = requests.get(f"{instance.url}/exports/?file=p.nq.gz", headers=HTML, timeout=240).text
    found = re.findall(r'<h3 id="([\w-]+)">.*?<pre[^>]*>(.*?)</pre>', text, re.DOTALL)
    return {name: html.unescape(code) for name, code in found}


def run(code: str, folder: Path, *interpreter: str) -> subprocess.CompletedProcess[str]:
    """Run lines in a folder, without anything of ours in the environment."""
    environ = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG")}
    return subprocess.run(
        [*interpreter, code], cwd=folder, env=environ, capture_output=True, text=True, timeout=240, check=False
    )


def shell(code: str, folder: Path) -> str:
    """Run lines as they run when they are pasted: each by itself; the last one counts."""
    done = run(code, folder, "bash", "-o", "pipefail", "-c")
    assert done.returncode == 0, done.stderr
    return done.stdout


def python(code: str, folder: Path) -> str:
    done = run(code, folder, sys.executable, "-I", "-c")
    assert done.returncode == 0, done.stderr
    return done.stdout


def exported(instance: Harvested) -> bytes:
    return (instance.folder / "exports" / "p.nq.gz").read_bytes()


def test_a_download_is_taken_checked_and_gone_on_with(
    instance: Harvested, lines: dict[str, str], tmp_path: Path
) -> None:
    """Also when all of it is there already, and when half of it is."""
    file = tmp_path / "p.nq.gz"
    for begun in (b"", exported(instance)[:40], exported(instance)):
        if begun:
            file.write_bytes(begun)
        assert shell(lines["download"], tmp_path) == "p.nq.gz: OK\n"
        assert file.read_bytes() == exported(instance)


def test_a_damaged_download_is_found_out(instance: Harvested, lines: dict[str, str], tmp_path: Path) -> None:
    """What was begun of another version does not fit the rest."""
    (tmp_path / "p.nq.gz").write_bytes(b"x" * 40)
    done = run(lines["download"], tmp_path, "bash", "-o", "pipefail", "-c")
    assert done.returncode != 0
    assert "p.nq.gz: FAILED" in done.stdout


def test_every_day_only_what_changed_is_taken(instance: Harvested, lines: dict[str, str], tmp_path: Path) -> None:
    """The second time nothing comes, and what is there stays."""
    file = tmp_path / "p.nq.gz"
    for _ in range(2):
        shell(lines["daily"], tmp_path)
        assert file.read_bytes() == exported(instance)
    file.write_bytes(b"mine")
    shell(lines["daily"], tmp_path)
    assert file.read_bytes() == b"mine"
    (tmp_path / "p.nq.gz.etag").write_text('etag: "older"\n')
    shell(lines["daily"], tmp_path)
    assert file.read_bytes() == exported(instance)


def test_python_takes_what_changed_and_loads_it(instance: Harvested, lines: dict[str, str], tmp_path: Path) -> None:
    """The recipes use the standard library, pyoxigraph and rdflib."""
    file = tmp_path / "p.nq.gz"
    python(lines["python"], tmp_path)
    assert file.read_bytes() == exported(instance)
    file.write_bytes(b"mine")
    python(lines["python"], tmp_path)
    assert file.read_bytes() == b"mine", "it came again, though its tag is known"
    (tmp_path / "p.nq.gz.etag").unlink()
    python(lines["python"], tmp_path)
    count = gzip.decompress(exported(instance)).count(b"\n")
    graph = f"{instance.url}/graph/p"
    assert python(lines["pyoxigraph"], tmp_path) == f"{graph} {count}\n"
    assert f"{graph} {count}" in python(lines["rdflib"], tmp_path).splitlines()


def test_a_change_takes_a_version_to_the_next(instance: Harvested, lines: dict[str, str], tmp_path: Path) -> None:
    """To the same bytes, which the digest in the record of the version proves; and the same in a store."""
    expected = requests.get(f"{instance.url}/providers/p/versions/3.nq", timeout=240).content
    record = requests.get(f"{instance.url}/providers/p/versions/3", timeout=240).json()
    shell(lines["version"], tmp_path)
    shutil.copy(tmp_path / "p.nq", tmp_path / "older.nq")
    assert (tmp_path / "p.nq").read_bytes() != expected
    assert shell(lines["patch"], tmp_path).split() == [record["sha256"], "p.nq"]
    assert (tmp_path / "p.nq").read_bytes() == expected
    load = "from pyoxigraph import *; s = Store('p.store'); s.bulk_load(path='older.nq', format=RdfFormat.N_QUADS)"
    python(load, tmp_path)
    assert python(lines["follow"], tmp_path) == f"{record['triples']}\n"


def test_the_lines_for_r_are_balanced_and_name_what_is_there(instance: Harvested, lines: dict[str, str]) -> None:
    """R is not on the machines of the tests; the addresses in the lines are, and what they ask is answered."""
    for name in ("r", "readr"):
        for opened, closed in ("()", "{}", "[]"):
            assert lines[name].count(opened) == lines[name].count(closed)
        assert lines[name].count('"') % 2 == 0
    assert f'"{instance.url}/exports/p.nq.gz"' in lines["r"]
    query = re.findall(r'query <- "(.*)"', lines["readr"])[0]
    address = re.findall(r'paste0\("(.*?)"', lines["readr"])[0]
    answer = requests.get(address + requests.utils.quote(query, safe=""), timeout=240)
    assert answer.text.startswith("class,entities\r\n")


def test_the_page_shows_each_file_and_of_the_one_that_is_asked_for(instance: Harvested) -> None:
    """Size, date and digest; without a choice the lines are for everything."""
    text = requests.get(f"{instance.url}/exports/", headers=HTML, timeout=240).text
    for file in requests.get(f"{instance.url}/exports/", timeout=240).json():
        assert f'href="/exports/{file["name"]}"' in text
        assert file["sha256"] is None or file["sha256"] in text
        assert file["modified"] in text
    assert "Use all.nq.gz" in text
    chosen = requests.get(f"{instance.url}/exports/?file=p.nq.gz", headers=HTML, timeout=240).text
    assert "Use p.nq.gz" in chosen and "Use all.nq.gz" not in chosen
    for wrong, status in (("x.nq.gz", 404), ("../harvest.yaml", 400), ("void.ttl", 400)):
        assert requests.get(f"{instance.url}/exports/", params={"file": wrong}, timeout=240).status_code == status
