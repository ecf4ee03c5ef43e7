"""
The resource dump of a feed: the dataset in one ZIP file, with a manifest that says where it is from.

    resourcedump.xml            names the ZIP file, with digest and length
    resourcedump.zip            manifest.xml, resources/dataset.nq
    resourcedump-manifest.xml   what is in the ZIP file, for who wants to know before

Source: ResourceSync 1.1, section 11 (Packaging resources); APPNOTE.TXT, "ZIP File Format".
"""

from __future__ import annotations

import os
import shutil
from datetime import datetime
from pathlib import Path
from typing import Final
from zipfile import ZIP64_LIMIT, ZIP_DEFLATED, ZipFile, ZipInfo

from harvest.model.resourcesync import MEDIA_TYPE, Capability, Relation
from harvest.publish.resourcesync.dataset import DATASET, DatasetFile, digest
from harvest.publish.resourcesync.lists import CAPABILITIES, DUMP, N_QUADS, FeedAddresses
from harvest.publish.resourcesync.writing import ListHead, ListItem, ListLink, instant, write_list

PACKED: Final = "resourcedump.zip"
MANIFEST: Final = "resourcedump-manifest.xml"
ZIP: Final = "application/zip"

_MEMBER: Final = f"resources/{DATASET}"
_IN_ZIP: Final = "manifest.xml"
_LEVEL: Final = 1
"""Of compression: 48 MB of N-Triples took 0.20 s of processor time and 6.1 MB, at level 6 0.49 s and 5.6 MB."""
_CHUNK: Final = 1 << 20


def write_dump(folder: Path, addresses: FeedAddresses, dataset: DatasetFile, at: datetime) -> list[Path]:
    """
    Write the resource dump of the dataset that stands in `folder`; returns the files.

    Raises:
        OSError: The disk is full.
    """
    up = (ListLink(Relation.UP, addresses(CAPABILITIES)),)
    times = {"at": instant(at), "completed": instant(at)}
    facts = {"hash": f"sha-256:{dataset.sha256}", "length": str(dataset.bytes), "type": N_QUADS, "path": f"/{_MEMBER}"}
    head = ListHead(Capability.RESOURCE_DUMP_MANIFEST, times, up)
    manifest = write_list(folder / MANIFEST, addresses(MANIFEST), head, [ListItem(addresses(DATASET), at, facts)])
    packed = _pack(folder, at)
    facts = {"type": ZIP, "hash": f"sha-256:{digest(packed)}", "length": str(packed.stat().st_size)} | times
    contents = ListLink(Relation.CONTENTS, addresses(MANIFEST), {"type": MEDIA_TYPE})
    item = ListItem(addresses(PACKED), at, facts, (contents,))
    lists = write_list(folder / DUMP, addresses(DUMP), ListHead(Capability.RESOURCE_DUMP, times, up), [item])
    return [*manifest, packed, *lists]


def _pack(folder: Path, at: datetime) -> Path:
    """Put the dataset and its manifest into a ZIP file, which is the same for the same bytes and time."""
    target = folder / PACKED
    temporary = target.with_name(f".{target.name}.tmp")
    try:
        with temporary.open("wb") as out:
            with ZipFile(out, "w", ZIP_DEFLATED, compresslevel=_LEVEL) as archive:
                _put(archive, _IN_ZIP, folder / MANIFEST, at)
                _put(archive, _MEMBER, folder / DATASET, at)
            out.flush()
            os.fsync(out.fileno())
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
    return target


def _put(archive: ZipFile, name: str, source: Path, at: datetime) -> None:
    entry = ZipInfo(name, at.timetuple()[:6])
    entry.compress_type, entry.external_attr = ZIP_DEFLATED, 0o644 << 16
    is_large = source.stat().st_size > ZIP64_LIMIT // 2
    with source.open("rb") as stream, archive.open(entry, "w", force_zip64=is_large) as into:
        shutil.copyfileobj(stream, into, _CHUNK)
