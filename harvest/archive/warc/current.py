"""The WARC file that is being written, and how one is finished."""

from __future__ import annotations

import os
import shutil
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import IO, Final

from harvest.archive.warc.answer import RecordedAnswer
from harvest.archive.warc.cdx import HEADER, REVISIT, CdxLine, read_lines, url_key, write_lines
from harvest.archive.warc.records import Original, named, write
from harvest.model import WireExchange

OPEN: Final = ".open"
"""Behind the name of a file that is being written."""

_ENDINGS: Final = ("warc.gz", f"warc.gz{OPEN}", "cdx", f"cdx{OPEN}")
_CHUNK: Final = 1 << 18


class OpenFile:
    """
    The file that is being written, and its lines.

    Attributes:
        path: Where it is.
        began: When it was begun.
    """

    def __init__(self, folder: Path, software: str, now: datetime) -> None:
        self.began = now
        self._name = _free_name(folder, now)
        self.path = folder / f"{self._name}{OPEN}"
        self._records = self.path.open("xb")
        self._lines = lines_of(self.path).open("x", encoding="utf-8")
        self._lines.write(HEADER)
        about = (f"software: {software}", "format: WARC File Format 1.1")
        text = "".join(f"{line}\r\n" for line in about).encode()
        headers = [("WARC-Type", "warcinfo"), ("WARC-Filename", self._name), *named(now)]
        write(self._records, headers, BytesIO(text), len(text), "application/warc-fields")
        self._records.flush()

    @property
    def size(self) -> int:
        """Of what was written, in bytes."""
        return self._records.tell()

    def append(
        self, exchange: WireExchange, answer: RecordedAnswer, original: Original | None, packed: tuple[IO[bytes], int]
    ) -> None:
        """Append the records of an exchange, of which that of the answer begins at an offset, and its line."""
        begin = self.size
        records, offset = packed
        try:
            records.seek(0)
            shutil.copyfileobj(records, self._records, _CHUNK)
            self._records.flush()
        except OSError:
            self._records.truncate(begin)
            self._records.seek(begin)
            raise
        line = CdxLine(
            url_key(exchange.url),
            f"{exchange.at:%Y%m%d%H%M%S}",
            exchange.url,
            REVISIT if original else answer.mimetype,
            answer.status,
            (original.payload if original else answer.payload).removeprefix("sha1:"),
            answer.redirect,
            "-",
            self.size - begin - offset,
            begin + offset,
            self._name,
        )
        self._lines.write(str(line))
        self._lines.flush()

    def close(self) -> None:
        """Close both files."""
        self._records.close()
        self._lines.close()


def _free_name(folder: Path, now: datetime) -> str:
    number = 0
    while any((folder / f"{now:%Y%m%d%H%M%S}-{number:05}.{ending}").exists() for ending in _ENDINGS):
        number += 1
    return f"{now:%Y%m%d%H%M%S}-{number:05}.warc.gz"


def lines_of(path: Path) -> Path:
    """The file of the lines of a WARC file."""
    return path.with_name(path.name.replace(".warc.gz", ".cdx"))


def finish(path: Path) -> None:
    """
    Cut off what no line leads to, put the lines in order, and give both files their names.

    A crash in between is mended by doing it again.
    """
    lines = list(read_lines(lines_of(path))) if lines_of(path).exists() else []
    done = lines_of(path.with_name(path.name.removesuffix(OPEN)))
    if lines:
        end = max(line.offset + line.length for line in lines)
        with path.open("r+b") as records:
            records.truncate(end)
            os.fsync(records.fileno())
        write_lines(done, lines)
        path.rename(path.with_name(path.name.removesuffix(OPEN)))
    else:
        path.unlink()
    lines_of(path).unlink(missing_ok=True)
