"""The failures that are known, and whose they are."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Final

FILE: Final = Path(__file__).with_name("known.toml")


class Cause(StrEnum):
    """Why a test fails."""

    SPELLING = "spelling"
    """The values are right; some are spelled otherwise than published."""
    ENGINE = "engine"
    """The store gives the same without the platform around it."""
    REFUSED = "refused"
    """The endpoint does not do this, and says so with 403."""
    OURS = "ours"
    """None of these: a fault of the endpoint. No entry of the list may have it."""


@dataclass(frozen=True, slots=True)
class Problem:
    """
    How a test fails.

    Attributes:
        cause: Whose it is, as found.
        found: What was answered, and what was expected where that is needed.
    """

    cause: Cause
    found: str


@cache
def known_failures() -> dict[str, Cause]:
    """The cause of each failure that is known, by the id of its test."""
    entries = tomllib.loads(FILE.read_text("utf-8"))["failure"]
    return {id: Cause(entry["cause"]) for entry in entries for id in entry["tests"]}


@cache
def suites_not_run() -> dict[str, str]:
    """The reason why a suite is not run, by its folder."""
    listed: dict[str, str] = tomllib.loads(FILE.read_text("utf-8"))["not-run"]
    return listed


def compare_with_known(run: set[str], problems: dict[str, Problem]) -> None:
    """Assert that what fails of the tests that were run is what is known to fail, and for that cause."""
    known = {id: cause for id, cause in known_failures().items() if id in run}
    fresh = [f"{id} ({problem.cause}): {problem.found}" for id, problem in problems.items() if id not in known]
    assert not fresh, "\n".join(fresh)
    assert {id: problem.cause for id, problem in problems.items()} == known, "known.toml lists what does not fail so"
