"""
Reads logs back: for a ledger that lost it, or for an archive that another program began.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby, islice
from pathlib import Path
from typing import Final
from uuid import NAMESPACE_URL, uuid5

from pyoxigraph import NamedNode, RdfFormat, serialize

from harvest.archive.history import LogGroup, groups, read_time
from harvest.archive.layout import HashName, named
from harvest.archive.statements import statements
from harvest.model import Capture, CrawlLog, Download, Note, Validators
from sparql.rdf import DCTERMS, HARVEST, PROV, RDF

_THE_BEGINNING: Final = datetime.fromtimestamp(0, UTC)
_STARTED_BY: Final = PROV + "wasStartedBy"
_NOTE: Final = [RDF + "type", PROV + "wasInformedBy", PROV + "endedAtTime"]
"""What a note begins with, about its graph."""


@dataclass(slots=True)
class _LogParts:
    log: HashName
    activity: str | None = None
    began: datetime | None = None
    ended: datetime | None = None
    downloads: list[Download] = field(default_factory=list)


def recalled(path: Path, log: HashName) -> CrawlLog:
    """
    The crawl that a log holds. Redirects stand there without order, and are left out.

    Raises:
        StorageError: The log cannot be read.
    """
    reading = _LogParts(log)
    for group in groups(path):
        crawls = [subject for subject, predicate in group.facts if predicate == _STARTED_BY]
        if crawls and reading.activity is None:
            reading.activity = crawls[0]
            reading.began = read_time(group.fact(crawls[0], PROV + "startedAtTime"))
            reading.ended = read_time(group.fact(crawls[0], PROV + "endedAtTime"))
        for url, content in group.given:
            reading.downloads.append(_download(reading, group, url, content))
    began = reading.began or _THE_BEGINNING
    downloads, notes = tuple(reading.downloads), tuple(_notes(path))
    return CrawlLog(reading.activity or log.uri, began, reading.ended or began, None, downloads, notes)


def _download(reading: _LogParts, group: LogGroup, url: str, content: str) -> Download:
    activity = group.activity(content)
    ended = group.time(content) or reading.began or _THE_BEGINNING
    status = group.fact(activity, HARVEST + "status")
    informed = group.fact(activity, PROV + "wasInformedBy")
    name = named(content)
    if activity in ("", reading.activity):  # not said of a download
        activity = f"urn:uuid:{uuid5(NAMESPACE_URL, f'{reading.log.uri} {len(reading.downloads)}')}"
    return Download(
        activity,
        group.fact(activity, HARVEST + "url") or url,
        read_time(group.fact(activity, PROV + "startedAtTime")) or ended,
        ended,
        _capture(group, activity, url, name, ended) if name is not None and name.algorithm == "sha256" else None,
        int(status) if status else None,
        group.fact(activity, HARVEST + "reason"),
        None if informed == reading.activity else informed,
    )


def _capture(group: LogGroup, activity: str, url: str, name: HashName, ended: datetime) -> Capture:
    return Capture(
        url=group.fact(activity, HARVEST + "url") or url,
        final_url=group.fact(activity, HARVEST + "finalUrl") or url,
        at=read_time(group.fact(activity, HARVEST + "answered")) or ended,
        status=int(group.fact(activity, HARVEST + "status") or 200),
        digest=name.digest,
        length=int(group.fact(activity, HARVEST + "bytes") or 0),
        media_type=group.fact(activity, DCTERMS + "format"),
        validators=Validators(group.fact(activity, HARVEST + "etag"), group.fact(activity, HARVEST + "lastModified")),
    )


def _notes(path: Path) -> Iterator[Note]:
    """The graphs of a log that begin as a note does."""
    for graph, quads in groupby(statements(path), key=lambda quad: quad.graph_name):
        head = list(islice(quads, len(_NOTE)))
        if [quad.predicate.value for quad in head] != _NOTE or any(quad.subject != graph for quad in head):
            continue
        at = read_time(getattr(head[2].object, "value", None))
        if isinstance(graph, NamedNode) and at is not None:
            facts = [quad.triple for quad in quads]
            yield Note(graph.value, at, (serialize(facts, format=RdfFormat.N_TRIPLES) or b"").decode())
