"""No test of the suites is lost, and none is listed for nothing."""

from __future__ import annotations

import tomllib
from collections import Counter
from typing import Final

import pytest

from tests.realdata import realdata
from tests.w3c.known import FILE, Cause, known_failures, suites_not_run
from tests.w3c.manifests import cases
from tests.w3c.suites import EVALUATION, FORMATS, REQUESTS, SYNTAX, UPDATES

TABLES: Final = (EVALUATION, FORMATS, REQUESTS, SYNTAX, UPDATES)
COUNTS: Final = sum((Counter(table) for table in TABLES), Counter[str]())


def test_every_suite_is_run_or_listed_with_its_reason() -> None:
    """A suite that is added to the data has to be decided on."""
    home = realdata() / "w3c/sparql"
    found = {manifest.parent.relative_to(home).as_posix() for manifest in home.glob("*/*/manifest.ttl")}
    assert found == set(COUNTS) | set(suites_not_run())
    assert not set(COUNTS) & set(suites_not_run())


@pytest.mark.parametrize(("suite", "count"), COUNTS.items())
def test_every_test_of_a_suite_is_run(suite: str, count: int) -> None:
    """The tables of the five modules add up to the manifest."""
    assert len({case.id for case in cases(suite)}) == count


def test_every_known_failure_is_a_test_that_is_run() -> None:
    """One that is misspelt, or listed twice, would excuse nothing and look as if it did."""
    entries = tomllib.loads(FILE.read_text("utf-8"))["failure"]
    listed = [id for entry in entries for id in entry["tests"]]
    assert len(listed) == len(set(listed))
    assert set(listed) <= {case.id for suite in COUNTS for case in cases(suite)}


def test_no_known_failure_is_a_fault_of_the_endpoint() -> None:
    """Faults of the endpoint are put right; and each reason of a known failure is a sentence."""
    assert Cause.OURS not in known_failures().values()
    entries = tomllib.loads(FILE.read_text("utf-8"))["failure"]
    assert all(entry["reason"].endswith(".") and len(entry["reason"]) > 30 for entry in entries)
