"""Only what no rule keeps and nothing needs may go."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from harvest.archive.retention import Keep, removable

START = datetime(2026, 1, 1, tzinfo=UTC)


def captured(*given: str) -> list[tuple[str, str, datetime]]:
    """Captures as `url digest`, one a day, oldest first in the call, newest first in the result."""
    pairs = [text.split() for text in given]
    return [(url, digest, START + timedelta(days=day)) for day, (url, digest) in enumerate(pairs)][::-1]


@pytest.mark.parametrize(
    ("keep", "gone"),
    [
        (Keep(versions=1), ["c", "b", "a"]),
        (Keep(versions=2), ["b", "a"]),
        (Keep(versions=9), []),
        (Keep(since=START + timedelta(days=2)), ["b", "a"]),
        (Keep(since=START + timedelta(days=99)), ["c", "b", "a"]),
        (Keep(versions=2, since=START + timedelta(days=1)), ["a"]),
    ],
)
def test_a_rule_keeps_the_newest(keep: Keep, gone: list[str]) -> None:
    """Whatever the rules, the last thing that a URL gave stays; what either rule keeps stays."""
    assert removable(captured("u a", "u b", "u c", "u d"), keep, ()) == gone


def test_what_is_needed_stays() -> None:
    """No rule outweighs a version that is rebuilt from it."""
    assert removable(captured("u a", "u b", "u c"), Keep(versions=1), {"a"}) == ["b"]


def test_bytes_that_another_url_still_gives_stay() -> None:
    """They are filed once for both."""
    assert removable(captured("v a", "u a", "u b"), Keep(versions=1), ()) == []


def test_bytes_that_came_back_are_the_newest() -> None:
    """A URL that alternates between two has two versions, not three."""
    assert removable(captured("u a", "u b", "u a"), Keep(versions=1), ()) == ["b"]
    assert removable(captured("u a", "u b", "u a"), Keep(versions=2), ()) == []
