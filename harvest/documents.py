"""
What is told of seeds and documents, as the JSON objects that pages, commands and the metadata graph are made from.

The names are those of the LOD Laundromat document; what it does not have stands beside them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from harvest.ledger import DocumentRecord, SeedRecord
from harvest.model import Problem, Status
from harvest.seeds import public


def seed_object(seed: SeedRecord, now: datetime) -> dict[str, Any]:
    """One registered URI as JSON."""
    return {
        "hash": seed.hash,
        "type": "seed",
        "uri": public(seed.uri),
        "relative": seed.relative,
        "status": seed.status,
        "added": _iso(seed.added),
        "interval": seed.interval,
        "processed": _iso(seed.processed),
        "stale": is_stale(seed, now),
        "listed": seed.listed,
        "provider": seed.provider,
        "download": seed.download,
        "failures": seed.failures,
        "retry_at": _iso(seed.retry_at),
    }


def is_stale(seed: SeedRecord, now: datetime) -> bool:
    """
    Whether a seed is to be downloaded.

    Source: LOD Laundromat 2, "Downloading the file stream": `processed + interval < now`.
    """
    if seed.relative or not seed.listed:
        return False
    return seed.processed is None or seed.processed + timedelta(seconds=seed.interval) < now


def document_object(document: DocumentRecord, uri: str, problems: Iterable[Problem] = ()) -> dict[str, Any]:
    """One download, entry or clean document as JSON; `uri` is that of its seed."""
    own = _clean(document) if document.status == Status.CLEANED else _dirty(document)
    return {
        "hash": document.hash,
        "type": kind(document),
        "status": document.status,
        **own,
        "seed": document.seed,
        "uri": public(uri),
        "sha256": document.sha256,
        "encoding": document.encoding,
        "format": document.format,
        "statements": document.statements,
        "dropped": document.dropped,
        "whole": document.whole,
        "problems": [asdict(problem) for problem in problems],
        "counts": document.counts,
    }


def kind(document: DocumentRecord) -> str:
    """`clean`, `download` or `entry`."""
    if document.status == Status.CLEANED:
        return "clean"
    return "download" if document.hash == document.download else "entry"


def brief(item: Mapping[str, Any]) -> dict[str, Any]:
    """What a list tells of a document."""
    names = ("hash", "type", "status", "name", "timestamp", "number_of_bytes", "format", "statements", "dropped")
    return {name: item.get(name) for name in (*names, "counts", "clean")}


def _dirty(document: DocumentRecord) -> dict[str, Any]:
    return {
        "parent": document.parent,
        "timestamp": _timestamp(document),
        "name": document.name,
        "http": list(document.http),
        **_content(document),
        "media_type": document.media_type,
        "final_url": public(document.final_url) if document.final_url else None,
        "clean": document.clean,
    }


def _clean(document: DocumentRecord) -> dict[str, Any]:
    return {
        "dirty": document.parent,
        "timestamp": _timestamp(document),
        "content": _content(document),
        "graph": document.graph,
        "loaded": document.loaded,
    }


def _content(document: DocumentRecord) -> dict[str, Any]:
    """CONTENT_META of the LOD Laundromat document."""
    return {
        "newline": document.newline,
        "number_of_bytes": document.bytes,
        "number_of_chars": document.chars,
        "number_of_lines": document.lines,
    }


def _timestamp(document: DocumentRecord) -> list[str | None]:
    return [_iso(document.began), _iso(document.ended)]


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat().replace("+00:00", "Z")
