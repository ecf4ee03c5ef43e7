"""
Filesets of `dataset:` providers that come as one archive alone: its members are filed, and harvested by their digests.

The archive is asked for when the manifest says something else than what is filed, or has no checksums. Members are
announced by `hash://sha256/...`, so that they are harvested, proven and rebuilt as any other dump.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from harvest.discover.platforms.contents import dumps_of
from harvest.discover.platforms.paths import UNSAFE
from harvest.errors import FilesetError, StatusError
from harvest.ledger.filesets import FilesetRecord
from harvest.model import EXISTS, Limits, Manifest, ManifestFile, Provider, Validators
from harvest.pipeline.filesets.bundles import ERROR, Calls, unpacked
from harvest.pipeline.filesets.captured import FiledBody
from harvest.pipeline.instance import Instance


def is_one_archive(manifest: Manifest) -> bool:
    """Whether no file has an address of its own, and the platform hands over all as one archive."""
    usable = [file for file in manifest.files if file.status != UNSAFE]
    return bool(manifest.web_bundle_url and usable) and not any(file.platform_url for file in usable)


def with_members(instance: Instance, provider: Provider, manifest: Manifest) -> Manifest:
    """
    A manifest whose files are filed, from the archive that they are in, with what came of each.

    Nothing is asked for where the instance has them all, by size and a checksum that the platform gives.

    Raises:
        FilesetError: The archive cannot be had or read (ERROR).
        FetchError: The server may have it later.
    """
    if filed := _filed(instance, manifest, instance.ledger.filesets.at(provider.url)):
        return replace(manifest, files=filed)
    url = manifest.web_bundle_url
    assert url is not None
    known, own = instance.filed(url), provider.limits
    limits = Limits(own.max_bytes or instance.settings.http.max_bytes, own.total_s)
    validators, informed = known.validators if known else Validators(), instance.crawl.activity(provider.url)
    try:
        capture = instance.crawl.get(url, validators, limits, accept="*/*", informed=informed).capture
    except StatusError as error:
        if error.retriable:
            raise
        raise FilesetError(ERROR, f"the bundle cannot be had: {error.message}", url=url) from error
    capture = known if known and capture.digest is None else capture
    assert capture.digest is not None
    body = FiledBody(capture, instance.content.path(capture.digest), {"sha256": capture.digest})
    with instance.room() as room:
        call = Calls.within(room, body, instance.settings.wash, instance.stopping)
        return replace(manifest, files=unpacked(instance.content, body, manifest, call).files)


def addressed(files: Iterable[ManifestFile], bundle_url: str | None) -> tuple[ManifestFile, ...]:
    """The files of such a manifest with addresses: by digest those that are filed, all others that of the archive."""
    return tuple(
        replace(file, platform_url=f"hash://sha256/{file.sha256}" if file.status == EXISTS else bundle_url)
        for file in files
    )


def check_members(manifest: Manifest) -> None:
    """
    Return when all files that would be harvested are as the manifest says.

    Raises:
        FilesetError: One is not, or not in the archive; with the status of that file.
    """
    for file in dumps_of(addressed(manifest.files, manifest.web_bundle_url)):
        if file.status != EXISTS:
            reason = file.extra.get("error") or "the archive has no such bytes"
            message = f"the file {file.path[:200]!r} of {manifest.web_bundle_url} is not as the manifest says: {reason}"
            raise FilesetError(file.status or ERROR, message, url=manifest.web_bundle_url)


def _filed(instance: Instance, manifest: Manifest, before: FilesetRecord | None) -> tuple[ManifestFile, ...] | None:
    """The files as the last look filed them, where they are the same by checksum and all there; else None."""
    known = {file.path: file for file in before.manifest} if before else {}
    found = tuple(known.get(file.path, file) for file in manifest.files)
    for file, has in zip(manifest.files, found, strict=True):
        if file.status == UNSAFE:
            continue
        is_same = file.hashes and set(file.hashes) <= set(has.hashes) and file.size in (None, has.size)
        if not (is_same and has.status == EXISTS and has.sha256 and instance.content.holds(has.sha256)):
            return None
    return found
