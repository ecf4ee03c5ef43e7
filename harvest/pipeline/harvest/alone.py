"""Washing one document without an instance: what `harvest wash` does."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

from harvest.archive.content import ContentStore
from harvest.archive.layout import digest_of
from harvest.config.settings import Settings
from harvest.errors import HarvestError, StorageError
from harvest.fetch.client import Client
from harvest.fetch.download import ACCEPT
from harvest.model import Capture, Document, Limits, Part, Snapshot, Validators
from harvest.pipeline.harvest import contexts
from harvest.pipeline.harvest.washing import terms
from harvest.wash import process
from harvest.wash.canonical import Washed, wash
from harvest.wash.leaves import Progress
from sparql.rdf import HASH_URI


@dataclass(frozen=True, slots=True)
class WashOrder:
    """
    What is to be washed.

    Attributes:
        source: A URL, `hash://sha256/...` or a path; None reads `stdin`.
        stdin: Standard input.
        base: Base IRI; None takes the final URL, or the file's.
        graph: Graph IRI of the clean statements; None takes the base IRI.
        media_type: What it is declared as; None takes what the server says.
        on_report: Called with how far it is.
    """

    source: str | None
    stdin: BinaryIO
    base: str | None
    graph: str | None
    media_type: str | None
    on_report: Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class WashedDocument:
    """
    What came of it.

    Attributes:
        url: Its base IRI.
        graph: The graph of the clean statements.
        sha256: Digest of the bytes as they came.
        bytes: How many.
        snapshot: The clean statements, in a temporary file.
        blank_nodes: How many blank nodes became Skolem IRIs.
        parts: What became of the document and, where it is an archive, of each entry.
    """

    url: str
    graph: str
    sha256: str
    bytes: int
    snapshot: Snapshot
    blank_nodes: int
    parts: tuple[Part, ...]


def wash_alone(settings: Settings, order: WashOrder, deliver: Callable[[WashedDocument], None]) -> None:
    """
    Wash a document, and deliver what came of it while its temporary file is there.

    Raises:
        FetchError: The document cannot be fetched.
        StorageError: The file cannot be read, or the disk for temporary files is full.
        WashError: Washing went past its limits, or its process died.
    """
    client = Client(settings.http, settings.base_url)
    try:
        with TemporaryDirectory(prefix="harvest-wash-") as folder:
            room = Path(folder)
            document = _document(settings, order, client, room)
            washed = _washed(settings, order, document, client, room)
            graph = order.graph or document.url
            filed = digest_of(document.path)
            deliver(
                WashedDocument(document.url, graph, *filed, washed.snapshot, washed.blank_nodes, washed.documents[0])
            )
    finally:
        client.close()


def _document(settings: Settings, order: WashOrder, client: Client, room: Path) -> Document:
    """The document as a file, with its base IRI."""
    source = order.source
    if source is None:
        path = room / "stdin"
        with path.open("wb") as out:
            shutil.copyfileobj(order.stdin, out, 1 << 20)
        return Document(path, order.base or "file:///dev/stdin", order.media_type)
    if match := HASH_URI.fullmatch(source):
        path = ContentStore(settings.layout.content).path(match[1])
        return Document(path, order.base or source, order.media_type)
    if source.split(":", 1)[0].lower() in ("http", "https"):
        fetched = client.get(source, Validators(), Limits(), accept=ACCEPT, into=room)
        capture: Capture = fetched.capture
        assert fetched.path is not None
        return Document(fetched.path, order.base or capture.final_url, order.media_type or capture.media_type)
    path = Path(source)
    if not path.is_file():
        raise StorageError(f"{source} is no file, and no http, https or hash://sha256/ URL", url=source)
    return Document(path, order.base or path.resolve().as_uri(), order.media_type)


def _washed(settings: Settings, order: WashOrder, document: Document, client: Client, room: Path) -> Washed:
    bounds = process.Bounds(settings.wash.timeout_s, document.url, on_report=order.on_report)
    graph = order.graph or document.url

    def washed(known: Mapping[str, Path | None]) -> Washed:
        given = [replace(document, contexts=known)]
        memory = settings.wash.memory
        return process.call(wash, bounds, given, graph, room / "clean.nq", memory, terms(settings.wash, room))

    def fetched(url: str) -> Path | None:
        try:
            return client.get(url, Validators(), contexts.LIMITS, accept=contexts.ACCEPT, into=room).path
        except HarvestError:
            return None

    return contexts.supplied(washed, fetched)
