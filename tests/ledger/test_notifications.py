"""Numbers of notifications, by which receivers know a repeat."""

from __future__ import annotations

from pathlib import Path

from harvest.ledger import Event, Ledger
from harvest.ledger.notifications import notify_of_description
from tests.ledger.samples import NOW, ledger


def filed(made: Ledger, name: str, event: Event) -> int:
    """The number of a notification about a description."""
    with made.database.transaction() as db:
        notify_of_description(db, name, event, NOW)
    return made.notifications.due(NOW, 100)[-1].id


def test_a_number_is_never_given_again(tmp_path: Path) -> None:
    """Neither that of one that was dropped, nor that of a provider that was forgotten."""
    made = ledger(tmp_path, "a", "b")
    assert [filed(made, "a", Event.FAILING), filed(made, "b", Event.FAILING)] == [1, 2]
    made.notifications.drop([2])
    assert filed(made, "b", Event.FAILING) == 3
    made.database.write("DELETE FROM provider WHERE name = 'b'")
    assert filed(made, "a", Event.MENDED) == 4


def test_numbers_of_before_there_was_a_record_of_them_are_not_given_again(tmp_path: Path) -> None:
    """A ledger of an older version has rows and no record of the last number."""
    made = ledger(tmp_path, "a", "b")
    filed(made, "a", Event.FAILING)
    made.database.write("DELETE FROM meta WHERE key = 'last-notification'")
    assert filed(made, "b", Event.FAILING) == 2


def test_a_ledger_that_was_made_again_goes_on_beyond_the_lost_numbers(tmp_path: Path) -> None:
    """What the lost one gave is not known; the seconds of the clock are more than it can have given."""
    made = ledger(tmp_path, "a")
    made.notifications.number_from(NOW)
    assert filed(made, "a", Event.FAILING) == int(NOW.timestamp()) + 1
