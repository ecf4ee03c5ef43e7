"""Values in the answers of platforms, each as it should be or None."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import quote

_DIGITS: Final = {32: "md5", 40: "sha1", 64: "sha256"}


def text(value: object) -> str | None:
    """A text that is not empty, or a number as text."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value.strip() or None if isinstance(value, str) else None


def verbatim(value: object) -> str:
    """A text as it is, spaces around it included, for names of files; empty in place of anything else."""
    return value if isinstance(value, str) else ""


def size(value: object) -> int | None:
    """A number of bytes; some platforms write it as text."""
    if isinstance(value, str) and value.isdecimal():
        return int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def mapping(value: object) -> dict[str, Any]:
    """An object, empty in place of anything else."""
    return value if isinstance(value, dict) else {}


def listed(value: object) -> list[Any]:
    """A list, empty in place of anything else."""
    return value if isinstance(value, list) else []


def objects(value: object) -> list[dict[str, Any]]:
    """The objects of a list, or of a mapping to them."""
    items = list(value.values()) if isinstance(value, dict) else listed(value)
    return [item for item in items if isinstance(item, dict)]


def checksums(*written: object, kind: str | None = None) -> dict[str, str]:
    """Checksums by name (md5, sha1, sha256), of texts such as `md5:...`; without a name the length says it."""
    return dict(_checksums(written, kind))


def _checksums(written: tuple[object, ...], kind: str | None) -> Iterator[tuple[str, str]]:
    for value in written:
        if isinstance(value, str):
            said, _, digits = value.strip().lower().rpartition(":")
            name = (said or kind or "").lower().replace("-", "") or _DIGITS.get(len(digits), "")
            if name in _DIGITS.values() and _DIGITS.get(len(digits)) == name and re.fullmatch("[0-9a-f]+", digits):
                yield name, digits


def address(value: object) -> str | None:
    """An http or https address, its spaces and the like escaped."""
    if isinstance(value, str) and re.match(r"https?://[^/\s]", value):
        return quote(value.strip(), safe="!#$%&'()*+,/:;=?@[]~")
    return None


def segment(name: str) -> str:
    """A name as one part of a path."""
    return quote(name, safe="")
