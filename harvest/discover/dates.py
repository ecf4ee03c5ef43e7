"""
Dates as people write them into descriptions.

Met in the wild: xsd:date, xsd:dateTime with and without zone and fraction, the same as plain strings or under a
misspelt datatype, a blank in place of the T, bare years and months, and words that are no date.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

# With its minutes: 2024-02-05 is a day, not a month in the zone -05.
_ZONE = r"(?P<zone>Z|[+-]\d{2}:\d{2})?"
_MONTH = re.compile(r"(?P<year>\d{4})(?:-(?P<month>\d{2}))?" + _ZONE)
_DAY = re.compile(r"(?P<day>\d{4}[-/]\d{2}[-/]\d{2})" + _ZONE)
_END_OF_DAY = re.compile(r"([T ])24:00(:00(?:\.0+)?)?")


def read_date(written: str) -> datetime | None:
    """
    The moment that a date stands for, aware and in UTC; None when it cannot be read.

    A date stands for its beginning, a year and a month for their first day, and without a zone all are UTC.

    Source: XML Schema 1.1 Part 2, sections 3.3.7 (dateTime), 3.3.9 (date), 3.3.10 (gYearMonth), 3.3.11 (gYear).
    """
    text = re.sub(r"\s+", " ", written.strip()).upper()
    text = re.sub(r" ?(?:UTC|GMT)$", "Z", text)
    if match := _MONTH.fullmatch(text):
        text = f"{match['year']}-{match['month'] or '01'}-01T00:00{match['zone'] or ''}"
    elif match := _DAY.fullmatch(text):
        text = f"{match['day'].replace('/', '-')}T00:00{match['zone'] or ''}"
    # 24:00:00 is the end of the day in XML Schema; Python reads it from 3.13 on.
    days = 1 if _END_OF_DAY.search(text) else 0
    text = re.sub(r" (?=[+-]\d)", "", _END_OF_DAY.sub(r"\g<1>00:00", text))
    try:
        read = datetime.fromisoformat(text) + timedelta(days=days)
        return read.replace(tzinfo=UTC) if read.tzinfo is None else read.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
