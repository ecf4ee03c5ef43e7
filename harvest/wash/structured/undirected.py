"""N-Triples without base directions, which RDF 1.1 does not have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from harvest.wash.text import Sink

_DIRECTION: Final = re.compile(rb'("@[A-Za-z0-9-]+?)--(?:ltr|rtl) \.$', re.MULTILINE)
"""The end of a line; a quote stands before an @ nowhere else, for within a literal it is escaped."""


@contextmanager
def undirected(sink: Sink) -> Iterator[Sink]:
    """
    A sink that leaves base directions out; what it holds of a line goes out at the end.

    Source: JSON-LD 1.1 Processing Algorithms and API, section 8.2 (`rdfDirection` is null).
    """
    lines = _Undirected(sink)
    try:
        yield lines
    finally:
        lines.finish()


class _Undirected:
    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._held: list[bytes] = []

    def write(self, data: bytes) -> int:
        """Take the next bytes, and hand whole lines on."""
        end = data.rfind(b"\n") + 1
        if not end:
            self._held.append(data)
            return len(data)
        lines = b"".join((*self._held, data[:end]))
        self._held = [data[end:]]
        self._sink.write(_DIRECTION.sub(rb"\1 .", lines) if b"--" in lines else lines)
        return len(data)

    def flush(self) -> None:
        """What waits here for more goes out at the end."""

    def finish(self) -> None:
        self._sink.write(b"".join(self._held))
