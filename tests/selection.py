"""Which cases of a long test run in every suite."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

import pytest


def mostly_long(values: Iterable[Any], quick: Container[Any]) -> list[Any]:
    """The parameters of a test: those in `quick` run in every suite, the others in `make test-long` alone."""
    return [pytest.param(value, marks=() if value in quick else pytest.mark.long) for value in values]
