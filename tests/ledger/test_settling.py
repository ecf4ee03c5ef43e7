"""What a harvest leaves behind, and what of it is kept."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from harvest.ledger import Ledger
from harvest.ledger.old_rows import OldRows
from harvest.model import Coverage, Dataset
from tests.ledger.samples import IRI, NOW, announced, dataset, later, ledger

FULL, PARTIAL = dataset(), dataset(IRI + "part", Coverage.PARTIAL)


def harvested(made: Ledger, what: Dataset) -> int:
    found = announced(made, "a", what)
    made.unchanged(found, made.start_run("a", NOW, found), NOW)
    return found.id


@pytest.mark.parametrize(("days", "kept"), [(1, True), (-1, False)])
def test_a_partial_dump_is_kept_while_an_older_full_one_may_be_harvested_again(
    tmp_path: Path, days: int, kept: bool
) -> None:
    """It is applied again then, however long ago it was; one that is older than the full one is not needed."""
    made = ledger(tmp_path, "a")
    harvested(made, FULL)
    first = harvested(made, replace(PARTIAL, modified=NOW + timedelta(days=days)))
    harvested(made, replace(PARTIAL, modified=NOW + timedelta(days=9)))
    OldRows(made.database).let_go(later(1e6), 1)
    assert (made.announcements.get(first) is not None) is kept
