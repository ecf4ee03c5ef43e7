"""Which cases of a long test run in every suite, and which in `make test-long` alone."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

import pytest


def mostly_long(values: Iterable[Any], quick: Container[Any]) -> list[Any]:
    """The parameters of a test: those in `quick` run in every suite, the others in `make test-long` alone."""
    return [pytest.param(value, marks=() if value in quick else pytest.mark.long) for value in values]


def mark_unsampled(items: Iterable[pytest.Item]) -> None:
    """
    Leave all but some cases of each test that is marked `sampled(n)` to `make test-long`: n stay, evenly spaced.

    Which ones stay depends on the order of the parameters alone, so that each process chooses alike.
    """
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("sampled") is not None and item.get_closest_marker("long") is None:
            cases.setdefault(item.nodeid.split("[")[0], []).append(item)
    for same in cases.values():
        mark = same[0].get_closest_marker("sampled")
        wanted = mark.args[0] if mark is not None else len(same)
        stay = {round(place * len(same) / wanted) for place in range(wanted)}
        for place, item in enumerate(same):
            if place not in stay:
                item.add_marker(pytest.mark.long)
