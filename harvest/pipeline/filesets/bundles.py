"""
Filesets that a platform hands over as one archive: downloaded once, opened, and its members compared with the manifest.

Not every archive is a bundle: one that is a file of the manifest is a file.

Source: fileset ingest document, "Ingest Strategies".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from typing import Final

from harvest.archive.content import ContentStore
from harvest.archive.layout import digest_of
from harvest.config.settings import WashSettings
from harvest.discover.platforms.paths import UNSAFE
from harvest.errors import FetchError, FilesetError, WashError
from harvest.fetch.client import Client
from harvest.model import Manifest, ManifestFile
from harvest.pipeline.filesets.captured import FiledBody, as_captured, filed_body
from harvest.wash import process
from harvest.wash.unpacking.pick import Picked, WantedEntries, layers, names, pick
from harvest.wash.unpacking.volume import Volume

LACKING: Final = "not-in-bundle"
"""The status of a file of the manifest that the bundle has not."""
ERROR: Final = "bundle-error"
"""The status of a fileset whose bundle cannot be had or read."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """
    A bundle that was opened.

    Attributes:
        body: Its bytes.
        files: The files of the manifest, with what came of each, in their order.
        bodies: Their bytes; None where there are none.
        unlisted: Names in the bundle that the manifest has not.
    """

    body: FiledBody
    files: tuple[ManifestFile, ...]
    bodies: list[FiledBody | None]
    unlisted: tuple[str, ...]


def opened(client: Client, content: ContentStore, manifest: Manifest, wash: WashSettings, stop: Event) -> Bundle:
    """
    The bundle of a fileset, filed, with its members filed and compared with the manifest.

    Raises:
        FilesetError: It cannot be had, is no archive or is damaged (ERROR).
    """
    url = manifest.web_bundle_url
    assert url is not None
    try:
        body = filed_body(content, client.get(url, accept="*/*", into=content.incoming))
    except FetchError as error:
        raise FilesetError(ERROR, f"the bundle cannot be had: {error.message}", url=url) from error
    with TemporaryDirectory(dir=content.incoming) as folder:
        return unpacked(content, body, manifest, Calls.within(Path(folder), body, wash, stop))


def unpacked(content: ContentStore, body: FiledBody, manifest: Manifest, call: Calls) -> Bundle:
    """
    A bundle that is filed, opened.

    Raises:
        FilesetError: It is no archive or is damaged (ERROR).
    """
    url = call.url
    try:
        chain, entries = call.listed()
        if not chain:
            raise FilesetError(ERROR, f"{url} is to be all files of the dataset as one, and is no archive", url=url)
        members = _members(manifest, entries)
        picked = call.picked(chain, tuple(members.values()))
    except WashError as error:
        raise FilesetError(ERROR, f"the bundle cannot be read: {error.message}", url=url) from error
    pairs = [_compared(content, body, file, picked.get(members.get(file.path, ""))) for file in manifest.files]
    unlisted = tuple(sorted(set(entries) - set(members.values())))
    return Bundle(body, tuple(file for file, _ in pairs), [kept for _, kept in pairs], unlisted)


@dataclass(frozen=True, slots=True)
class Calls:
    """
    What is done to a bundle in a process apart.

    Attributes:
        path: Its bytes.
        url: Where they are from.
        volume: What it may unpack to.
        room: A folder on the disk of the archive, for its members.
        timeout_s: Seconds that each call may take.
        stop: Ends a call.
    """

    path: Path
    url: str
    volume: Volume
    room: Path
    timeout_s: float
    stop: Event

    @classmethod
    def within(cls, room: Path, body: FiledBody, wash: WashSettings, stop: Event) -> Calls:
        """Calls with the limits of washing."""
        volume = Volume(wash.max_bytes, wash.max_ratio, wash.max_entries, wash.max_depth)
        return cls(body.path, body.capture.url, volume, room, wash.timeout_s, stop)

    def listed(self) -> tuple[tuple[str, ...], list[str]]:
        """What it is, outermost first, and the names in it."""
        return process.call(_listed, self._bounds(lambda _: None), self.path, self.url, self.volume, self.room)

    def picked(self, chain: tuple[str, ...], entries: tuple[str, ...]) -> dict[str, Picked]:
        """The entries with these names, their bytes in `room`."""
        found: dict[str, Picked] = {}
        wanted = WantedEntries(self.path, self.url, chain, entries)
        bounds = self._bounds(lambda one: found.update({one.name: one}))
        process.call(pick, bounds, wanted, self.volume, self.room)
        return found

    def _bounds(self, on_report: Callable[[Picked], None]) -> process.Bounds:
        return process.Bounds(self.timeout_s, self.url, self.stop, on_report)


def _listed(path: Path, url: str, volume: Volume, room: Path) -> tuple[tuple[str, ...], list[str]]:
    """What an archive is, outermost first, and the names in it."""
    return layers(path, url, volume.max_depth), list(names(path, url, volume, room))


def _members(manifest: Manifest, entries: list[str]) -> dict[str, str]:
    """The entry for each path of the manifest: of that name, or below the one folder that all entries are in."""
    folders = {entry.partition("/")[0] for entry in entries}
    inside = f"{folders.pop()}/" if len(folders) == 1 else ""
    there = set(entries)
    members: dict[str, str] = {}
    for file in manifest.files:
        entry = next((name for name in (file.path, inside + file.path) if name in there), None)
        if entry is not None and file.status != UNSAFE:
            members[file.path] = entry
    return members


def _compared(
    content: ContentStore, bundle: FiledBody, file: ManifestFile, picked: Picked | None
) -> tuple[ManifestFile, FiledBody | None]:
    """A file with what came of it, and its bytes, which are filed."""
    if file.status == UNSAFE:
        return file, None
    if picked is None:
        return replace(file, status=LACKING), None
    if picked.path is None:
        return replace(file, status=ERROR, extra={**file.extra, "error": picked.reason}), None
    digests = {name: digest_of(picked.path, name)[0] for name in ("md5", "sha1", "sha256")}
    capture = replace(bundle.capture, digest=picked.digest, length=picked.size, media_type=None)
    kept = FiledBody(capture, content.file(picked.path, picked.digest), digests)
    inside = {**file.extra, "bundle_path": picked.name}
    return as_captured(replace(file, extra=inside), kept), kept
