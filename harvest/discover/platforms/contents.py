"""Which files of a fileset are RDF, and what a fileset is harvested as."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Final

from harvest.discover.about import LONGEST
from harvest.discover.dumps import COMPRESSED, NOT_RDF, extension
from harvest.discover.platforms.paths import UNSAFE
from harvest.errors import FilesetError
from harvest.model import About, Coverage, Dataset, Description, Finding, ListedFile, Listing, Manifest, ManifestFile
from sparql.rdf import by_extension, by_media_type

_ARCHIVES: Final = frozenset({"zip", "tar", "tgz", "tbz2", "txz", "7z"})
"""Extensions of what may hold RDF, which only unpacking shows."""

_PACKED: Final = frozenset({"application/zip", "application/x-tar", "application/x-7z-compressed"})
"""Media types of the same."""

MOST_CREATORS: Final = 100
"""Creators of a dataset that are kept."""

NAMED: Final = 3
"""Files that are named where none is RDF."""


def is_rdf(file: ManifestFile) -> bool:
    """Whether a file is RDF by its media type, or else by its name; `.xml` alone says nothing."""
    if by_media_type(file.mimetype) is not None:
        return True
    bare = extension(file.path)
    return bare not in NOT_RDF and bare != "xml" and by_extension(f"a.{bare}") is not None


def dumps_of(files: tuple[ManifestFile, ...]) -> tuple[ManifestFile, ...]:
    """The files that are harvested: those that are RDF, or where none is, the archives, which are looked into."""
    usable = [file for file in files if file.platform_url and file.status != UNSAFE]
    rdf = tuple(file for file in usable if is_rdf(file))
    return rdf or tuple(file for file in usable if extension(file.path) in _ARCHIVES or file.mimetype in _PACKED)


def others_of(files: tuple[ManifestFile, ...]) -> tuple[ManifestFile, ...]:
    """The files that are archived, and not harvested."""
    harvested = {file.platform_url for file in dumps_of(files)}
    return tuple(
        file for file in files if file.platform_url and file.status != UNSAFE and file.platform_url not in harvested
    )


def check(manifest: Manifest, max_total_size: int, max_file_count: int) -> None:
    """
    Return when a fileset is within the limits.

    Raises:
        FilesetError: It has more files (too-many-files) or more bytes (too-large-size).

    Source: fileset ingest document, "Limits and Failure Modes".
    """
    page = manifest.platform_base_url
    if len(manifest.files) > max_file_count:
        message = f"{page} has {len(manifest.files):,} files; the setting filesets.max_file_count is {max_file_count:,}"
        raise FilesetError("too-many-files", message, url=page)
    if manifest.total_size > max_total_size:
        message = f"{page} has {manifest.total_size:,} bytes; the setting filesets.max_total_size is {max_total_size:,}"
        raise FilesetError("too-large-size", message, url=page)


def describe(manifest: Manifest, url: str) -> Description:
    """
    A fileset as the description of one dataset, whose name is the registered address `url`, whatever its version.

    Raises:
        FilesetError: It has no file that may be RDF: no-rdf.
    """
    chosen = dumps_of(manifest.files)
    if not chosen:
        named = ", ".join(file.path for file in manifest.files[:NAMED])
        message = f"none of the {len(manifest.files):,} files of {manifest.platform_base_url} is RDF: {named}"
        raise FilesetError("no-rdf", message, url=url)
    listing = Listing(_token(manifest, chosen), dumps=tuple(map(_listed, chosen)))
    urls = tuple(dict.fromkeys(file.platform_url for file in chosen if file.platform_url))
    dataset = Dataset(url, urls, Coverage.FULL, title=manifest.title, listing=listing)
    about = About(
        url,
        _cut(manifest.title),
        _cut(manifest.description),
        _cut(manifest.licence),
        homepage=manifest.platform_base_url,
        creators=tuple(name[:LONGEST] for name in manifest.creators[:MOST_CREATORS]),
        doi=_cut(manifest.doi),
        version=_cut(manifest.version),
        issued=_cut(manifest.released),
    )
    return Description((dataset,), tuple(_findings(manifest, len(chosen))), (about,))


def _findings(manifest: Manifest, chosen: int) -> Iterator[Finding]:
    """Which files are not harvested."""
    page = manifest.platform_base_url
    for file in manifest.files:
        if file.status == UNSAFE:
            message = f"the file {file.path[:200]!r} of {page} is left out: its path leads out of the fileset"
            yield Finding(UNSAFE, message, file.platform_url or page)
    unsafe = sum(file.status == UNSAFE for file in manifest.files)
    if others := len(manifest.files) - chosen - unsafe:
        message = f"{others:,} of the {len(manifest.files):,} files of {page} are no RDF: archived, not imported"
        yield Finding("not-rdf", message, page)


def _listed(file: ManifestFile) -> ListedFile:
    packed = file.path.lower().rsplit(".", 1)[-1] in COMPRESSED | _ARCHIVES
    form = by_media_type(file.mimetype) or by_extension(f"a.{extension(file.path)}")
    media_type = form.media_types[0] if form and not packed else None
    return ListedFile(file.platform_url or "", media_type, file.size, file.hashes)


def _token(manifest: Manifest, chosen: tuple[ManifestFile, ...]) -> str | None:
    """What differs when the dumps do; None where the platform does not say it, and they have to be asked for."""
    if not all(file.hashes for file in chosen):
        return None
    lines = sorted(f"{file.path}\t{file.size}\t{file.hashes}\t{file.platform_url}" for file in chosen)
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    return f"{manifest.platform_name}:{manifest.platform_id}:{digest[:32]}"


def _cut(words: str | None) -> str | None:
    return words[:LONGEST] if words else None
