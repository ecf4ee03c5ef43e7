"""
Lines that say where answers stand in WARC files.

    urlkey timestamp original mimetype status digest redirect metatags length offset filename

Source: the CDX legend of the Internet Archive, the eleven columns ` CDX N b a m s k r M S V g`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Final
from urllib.parse import quote, urlsplit

HEADER: Final = " CDX N b a m s k r M S V g\n"

REVISIT: Final = "warc/revisit"
"""Mimetype of an answer whose payload stands elsewhere."""

_PORTS: Final = {"http": 80, "https": 443}
_COLUMNS: Final = 11


@dataclass(frozen=True, slots=True)
class CdxLine:
    """
    One answer in a WARC file.

    Attributes:
        key: The URL as `url_key` spells it.
        timestamp: When it was asked for, 14 digits (UTC).
        url: What was asked for.
        mimetype: Of the answer, or `REVISIT`, or `unk`.
        status: Three digits.
        digest: SHA-1 of the payload, Base32.
        redirect: Where it leads to, or `-`.
        metatags: `-`, as nobody looks for them.
        length: Of its record in the file, compressed, in bytes.
        offset: Where that begins, in bytes.
        file: Name of the file.
    """

    key: str
    timestamp: str
    url: str
    mimetype: str
    status: str
    digest: str
    redirect: str
    metatags: str
    length: int
    offset: int
    file: str

    def __str__(self) -> str:
        return " ".join(quote(str(value), safe="!#$%&'()*+,/:;=?@[]~|{}^`") for value in astuple(self)) + "\n"


def read_lines(path: Path) -> Iterator[CdxLine]:
    """The lines of a file that `write_lines` or an open WARC file wrote; one that is cut off is passed over."""
    with path.open(encoding="utf-8", errors="replace") as stream:
        for line in stream:
            values = line.rstrip("\n").split(" ")
            if len(values) == _COLUMNS and line.endswith("\n") and values[8].isdigit() and values[9].isdigit():
                key, timestamp, url, mimetype, status, digest, redirect, metatags, length, offset, file = values
                place = int(length), int(offset), file
                yield CdxLine(key, timestamp, url, mimetype, status, digest, redirect, metatags, *place)


def write_lines(path: Path, lines: Iterable[CdxLine]) -> None:
    """Write lines in the order in which tools look for them, that of their bytes."""
    ordered = sorted(str(line).encode() for line in lines)
    path.write_bytes(HEADER.encode() + b"".join(ordered))


def url_key(url: str) -> str:
    """
    The URL with its host reversed, so that the lines of a site stand together: `org,example)/path?a=1&b=2`.

    Scheme, `www.` and usual port go, letters are small, parameters are in order.

    Source: Internet Archive, "Sort-friendly URI Reordering Transform".
    """
    parts = urlsplit(url)
    host, port = (parts.hostname or "").lower(), parts.port
    host = host.removeprefix("www.")
    try:
        ip_address(host)
    except ValueError:
        host = ",".join(reversed(host.split(".")))
    if port is not None and port != _PORTS.get(parts.scheme):
        host += f":{port}"
    query = "&".join(sorted(parts.query.lower().split("&")))
    path = parts.path.lower().rstrip("/") or "/"
    return f"{host}){path}" + (f"?{query}" if query else "")
