"""Washing the download of a seed: what became of it and of all that is in it, and its clean documents, are filed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Final

import structlog

from harvest.errors import UnknownName, WashError
from harvest.ledger import Clean, DocumentRecord, hashes_of
from harvest.model import Content, Document, Part, Problem, Snapshot
from harvest.model.seeds import place_graph
from harvest.pipeline.harvest.washing import separately
from harvest.pipeline.instance import Instance
from harvest.pipeline.seeds import graphs as seedgraphs
from harvest.pipeline.seeds.dump_records import DownloadProgress

log = structlog.get_logger()

FILERS: Final = 8
"""Files that wait for the disk at once."""

_CHUNK: Final = 1 << 20
_CONTINUED: Final = bytes(range(0x80, 0xC0))
"""Bytes of UTF-8 that begin no character. Source: RFC 3629, section 3."""


def wash(instance: Instance, download: DocumentRecord) -> None:
    """
    File what became of a filed download; one that cannot be washed is filed with the reason.

    Where an older clean document of the same place is loaded, the new one takes its place.

    Raises:
        StorageError: The disk is full.
        StoppedError: The instance is shutting down.
    """
    with instance.room() as room:
        parts = _parts(instance, download, room)
        clean = list(_filed(instance, download, parts))
    replaced = instance.ledger.documents.record(download.hash, parts, clean)
    seedgraphs.refresh(instance, replaced)


def _parts(instance: Instance, download: DocumentRecord, room: Path) -> tuple[Part, ...]:
    assert download.sha256 is not None and download.final_url is not None
    progress = DownloadProgress(instance.ledger, download.hash)
    graph = partial(place_graph, instance.settings.graph_base, download.seed)
    began = instance.clock()
    try:
        document = Document(instance.content.path(download.sha256), download.final_url, download.media_type)
        return separately(instance, document, graph, room, progress.advance)
    except (WashError, UnknownName) as error:
        log.info("seed not washed", url=download.final_url, reason=error.message)
        problem = Problem("cut-off", error.message, error.line, error.column, error.excerpt)
        ended = instance.clock()
        return (Part((), progress.status, began, ended, whole=False, problems=(problem,), counts={problem.kind: 1}),)


def _filed(instance: Instance, download: DocumentRecord, parts: Sequence[Part]) -> Iterator[Clean]:
    """
    Yield the clean documents of the parts, their files moved to the archive.

    Filing waits for the disk most of the time, so the thousands of files of an archive are filed side by side.
    """

    cleaned = [pair for pair in zip(hashes_of(download.hash, parts), parts, strict=True) if _holds(pair[1])]

    def file(clean: Snapshot) -> Content:
        content = _content(clean.path, clean.triples)
        instance.content.file(clean.path, clean.digest)
        return content

    files = {part.clean.path: part.clean for _, part in cleaned if part.clean}
    with ThreadPoolExecutor(FILERS, "file") as threads:
        contents = dict(zip(files, threads.map(file, files.values()), strict=True))
    for hash, part in cleaned:
        assert part.clean is not None
        graph = place_graph(instance.settings.graph_base, download.seed, part.names)
        yield Clean(hash, part.clean, contents[part.clean.path], graph, part.ended)


def _holds(part: Part) -> bool:
    """Whether there is a clean document: one without statements would be the same for all."""
    return part.clean is not None and part.clean.triples > 0


def _content(path: Path, lines: int) -> Content:
    """What canonical N-Quads are as a text."""
    chars = 0
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            chars += len(chunk.translate(None, _CONTINUED))
    return Content(path.stat().st_size, chars, lines, "LF", "utf-8")
