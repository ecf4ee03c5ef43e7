"""Whether a harvest may go on with what washing made of its dumps."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from harvest.errors import WashError
from harvest.model import Document, Part, Problem, Status
from harvest.pipeline.harvest.verdict import REPORTED, check, findings, loss

NOW = datetime(2026, 1, 1, tzinfo=UTC)
A = Document(Path("a"), "http://p.example/a.nt")
B = Document(Path("b"), "http://p.example/b.zip")
BAD = Problem("syntax", "No scheme found", 3, 14, "<a> <b> <c> .")


def part(statements: int, dropped: int = 0, *names: str, whole: bool = True) -> Part:
    problems = (BAD,) * min(dropped, 100)
    if not whole:
        problems += (Problem("cut-off", "unexpected end"),)
    counts = {"syntax": dropped} if dropped else {}
    figures = ("N-Triples", statements, dropped, whole, problems, counts)
    return Part(names, Status.PARSED, NOW, NOW, None, *figures, lost=dropped)


def test_one_bad_statement_in_a_hundred_passes() -> None:
    """Exactly the threshold is allowed, over all dumps of the dataset together."""
    check([A, B], [[part(49, 1)], [part(50)]], 0.01)


def test_more_than_the_threshold_stops_the_harvest_with_its_place() -> None:
    """The last good version stays, and the provider learns where to look."""
    with pytest.raises(
        WashError, match=r"a\.nt cannot be parsed as N-Triples: about 2 triples lost of 101 .*line 3, column 14"
    ) as caught:
        check([A, B], [[part(49, 2)], [part(50)]], 0.01)
    assert (caught.value.line, caught.value.column, caught.value.excerpt) == (3, 14, BAD.excerpt)
    assert caught.value.url == A.url


def test_a_dump_that_breaks_off_stops_the_harvest() -> None:
    """What is missing cannot be counted, and a full dump that is half there would remove the other half."""
    with pytest.raises(WashError, match="cannot be read to its end: unexpected end"):
        check([A], [[part(1_000_000, whole=False)]], 0.01)


def test_a_dump_without_any_rdf_stops_the_harvest() -> None:
    """All dumps of a dataset are one input, so one that is a web page must not pass for an empty one."""
    page = Part((), Status.GUESSING, NOW, NOW, problems=(Problem("no-rdf", "no RDF"),), counts={"no-rdf": 1})
    with pytest.raises(WashError, match="holds no RDF: no RDF"):
        check([A, B], [[part(1)], [page]], 0.01)


def test_an_archive_may_hold_other_things_beside_its_rdf() -> None:
    """A readme in an archive is no reason to refuse the data beside it."""
    readme = Part(("readme",), Status.GUESSING, NOW, NOW, problems=(Problem("no-rdf", "no RDF"),))
    archive = Part((), Status.DEPLETED, NOW, NOW)
    check([B], [[readme, part(5, 0, "a.nt"), archive]], 0.01)


@pytest.mark.parametrize("kind", ["archive", "too-large"])
def test_an_archive_with_entries_that_could_not_be_read_stops_the_harvest(kind: str) -> None:
    """An encrypted entry may be the half of the data that a full dump would then remove."""
    archive = Part((), Status.DEPLETED, NOW, NOW, problems=(Problem(kind, "b.nt is left out"),), counts={kind: 1})
    with pytest.raises(WashError, match=r"b\.zip cannot be read to its end: b\.nt is left out"):
        check([B], [[part(5, 0, "a.nt"), archive]], 0.01)


def test_links_in_an_archive_are_no_reason_to_stop() -> None:
    """They have no bytes of their own."""
    archive = Part((), Status.DEPLETED, NOW, NOW, problems=(Problem("links", "2 links"),), counts={"links": 1})
    check([B], [[part(5, 0, "a.nt"), archive]], 0.01)


def test_the_first_problems_become_findings_and_the_others_a_count() -> None:
    """A page with a million findings helps nobody."""
    reported = list(findings([A], [[part(5000, 90)]], 0.01))
    assert len(reported) == REPORTED + 2
    assert (reported[0].kind, reported[0].line, reported[0].url) == ("syntax", 3, A.url)
    assert reported[-2].message == f"{A.url} has 90 problems in all: 90 syntax"
    assert reported[-1].message.startswith("about 90 triples lost of 5,090 (1.8 %, the limit is 1 %)")


def test_what_stopped_a_harvest_is_reported_and_not_what_came_before_it() -> None:
    """A harmless slip four lines above the end of a file that breaks off sent a provider to the wrong place."""
    slip, end = Problem("syntax", "odd element", 1485, 5), Problem("cut-off", "not well-formed XML", 1489, 3)
    broken = Part(
        (), Status.PARSED, NOW, NOW, None, "RDF/XML", 753, 4, False, (slip,) * 4 + (end,), {"syntax": 4, "cut-off": 1}
    )
    with pytest.raises(WashError, match=r"not well-formed XML \(line 1489, column 3\)") as caught:
        check([A], [[broken]], 0.01)
    assert caught.value.line == 1489


def test_the_loss_is_counted_in_triples_and_reported_where_it_is_greatest() -> None:
    """One statement of Turtle may hold all triples of a dump."""
    small, large = (
        Problem("invalid-literal", "bad tag", 4, 5, lost=1),
        Problem("syntax", "no prefix", 100, 9, lost=599_469),
    )
    counts = {"syntax": 1, "invalid-literal": 1}
    one = Part((), Status.PARSED, NOW, NOW, None, "Turtle", 531, 2, True, (small, large), counts, lost=599_470)
    with pytest.raises(
        WashError, match=r"about 599,470 triples lost of 600,001 \(99\.9 %, the limit is 1 %\)"
    ) as caught:
        check([A], [[one]], 0.01)
    assert caught.value.line == 100


@pytest.mark.parametrize(
    ("lost", "kept", "said"),
    [(98, 902, "9.8 %"), (1, 10**6, "less than 0.01 %"), (15, 985, "1.5 %"), (10**5, 1, "99.9 %"), (1, 1, "50 %")],
)
def test_shares_are_written_in_percent(lost: int, kept: int, said: str) -> None:
    """Nobody reads 0.098 as more than 0.01 at once."""
    assert loss(lost, lost + kept, 0.01).endswith(f" ({said}, the limit is 1 %)")


def test_one_dump_without_a_statement_stops_the_harvest() -> None:
    """A file that an export left empty would end all that it held before."""
    empty = Part(
        (), Status.PARSED, NOW, NOW, None, "Turtle", 0, problems=(Problem("no-rdf", "it is nothing but comments"),)
    )
    with pytest.raises(WashError, match=r"b\.zip holds no RDF: it is nothing but comments"):
        check([A, B], [[part(1)], [empty]], 0.01)
