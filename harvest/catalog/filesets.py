"""What came of the landing pages of providers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, replace

from harvest.ledger import Ledger
from harvest.model import EXISTS, About, Capture, ManifestFile, Provider, Source
from harvest.model.seeds import public
from sparql.reports import IngestReport, ManifestFileReport


def ingest_report(ledger: Ledger, provider: Provider | None) -> IngestReport | None:
    """What came of a provider's landing page; None without one, or where no platform of it is known."""
    if provider is None or provider.source is not Source.DATASET:
        return None
    found = ledger.filesets.at(provider.url)
    if found is None:
        return None
    page = _last(ledger, provider.url)
    known = ledger.provider(provider.name)
    return IngestReport(
        hit=found.hit,
        status=found.status,
        request={"ingest_type": "dataset", "base_url": public(provider.url)},
        terminal=_terminal(page) if page else None,
        file_meta={"size_bytes": page.length, "sha256hex": page.digest, "mimetype": page.media_type} if page else None,
        html_biblio=_biblio(known.about[0]) if known and known.about else None,
        manifest=tuple(ManifestFileReport(**asdict(_filed(ledger, file))) for file in found.manifest),
        platform_name=found.platform_name,
        platform_domain=found.platform_domain,
        platform_id=found.platform_id,
        ingest_strategy=found.ingest_strategy,
        archiveorg_item_name=found.archiveorg_item_name,
        file_count=found.file_count,
        total_size=found.total_size,
    )


def ingests(ledger: Ledger, registered: Iterable[Provider]) -> list[IngestReport]:
    """What came of the landing pages of all providers, in their order."""
    return [found for provider in registered if (found := ingest_report(ledger, provider))]


def _last(ledger: Ledger, url: str) -> Capture | None:
    """What a URL gave last; None where that was nothing."""
    last = ledger.downloads.at(url, None)
    return last.capture if last else None


def _biblio(about: About) -> dict[str, object]:
    return {
        "title": about.title,
        "contrib_names": list(about.creators),
        "doi": about.doi,
        "license": about.licence,
        "release_date": about.issued,
        "version": about.version,
    }


def _terminal(page: Capture) -> dict[str, object]:
    return {
        "terminal_url": page.final_url,
        "terminal_dt": f"{page.at:%Y%m%d%H%M%S}",
        "terminal_status_code": page.status,
    }


def _filed(ledger: Ledger, file: ManifestFile) -> ManifestFile:
    """A file of a manifest, with where and when its bytes were had, if they are filed."""
    if file.status == EXISTS and file.sha256:
        return file
    last = _last(ledger, file.platform_url) if file.platform_url and file.status in (None, EXISTS) else None
    if last is None or last.digest is None or file.size not in (None, last.length):
        return file
    if file.sha256 not in (None, last.digest):
        return file
    return replace(
        file,
        status=EXISTS,
        sha256=last.digest,
        terminal_url=last.final_url,
        terminal_dt=f"{last.at:%Y%m%d%H%M%S}",
    )
