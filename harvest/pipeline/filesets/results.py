"""
Result objects of ingests.

Source: fileset ingest document, "Ingest Result Schema".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from harvest.model import EXISTS, Manifest
from harvest.pipeline.filesets import strategies
from harvest.pipeline.filesets.bundles import Bundle
from harvest.pipeline.filesets.captured import EMPTY, FiledBody, cdx_of
from harvest.pipeline.filesets.mirror import bundle_path, item_of

Result = dict[str, Any]
"""A result object, its keys as in the document; JSON."""


@dataclass(slots=True)
class Seen:
    """
    What one request led to so far.

    Attributes:
        landing: Of the landing page, once it is there.
        manifest: Once the platform gave it.
        strategy: Once it is chosen.
        files: Bytes of its files, in their order.
        bundle: The bundle that they were handed over in.
    """

    landing: FiledBody | None = None
    manifest: Manifest | None = None
    strategy: str | None = None
    files: list[FiledBody | None] | None = None
    bundle: Bundle | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    """
    How a request ended.

    Attributes:
        status: As in the document.
        seen: What it led to.
        folder: Of the WARC files.
        began: When its work began.
    """

    status: str
    seen: Seen
    folder: Path
    began: datetime


def results_of(request: Mapping[str, Any], ended: Ended) -> Iterator[Result]:
    """The result of a request, and for a single file the result `dataset-file` behind it."""
    status, seen, folder, began = ended.status, ended.seen, ended.folder, ended.began
    manifest = seen.manifest
    result: Result = {
        "hit": status.startswith("success"),
        "status": status,
        "request": dict(request),
        "terminal": seen.landing.terminal() if seen.landing else None,
        "file_meta": seen.landing.file_meta() if seen.landing else None,
        **cdx_of(folder, seen.landing, began),
        "html_biblio": _biblio(manifest) if manifest else None,
        "manifest": [asdict(file) for file in manifest.files] if manifest else None,
        "platform_name": manifest.platform_name if manifest else None,
        "platform_domain": manifest.platform_domain if manifest else None,
        "platform_id": manifest.platform_id if manifest else None,
        "platform_base_url": manifest.platform_base_url if manifest else None,
        "ingest_strategy": seen.strategy,
        "file_count": len(manifest.files) if manifest else None,
        "total_size": manifest.total_size if manifest else None,
    }
    if seen.bundle is not None:
        result["fileset_bundle"] = _of_bundle(seen.bundle, folder, began)
    if manifest and seen.strategy in strategies.MIRRORED:
        result["archiveorg_item_name"] = item_of(manifest)
        if seen.bundle is not None:
            result["fileset_bundle"]["archiveorg_bundle_path"] = bundle_path(manifest)
    single = seen.files[0] if status == "success-file" and seen.files else None
    if single is None:
        yield result
        return
    file = {"file_meta": single.file_meta(), "terminal": single.terminal(), **cdx_of(folder, single, began)}
    yield result | {"fileset_file": file}
    yield {"hit": True, "status": "success", "request": {**request, "ingest_type": "dataset-file"}, **file}


def status_of(seen: Seen) -> str:
    """What came of all files: the status of the first that is not as the manifest says, else success."""
    assert seen.manifest is not None
    bad = next((file.status for file in seen.manifest.files if file.status != EXISTS), None)
    if bad is not None:
        return bad
    if seen.strategy not in strategies.SINGLE:
        return "success"
    single = seen.files[0] if seen.files else None
    return "success-file" if single and single.capture.length else EMPTY


def _of_bundle(bundle: Bundle, folder: Path, since: datetime) -> dict[str, Any]:
    """What a result says of a bundle; `unlisted` are names in it that the manifest has not."""
    body = bundle.body
    said = {"file_meta": body.file_meta(), "terminal": body.terminal(), **cdx_of(folder, body, since)}
    return said | {"unlisted": list(bundle.unlisted)}


def _biblio(manifest: Manifest) -> dict[str, Any]:
    return {
        "title": manifest.title,
        "contrib_names": list(manifest.creators),
        "doi": manifest.doi,
        "license": manifest.licence,
        "release_date": manifest.released,
        "version": manifest.version,
    }
