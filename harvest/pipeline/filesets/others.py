"""
The other files of a fileset: what is no RDF is downloaded, compared with the manifest and filed, never imported.

That goes on beside the harvest of the RDF files, in a thread of its own; neither waits for the other. What came of each
file is its status in the manifest, in the ledger. A file that the manifest has checksums of is downloaded once; one
without is asked for conditionally after each look, and so is one that could not be had.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from harvest.archive.layout import digest_of
from harvest.discover.platforms.contents import others_of
from harvest.errors import BodyTooLargeError, FetchError, StatusError
from harvest.ledger.filesets import FilesetRecord
from harvest.model import EXISTS, Capture, Finding, Limits, ManifestFile, Provider, Source, Validators
from harvest.pipeline.filesets.captured import BAD_STATUS, TOO_LARGE, FiledBody, digits_of, status_of
from harvest.pipeline.instance import Instance

NOT_ARCHIVED: Final = "not-archived"
"""The kind of the findings about files that could not be had, or are not as the manifest says."""

NAMED: Final = 20
"""Files that have findings of their own; of more than these one says how many they are."""


def are_due(instance: Instance, provider: Provider) -> bool:
    """Whether files of a provider that are no RDF are to be asked for, now that it was looked at."""
    return bool(_due(instance, provider)[1])


def store_files(instance: Instance, provider: Provider) -> bool:
    """
    Archive the files of a provider that are no RDF; whether the ledger says something else of them now.

    Raises:
        StorageError: A file cannot be filed.
    """
    found, due = _due(instance, provider)
    total = found.total_size if found else 0
    room, changed = instance.settings.filesets.max_total_size - total, False
    for file in due:
        instance.check_stopping()
        came, taken = _stored(instance, provider, file, room + (file.size or 0))
        room -= taken if file.size is None else 0
        changed |= instance.ledger.filesets.came(provider.url, file, came, instance.clock())
    if changed and (after := instance.ledger.filesets.at(provider.url)):
        kept = [each for each in instance.ledger.findings(provider.name) if each.kind != NOT_ARCHIVED]
        instance.ledger.described.set_findings(provider.name, (*kept, *findings_of(after.manifest)))
    return changed


def findings_of(files: Iterable[ManifestFile]) -> Iterator[Finding]:
    """Which of the files of a manifest that are no RDF are not archived, and why."""
    bad = [file for file in others_of(tuple(files)) if file.status not in (None, EXISTS)]
    for file in bad[:NAMED]:
        reason = file.extra.get("error") or "its bytes are not those of the manifest"
        message = (
            f"the file {file.path[:200]!r} is not archived ({file.status}): {reason}; the graph does not depend on it, "
            "and it is asked for again at the next look"
        )
        yield Finding(NOT_ARCHIVED, message, file.platform_url)
    if (more := len(bad) - NAMED) > 0:
        yield Finding(NOT_ARCHIVED, f"{more:,} more files are not archived; the provider's JSON says why")


def _due(instance: Instance, provider: Provider) -> tuple[FilesetRecord | None, list[ManifestFile]]:
    """What is filed of a fileset that can be harvested, and its files that are no RDF and may be other ones now."""
    found = instance.ledger.filesets.at(provider.url) if provider.source is Source.DATASET else None
    if found is None or not found.hit:
        return None, []
    return found, [file for file in others_of(found.manifest) if not _is_settled(instance, file)]


def _is_settled(instance: Instance, file: ManifestFile) -> bool:
    return file.status == EXISTS and file.sha256 is not None and instance.content.holds(file.sha256)


def _stored(instance: Instance, provider: Provider, file: ManifestFile, most: int) -> tuple[ManifestFile, int]:
    """A file with what came of it, and how many bytes it has; at most `most` of them are taken."""
    url = file.platform_url
    assert url is not None
    last = instance.ledger.downloads.at(url, None)
    known = last.capture if last and last.capture and instance.content.holds(last.capture.digest or "") else None
    if known and file.hashes and (said := _compared(instance, file, known)).status == EXISTS:
        return said, known.length
    try:
        capture = _asked(instance, provider, url, known, most)
    except FetchError as error:
        instance.check_stopping()
        extra = {**file.extra, "error": error.message}
        if isinstance(error, StatusError):
            extra["status_code"] = error.status
        status = TOO_LARGE if isinstance(error, BodyTooLargeError) else BAD_STATUS
        return replace(file, status=status, extra=extra), 0
    return _compared(instance, file, capture), capture.length


def _asked(instance: Instance, provider: Provider, url: str, known: Capture | None, most: int) -> Capture:
    """
    What a URL gives now, filed.

    Raises:
        FetchError: Nothing, or more than `most` bytes.
    """
    own = provider.limits
    limits = Limits(max(min(most, own.max_bytes or instance.settings.http.max_bytes), 1), own.total_s)
    validators = {url: known.validators if known else Validators()}
    informed = instance.crawl.activity(provider.url)
    [fetched] = instance.crawl.download_all([url], limits, validators, informed)
    if known and fetched.capture.digest in (None, known.digest):
        return known
    return fetched.capture


def _compared(instance: Instance, file: ManifestFile, capture: Capture) -> ManifestFile:
    """A file whose bytes are filed, with whether they are what the manifest says."""
    assert capture.digest is not None
    path = instance.content.path(capture.digest)
    digests = {name: digest_of(path, name)[0] for name, _ in file.hashes if name != "sha256"}
    status = status_of(file, FiledBody(capture, path, digests | {"sha256": capture.digest}))
    # With a digest nothing is asked for any more, so it is added only where a checksum of the platform is behind it.
    is_proven = status == EXISTS and file.hashes
    return replace(
        file,
        status=status,
        sha256=capture.digest if is_proven else file.sha256,
        extra={name: value for name, value in file.extra.items() if name not in ("error", "status_code")},
        terminal_url=capture.final_url,
        terminal_dt=digits_of(capture.at),
    )
