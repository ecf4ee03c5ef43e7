"""Dates are read in every shape in which they were met."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harvest.discover.dates import read_date

DECEMBER = datetime(2015, 12, 4, tzinfo=UTC)
AFTERNOON = datetime(2015, 12, 4, 14, 25, 44, tzinfo=UTC)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("2015-12-04", DECEMBER),
        (" 2015-12-04\n", DECEMBER),
        ("2015-12-04Z", DECEMBER),
        ("2015-12-04+02:00", datetime(2015, 12, 3, 22, tzinfo=UTC)),
        ("2015/12/04", DECEMBER),
        ("20151204", DECEMBER),
        ("2015-12-04T14:25:44", AFTERNOON),
        ("2015-12-04T14:25:44Z", AFTERNOON),
        ("2015-12-04t14:25:44z", AFTERNOON),
        ("2015-12-04 14:25:44", AFTERNOON),
        ("2015-12-04  14:25:44 UTC", AFTERNOON),
        ("2015-12-04T16:25:44+02:00", AFTERNOON),
        ("2015-12-04T16:25:44+0200", AFTERNOON),
        ("2015-12-04 16:25:44 +02:00", AFTERNOON),
        ("2015-12-04T14:25", AFTERNOON.replace(second=0)),
        ("2015-12-04 14:25:44.758604", AFTERNOON.replace(microsecond=758604)),
        ("2011-01-11T19:44:08.328Z", datetime(2011, 1, 11, 19, 44, 8, 328000, UTC)),
        ("2015-12-04T14:25:44.123456789Z", AFTERNOON.replace(microsecond=123456)),
        ("2015-12-03T24:00:00", DECEMBER),
        ("2015-12-31T24:00:00Z", datetime(2016, 1, 1, tzinfo=UTC)),
        ("2015-12", datetime(2015, 12, 1, tzinfo=UTC)),
        ("2015-12-05:00", datetime(2015, 12, 1, 5, tzinfo=UTC)),
        ("2015-12-4", DECEMBER),
        ("2015/12/4", DECEMBER),
        ("2015-12-4Z", DECEMBER),
        ("2015-12-4T2:00:00+02:00", DECEMBER),
        ("2015-12-04 14:25:44 GMT", AFTERNOON),
        ("2015-3", datetime(2015, 3, 1, tzinfo=UTC)),
        ("Fri, 04 Dec 2015 14:25:44 GMT", AFTERNOON),
        ("fri, 4 Dec 2015 16:25:44 +0200", AFTERNOON),
        ("04 Dec 2015 14:25", AFTERNOON.replace(second=0)),
        ("Friday, 04-Dec-2015 14:25:44 UTC", AFTERNOON),
        ("2015-12-03T23:59:60Z", DECEMBER),
        ("2015-12-03T23:59:60.5", DECEMBER),
        ("2015-12-04T02:59:60+03:00", DECEMBER),
        ("Thu, 03 Dec 2015 23:59:60 GMT", DECEMBER),
        ("2018", datetime(2018, 1, 1, tzinfo=UTC)),
        ("2018Z", datetime(2018, 1, 1, tzinfo=UTC)),
        # Not December in the zone -04, which a careless reader makes of it.
        ("2024-02-05", datetime(2024, 2, 5, tzinfo=UTC)),
    ],
)
def test_a_date_is_read(written: str, expected: datetime) -> None:
    """Without a zone it is UTC; a day, month or year stands for its beginning."""
    read = read_date(written)
    assert read == expected
    assert read is not None
    assert read.tzinfo is UTC


@pytest.mark.parametrize(
    "written",
    [
        *("", "test", "2015-13-01", "2015-02-29", "2015-00", "0000", "-0044", "04.12.2015", "12/04/2015", "yesterday"),
        *("15", "201512", "99999-01-01", "2015-12-04T25:00:00", "0001-01-01T00:00:00+14:00", "9999-12-31T24:00:00"),
        "9999-12-31T23:59:60",
        *("٢٠١٥-١٢", "2015-12-4-5", "Fri, 04 Dez 2015 14:25:44 GMT", "Fri, 31 Nov 2015 14:25:44 GMT", "4 Dec 2015"),
        *("2015-12-04T14:60:60", "2015-12-04T14:25:61", "Fri, 04 Dec 2015 14:25:44 EST"),
    ],
)
def test_what_is_no_date_is_none(written: str) -> None:
    """An unreadable date is a finding, never an exception that stops a tick."""
    assert read_date(written) is None


@given(st.text(max_size=40) | st.from_regex(r"\d{4}-\d{2}-\d{2}[T ]?[0-9:.+-]{0,20}Z?", fullmatch=True))
def test_no_text_makes_it_fail(written: str) -> None:
    """Providers write anything."""
    read = read_date(written)
    assert read is None or read.tzinfo is UTC


@given(st.datetimes(timezones=st.just(UTC)))
def test_what_is_written_in_iso_form_is_read_back(moment: datetime) -> None:
    """Nothing of a moment gets lost."""
    assert read_date(moment.isoformat()) == moment
    assert read_date(moment.isoformat().replace("+00:00", "Z")) == moment
