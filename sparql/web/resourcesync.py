"""
The documents of ResourceSync, the datasets that they lead to, and how they are found.

Source: ResourceSync 1.1, section 6.3 (discovery: the well-known URI, links, robots.txt).
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Final

from flask import Blueprint, Response, abort, redirect, request
from werkzeug.wrappers import Response as AnyResponse

from sparql.web.downloads import change
from sparql.web.sending import open_file, send
from sparql.web.site import context, found

resourcesync = Blueprint("resourcesync", __name__)

SOURCE: Final = "sourceDescription.xml"
CAPABILITIES: Final = "capabilitylist.xml"
DATASET: Final = "dataset.nq"

XML: Final = "application/xml"
_FILE: Final = re.compile(
    r"(?:capabilitylist|description|(?:resource|change)list[0-9]{0,4}|resourcedump(?:-manifest)?)\.xml|dataset\.nq|resourcedump\.zip"
)
_OF_SITE: Final = re.compile(r"(?:sourceDescription|sitemap)[0-9]{0,4}\.xml")
_TYPES: Final = {
    "description.xml": "application/rdf+xml",
    "resourcedump.zip": "application/zip",
    DATASET: "application/n-quads",
}
_LINKED: Final = frozenset(
    {
        "downloads.change",
        "downloads.from_nothing",
        "downloads.version",
        "pages.provider",
        "pages.provider_json",
        "pages.provider_turtle",
        "resourcesync.change_from_zero",
        "resourcesync.document",
    }
)
"""Views of what a provider's list of capabilities is about."""


@resourcesync.get("/.well-known/resourcesync")
def well_known() -> AnyResponse:
    """Where the source is described."""
    return redirect(f"/resourcesync/{SOURCE}", code=303)


@resourcesync.get("/resourcesync/<document>")
def source(document: str) -> Response:
    """What the source offers: a list of capabilities a provider."""
    if not _OF_SITE.fullmatch(document):
        abort(404, f"There is no document {document[:100]!r}; {SOURCE} names what there is.")
    return _of_site(document, XML)


@resourcesync.get("/robots.txt")
def robots() -> Response:
    """For crawlers: where the sitemap and the lists of resources are."""
    return _of_site("robots.txt", "text/plain; charset=utf-8")


@resourcesync.get("/sitemap.xml")
def sitemap() -> Response:
    """The pages of the providers."""
    return _of_site("sitemap.xml", XML)


@resourcesync.get("/resourcesync/<name:name>/<document>")
def document(name: str, document: str) -> Response:
    """A document of a provider's feed, or its dataset."""
    path = context().catalog.resourcesync_dir / name / document
    if not _FILE.fullmatch(document):
        abort(404, f"There is no document {document[:100]!r}; {CAPABILITIES} names what there is.")
    if document == DATASET:
        return _dataset(path, name)
    return _sent(path, _TYPES.get(document, XML), name)


@resourcesync.get("/resourcesync/<name:name>/changes/changes<int:number>.nqud")
def change_from_zero(name: str, number: int) -> Response:
    """A change by its number from 0. Source: Timbuctoo exchange protocol, as its server names them."""
    return change(name, number + 1)


@resourcesync.after_app_request
def link(response: Response) -> Response:
    """Lead from all that is a provider's to the list of capabilities that it is part of."""
    name = (request.view_args or {}).get("name")
    if request.endpoint == "downloads.export":
        name = (request.view_args or {})["file"].partition(".")[0]
    elif request.endpoint not in _LINKED:
        return response
    if response.status_code < 400 and _has_feed(str(name)):
        address = f"{context().site.base_url}/resourcesync/{name}/{CAPABILITIES}"
        response.headers.add("Link", f'<{address}>; rel="resourcesync"')
    return response


def _has_feed(name: str) -> bool:
    return (context().catalog.resourcesync_dir / name / CAPABILITIES).is_file()


def _of_site(file: str, media_type: str) -> Response:
    opened = open_file(context().catalog.resourcesync_dir / file)
    if opened is None:
        abort(404, "This is written with the next export, every minute or so.")
    return send(opened, media_type)


def _sent(path: Path, media_type: str, name: str) -> Response:
    opened = open_file(path)
    if opened is None:
        abort(404, _nothing(name))
    return send(opened, media_type)


def _dataset(path: Path, name: str) -> Response:
    """The dataset, compressed for whoever likes that, once it is exported."""
    packed = None
    if request.accept_encodings.quality("gzip") > 0:
        packed = open_file(path.with_name(f"{path.name}.gz"))
    if packed is None:
        response = _sent(path, _TYPES[DATASET], name)
    else:
        response = send(replace(packed, etag=f"{packed.etag}-gzip"), _TYPES[DATASET])
        response.headers["Content-Encoding"] = "gzip"
    response.vary.add("Accept-Encoding")
    return response


def _nothing(name: str) -> str:
    record = found(context().catalog.provider(name), name)
    if record.version == 0:
        return f"{name} has no version yet, so there is nothing to synchronise."
    return f"There is no such document of {name}, or it is written with the next export."
