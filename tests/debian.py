"""
Debian packages that some tests need: without one its tests are skipped, and the end of a run says how many.

`make test` installs the packages as root. Under CI=true a test that is skipped for one fails, as for any other reason.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

import pytest

from requirements.machine import missing_for_tests

MISSING = missing_for_tests()
_REASON = re.compile(r"needs Debian's ([a-z0-9-]+)")


def require(package: str) -> None:
    """Skip the test that calls this, where a Debian package is missing."""
    if package in MISSING:
        pytest.skip(f"needs Debian's {package}")


def lost(reasons: Iterable[str]) -> list[str]:
    """One sentence for each package that tests lacked, from the reasons of skipped and failed tests."""
    counts = Counter(match[1] for reason in reasons if (match := _REASON.search(reason)))
    return [
        f"{count} {'test needs' if count == 1 else 'tests need'} {package}, which is missing: apt-get install {package}"
        for package, count in sorted(counts.items())
    ]
