"""The content handlers: our own, and those of other packages."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from harvest.archive.entries import EntryName
from harvest.archive.handling import HandlerEntry, Version, contributed
from harvest.config.nearest import unknown
from harvest.discover.parsing import GENERIC
from harvest.discover.sitemap import read_robots, read_sitemap
from harvest.discover.sitemap_items import looks_like_rdf
from harvest.discover.text import LIMIT_BYTES
from harvest.discover.void import read_description
from harvest.errors import DescriptionError, UnknownName, WashError
from harvest.model import Finding
from harvest.wash.unpacking import pick
from harvest.wash.unpacking.unpack import opened
from harvest.wash.unpacking.volume import Volume
from sparql.rdf import by_media_type

OWN: Final = {
    "void": "harvest.pipeline.track.handlers:void",
    "sitemap": "harvest.pipeline.track.handlers:sitemap",
    "archive": "harvest.pipeline.track.handlers:archive",
}
"""By name. They are loaded like those of other packages."""

VOLUME: Final = Volume(max_entries=100_000)
"""What an archive may unpack to while its entries are listed; when they are unpacked, the settings count."""

_NAMESPACES: Final = ("rdfs.org/ns/void", "\0".join("rdfs.org/ns/void"))
"""What every VoID description holds, in UTF-8 and in UTF-16."""

_ROBOTS_BYTES: Final = 512_000
"""As much of a robots.txt as is read. Source: RFC 9309, section 2.5."""

_CHUNK: Final = 1 << 20


def handlers() -> tuple[list[HandlerEntry], list[Finding]]:
    """All handlers by name, none of them loaded yet; and those that cannot be had because their name is taken."""
    found = {name: HandlerEntry(name, reference) for name, reference in OWN.items()}
    findings = []
    for handler in contributed():
        first = found.setdefault(handler.name, handler)
        if first is not handler:
            taken = f"its name is taken by the {first}" if first.package else "we have one of that name"
            findings.append(Finding("handler-broken", f"the {handler} is left out: {taken}"))
    return list(found.values()), findings


def chosen(names: Sequence[str]) -> tuple[list[HandlerEntry], list[Finding]]:
    """
    The handlers with these names, in this order; all where none is named.

    Raises:
        UnknownName: There is none of a name.
    """
    every, findings = handlers()
    known = {handler.name: handler for handler in every}
    for name in names:
        if name not in known:
            raise UnknownName(f"{unknown('handler', name, known)}; there are: {', '.join(known)}")
    return [known[name] for name in dict.fromkeys(names)] or every, findings


def void(version: Version) -> Iterable[str]:
    """
    Every dump of every dataset of a VoID description.

    Raises:
        DescriptionError: It is said to be RDF, speaks of VoID, and cannot be read.
    """
    if version.path.stat().st_size > LIMIT_BYTES or not _speaks_of_void(version.path):
        return
    try:
        description = read_description(version.path, version.final_url, version.media_type, {})
    except DescriptionError:
        if _is_declared(version):
            raise
        return
    for dataset in description.datasets:
        yield from dataset.dumps


def sitemap(version: Version) -> Iterable[str]:
    """
    The sitemaps of a sitemap index or a robots.txt; of a sitemap what looks like RDF.

    Raises:
        DescriptionError: After what could be read: it is damaged, or past a limit of sitemaps.
    """
    if urlsplit(version.final_url).path == "/robots.txt":
        with version.path.open("rb") as stream:
            text = stream.read(_ROBOTS_BYTES).decode("utf-8-sig", "replace")
        yield from read_robots(text, version.final_url)
        return
    try:
        with opened(version.path, version.url) as stream:
            yield from read_sitemap(stream, version.final_url)
    except WashError:  # an archive, or a compression that is damaged: no sitemap
        return


def archive(version: Version) -> Iterable[str]:
    """
    Each file in an archive, by the name that logs give it.

    Raises:
        WashError: After those that could be read: it is damaged, or unpacks to too much.
    """
    layers = pick.layers(version.path, version.url, VOLUME.max_depth)
    for name in _names(version) if layers else ():
        yield EntryName(layers, version.digest, name).iri


def _names(version: Version) -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="harvest-") as scratch:
        yield from pick.names(version.path, version.url, VOLUME, Path(scratch))


def _speaks_of_void(path: Path) -> bool:
    """Whether the namespace of VoID stands in a file: most are dumps, and parsing them all would take long."""
    needles = [needle.encode() for needle in _NAMESPACES]
    rest = b""
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            if any(needle in rest + chunk for needle in needles):
                return True
            rest = chunk[-len(needles[1]) :]
    return False


def _is_declared(version: Version) -> bool:
    """Whether a document is said to be RDF."""
    bare = (version.media_type or "").split(";")[0].strip().lower()
    return by_media_type(bare) is not None or (bare in GENERIC and looks_like_rdf(version.final_url))
