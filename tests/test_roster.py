"""The registry may be edited while the platform runs; an edit that breaks it changes nothing but what is said."""

from __future__ import annotations

import os
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from harvest.config.roster import Roster
from harvest.errors import RegistryError
from tests.unprivileged import python

GOOD = """\
# Providers of the instance.
a:
  modified: 2020-01-01   # kept by hand
  void: http://example.org/a
b:
  void: http://example.org/b
"""
MORE = GOOD + "c:\n  void: http://example.org/c\n"
THEN = datetime(2020, 1, 1, tzinfo=UTC)
NOW = datetime(2026, 11, 20, 12, 30, tzinfo=UTC)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "registry.yaml"
    file.write_text(GOOD)
    return file


def edit(path: Path, text: str) -> None:
    """As editors do: write beside, and rename."""
    beside = path.with_suffix(".new")
    beside.write_text(text)
    beside.replace(path)


def names(roster: Roster) -> list[str]:
    return sorted(roster.all())


def test_the_registry_is_read_at_the_start(path: Path) -> None:
    """By name, with the dates it says."""
    roster = Roster(path)
    assert names(roster) == ["a", "b"]
    first = roster.get("a")
    assert first is not None
    assert (first.modified, first.url) == (THEN, "http://example.org/a")
    assert roster.get("none") is None
    assert roster.problem is None


@pytest.mark.parametrize("text", ["a: [", "a:\n  vod: http://example.org/a\n", None], ids=["syntax", "key", "gone"])
def test_a_registry_that_is_broken_at_the_start_is_an_error(path: Path, text: str | None) -> None:
    """There is no last good one to go on with."""
    path.write_text(text) if text else path.unlink()
    with pytest.raises(RegistryError) as caught:
        Roster(path)
    assert caught.value.url == str(path)


def test_an_edit_takes_effect_at_the_next_refresh(path: Path) -> None:
    """Providers come and go without a restart, and not in the middle of a tick."""
    roster = Roster(path)
    edit(path, MORE)
    assert names(roster) == ["a", "b"]
    roster.refresh()
    assert names(roster) == ["a", "b", "c"]
    edit(path, MORE.replace("a:\n  modified: 2020-01-01   # kept by hand\n  void: http://example.org/a\n", ""))
    roster.refresh()
    assert names(roster) == ["b", "c"]


def test_an_edit_in_place_that_keeps_the_size_is_seen(path: Path) -> None:
    """Some editors write into the file itself."""
    roster = Roster(path)
    before = path.stat()
    path.write_text(GOOD.replace("/b", "/d"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    roster.refresh()
    changed = roster.get("b")
    assert changed is not None
    assert changed.url == "http://example.org/d"


def test_a_file_that_did_not_change_is_not_read_again(path: Path) -> None:
    """A tick over a thousand providers asks for the time of the file alone."""
    roster = Roster(path)
    held = roster.all()
    roster.refresh()
    assert roster.all() is held


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        ("a: [\n", "registry.yaml:"),
        (GOOD.replace("void:", "vod:", 1), "'void'"),
        (GOOD + "a:\n  void: http://example.org/a\n", "a"),
        (None, "cannot be read"),
    ],
    ids=["syntax", "key", "twice", "gone"],
)
def test_a_broken_edit_keeps_the_last_good_registry_and_says_so(path: Path, broken: str | None, says: str) -> None:
    """Loudly, once for each edit, and on the pages as long as it lasts."""
    roster = Roster(path)
    held = roster.all()
    with capture_logs() as logs:
        if broken is None:
            path.unlink()
        else:
            edit(path, broken)
        roster.refresh()
        roster.refresh()
    assert roster.all() is held
    assert roster.problem is not None
    assert says in roster.problem.message
    assert [entry["log_level"] for entry in logs] == ["error"]
    assert logs[0]["reason"] == roster.problem.message


def test_a_mended_edit_clears_the_problem(path: Path) -> None:
    """The mended edit counts, like any other."""
    roster = Roster(path)
    edit(path, "a: [")
    roster.refresh()
    edit(path, "a: {")
    roster.refresh()
    assert roster.problem is not None
    edit(path, MORE)
    roster.refresh()
    assert roster.problem is None
    assert names(roster) == ["a", "b", "c"]


def test_a_broken_edit_that_is_taken_back_clears_the_problem(path: Path) -> None:
    """Also where the old file itself comes back, with its old time."""
    roster = Roster(path)
    path.rename(path.with_suffix(".old"))
    path.write_text("a: [")
    roster.refresh()
    assert roster.problem is not None
    path.with_suffix(".old").replace(path)
    roster.refresh()
    assert roster.problem is None


def test_a_date_is_written_back_and_known_at_once(path: Path) -> None:
    """Only the date changes in the file, and the next harvest compares with the new one."""
    roster = Roster(path)
    assert roster.write_back("a", NOW)
    assert path.read_text() == GOOD.replace("2020-01-01", "2026-11-20T12:30:00Z")
    again = roster.get("a")
    assert again is not None
    assert again.modified == NOW
    assert roster.write_back("b", NOW)
    assert [p.modified for p in Roster(path).all().values()] == [NOW, NOW]
    roster.refresh()
    assert roster.problem is None
    assert roster.all() == Roster(path).all()


def test_a_date_that_people_changed_meanwhile_stays(path: Path) -> None:
    """They know better: somebody who puts the date back wants the dump harvested again."""
    roster = Roster(path)
    edit(path, GOOD.replace("2020-01-01", "2019-01-01"))
    before = path.read_bytes()
    assert not roster.write_back("a", NOW)
    assert path.read_bytes() == before
    assert not roster.write_back("none", NOW)


def test_an_edit_elsewhere_in_the_file_is_kept_and_seen(path: Path) -> None:
    """Write-back must neither undo it nor hide it from the next refresh."""
    roster = Roster(path)
    edit(path, MORE)
    assert roster.write_back("a", NOW)
    assert path.read_text() == MORE.replace("2020-01-01", "2026-11-20T12:30:00Z")
    roster.refresh()
    assert names(roster) == ["a", "b", "c"]


def test_a_mistake_elsewhere_in_the_file_does_not_stop_the_date(path: Path) -> None:
    """It is valid YAML, so the date can be written; the refresh reports the mistake and keeps the last good one."""
    roster = Roster(path)
    edit(path, GOOD + "c:\n  vod: http://example.org/c\n")
    roster.refresh()
    assert roster.problem is not None
    assert roster.write_back("a", NOW)
    assert "2026-11-20T12:30:00Z" in path.read_text()
    again = roster.get("a")
    assert again is not None
    assert again.modified == NOW
    assert names(roster) == ["a", "b"]
    assert roster.problem is not None


def test_a_registry_that_cannot_be_written_is_reported(path: Path) -> None:
    """It may be mounted read-only from a repository; the date in memory stays as it is in the file."""
    path.parent.chmod(0o555)
    try:
        printed = python(
            """
            import sys
            from datetime import UTC, datetime
            from pathlib import Path
            from harvest.errors import StorageError
            from harvest.config.roster import Roster
            roster = Roster(Path(sys.argv[1]))
            try:
                roster.write_back("a", datetime.now(UTC))
            except StorageError as error:
                print(error, roster.get("a").modified.year)
            """,
            path,
        )
    finally:
        path.parent.chmod(0o755)
    assert "the registry cannot be rewritten" in printed
    assert printed.endswith(" 2020\n")
    assert path.read_text() == GOOD


def test_dates_written_back_from_several_threads_are_all_there(tmp_path: Path) -> None:
    """Providers are harvested side by side, and share one file."""
    path = tmp_path / "registry.yaml"
    path.write_text("".join(f"p{n}:\n  void: http://example.org/{n}\n" for n in range(20)))
    roster = Roster(path)
    together = threading.Barrier(4)
    outcomes: list[bool] = []

    def work(first: int) -> None:
        together.wait(60)
        for n in range(first, 20, 4):
            outcomes.append(roster.write_back(f"p{n}", NOW))
            roster.refresh()

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert outcomes == [True] * 20
    assert {provider.modified for provider in Roster(path).all().values()} == {NOW}
    assert {provider.modified for provider in roster.all().values()} == {NOW}
