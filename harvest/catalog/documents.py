"""Seeds and documents of the ledger as reports."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta

from harvest.ledger import DocumentRecord, SeedRecord, SitemapRecord
from harvest.model import Problem, Status
from harvest.model.seeds import public
from sparql.reports import (
    CleanReport,
    ContentReport,
    DirtyReport,
    DocumentReport,
    DocumentSummary,
    ExchangeReport,
    HttpVersion,
    LatestReport,
    ProblemReport,
    SeedReport,
    SitemapReport,
)


def seed_report(seed: SeedRecord, now: datetime) -> SeedReport:
    """The report of a registered URI."""
    return SeedReport(
        hash=seed.hash,
        type="seed",
        uri=public(seed.uri),
        relative=seed.relative,
        status=seed.status,
        added=seed.added,
        interval=seed.interval,
        processed=seed.processed,
        stale=is_stale(seed, now),
        listed=seed.listed,
        provider=seed.provider,
        download=seed.download,
        failures=seed.failures,
        retry_at=seed.retry_at,
        sitemap=None if seed.sitemap is None else public(seed.sitemap),
        vanished=seed.vanished,
    )


def sitemap_report(record: SitemapRecord) -> SitemapReport:
    """The report of a sitemap that fills the seed list."""
    return SitemapReport(
        url=public(record.url),
        added=record.added,
        read=record.read,
        next_read=record.next_read,
        entries=record.entries,
        vanished=record.vanished,
        failures=record.failures,
        trouble=record.trouble,
    )


def with_latest(seed: SeedReport, latest: DocumentRecord | None) -> SeedReport:
    """The report of a seed, with what became of its latest download."""
    return replace(seed, latest=LatestReport(latest.counts, latest.whole, latest.dropped)) if latest else seed


def is_stale(seed: SeedRecord, now: datetime) -> bool:
    """
    Whether a seed is to be downloaded.

    Source: LOD Laundromat 2, "Downloading the file stream": `processed + interval < now`.
    """
    if seed.relative or not seed.listed:
        return False
    return seed.processed is None or seed.outdated or seed.processed + timedelta(seconds=seed.interval) < now


def document_report(document: DocumentRecord, uri: str, problems: Iterable[Problem] = ()) -> DocumentReport:
    """The report of a download, entry or clean document; `uri` is that of its seed."""
    return DocumentReport(
        hash=document.hash,
        type=_type(document),
        status=document.status,
        origin=_clean(document) if document.status == Status.CLEANED else _dirty(document),
        seed=document.seed,
        uri=public(uri),
        sha256=document.sha256,
        encoding=document.encoding,
        format=document.format,
        statements=document.statements,
        dropped=document.dropped,
        whole=document.whole,
        problems=tuple(_problem(problem) for problem in problems),
        counts=document.counts,
    )


def document_summary(document: DocumentRecord) -> DocumentSummary:
    """The short report of a download or entry."""
    return DocumentSummary(
        hash=document.hash,
        type=_type(document),
        status=document.status,
        name=document.name,
        timestamp=(document.began, document.ended),
        number_of_bytes=document.bytes,
        format=document.format,
        statements=document.statements,
        dropped=document.dropped,
        whole=document.whole,
        counts=document.counts,
        clean=document.clean,
    )


def _problem(problem: Problem) -> ProblemReport:
    """The report of a problem; what it cost is not filed."""
    return ProblemReport(problem.kind, problem.message, problem.line, problem.column, problem.excerpt)


def _type(document: DocumentRecord) -> str:
    if document.status == Status.CLEANED:
        return "clean"
    return "download" if document.hash == document.download else "entry"


def _dirty(document: DocumentRecord) -> DirtyReport:
    return DirtyReport(
        parent=document.parent,
        timestamp=(document.began, document.ended),
        name=document.name,
        http=tuple(ExchangeReport(**each | {"version": HttpVersion(**each["version"])}) for each in document.http),
        content=_content(document),
        media_type=document.media_type,
        final_url=public(document.final_url) if document.final_url else None,
        clean=document.clean,
    )


def _clean(document: DocumentRecord) -> CleanReport:
    timestamp = (document.began, document.ended)
    return CleanReport(document.parent, timestamp, _content(document), document.graph, document.loaded)


def _content(document: DocumentRecord) -> ContentReport:
    return ContentReport(document.newline, document.bytes, document.chars, document.lines)
