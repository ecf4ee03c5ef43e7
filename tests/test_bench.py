"""The benchmark's machinery on tiny data: what is compared agrees, and nothing is left behind. Times are not judged."""

from __future__ import annotations

import bz2
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from bench import data, suite
from bench.cases.imports import REAL
from bench.cases.tick import marks
from bench.data import Recipe
from bench.errors import BenchError
from bench.ground import Ground, Scale
from bench.literal import fingerprint
from bench.machine import check_disk
from bench.measure import Sample, interleaved
from bench.memory import peak
from bench.table import Row, Target, markdown

ROOT = Path(__file__).resolve().parents[1]
TINY = Scale(8_000, 16_000, 400, 800, 5, 1, 1, 1, 2, judged=False)
BY_WRK = ("lookup", "join", "meanwhile")
SLOW = ("join", "heavy", "million", "meanwhile", "memory", "capture", "partial", "lookup")
ABSENT = shutil.which("wrk") is None


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    """Ground for tiny cases, with a real file of one triple."""
    real = tmp_path / "real"
    (real / REAL).mkdir(parents=True)
    packed = bz2.compress(b"<http://a.example/s> <http://a.example/p> <http://a.example/o> .\n")
    (real / REAL / "links.nt.bz2").write_bytes(packed)
    folder = tmp_path / "ground"
    folder.mkdir()
    return Ground(folder, TINY, lambda _: None, real)


def written(recipe: Recipe, folder: Path) -> list[str]:
    path = folder / recipe.name
    data.write(recipe, path)
    return path.read_text("utf-8").splitlines()


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.long] * (name in SLOW))
        for name in suite.CASES
        if name not in suite.OTHERWISE_LEFT_OUT
    ],
)
def test_what_a_case_compares_agrees(name: str, ground: Ground) -> None:
    """Every case compares our result with the peer's: being fast is worth nothing where they differ."""
    rows = list(suite.rows(ground, [name]))
    if name in BY_WRK and ABSENT:
        assert "apt-get install wrk" in rows[0].notes[0]
        return
    assert [row.notes for row in rows if isinstance(row, suite.Failed)] == []
    assert rows
    assert all(row.ours for row in rows)
    assert not any(row.spoiled for row in rows)
    assert {path.name for path in ground.folder.iterdir()} <= {"data"}


@pytest.mark.long
def test_a_soak_takes_no_more_memory_and_little_ledger(tmp_path: Path) -> None:
    """What a harvest leaves is what is kept on purpose: no memory, no descriptor, no lock; some kB of ledger."""
    scale = Scale(harvests=300, ticks=1_000, judged=False)
    memory, descriptors, ledger, ticks = suite.rows(Ground(tmp_path, scale, lambda _: None, None), ["soak"])
    assert memory.ours is not None and memory.ours < 30, memory.notes
    assert descriptors.ours is not None and descriptors.ours <= 4
    assert ledger.ours is not None and 0 < ledger.ours < 25
    assert ticks.ours is not None and ticks.ours < 10
    assert "0 files more" in ticks.notes[0]


def test_a_case_that_cannot_be_measured_is_reported(tmp_path: Path) -> None:
    """One case that fails must not take the others' figures along."""
    # Fewer items than partial dumps: the parts are the same, and the second one changes nothing.
    ground = Ground(tmp_path, Scale(16, None, 16, 8, 1, 1, judged=False), lambda _: None, None)
    rows = list(suite.rows(ground, ["partial", "wash"]))
    assert isinstance(rows[0], suite.Failed)
    assert "did not end committed" in rows[0].notes[0]
    assert [row.case for row in rows[1:]] == ["washing"] * 8


def test_generated_data_have_their_size_and_share_of_blank_nodes(tmp_path: Path) -> None:
    """Ratios are given for a number of triples, of which a stated share touches blank nodes."""
    lines = written(Recipe(80_000, blank_share=0.8), tmp_path)
    assert len(lines) == len(set(lines)) == 80_000
    touching = sum(" _:" in line or line.startswith("_:") for line in lines)
    assert touching / len(lines) == pytest.approx(0.3, abs=0.01)
    subjects = [line.split()[0] for line in lines if "#type>" in line]
    assert len(set(subjects)) == 10_000
    assert subjects != sorted(subjects)


def test_an_edition_changes_its_share_of_the_subjects(tmp_path: Path) -> None:
    """What the table calls 1 % changed is that, and the same file is made again at every run."""
    recipe = Recipe(80_000)
    old, new = written(recipe, tmp_path), written(Recipe(80_000, edition=1), tmp_path)
    subjects = {line.split()[0] for line in set(old) ^ set(new) if line.startswith("<")}
    assert len(subjects) / recipe.items == pytest.approx(0.01, abs=0.003)
    assert written(recipe, tmp_path) == old


def test_another_order_holds_the_same_triples(tmp_path: Path) -> None:
    """A dump that is only ordered otherwise must be found unchanged."""
    one, other = written(Recipe(8_000), tmp_path), written(Recipe(8_000, order=1), tmp_path)
    assert one != other
    assert sorted(one) == sorted(other)


def test_a_fingerprint_sees_each_line_and_no_order() -> None:
    """Stores give their lines in any order, and one that differs must not be missed."""
    lines = [b"a\n", b"b\n", b"c\n"]
    assert fingerprint(lines) == fingerprint(reversed(lines))
    assert fingerprint(lines) != fingerprint([b"a\n", b"b\n", b"d\n"])
    assert fingerprint(lines) != fingerprint([*lines, b"c\n"])


@pytest.mark.parametrize(
    ("target", "ours", "peer", "met"),
    [
        (Target(1.25, "slower"), 12.5, 10.0, True),
        (Target(1.25, "slower"), 12.6, 10.0, False),
        (Target(12, "faster"), 1.0, 12.0, True),
        (Target(12, "faster"), 1.0, 11.9, False),
        (Target(0.35, "share"), 3.6, 10.0, True),
        (Target(0.35, "share"), 3.4, 10.0, False),
        (Target(5, "ours"), 5.1, None, False),
        (Target(1.2, "slower"), 1.0, None, None),
    ],
)
def test_a_row_says_whether_its_target_is_met(
    target: Target, ours: float, peer: float | None, met: bool | None
) -> None:
    """The table is read for this one word."""
    assert Row("case", "data", ours, peer, target=target).met is met


def test_the_median_of_ratios_goes_before_the_ratio_of_medians() -> None:
    """Runs that followed one another had the same machine; medians of each may be of different hours."""
    row = Row("lookup", "2 M", 30.0, 100.0, unit="/s", ratio=0.4, target=Target(0.35, "share"))
    assert row.met is True
    assert row.cells()[2:6] == ("30 /s", "100 /s", "0.40 x", "at least 0.35 x")


def test_a_missed_target_says_where_the_time_goes() -> None:
    """Whoever reads that a target is missed wants to know why."""
    row = Row("import", "2 M", 20.0, 10.0, target=Target(1.25, "slower"), shares={"load": 0.7, "wash": 0.296})
    table = markdown([row, Row("import", "small", 20.0, 10.0, target=row.target, judged=False)])
    assert "| NO " in table
    assert "not judged" in table
    assert "load 70%, wash 30%" in table


def test_contestants_run_in_turn() -> None:
    """A busy moment of the machine must not befall one alone; what takes minutes runs once."""
    order: list[str] = []

    def run(name: str, seconds: float) -> Sample:
        order.append(name)
        return Sample(seconds)

    series = interleaved({"a": lambda: run("a", 2.0), "b": lambda: run("b", 100.0)}, 3)
    assert order == ["a", "b", "a", "a"]
    assert series["a"].seconds == 2.0


def test_the_memory_of_grandchildren_counts(tmp_path: Path) -> None:
    """Washing runs in a process that a server forks, in a process group of its own."""
    child = "import os, time; os.setpgid(0, 0); held = b'x' * 150_000_000; time.sleep(3)"
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}], check=True); print('done')"
    found = peak([sys.executable, "-c", parent], tmp_path)
    assert 150_000_000 < found.bytes < 300_000_000
    assert found.output == "done\n"


def test_a_change_of_any_file_is_seen(tmp_path: Path) -> None:
    """The tick's promise is that nothing is written anywhere."""
    (tmp_path / "deep" / "er").mkdir(parents=True)
    file = tmp_path / "deep" / "er" / "file"
    file.write_text("a")
    before = marks([tmp_path])
    assert marks([tmp_path]) == before
    file.write_text("ab")
    assert marks([tmp_path]) != before


def test_too_small_a_disk_is_refused_with_figures(tmp_path: Path) -> None:
    """A disk that fills up after half an hour costs that half hour."""
    with pytest.raises(BenchError, match=r"GB free and the cases need 2000000.0 GB"):
        check_disk(tmp_path, 10**12)


@pytest.fixture
def short() -> Iterator[Path]:
    """A folder in which addresses of sockets fit; those of the tests are too long for some."""
    with TemporaryDirectory(dir="/tmp") as folder:
        yield Path(folder)


def test_an_interrupted_bench_leaves_nothing_behind(short: Path) -> None:
    """Gigabytes of temporary files and a server would stay with whoever pressed Ctrl-C."""
    command = [sys.executable, "-m", "bench", "--quick", "--only", "again"]
    environment = {"TMPDIR": str(short), "PATH": "/usr/bin:/bin"}
    # A shell lets what it starts in the background ignore Ctrl-C, and children inherit that.
    command = ["env", "--default-signal=INT", *command]
    with subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        begun: list[str] = []
        while not begun or (begun[-1] and "importing" not in begun[-1]):
            begun.append(process.stderr.readline())
        assert begun[-1], "".join(begun)
        process.send_signal(signal.SIGINT)
        assert "Interrupted" in process.stderr.read()
    assert process.returncode == 130
    assert list(short.iterdir()) == []
