"""States of runs, providers and datasets, and how datasets are watched."""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """How a run ended."""

    COMMITTED = "committed"
    UNCHANGED = "unchanged"
    HELD = "held"
    FAILED = "failed"


class State(StrEnum):
    """What a provider is doing, or one of its datasets; `waiting` is of datasets alone."""

    IDLE = "idle"
    WAITING = "waiting"
    HARVESTING = "harvesting"
    HELD = "held"
    FAILING = "failing"
    DISABLED = "disabled"


class Watch(StrEnum):
    """How the dumps of a dataset are asked for while nothing of it is announced."""

    ALWAYS = "always"
    """At each look: the dataset has no date to compare."""
    DAILY = "daily"
    """Once a day, for other bytes under the same date."""
    UNASKED = "unasked"
    """Not at all: it has a date, and its server gives nothing to ask by."""
    AGAIN = "again"
    """Later and later: the date was newer and the bytes were the same, so the dump may have come after its date."""
