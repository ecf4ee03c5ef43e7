"""Only what no rule keeps and nothing needs may go."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from harvest.pipeline.prune import PruneRule, removable

START = datetime(2026, 1, 1, tzinfo=UTC)


def captured(*given: str) -> list[tuple[str, str, datetime]]:
    """Captures as `url digest`, one a day, oldest first in the call, newest first in the result."""
    pairs = [text.split() for text in given]
    return [(url, digest, START + timedelta(days=day)) for day, (url, digest) in enumerate(pairs)][::-1]


@pytest.mark.parametrize(
    ("keep", "gone"),
    [
        (PruneRule(versions=1), ["c", "b", "a"]),
        (PruneRule(versions=2), ["b", "a"]),
        (PruneRule(versions=9), []),
        (PruneRule(since=START + timedelta(days=2)), ["b", "a"]),
        (PruneRule(since=START + timedelta(days=99)), ["c", "b", "a"]),
        (PruneRule(versions=2, since=START + timedelta(days=1)), ["a"]),
    ],
)
def test_a_rule_keeps_the_newest(keep: PruneRule, gone: list[str]) -> None:
    """Whatever the rules, the last thing that a URL gave stays; what either rule keeps stays."""
    assert removable(captured("u a", "u b", "u c", "u d"), keep, ()) == gone


def test_what_is_needed_stays() -> None:
    """No rule outweighs a version that is rebuilt from it."""
    assert removable(captured("u a", "u b", "u c"), PruneRule(versions=1), {"a"}) == ["b"]


def test_bytes_that_another_url_still_gives_stay() -> None:
    """They are filed once for both."""
    assert removable(captured("v a", "u a", "u b"), PruneRule(versions=1), ()) == []


def test_bytes_that_came_back_are_the_newest() -> None:
    """A URL that alternates between two has two versions, not three."""
    assert removable(captured("u a", "u b", "u a"), PruneRule(versions=1), ()) == ["b"]
    assert removable(captured("u a", "u b", "u a"), PruneRule(versions=2), ()) == []
