"""What descriptions say now, one row for each dataset, and how each stands."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from harvest.ledger import DatasetNow, Decided, Described, Ledger, described
from harvest.ledger.announcements import announce
from harvest.model import Coverage, Dataset, Finding, Validators, Watch
from tests.ledger.samples import IRI, NOW, capture, dataset, later, ledger

OTHER = IRI + "2"
FULL, PARTIAL = dataset(), dataset(OTHER, Coverage.PARTIAL)
HELD = Finding("held", "too much", fatal=True)


@pytest.fixture
def made(tmp_path: Path) -> Ledger:
    return ledger(tmp_path, "a", "b")


def read(*datasets: Dataset) -> Described:
    return Described("http://example.org/void", "e" * 64, Validators(), (), (), datasets, "http://example.org/void")


def only(made: Ledger) -> DatasetNow:
    [found] = made.described.of("a")
    return found


def test_the_datasets_of_a_description_come_back_in_its_order(made: Ledger) -> None:
    """With their place, and since when the description names them; other providers have their own."""
    made.described.file("a", read(PARTIAL, FULL), NOW)
    made.described.file("b", read(FULL), later(1))
    assert [(each.dataset, each.place, each.since) for each in made.described.of("a")] == [
        (PARTIAL, 1, NOW),
        (FULL, 2, NOW),
    ]
    assert made.described.datasets("a") == (PARTIAL, FULL)
    assert {name: len(datasets) for name, datasets in made.described.all().items()} == {"a": 2, "b": 1}
    assert made.described.of("nobody") == ()


def test_a_dataset_that_left_the_description_is_gone_and_one_that_stays_keeps_its_time(made: Ledger) -> None:
    """What the description says now is what counts, not what it said once."""
    made.described.file("a", read(FULL, PARTIAL), NOW)
    made.described.file("a", read(replace(FULL, title="new")), later(5))
    found = only(made)
    assert (found.dataset.title, found.since) == ("new", NOW)


def test_a_description_that_cannot_be_read_takes_no_dataset_away(made: Ledger) -> None:
    """A server that answers 500 for an hour must not empty a mirror."""
    made.described.file("a", read(FULL), NOW)
    made.undescribed("a", (Finding("status", "500", fatal=True),), NOW, later(1))
    assert made.described.datasets("a") == (FULL,)


def test_a_description_and_its_announcements_are_one_transaction(made: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that ends while the second of two announcements is filed leaves nothing of either."""
    filed = []

    def dying(db: sqlite3.Connection, name: str, dataset: Dataset, now: datetime) -> int:
        filed.append(dataset)
        if len(filed) == 2:
            raise KeyboardInterrupt
        return announce(db, name, dataset, now)

    monkeypatch.setattr(described, "announce", dying)
    with pytest.raises(KeyboardInterrupt):
        made.described.file("a", read(FULL, PARTIAL), NOW, Decided((FULL, PARTIAL), NOW))
    record = made.provider("a")
    assert record is not None and record.description is None and record.written is None
    assert made.described.of("a") == ()
    assert made.announcements.waiting(later(1)) == []


def test_the_registry_date_is_the_baseline_of_what_is_named_then(made: Ledger) -> None:
    """A dataset that is named later has none, until somebody edits the registry."""
    made.described.file("a", read(FULL), NOW, Decided(written=NOW, baseline=NOW))
    made.described.file("a", read(FULL, PARTIAL), later(1), Decided(written=NOW))
    assert made.described.baselines("a") == {IRI: NOW, OTHER: None}
    made.described.file("a", None, later(2), Decided(written=later(2), baseline=later(2)))
    assert made.described.baselines("a") == {IRI: later(2), OTHER: later(2)}


def test_how_a_dataset_is_watched_follows_its_date(made: Ledger) -> None:
    """Without a date at each look, with one once a day."""
    made.described.file("a", read(replace(FULL, modified=None), PARTIAL), NOW)
    assert [each.watch for each in made.described.of("a")] == [Watch.ALWAYS, Watch.DAILY]


def test_a_dataset_has_a_finding_a_date_and_tries_of_its_own(made: Ledger) -> None:
    """From announced over failing and held to harvested; a run of another dataset changes nothing of it."""
    made.described.file("a", read(FULL), NOW)
    assert (only(made).waiting, only(made).harvested) == ((), None)
    [id] = made.described.file("a", None, NOW, Decided((FULL,)))
    found = made.announcements.get(id)
    assert found is not None

    broken = Finding("status", "404", fatal=True)
    made.announcements.postpone(id, later(1), broken)
    made.announcements.postpone(id, later(3))
    [trouble] = only(made).waiting
    assert (trouble.failures, trouble.since, trouble.tried, trouble.finding) == (2, later(1), later(3), broken)
    assert trouble.retry_at == later(5)

    made.announcements.fetched(id, (capture(),))
    made.announcements.hold(id, later(6), HELD)
    [trouble] = only(made).waiting
    assert (trouble.state, trouble.since, trouble.finding, trouble.retry_at) == ("held", later(6), HELD, None)

    made.announcements.approve("a")
    made.unchanged(found, made.start_run("a", later(7), found), later(8))
    now = only(made)
    assert (now.waiting, now.harvested, now.modified) == ((), later(8), FULL.modified)


def test_a_partial_says_what_it_waits_for(made: Ledger) -> None:
    """The oldest of its dataset that is open; a full one and another dataset wait for nothing."""
    made.described.file("a", read(FULL, PARTIAL), NOW)
    newer = replace(PARTIAL, modified=later(9))
    first, full, second = made.described.file("a", None, NOW, Decided((PARTIAL, FULL, newer)))
    by_place = made.described.of("a")
    assert [(each.announcement, each.behind) for each in by_place[0].waiting] == [(full, None)]
    assert [(each.announcement, each.behind) for each in by_place[1].waiting] == [(first, None), (second, first)]
