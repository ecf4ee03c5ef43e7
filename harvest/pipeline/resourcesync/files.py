"""The files of a list: dumps are verified against what is said of them, the others are archived as they are."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import partial
from pathlib import Path

import structlog

from harvest.errors import FetchError, MismatchError
from harvest.model import Announcement, Capture, Dataset, ListedFile, Provider, Validators
from harvest.pipeline.instance import Instance

log = structlog.get_logger()


def as_listed(instance: Instance, dataset: Dataset, captures: tuple[Capture, ...]) -> tuple[Capture, ...]:
    """
    The captures of dumps, of the types that their list says they have.

    Raises:
        MismatchError: The length or a hash of one is another than its list says.
    """
    listed = {file.url: file for file in dataset.listing.dumps} if dataset.listing else {}
    if not listed:
        return captures
    for capture in captures:
        if capture.url in listed and capture.digest:
            verify(instance.content.path(capture.digest), capture, listed[capture.url])
    return tuple(
        replace(each, media_type=said.media_type)
        if (said := listed.get(each.url)) is not None and said.media_type
        else each
        for each in captures
    )


def verify(path: Path, capture: Capture, listed: ListedFile) -> None:
    """
    Return when a file is what its list says.

    Raises:
        MismatchError: It is not.

    Source: ResourceSync 1.1, section 7.2: `hash` and `length` are those of the representation.
    """
    if listed.length is not None and listed.length != capture.length:
        raise _mismatch(capture.url, "length", f"{listed.length:,} bytes", f"{capture.length:,}")
    for name, digest in listed.hashes:
        found = capture.digest
        if name != "sha256":
            made = hashlib.new(name, usedforsecurity=False)
            with path.open("rb") as stream:
                for chunk in iter(partial(stream.read, 1 << 20), b""):
                    made.update(chunk)
            found = made.hexdigest()
        if found != digest:
            raise _mismatch(capture.url, name, digest, str(found))


def _mismatch(url: str, what: str, said: str, found: str) -> MismatchError:
    message = (
        f"the {what} of {url} is {found}, and its list says {said}; nothing was applied. Its provider writes the list "
        "anew, or puts back the file"
    )
    error = MismatchError(message, url=url)
    error.asked = url
    return error


def store_others(instance: Instance, provider: Provider, dataset: Dataset) -> dict[str, int]:
    """
    Archive the files of a dataset that are not harvested; returns how many are, and how many could not be had.

    One that cannot be had is recorded as a failed download, and keeps nothing from being harvested.

    Source: shared Timbuctoo exchange protocol: "will simply be stored".
    """
    others = dataset.listing.others if dataset.listing else ()
    failed = 0
    for file in others:
        instance.check_stopping()
        try:
            _store(instance, provider, file)
        except FetchError as error:
            failed += 1
            log.warning("file not archived", provider=provider.name, url=file.url, reason=error.message)
    return {"archived": len(others) - failed} | ({"not_archived": failed} if failed else {}) if others else {}


def _store(instance: Instance, provider: Provider, file: ListedFile) -> None:
    last = instance.ledger.downloads.at(file.url, None)
    capture = last.capture if last else None
    validators = Validators()
    if capture is not None and capture.digest and instance.content.holds(capture.digest):
        if dict(file.hashes).get("sha256") == capture.digest:
            return
        validators = capture.validators
    informed = instance.crawl.activity(provider.url)
    fetched = instance.crawl.get(file.url, validators, provider.limits, informed=informed)
    if fetched.capture.digest is not None:
        verify(instance.content.path(fetched.capture.digest), fetched.capture, file)


def is_overtaken(instance: Instance, announcement: Announcement) -> bool:
    """
    Whether changes are of another state than the one that is committed; then they are dropped.

    The next look announces what is missing. So no change is applied twice, whatever was announced meanwhile.
    """
    listing = announcement.dataset.listing
    if listing is None or listing.follows is None:
        return False
    last = instance.ledger.dataset(announcement.provider, announcement.dataset.iri)
    if last is not None and last.sync_token == listing.follows:
        return False
    instance.ledger.announcements.settle(announcement.id, "superseded")
    instance.ledger.end_overtaken(announcement.provider, instance.clock())
    return True
