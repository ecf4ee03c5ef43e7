"""What replicas of this instance read: who its providers are, their versions, and the files of these."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final

from flask import Blueprint, Response, abort, request

from sparql.reports import PackedFile, VersionReport, to_json
from sparql.web.dropped import no_version
from sparql.web.sending import open_file, send
from sparql.web.site import context, found, json_data

following = Blueprint("following", __name__)

FORMAT: Final = 1
"""Of these documents; an instance of another one is not followed."""

MOST: Final = 100
"""Versions of one answer."""


@following.get("/follow.json")
def follow() -> Response:
    """Which providers there are, and how far each is."""
    catalog, site = context().catalog, context().site
    known = [each for each in catalog.providers() if each.version]
    latest = catalog.sizes([each.name for each in known], 1)
    providers = [
        {
            "name": each.name,
            "graph": each.graph,
            "version": each.version,
            "baseline": each.baseline or 0,
            "at": latest[each.name][-1].at,
        }
        for each in known
        if latest.get(each.name)
    ]
    said = {"format": FORMAT, "base_url": site.base_url, "graph_base": site.graph_base, "providers": providers}
    return json_data(said | ({"origin": site.origin} if site.origin else {}))


@following.get("/follow/<name:name>.json")
def follow_provider(name: str) -> Response:
    """The versions of a provider after `after`, oldest first, at most a hundred, with the digests of their files."""
    text = request.args.get("after", "0")
    if not (text.isascii() and text.isdigit() and len(text) < 9):
        abort(400, "`after` is the number of a version, or 0.")
    catalog = context().catalog
    provider = found(catalog.provider(name), name)
    versions = [each for each in catalog.versions(name) if each.n > int(text)][:MOST]
    return json_data(
        {
            "name": name,
            "graph": provider.graph,
            "version": provider.version,
            "baseline": provider.baseline or 0,
            "versions": [_version(name, each) for each in versions],
        }
    )


@following.get("/follow/<name:name>/<int:n>.nqud.gz")
def follow_file(name: str, n: int) -> Response:
    """The file of a change, or of the baseline, as it is on disk."""
    filed = _filed(name, n)
    opened = open_file(filed.path) if filed else None
    if opened is None:
        no_version(name, n, "change")
    return send(opened, "application/gzip")


def _filed(name: str, n: int) -> PackedFile | None:
    catalog = context().catalog
    return catalog.baseline(name, n) or catalog.change(name, n)


def _version(name: str, version: VersionReport) -> Mapping[str, object]:
    filed = _filed(name, version.n)
    if filed is None:
        abort(503, f"Versions of {name} are being dropped; ask again.")
    facts = filed.path.stat()
    said: dict[str, object] = to_json(version)
    del said["run"]
    return said | {"file_bytes": facts.st_size, "file_sha256": _digest(filed.path, facts.st_mtime_ns, facts.st_size)}


@lru_cache(4096)
def _digest(path: Path, modified_ns: int, size: int) -> str:
    """The SHA-256 of a file, which is what it was as long as its time and size are."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
