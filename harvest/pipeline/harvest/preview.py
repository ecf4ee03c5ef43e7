"""A look at a provider without an instance: for checking a registry before it is merged."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from harvest.archive.content import ContentStore
from harvest.archive.handling import Version
from harvest.config.settings import Settings
from harvest.discover.dcat import CataloguePage, read_page
from harvest.discover.dumps import coverage_of, extension, is_change_address
from harvest.discover.refusal import MAY_BE_RDF, refusal
from harvest.discover.sitemap_items import Item
from harvest.discover.void import read_description
from harvest.errors import DescriptionError, FetchError, HarvestError, UnknownName
from harvest.fetch.client import Client, Fetched, now_utc
from harvest.fetch.download import ACCEPT as DUMPS
from harvest.fetch.probe import probe
from harvest.ledger import Database, Ledger
from harvest.model import Coverage, Dataset, Description, Document, Finding, Limits, Provider, Source
from harvest.pipeline.filed import filed
from harvest.pipeline.filesets import reading as filesets
from harvest.pipeline.harvest import catalogues, contexts, handled, sitemaps, streams, verdict
from harvest.pipeline.harvest.alone import WashedDocument, WashOrder, wash_alone
from harvest.pipeline.harvest.look import ACCEPT, DESCRIPTION_BYTES, DESCRIPTION_S, PATIENCE_S
from harvest.pipeline.resourcesync.source import Plainly, described
from harvest.pipeline.resourcesync.walk import walk
from harvest.wash import process
from sparql.rdf import HASH_URI

PARALLEL: Final = 8
"""Dumps of a description that are asked for at once."""

PAGES: Final = 20
"""Pages of a sitemap that are asked for, of the thousands that there may be."""

RETRIES: Final = 1
"""Further tries for a dump: who checks a registry waits for the answer."""


def preview(settings: Settings, provider: Provider) -> Description:
    """
    What a provider's description says now.

    Raises:
        FetchError: It is not answered.
        DescriptionError: It cannot be read, or this version does not harvest its kind.
    """
    if found := refused(provider):
        raise DescriptionError(found[1], url=provider.url)
    if provider.source is Source.DUMP:
        coverage = coverage_of((provider.url,), Coverage.FULL)
        return Description((Dataset(provider.url, (provider.url,), coverage),))
    if provider.source is Source.UPDATES:
        return Description(())
    client = Client(settings.http, settings.base_url)
    try:
        with TemporaryDirectory() as folder:
            if provider.source is Source.RESOURCESYNC:
                return described(walk(provider.url, Plainly(client, Path(folder))), now_utc())
            if provider.source is Source.SITEMAP:
                return sitemaps.gather(partial(_sitemap, client, Path(folder)), provider.url)
            if provider.source is Source.LDES:
                return streams.preview(provider, partial(_event_page, client, Path(folder)))
            if provider.source is Source.HANDLER:
                return handled.gather(provider, partial(_version, client, Path(folder)))
            if provider.source is Source.DATASET:
                return filesets.preview(settings.filesets, provider, client, Path(folder))
            if provider.source is Source.DCAT:
                return catalogues.gather(partial(_page, settings, provider), provider.url)
            fetched = _fetched(settings, client, provider.url, Path(folder))
            assert fetched.path is not None
            url, media_type = fetched.capture.final_url, fetched.capture.media_type
            return process.call(
                read_description, process.Bounds(DESCRIPTION_S, url), fetched.path, url, media_type, settings.features
            )
    finally:
        client.close()


def refused(provider: Provider) -> tuple[str, str] | None:
    """Kind and reason for which an entry of the registry will not be harvested; None for a good one."""
    found = refusal(provider)
    if found is None and provider.source is Source.HANDLER:
        try:
            handled.named(provider.handler or "")
        except UnknownName as error:
            return "no-handler", f"{provider.name} will not be harvested: {error.message}"
    return found


def dumps(settings: Settings, provider: Provider, description: Description) -> Iterator[Finding]:
    """Why dumps of a description cannot be had now: each is asked for (of pages the first ones), none downloaded."""
    asked = (dataset.dumps[: PAGES if dataset.lastmods else None] for dataset in description.datasets)
    urls = dict.fromkeys(url for dumps in asked for url in dumps)
    wanted = [url for url in urls if not HASH_URI.fullmatch(url)]
    most = settings.http.max_bytes if provider.limits.max_bytes is None else provider.limits.max_bytes
    client = Client(replace(settings.http, retries=min(settings.http.retries, RETRIES)), settings.base_url)
    try:
        with ThreadPoolExecutor(PARALLEL) as threads:
            yield from filter(None, threads.map(partial(_dump, client, most), wanted))
    finally:
        client.close()


def _dump(client: Client, most: int, url: str) -> Finding | None:
    """What is wrong with a dump's address, as far as its server says."""
    try:
        answer = probe(client, url, DUMPS, Limits(total_s=PATIENCE_S))
    except FetchError as error:
        return Finding("dump-unreachable", f"the dump cannot be had: {error.message}", error.url, fatal=True)
    if answer.total is not None and answer.total > most:
        message = f"the dump {url} has {answer.total:,} bytes, more than the {most:,} that are harvested (max_bytes)"
        return Finding("dump-too-large", message, url, fatal=True)
    if answer.total == 0 and not is_change_address(url):  # a diff of equal files is empty
        return Finding("dump-empty", f"the dump {url} is empty", url, fatal=True)
    page = (answer.media_type or "").partition(";")[0].strip().lower() in ("text/html", "application/xhtml+xml")
    if page and extension(url) not in MAY_BE_RDF:
        return Finding(
            "dump-page", f"the dump {url} is answered with an HTML page; it counts only if RDFa is in it", url
        )
    return None


def listed(settings: Settings, url: str) -> list[Item]:
    """
    The pages and datasets of a sitemap and of all that it leads to.

    Raises:
        HarvestError: One of them cannot be had or read, or leads back to itself.
    """
    client = Client(settings.http, settings.base_url)
    try:
        with TemporaryDirectory() as folder:
            return sitemaps.items_of(partial(_sitemap, client, Path(folder)), url)[0]
    finally:
        client.close()


def _sitemap(client: Client, folder: Path, listed: sitemaps.Listed) -> sitemaps.Place:
    fetched = client.get(listed.url, limits=sitemaps.LIMITS, accept=sitemaps.ACCEPT, into=folder)
    assert fetched.path is not None
    return fetched.path, fetched.capture.final_url


def _event_page(client: Client, folder: Path, url: str) -> streams.Read:
    """A page of an event stream, and where it leads."""
    fetched = client.get(url, limits=streams.LIMITS, accept=streams.ACCEPT, into=folder)
    assert fetched.path is not None
    place = fetched.path, fetched.capture.final_url, fetched.capture.media_type
    return streams.preview_page(place, partial(_context, client, folder))


def _context(client: Client, folder: Path, url: str) -> Path | None:
    try:
        return client.get(url, limits=contexts.LIMITS, accept=contexts.ACCEPT, into=folder).path
    except HarvestError:
        return None


def _version(client: Client, folder: Path, url: str) -> Version:
    """A document for a handler."""
    fetched = client.get(url, limits=Limits(DESCRIPTION_BYTES, PATIENCE_S), accept=DUMPS, into=folder)
    capture = fetched.capture
    assert fetched.path is not None and capture.digest is not None
    return Version(url, capture.digest, fetched.path, capture.media_type, capture.final_url, capture.at)


def _page(settings: Settings, provider: Provider, url: str) -> CataloguePage:
    """A page of a catalogue, washed without an instance."""
    order = WashOrder(url, BytesIO(), None, settings.graph(provider.name), None, lambda progress: None)
    found: list[CataloguePage] = []

    def deliver(clean: WashedDocument) -> None:
        document = Document(clean.snapshot.path, clean.url)
        verdict.check([document], [clean.parts], settings.wash.threshold)
        bounds = process.Bounds(DESCRIPTION_S, clean.url)
        found.append(process.call(read_page, bounds, clean.snapshot.path, clean.url, now_utc()))

    wash_alone(settings, order, deliver)
    return found[0]


def _fetched(settings: Settings, client: Client, url: str, folder: Path) -> Fetched:
    """The description, from its server or, by its hash, from the archive of the instance."""
    if HASH_URI.fullmatch(url):
        path = settings.layout.ledger
        ledger = Ledger(Database(path, read_only=True)) if path.is_file() else None
        return filed(ContentStore(settings.layout.content), url, now_utc(), ledger)
    return client.get(url, limits=Limits(DESCRIPTION_BYTES, PATIENCE_S), accept=ACCEPT, into=folder)
