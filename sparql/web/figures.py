"""How counts, sizes, times and messages look on a page."""

from __future__ import annotations

import re
from datetime import datetime

from markupsafe import Markup, escape


def number(value: int | None) -> str:
    """A count with its thousands apart."""
    return "\N{EN DASH}" if value is None else f"{value:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def size(value: int | None) -> str:
    """A number of bytes, in the unit that suits it."""
    if value is None:
        return "\N{EN DASH}"
    amount, units = float(value), iter(("B", "KiB", "MiB", "GiB", "TiB"))
    unit = next(units)
    while amount >= 1024 and (larger := next(units, None)) is not None:
        amount, unit = amount / 1024, larger
    return f"{amount:.0f} {unit}" if unit == "B" or amount >= 100 else f"{amount:.1f} {unit}"


def moment(value: str | None) -> str:
    """A time as people read it."""
    if not value:
        return "\N{EN DASH}"
    try:
        at = datetime.fromisoformat(value)
    except ValueError:
        return value
    return f"{at:%Y-%m-%d %H:%M} UTC" if "T" in value else f"{at:%Y-%m-%d}"


def prose(message: str) -> Markup:
    """A message in which what stands between backticks is code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(message))))
