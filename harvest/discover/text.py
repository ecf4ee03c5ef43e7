"""The text of a description: read, decoded, and searched for the place that a finding is about."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harvest.errors import DescriptionError
from harvest.model import Finding

LIMIT_BYTES: Final = 64 << 20
"""Largest description read. The largest real one in sight has 0.1 MB; what is past this is data, not a description."""

EXCERPT_WIDTH: Final = 160
"""Characters shown of each line of an excerpt."""

_BYTE_ORDER_MARKS: Final = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_COMPRESSED: Final = (
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"PK\x03\x04", "zip"),
)
_XML_ENCODING = re.compile(rb"""^\s*<\?xml\b[^>]*?\bencoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")
_CHARSET = re.compile(r""";\s*charset\s*=\s*"?([^\s";]+)""", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class DescriptionText:
    """
    A description as text.

    Attributes:
        url: Its final URL, the base of its relative IRIs.
        body: The text, without a byte order mark.
        media_type: The Content-Type header as received, or None.
        findings: What was odd about its encoding.
    """

    url: str
    body: str
    media_type: str | None = None
    findings: tuple[Finding, ...] = ()

    def finding(self, kind: str, message: str, *needles: str, fatal: bool = False) -> Finding:
        """A finding about the first of `needles` that stands in the text, or about no place in it."""
        at = next((i for i in map(self.body.find, needles) if i >= 0), -1)
        if at < 0:
            return Finding(kind, message, url=self.url, fatal=fatal)
        line, column = self.place(at)
        return Finding(kind, message, self.url, line, column, self.excerpt(line, column), fatal)

    def place(self, at: int) -> tuple[int, int]:
        """Line and column, both from 1, of the character with index `at`."""
        return self.body.count("\n", 0, at) + 1, at - self.body.rfind("\n", 0, at)

    def excerpt(self, line: int, column: int = 1) -> str:
        """The line and its two neighbours; of long lines the part around `column`."""
        lines = self.body.split("\n")[max(line - 2, 0) : line + 1]
        start = max(column - EXCERPT_WIDTH // 2, 0) if column > EXCERPT_WIDTH else 0
        return "\n".join(text.rstrip("\r")[start : start + EXCERPT_WIDTH] for text in lines)


def read_text(path: Path, url: str, media_type: str | None) -> DescriptionText:
    """
    The text of a filed description.

    The encoding is that of the byte order mark, else the one of the XML declaration, else UTF-8, else the charset of
    the media type: every RDF format but RDF/XML is UTF-8, and servers declare a charset that they did not look at.

    Raises:
        DescriptionError: The file is too large, compressed, or in no readable encoding.

    Source: RDF 1.1 Turtle, section 6; XML 1.0, section 4.3.3; RFC 7303, section 3.
    """
    length = path.stat().st_size
    if length > LIMIT_BYTES:
        message = f"{url} has {length} bytes; a description may have {LIMIT_BYTES}. Does the address name a dump?"
        raise DescriptionError(message, url=url)
    data = path.read_bytes()
    packed = next((name for magic, name in _COMPRESSED if data.startswith(magic)), None)
    if packed:
        raise DescriptionError(f"{url} is a {packed} file; a description must be served unpacked", url=url)
    return _decoded(data, url, media_type)


def _decoded(data: bytes, url: str, media_type: str | None) -> DescriptionText:
    mark, encoding = next((pair for pair in _BYTE_ORDER_MARKS if data.startswith(pair[0])), (b"", ""))
    declared = _XML_ENCODING.match(data)
    charset = _CHARSET.search(media_type or "")
    tried = encoding or (declared[1].decode("ascii").lower() if declared else "utf-8")
    if not encoding and not declared and charset and not _is_text(data, tried):
        tried = charset[1].lower()
    body = _body(data[len(mark) :], tried, url)
    return DescriptionText(url, body, media_type, tuple(_encoding_findings(DescriptionText(url, body), mark, tried)))


def _is_text(data: bytes, encoding: str) -> bool:
    try:
        data.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def _body(data: bytes, encoding: str, url: str) -> str:
    try:
        body = data.decode(encoding)
        body.encode()  # some encodings can write half a surrogate pair, which is no text
    except UnicodeDecodeError as error:
        readable = DescriptionText(url, data.decode("utf-8", "replace"))
        line, column = readable.place(len(data[: error.start].decode("utf-8", "replace")))
        message = f"{url} is not {encoding.upper()}: byte 0x{data[error.start]:02x} at line {line}, column {column}"
        excerpt = readable.excerpt(line, column)
        raise DescriptionError(message, url=url, line=line, column=column, excerpt=excerpt) from error
    except (UnicodeError, LookupError) as error:
        raise DescriptionError(f"{url} declares an encoding that cannot be used: {encoding}", url=url) from error
    return body


def _encoding_findings(text: DescriptionText, mark: bytes, encoding: str) -> list[Finding]:
    """Findings about the encoding that was used."""
    if encoding.replace("-", "").replace("_", "") != "utf8":
        return [text.finding("recoded", f"the description is in {encoding} and was read as such; publish it in UTF-8")]
    if mark and not text.body.lstrip().startswith("<?xml"):
        message = "the description begins with a byte order mark, which many RDF parsers refuse; save it without"
        return [text.finding("byte-order-mark", message)]
    return []
