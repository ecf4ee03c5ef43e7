"""
The codec that a charset label means in practice.

Source: WHATWG Encoding, section 4.2, where labels of old standards stand for the larger sets that are really in use.
"""

from __future__ import annotations

import codecs
from typing import Final

WIDE: Final = frozenset({"utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"})
"""Codecs in which ASCII is not written as ASCII."""

_ALIASES: Final = {
    "macarabic": "mac-arabic",
    "mac-centraleurope": "mac-latin2",
    "sjis": "shift-jis",
    "windows-31j": "cp932",
    "windows-874": "cp874",
    "windows-949": "cp949",
    "iso-8859-8-i": "iso-8859-8",
    "iso-8859-6-i": "iso-8859-6",
    "iso-10646-ucs-2": "utf-16",
    "ucs-2": "utf-16",
    "unicode": "utf-16",
    "unicode-1-1-utf-8": "utf-8",
    "utf-8-sig": "utf-8",
}
"""Labels that Python lacks, without a leading `x-`."""

_ESCAPES: Final = frozenset({"idna", "punycode", "unicode-escape", "raw-unicode-escape", "utf-7", "undefined"})
"""What Python has as encodings of text and no document is in. UTF-7 is refused as browsers do: it hides tags."""

_WIDER: Final = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "shift_jis": "cp932",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
}


def codec(label: str) -> str | None:
    """The name of the Python codec for a label, or None for one that is no encoding, or none of a text as we get it."""
    bare = label.strip().strip("\"'").lower().replace("_", "-").removeprefix("x-")
    for name in (label.strip(), bare, _ALIASES.get(bare, bare)):
        try:
            found = codecs.lookup(name).name
            known = b"<a>".decode(found) if found not in WIDE and found not in _ESCAPES else ""
        except (LookupError, ValueError):
            continue
        if found in WIDE or known == "<a>":
            return "utf-8" if found == "utf-8-sig" else found
    return None


def readings(name: str) -> tuple[str, ...]:
    """The codecs that a document labelled so may be in, the narrow one first."""
    return (name, _WIDER[name]) if name in _WIDER else (name,)
