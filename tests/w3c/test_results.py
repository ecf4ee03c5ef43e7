"""The W3C's suites of the CSV, TSV and JSON result formats."""

from __future__ import annotations

from typing import Final

import pytest
from pyoxigraph import QueryResultsFormat

from tests.w3c.endpoint import WAYS, Endpoint, Question, dataset_of
from tests.w3c.known import Cause, Problem, compare_with_known
from tests.w3c.manifests import Case, cases, file_of
from tests.w3c.solutions import Result, folded, read_csv, read_table, same, show
from tests.w3c.suites import FORMATS

CSV: Final = "text/csv"
BY_EXTENSION: Final = {
    "csv": CSV,
    "tsv": QueryResultsFormat.TSV.media_type.partition(";")[0],
    "srj": QueryResultsFormat.JSON.media_type,
}


@pytest.mark.parametrize(("suite", "count"), FORMATS.items())
def test_every_result_is_written_as_published(endpoint: Endpoint, suite: str, count: int) -> None:
    """Asked for by Accept and by `format=`; read back by the rules of its format."""
    run = cases(suite)
    assert len(run) == count
    problems = {case.id: found for case in run if (found := problem(endpoint, case)) is not None}
    compare_with_known({case.id for case in run}, problems)


def problem(endpoint: Endpoint, case: Case) -> Problem | None:
    """What is wrong with the results of a test's query; None when nothing is."""
    assert case.result is not None
    media_type = BY_EXTENSION[case.result.rpartition(".")[2]]
    wanted = read(file_of(case.result).read_bytes(), media_type)
    for way in WAYS:
        answer = endpoint.ask(Question(case.query(), media_type, way, dataset_of(case)))
        found_type = answer.headers["Content-Type"].partition(";")[0]
        if (answer.status_code, found_type) != (200, media_type):
            return Problem(Cause.OURS, f"{answer.status_code} {found_type} {answer.text[:300]}")
        found = read(answer.content, media_type)
        ordered = "ORDER BY" in case.query()
        if not same(found, wanted, ordered, lax=False):
            only = same(folded(found), folded(wanted), ordered, lax=False)
            return Problem(Cause.SPELLING if only else Cause.OURS, f"{show(found)} is not {show(wanted)}")
    return None


def read(data: bytes, media_type: str) -> Result:
    """A result in one of the formats."""
    if media_type == CSV:
        return read_csv(data)
    format = QueryResultsFormat.from_media_type(media_type)
    assert format is not None
    return read_table(data, format)
