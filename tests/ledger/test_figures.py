"""Statistics of the current versions: filed before the commit, and nobody's until then."""

from __future__ import annotations

from pathlib import Path

import pytest

from harvest.ledger import Ledger
from harvest.model import Statistics
from tests.ledger.samples import NOW, announced, later, ledger, version

FIRST = Statistics(3, 2, {"http://x/p": 2, "http://x/é": 1}, {"http://x/C": 1})
SECOND = Statistics(1, 1, {"http://x/p": 1}, {})


@pytest.fixture
def made(tmp_path: Path) -> Ledger:
    """A ledger whose provider `a` has a version with statistics."""
    found = ledger(tmp_path, "a", "b")
    commit(found, 1, FIRST)
    return found


def load(made: Ledger, n: int, statistics: Statistics | None) -> int:
    """A version as it is before its commit; returns its run."""
    run = made.start_run("a", NOW, announced(made, "a"))
    made.file_version(version(n, run))
    made.figures.put("a", n, statistics)
    return run


def commit(made: Ledger, n: int, statistics: Statistics | None) -> None:
    """A version that is committed."""
    run = load(made, n, statistics)
    made.commit_version(version(n, run), None, later(1))


def test_statistics_read_back_as_they_were_filed(made: Ledger) -> None:
    """IRIs of any script, and counts by each."""
    assert made.figures.get("a", 1) == FIRST
    assert made.figures.totals("a", 1) == {"subjects": 2, "properties": 2, "classes": 1}
    assert made.figures.get("b", 1) is None
    assert made.figures.totals("b", 1) is None


def test_those_of_the_current_version_stay_until_the_next_is_committed(made: Ledger) -> None:
    """Who reads while a version is loading gets what belongs to the one that is published."""
    run = load(made, 2, SECOND)
    assert made.figures.get("a", 1) == FIRST
    made.commit_version(version(2, run), None, later(1))
    assert (made.figures.get("a", 1), made.figures.get("a", 2)) == (None, SECOND)


def test_a_version_that_was_not_counted_has_none(made: Ledger) -> None:
    """Figures of another version are worse than none."""
    commit(made, 2, None)
    assert made.figures.get("a", 2) is None
    assert made.figures.get("a", 1) is None


def test_counting_again_takes_the_place_of_what_was_counted(made: Ledger) -> None:
    """A version that a crash left loading is counted once more; what could not be counted leaves what is there."""
    made.figures.put("a", 1, SECOND)
    made.figures.put("a", 1, None)
    assert made.figures.get("a", 1) == SECOND
