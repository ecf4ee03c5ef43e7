"""Files: exports, changes, versions and filed bytes."""

from __future__ import annotations

import base64
import contextlib
import gzip
import hashlib
import os
import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import IO, Final, cast

from flask import Blueprint, Response, abort, request
from werkzeug.http import is_resource_modified

from sparql.rdf import NQUD
from sparql.reports import ProviderReport
from sparql.web import recipes
from sparql.web.dropped import no_version
from sparql.web.headers import FOREIGN
from sparql.web.sending import CHUNK, Opened, Unpacked, open_file, send
from sparql.web.site import HTML, JSON, TURTLE, context, json_data, page, preferred

downloads = Blueprint("downloads", __name__)

_DATA: Final = re.compile(r"[A-Za-z0-9]{1,100}\.nq\.gz")
_EXPORT: Final = re.compile(rf"(?:{_DATA.pattern}|void\.ttl)(?:\.sha256)?")
_ENTRY: Final = 78
"""Bytes of an index entry of the archive."""
RDF_PATCH: Final = "application/rdf-patch"
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_TYPES: Final = {".gz": "application/gzip", ".sha256": "text/plain; charset=utf-8", ".ttl": f"{TURTLE}; charset=utf-8"}


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """
    A file of the exports.

    Attributes:
        name: Its name.
        url: Its address.
        bytes: Its size.
        modified: When it was last written.
        sha256: Its digest, or None where it is not known.
    """

    name: str
    url: str
    bytes: int
    modified: datetime
    sha256: str | None


@downloads.get("/exports/")
def exports() -> Response:
    """The files there are."""
    files = [_exported_file(path) for path in _exported()]
    chosen = _chosen([file.name for file in files])
    if preferred(JSON, HTML) == JSON:
        return json_data(files)
    base = context().site.base_url
    providers = context().catalog.providers()
    changed = _changed(providers, chosen)
    return page(
        "exports.html",
        files=files,
        abouts={f"{provider.name}.nq.gz": provider.about for provider in providers},
        chosen=chosen,
        changed=changed,
        lines=list(recipes.of_export(base, chosen)) if chosen else [],
        changes=list(recipes.of_changes(base, changed.name, changed.version)) if changed else [],
    )


@downloads.get("/exports/<file>")
def export(file: str) -> Response:
    """One of them."""
    if not _EXPORT.fullmatch(file):
        abort(404, f"There is no export {file!r}; /exports/ lists them.")
    path = context().catalog.exports_dir / file
    opened = open_file(path)
    if opened is None:
        abort(404, f"There is no export {file!r}; /exports/ lists them.")
    response = send(opened, _TYPES[path.suffix])
    digest = _digest(path, opened)
    if digest is None:
        return response
    response.headers["Repr-Digest"] = f"sha-256=:{base64.b64encode(bytes.fromhex(digest)).decode()}:"
    if request.method == "GET" and response.status_code < 300:
        address = context().catalog.export_address(file, digest)
        if address is not None:
            response.close()
            return _elsewhere(address)
    return response


def _elsewhere(address: str) -> Response:
    """Lead to a copy; the address may be good for a while only."""
    return Response(status=307, headers={"Location": address, "Cache-Control": "no-store"})


@downloads.get("/.well-known/void")
def void() -> Response:
    """The description of the exports."""
    return export("void.ttl")


@downloads.get("/providers/<name:name>/changes/<int:n>.nqud")
def change(name: str, n: int) -> Response:
    """What made a version from the one before."""
    filed = context().catalog.change(name, n)
    opened = open_file(filed.path) if filed else None
    if filed is None or opened is None:
        no_version(name, n, "change")
    return _packed(opened, filed.length)


@downloads.get("/providers/<name:name>/versions/<int:n>.nqud")
def from_nothing(name: str, n: int) -> Response:
    """A version as a change from nothing; that of a baseline is filed, others are made while they are sent."""
    filed = context().catalog.baseline(name, n)
    opened = open_file(filed.path) if filed else None
    if filed is not None and opened is not None:
        return _packed(opened, filed.length)
    response = _version(name, n, NQUD, "-nqud")
    if response.is_streamed:
        response.response = _gathered(_added(cast(Iterator[bytes], response.response)))
    return response


def _added(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the lines of a graph as those of a change that adds them."""
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        yield b"".join([b"+" + line + b"\n" for line in lines])


def _packed(opened: Opened, length: int) -> Response:
    """A compressed change, as it is to whoever likes that; `length` is that of what is in it."""
    if request.accept_encodings.quality("gzip") > 0:
        response = send(replace(opened, etag=f"{opened.etag}-gzip"), NQUD)
        response.headers["Content-Encoding"] = "gzip"
    else:
        response = send(replace(opened, file=cast(IO[bytes], Unpacked(opened.file)), length=length), NQUD)
    response.vary.add("Accept-Encoding")
    return response


@downloads.get("/providers/<name:name>/changes/<int:n>.rdfp")
def patch(name: str, n: int) -> Response:
    """
    The same as an RDF Patch, made of the filed change while it is sent.

    Source: RDF Patch, as of Apache Jena; its header names the patch before, so that a sequence shows its holes.
    """
    filed = context().catalog.change(name, n)
    opened = open_file(filed.path) if filed else None
    if opened is None:
        no_version(name, n, "change")
    response = Response(content_type=RDF_PATCH)
    response.set_etag(f"{opened.etag}-rdfp")
    if not is_resource_modified(request.environ, response.headers["ETag"]):
        response.status_code = 304
    if response.status_code == 304 or request.method == "HEAD":
        opened.file.close()
        return response
    response.response = _gathered(_patched(opened.file, f"{context().site.base_url}/providers/{name}/changes/", n))
    response.call_on_close(opened.file.close)
    return response


def _patched(change: IO[bytes], base: str, n: int) -> Iterator[bytes]:
    """Yield the lines of an RDF Patch."""
    before = f"H prev <{base}{n - 1}.rdfp> .\n" if n > 1 else ""
    yield f"H id <{base}{n}.rdfp> .\n{before}TX .\n".encode()
    with gzip.open(change) as unpacked:
        for line in unpacked:
            yield (b"A " if line.startswith(b"+") else b"D ") + line[1:]
    yield b"TC .\n"


@downloads.get("/providers/<name:name>/versions/<int:n>.nq")
def version(name: str, n: int) -> Response:
    """A version, whole."""
    return _version(name, n, "application/n-quads")


def _version(name: str, n: int, media_type: str, tag: str = "") -> Response:
    """The statements of a version; `tag` is what is added to its digest, which is the ETag."""
    catalog = context().catalog
    record = next((record for record in catalog.versions(name) if record.n == n), None)
    if record is None:
        no_version(name, n)
    response = Response(content_type=media_type)
    if record.sha256:
        response.set_etag(record.sha256 + tag)
        if not is_resource_modified(request.environ, response.headers["ETag"]):
            response.status_code = 304
    if response.status_code == 200 and request.method == "GET":
        response.response = _gathered(catalog.version(name, n) or no_version(name, n))
    return response


@downloads.get("/content/<sha256>")
def content(sha256: str) -> Response:
    """
    Filed bytes, never shown as ours: others wrote them. An entry of the archive's index has its place among them.

    Source: Preston reads an archive from an address to which it appends a hash (`--remote`).
    """
    path = context().catalog.content(sha256) if _DIGEST.fullmatch(sha256) else None
    opened = open_file(path) if path else None
    if opened is None:
        abort(404, f"No bytes with the SHA-256 digest {sha256[:64]!r} are filed here.")
    response = send(replace(opened, etag=sha256), "application/octet-stream")
    response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
    response.headers["Repr-Digest"] = f"sha-256=:{base64.b64encode(_sha256(path, opened, sha256)).decode()}:"
    response.headers.extend(FOREIGN)
    return response


def _sha256(path: Path | None, opened: Opened, named: str) -> bytes:
    """The SHA-256 of filed bytes: their name, unless they are an index entry, which is named after its question."""
    if path is not None and opened.length == _ENTRY:
        return hashlib.sha256(path.read_bytes()).digest()
    return bytes.fromhex(named)


def _chosen(names: list[str]) -> str | None:
    """The file that the lines of the page are about: the one that is asked for, else the one with everything."""
    asked = request.args.get("file")
    data = [name for name in names if name.endswith(".nq.gz")]
    if asked is not None and not _DATA.fullmatch(asked):
        abort(400, "`file` is the name of an export, such as all.nq.gz.")
    if asked is not None and asked not in data:
        abort(404, f"There is no export {asked!r}; /exports/ lists them.")
    return asked or next((name for name in data if name == "all.nq.gz"), next(iter(data), None))


def _changed(providers: list[ProviderReport], chosen: str | None) -> ProviderReport | None:
    """A provider with a version before the current one, that of the chosen file first."""
    known = [provider for provider in providers if provider.version > (provider.baseline or 1)]
    return next((p for p in known if f"{p.name}.nq.gz" == chosen), next(iter(known), None))


def _exported() -> list[Path]:
    folder = context().catalog.exports_dir
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if _EXPORT.fullmatch(path.name) and path.suffix != ".sha256")


def _exported_file(path: Path) -> ExportedFile:
    opened = open_file(path)
    if opened is None:
        abort(503, "The exports are being replaced; try again.")
    with opened.file:
        url = f"{context().site.base_url}/exports/{path.name}"
        return ExportedFile(path.name, url, opened.length, opened.modified, _digest(path, opened))


def _digest(path: Path, opened: Opened) -> str | None:
    """
    The digest in the file beside, if it is surely that of the opened file.

    A file is replaced first and its digest then: a digest that is older belongs to an earlier file, and a file that is
    no longer in place may have an earlier digest.
    """
    beside = open_file(path.with_name(f"{path.name}.sha256"))
    if beside is None:
        return None
    with beside.file as lines:
        digest = lines.read(64).decode("ascii", "replace")
    try:
        in_place = os.path.samestat(path.stat(), os.fstat(opened.file.fileno()))
    except FileNotFoundError:
        return None
    return digest if in_place and beside.written_ns >= opened.written_ns and _DIGEST.fullmatch(digest) else None


def _gathered(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Join pieces, which may be lines, to chunks."""
    with contextlib.closing(pieces) if isinstance(pieces, Generator) else contextlib.nullcontext():
        waiting, size = [], 0
        for piece in pieces:
            waiting.append(piece)
            size += len(piece)
            if size >= CHUNK:
                yield b"".join(waiting)
                waiting, size = [], 0
        yield b"".join(waiting)
