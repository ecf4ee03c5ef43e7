"""The queue: what waits, what gives way, what is held."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from harvest.ledger import Ledger
from harvest.ledger.announcements import backoff
from harvest.model import Coverage
from tests.ledger.samples import GRAPH, IRI, NOW, announced, capture, dataset, later, ledger

OTHER = IRI + "2"
FULL, PARTIAL = dataset(), dataset(coverage=Coverage.PARTIAL)


@pytest.fixture
def made(tmp_path: Path) -> Ledger:
    return ledger(tmp_path, "a", "b")


def waiting(made: Ledger, minutes: float = 0, name: str | None = None) -> list[int]:
    return [found.id for found, _ in made.announcements.waiting(later(minutes), name)]


def state(made: Ledger, id: int) -> str:
    return str(made.database.rows("SELECT state FROM announcement WHERE id = ?", id)[0]["state"])


def test_an_announcement_comes_back_as_it_was_filed(made: Ledger) -> None:
    """With the dataset as described then, whatever the description says later."""
    found = announced(made, "a", dataset(modified=None))
    assert (found.provider, found.dataset, found.seen, found.captures) == ("a", dataset(modified=None), NOW, ())
    assert made.announcements.latest("a", IRI) == (found, "seen")
    assert made.announcements.get(found.id) == found
    assert made.announcements.get(found.id + 1) is None
    assert made.announcements.latest("a", OTHER) is None
    assert made.announcements.latest("b", IRI) is None


def test_announcements_wait_in_the_order_they_came(made: Ledger) -> None:
    """Of all providers, or of one."""
    ids = [made.announcements.add(name, PARTIAL, NOW) for name in ("a", "b", "a")]
    assert waiting(made) == ids
    assert waiting(made, name="a") == [ids[0], ids[2]]
    assert waiting(made, name="none") == []


def test_the_newest_full_one_supersedes_those_before(made: Ledger) -> None:
    """A backlog of full dumps is one harvest: of the last."""
    ids = [made.announcements.add("a", FULL, NOW) for _ in range(3)]
    assert waiting(made) == [ids[2]]
    assert [state(made, id) for id in ids] == ["superseded", "superseded", "seen"]


def test_a_full_one_supersedes_only_its_own_dataset(made: Ledger) -> None:
    """Another dataset of the provider, or the same of another, is another matter."""
    ids = [
        made.announcements.add("a", FULL, NOW),
        made.announcements.add("a", dataset(OTHER), NOW),
        made.announcements.add("b", FULL, NOW),
    ]
    assert waiting(made) == ids


def test_a_partial_one_never_gives_way(made: Ledger) -> None:
    """It holds what no later one repeats, also where a full one follows."""
    ids = [made.announcements.add("a", what, NOW) for what in (PARTIAL, FULL, PARTIAL, FULL, PARTIAL)]
    assert waiting(made) == [ids[0], ids[2], ids[3], ids[4]]
    assert state(made, ids[1]) == "superseded"


@pytest.mark.parametrize("before", ["fetched", "held"])
def test_a_full_one_supersedes_what_is_fetched_or_held(made: Ledger, before: str) -> None:
    """Nobody needs to approve what a newer dump replaces."""
    old = announced(made)
    made.announcements.fetched(old.id, (capture(),))
    if before == "held":
        made.announcements.settle(old.id, "held")
    assert state(made, old.id) == before
    new = made.announcements.add("a", FULL, NOW)
    assert waiting(made) == [new]
    assert made.announcements.held("a") == []
    assert made.announcements.approve("a") == 0


@pytest.mark.parametrize("after", ["done", "failed"])
def test_what_is_done_is_not_superseded(made: Ledger, after: str) -> None:
    """History stays as it was."""
    old = announced(made)
    made.announcements.settle(old.id, after)
    made.announcements.add("a", FULL, NOW)
    assert state(made, old.id) == after


def test_captures_come_back_as_they_were_filed(made: Ledger) -> None:
    """URLs, digests, redirects and validators, for the harvest and for the receipt."""
    found = announced(made)
    captures = (capture(), capture("1" * 64))
    made.announcements.fetched(found.id, captures)
    again = made.announcements.get(found.id)
    assert again is not None
    assert again.captures == captures
    assert made.announcements.waiting(NOW)[0] == (again, "fetched")


def test_what_was_superseded_meanwhile_stays_so(made: Ledger) -> None:
    """A download, a failure or the guard may come after a newer dump was announced; the old must not come back."""
    old = announced(made)
    made.announcements.fetched(old.id, (capture(),))
    new = made.announcements.add("a", FULL, NOW)
    made.announcements.fetched(old.id, (capture(),))
    made.announcements.postpone(old.id, NOW)
    made.announcements.settle(old.id, "held")
    assert state(made, old.id) == "superseded"
    assert made.announcements.held("a") == []
    assert waiting(made, 5) == [new]


def test_what_failed_waits_until_its_time_and_is_fetched_anew(made: Ledger) -> None:
    """The provider may have mended the dump in place."""
    found = announced(made)
    made.announcements.fetched(found.id, (capture(),))
    assert made.announcements.failures(found.id) == 0
    assert made.announcements.postpone(found.id, later(1)) == 1
    assert waiting(made, 1.999) == []
    assert [(f.id, s) for f, s in made.announcements.waiting(later(2))] == [(found.id, "seen")]
    assert made.announcements.postpone(found.id, later(5)) == 2
    assert waiting(made, 6.999) == []
    assert waiting(made, 7) == [found.id]
    assert made.announcements.failures(found.id) == 2


def test_a_failing_one_does_not_keep_others_waiting(made: Ledger) -> None:
    """Of other providers and datasets."""
    found = announced(made)
    made.announcements.postpone(found.id, later(59))
    others = [made.announcements.add("b", FULL, NOW), made.announcements.add("a", dataset(OTHER), NOW)]
    assert waiting(made) == others


def test_what_waits_can_be_hurried(made: Ledger) -> None:
    """`harvest run NAME` tries at once what failed before, and only of that provider."""
    first, second = announced(made, "a"), announced(made, "b")
    for found in (first, second):
        made.announcements.postpone(found.id, later(59))
    made.announcements.hurry("a")
    assert waiting(made) == [first.id]
    assert made.announcements.failures(first.id) == 1


def test_what_is_held_waits_for_approval_alone(made: Ledger) -> None:
    """Time does not let it through; approval does, from the filed dumps, and for that one only."""
    found = announced(made)
    made.announcements.fetched(found.id, (capture(),))
    made.announcements.settle(found.id, "held")
    assert waiting(made, 1e6) == []
    assert [held.id for held in made.announcements.held("a")] == [found.id]
    assert made.announcements.held("b") == []
    assert not made.announcements.approved(found.id)
    made.announcements.hurry("a")
    assert waiting(made, 1e6) == []

    assert made.announcements.approve("b") == 0
    assert made.announcements.approve("a") == 1
    assert made.announcements.approved(found.id)
    assert made.announcements.held("a") == []
    [(again, where)] = made.announcements.waiting(NOW)
    assert (again.id, where, again.captures) == (found.id, "fetched", (capture(),))
    assert not made.announcements.approved(made.announcements.add("a", FULL, NOW))


def test_approval_is_remembered_over_a_failure(made: Ledger) -> None:
    """A disk that was full while it was loaded does not ask the operator again."""
    found = announced(made)
    made.announcements.settle(found.id, "held")
    made.announcements.approve("a")
    made.announcements.postpone(found.id, NOW)
    assert waiting(made, 1) == [found.id]
    assert made.announcements.approved(found.id)


def test_asking_what_waits_writes_nothing(made: Ledger, tmp_path: Path) -> None:
    """A tick over a thousand unchanged providers must not touch the disk."""
    made.announcements.postpone(announced(made).id, NOW)
    made.database.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    before = {
        path.name: (path.stat().st_mtime_ns, path.stat().st_size, path.read_bytes()) for path in tmp_path.iterdir()
    }
    made.announcements.waiting(NOW)
    made.announcements.latest("a", IRI)
    made.announcements.held("a")
    made.requests.take(NOW)
    made.requests.requeue(NOW)
    made.enrol("a", GRAPH)
    made.loading()
    after = {
        path.name: (path.stat().st_mtime_ns, path.stat().st_size, path.read_bytes()) for path in tmp_path.iterdir()
    }
    assert after.keys() == before.keys()
    assert {name for name in after if after[name] != before[name]} <= {"ledger.sqlite-shm"}


def test_the_queue_is_found_among_many_that_are_done(made: Ledger) -> None:
    """A provider announces daily for years; what waits has an index of its own."""
    plan = made.database.rows(
        "EXPLAIN QUERY PLAN SELECT * FROM announcement WHERE state IN ('seen', 'fetched')"
        " AND (retry_at IS NULL OR retry_at <= ?) AND (? IS NULL OR provider = ?) ORDER BY id",
        "", None, None,
    )  # fmt: skip
    assert [row["detail"] for row in plan] == ["SCAN announcement USING INDEX announcement_waiting"]


def test_waiting_gets_longer_with_each_failure_up_to_six_hours() -> None:
    """One minute, doubled each time."""
    minutes = [backoff(n) / timedelta(minutes=1) for n in (0, 1, 2, 8, 9, 100, 10**6)]
    assert minutes == [1, 2, 4, 256, 360, 360, 360]
