"""
Filesets as a description: a landing page, what its platform says of the files, and those that are RDF as dumps.

A platform asks for documents, which are fetched and filed as any description is; it runs in a process apart.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Final
from urllib.parse import quote

from harvest.config.settings import FilesetSettings
from harvest.discover.platforms.contents import check, describe
from harvest.discover.platforms.platform import Answer, Landing, Wanted
from harvest.discover.platforms.step import reads_headers, registered, step
from harvest.errors import FilesetError, StatusError
from harvest.fetch.client import Client, Fetched
from harvest.ledger import Described, ProviderRecord
from harvest.model import Capture, Description, Limits, Manifest, Provider, Validators
from harvest.pipeline.filesets.members import addressed, check_members, is_one_archive, with_members
from harvest.pipeline.filesets.others import findings_of
from harvest.pipeline.filesets.strategies import chosen
from harvest.pipeline.instance import Instance
from harvest.pipeline.metadata import write_run
from harvest.wash import process

PAGE: Final = "text/html, application/xhtml+xml;q=0.9, */*;q=0.5"
"""The Accept header for a landing page; with another one, DOIs lead to metadata."""

LIMITS: Final = Limits(64 << 20, 120)
"""Bytes and seconds that one answer of a platform may take."""

MOST: Final = 1000
"""Documents that a platform may ask for."""

STEP_S: Final = 120
"""Seconds that a platform may take over what was answered so far."""

DOI: Final = "https://doi.org/"

Ask = Callable[[str, str], Answer]
"""What a URL gives, asked for with an Accept header."""


def read(instance: Instance, provider: Provider, record: ProviderRecord, forced: bool) -> Described | None:
    """
    What a provider's landing page leads to now; None where that is filed already, unless `forced`.

    Raises:
        FilesetError: It leads to no fileset that can be harvested; the status says why.
        HarvestError: A document cannot be had.
    """
    captures: list[Capture] = []
    before = instance.ledger.filesets.at(provider.url)
    asks_page = forced or before is None or reads_headers(before.platform_name)

    def ask(url: str, accept: str) -> Answer:
        instance.check_stopping()
        known = None if accept == PAGE and asks_page else instance.filed(url)
        return _asked(instance, provider, (url, accept), known, captures)

    try:
        manifest = gather(instance.settings.filesets, provider.url, ask, instance.stopping)
    except FilesetError as error:
        instance.ledger.filesets.fail(provider.url, error.status, instance.clock())
        raise
    description = _described(instance, provider, manifest)
    first = captures[0] if captures else None
    digest, base = (first.digest, first.final_url.split("?")[0]) if first else (None, provider.url)
    filed = instance.ledger.described.datasets(record.name), instance.ledger.findings(record.name), record.about
    said = description.datasets, description.findings, description.about
    if not forced and record.url == provider.url and filed == said:
        return None
    return Described(
        provider.url, digest, Validators(), description.findings, description.about, description.datasets, base
    )


def gather(
    settings: FilesetSettings, url: str, ask: Ask, stopping: Event | None = None, *, latest: bool = True
) -> Manifest:
    """
    The manifest that a landing page or DOI leads to: of the newest version, unless `latest` is False.

    Raises:
        HarvestError: As `read`.
    """
    landing = Landing(ask(resolved(settings, url), PAGE), latest)
    answers: dict[str, Answer] = {}
    platforms = registered()
    while True:
        bounds = process.Bounds(STEP_S, landing.url, stopping or Event())
        found = process.call(step, bounds, landing, answers, platforms, settings.platform_hosts)
        if isinstance(found, Manifest):
            return found
        _check(found, answers, url)
        for each in found.urls:
            answers[each] = ask(each, found.accept)


def resolved(settings: FilesetSettings, url: str) -> str:
    """Where a DOI is asked for; any other address is its own."""
    return settings.doi_resolver + quote(url.removeprefix(DOI), safe="/:;()._-~%") if url.startswith(DOI) else url


def preview(settings: FilesetSettings, provider: Provider, client: Client, folder: Path) -> Description:
    """
    What a landing page would be harvested as.

    Raises:
        HarvestError: As `read`.
    """

    def ask(url: str, accept: str) -> Answer:
        try:
            return answer_of(url, client.get(url, limits=LIMITS, accept=accept, into=folder))
        except StatusError as error:
            return refused(url, error)

    manifest = gather(settings, provider.url, ask)
    check(manifest, settings.max_total_size, settings.max_file_count)
    if is_one_archive(manifest):
        manifest = replace(manifest, files=addressed(manifest.files, manifest.web_bundle_url))
    return describe(manifest, provider.url)


def _check(wanted: Wanted, answers: dict[str, Answer], url: str) -> None:
    """
    Return when a platform may ask for what it wants.

    Raises:
        FilesetError: It asks again for what it has, or for too much: platform-error.
    """
    if not wanted.urls or any(each in answers for each in wanted.urls) or len(answers) + len(wanted.urls) > MOST:
        message = f"the platform of {url} asks for nothing new, or for more than {MOST:,} documents"
        raise FilesetError("platform-error", message, url=url)


def _asked(
    instance: Instance, provider: Provider, asked: tuple[str, str], known: Capture | None, captures: list[Capture]
) -> Answer:
    """A document as it is now, filed: what is known of it where that is unchanged, at the address where it was."""
    url, accept = asked
    validators = known.validators if known else Validators()
    informed = instance.crawl.activity(provider.url) if captures else None
    try:
        fetched = instance.crawl.get(url, validators, LIMITS, accept=accept, informed=informed)
    except StatusError as error:
        return refused(url, error)
    if known and fetched.capture.digest is None and fetched.capture.final_url != known.final_url:
        return _asked(instance, provider, asked, None, captures)
    capture = known if known and fetched.capture.digest is None else fetched.capture
    captures.append(capture)
    assert capture.digest is not None
    return answer_of(url, replace(fetched, capture=capture, path=instance.content.path(capture.digest)))


def answer_of(url: str, fetched: Fetched) -> Answer:
    """What a platform is given of an answer."""
    capture = fetched.capture
    headers = fetched.http[-1].headers if fetched.http else ()
    return Answer(url, capture.status, capture.final_url, fetched.path, capture.media_type, headers, capture.redirects)


def refused(url: str, error: StatusError) -> Answer:
    """
    An answer that says that there is nothing to be had.

    Raises:
        FetchError: The server may say something else later.
    """
    if error.retriable:
        raise error
    return Answer(url, error.status, error.url or url)


def _described(instance: Instance, provider: Provider, manifest: Manifest) -> Description:
    """A manifest as a description; the ledger has it, whatever came of it, and so has the metadata graph."""
    settings = instance.settings.filesets
    try:
        check(manifest, settings.max_total_size, settings.max_file_count)
        if is_bundle := is_one_archive(manifest):
            manifest = with_members(instance, provider, manifest)
            check_members(manifest)
        files = addressed(manifest.files, manifest.web_bundle_url) if is_bundle else manifest.files
        description = describe(replace(manifest, files=files), provider.url)
    except FilesetError as error:
        _file(instance, provider, manifest, error.status)
        raise
    if _file(instance, provider, manifest, "success"):
        write_run(instance, provider.name)
    if not is_bundle and (found := instance.ledger.filesets.at(provider.url)):
        files = found.manifest
    return replace(description, findings=(*description.findings, *findings_of(files)))


def _file(instance: Instance, provider: Provider, manifest: Manifest, status: str) -> bool:
    """File a manifest in the ledger; whether it was another one."""
    came = status, chosen(manifest, instance.settings.filesets)
    return instance.ledger.filesets.put(provider.url, manifest, instance.clock(), came)
