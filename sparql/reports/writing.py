"""Reports as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import Any, Final

MERGED: Final = {"merged": True}
"""Of a field with a report: its keys stand among those of the report it is in; none of them where it is None."""

OPTIONAL: Final = {"optional": True}
"""Of a field that is no key of the JSON where it is None."""


def to_json(value: object) -> Any:
    """A report, or whatever holds reports, as values of JSON; of a name like `class_` the key is `class`."""
    if is_dataclass(value) and not isinstance(value, type):
        found: dict[str, Any] = {}
        for each in fields(value):
            held = getattr(value, each.name)
            if "merged" in each.metadata:
                found |= to_json(held) or {}
            elif held is not None or "optional" not in each.metadata:
                found[each.name.rstrip("_")] = to_json(held)
        return found
    if isinstance(value, datetime):
        return iso(value)
    if isinstance(value, Mapping):
        return {key: to_json(each) for key, each in value.items()}
    return [to_json(each) for each in value] if isinstance(value, list | tuple) else value


def iso(moment: datetime) -> str:
    """A time in UTC as ISO 8601 with Z."""
    return moment.isoformat().replace("+00:00", "Z")
