"""
Dates as people write them into descriptions.

Met in the wild: xsd:date, xsd:dateTime with and without zone and fraction, the same as plain strings or under a
misspelt datatype, a blank in place of the T, months, days and hours of one digit, bare years and months, dates of HTTP
and mail headers, leap seconds, and words that are no date.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

# With its minutes: 2024-02-05 is a day, not a month in the zone -05.
_ZONE = r"(?P<zone>Z|[+-]\d{2}:\d{2})?"
_MONTH = re.compile(r"(?P<year>\d{4})(?:-(?P<month>\d{1,2}))?" + _ZONE)
_DAY = re.compile(r"(?P<year>\d{4})[-/](?P<month>\d{1,2})[-/](?P<day>\d{1,2})(?P<rest>$|[-T Z+].*)")
_BARE_DAY = re.compile(r"\d{4}-\d{2}-\d{2}(?=$|[Z+-])")
_SHORT_HOUR = re.compile(r"(?<=[T ])(?=\d:)")
_LEAP_SECOND = re.compile(r"(?<=\d\d:\d\d):60(?:[.,]\d+)?")
_HEADER = re.compile(
    r"(?:[A-Z]{3,9}, ?)?\d{1,2}[ -][A-Z]{3}[ -]\d{4} \d{2}:\d{2}(?::\d{2})?(?: ?(?:Z|UTC?|GMT|[+-]\d{4}))?"
)
_END_OF_DAY = re.compile(r"([T ])24:00(:00(?:\.0+)?)?")


def read_date(written: str) -> datetime | None:
    """
    The moment that a date stands for, aware and in UTC; None when it cannot be read.

    A date stands for its beginning, a year and a month for their first day, and without a zone all are UTC.

    Source: XML Schema 1.1 Part 2, sections 3.3.7 (dateTime), 3.3.9 (date), 3.3.10 (gYearMonth), 3.3.11 (gYear);
        RFC 5322, section 3.3; RFC 9110, section 5.6.7.
    """
    text = re.sub(r"\s+", " ", written.strip()).upper()
    later = timedelta(0)
    if _LEAP_SECOND.search(text):  # it ends where the next minute begins
        text, later = _LEAP_SECOND.sub(":59", text), timedelta(seconds=1)
    try:
        read = parsedate_to_datetime(text) if _HEADER.fullmatch(text) else _iso(text)
        return (read.replace(tzinfo=UTC) if read.tzinfo is None else read.astimezone(UTC)) + later
    except (ValueError, OverflowError):
        return None


def _iso(text: str) -> datetime:
    """
    The moment that a date in numbers stands for; naive where it has no zone.

    Raises:
        ValueError: It is no date.
        OverflowError: It is beyond the year 9999.
    """
    text = re.sub(r" ?(?:UTC|GMT)$", "Z", text)
    if match := _MONTH.fullmatch(text):
        text = f"{match['year']}-{match['month'] or '01':0>2}-01{match['zone'] or ''}"
    elif match := _DAY.fullmatch(text):
        text = f"{match['year']}-{match['month']:0>2}-{match['day']:0>2}{match['rest']}"
    text = _BARE_DAY.sub(r"\g<0>T00:00", _SHORT_HOUR.sub("0", text))
    # 24:00:00 is the end of the day in XML Schema; Python reads it from 3.13 on.
    days = 1 if _END_OF_DAY.search(text) else 0
    text = re.sub(r" (?=[+-]\d)", "", _END_OF_DAY.sub(r"\g<1>00:00", text))
    return datetime.fromisoformat(text) + timedelta(days=days)
