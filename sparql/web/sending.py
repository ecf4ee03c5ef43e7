"""Sending files: whole, or the range that is asked for, with what tells one file from the next of its name."""

from __future__ import annotations

import gzip
import os
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Final

from flask import Response, request
from werkzeug.wsgi import FileWrapper

CHUNK: Final = 1 << 18
_RANGE: Final = re.compile(r"bytes=(?:[0-9]{1,18}-[0-9]{0,18}|-(?P<last>[0-9]{1,18}))", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Opened:
    """
    A file as it was when it was opened; what takes its place later does not matter.

    Attributes:
        file: Open at its beginning.
        length: In bytes.
        written_ns: When it was last written, in nanoseconds since 1970.
        etag: Another one for each file that ever had this name.
    """

    file: IO[bytes]
    length: int
    written_ns: int
    etag: str

    @property
    def modified(self) -> datetime:
        """When it was last written, to the second, as HTTP says it."""
        return datetime.fromtimestamp(self.written_ns // 1_000_000_000, UTC)


class Unpacked(gzip.GzipFile):
    """What a compressed file holds, as a file; a range of it is read from the beginning."""

    def __init__(self, packed: IO[bytes]) -> None:
        super().__init__(fileobj=packed)
        self._packed = packed

    def close(self) -> None:
        """Close both."""
        super().close()
        self._packed.close()


def open_file(path: Path) -> Opened | None:
    """A file and what is true of it, all of the same moment; None when there is none."""
    try:
        file = path.open("rb")
    except (FileNotFoundError, IsADirectoryError):
        return None
    facts = os.fstat(file.fileno())
    return Opened(file, facts.st_size, facts.st_mtime_ns, f"{facts.st_ino:x}-{facts.st_size:x}-{facts.st_mtime_ns:x}")


def send(opened: Opened, media_type: str) -> Response:
    """
    The file, or the range of it that the request asks for, or 304.

    Source: RFC 9110, sections 13 and 14. A range in other units than bytes is to be ignored; one of several parts, or
    that cannot be read, may be: all of the file is sent then.
    """
    response = Response(FileWrapper(opened.file, CHUNK), content_type=media_type, direct_passthrough=True)
    response.content_length = opened.length
    response.last_modified = opened.modified
    response.set_etag(opened.etag)
    response.headers["Cache-Control"] = "no-cache"
    environ = dict(request.environ)
    wanted = _range(environ.pop("HTTP_RANGE", ""), opened.length)
    if wanted:
        environ["HTTP_RANGE"] = wanted
    response.make_conditional(environ, accept_ranges=True, complete_length=opened.length)
    return response


def _range(asked: str, length: int) -> str:
    """The Range header as it is to be heeded, or empty; a last part longer than the file is all of it."""
    found = _RANGE.fullmatch(asked)
    if found is None:
        return ""
    return "bytes=0-" if found["last"] and int(found["last"]) >= length > 0 else asked
