"""How counts, sizes, times and messages look on a page."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from markupsafe import Markup, escape


def number(value: int | None) -> str:
    """A count with its thousands apart."""
    return "\N{EN DASH}" if value is None else f"{value:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def counted(value: int, noun: str, many: str | None = None) -> str:
    """A count with its noun, of which `many` is the plural where an `s` does not make it."""
    return f"{number(value)} {noun if value == 1 else many or f'{noun}s'}"


def size(value: int | None) -> str:
    """A number of bytes, in the unit that suits it."""
    if value is None:
        return "\N{EN DASH}"
    amount, units = float(value), iter(("B", "KiB", "MiB", "GiB", "TiB"))
    unit = next(units)
    while amount >= 1024 and (larger := next(units, None)) is not None:
        amount, unit = amount / 1024, larger
    return f"{amount:.0f} {unit}" if unit == "B" or amount >= 100 else f"{amount:.1f} {unit}"


def moment(value: datetime | None) -> str:
    """A time as people read it."""
    return f"{value:%Y-%m-%d %H:%M} UTC" if value else "\N{EN DASH}"


def day(value: datetime) -> str:
    """The day of a time."""
    return f"{value:%Y-%m-%d}"


def prose(message: str) -> Markup:
    """A message in which what stands between backticks is code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(message))))


def duration(seconds: float | None) -> str:
    """A time that something took."""
    if seconds is None:
        return "\N{EN DASH}"
    if seconds < 0.995:
        return f"{seconds * 1000:.0f} ms" if seconds >= 0.0005 else "under 1 ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours < 48 else f"{hours // 24} days {hours % 24} h"


def ago(value: datetime | None, now: datetime | None = None) -> str:
    """How long a time is past, or to come, roughly."""
    if not value:
        return "\N{EN DASH}"
    past = ((now or datetime.now(UTC)) - value).total_seconds()
    for unit, each in (("d", 86400), ("h", 3600), ("min", 60), ("s", 1)):
        if abs(past) >= each * (2 if unit == "d" else 1):
            amount = f"{abs(past) // each:.0f} {unit}"
            return f"{amount} ago" if past > 0 else f"in {amount}"
    return "now"


def first_sentence(message: str) -> str:
    """The first sentence of a message, for lists; of a long one its begin."""
    sentence = re.split(r"(?<=[a-z0-9)>`])[.;] ", message, maxsplit=1)[0]
    return sentence if len(sentence) <= 240 else f"{sentence[:239].rstrip()}\N{HORIZONTAL ELLIPSIS}"
