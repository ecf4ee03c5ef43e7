"""The pages of seeds and documents, and the same as data."""

from __future__ import annotations

import re
from typing import Final

from flask import Blueprint, Response, abort, redirect, request
from werkzeug.routing import BaseConverter
from werkzeug.wrappers import Response as AnyResponse

from sparql.web.catalog import Record
from sparql.web.site import HTML, JSON, TURTLE, context, data, json_data, page, page_number, preferred

documents = Blueprint("documents", __name__)

N_QUADS: Final = "application/n-quads"
_STATE: Final = re.compile(r"[a-z]{1,20}")
_LAST_PAGE: Final = 1_000_000


class Hash(BaseConverter):
    """The hash of a seed or document: MD5, or SHA-256 for a clean document."""

    regex = "(?:[0-9a-f]{64}|[0-9a-f]{32})"


@documents.get("/documents/")
def listed() -> Response:
    """The seeds, a page at a time."""
    wanted = preferred(JSON, HTML)
    return listed_json() if wanted == JSON else page("documents.html", **_listed())


@documents.get("/documents.json")
def listed_json() -> Response:
    """The seeds as JSON, a page at a time."""
    return json_data(_listed())


@documents.get("/documents/<hash:hash>")
def document(hash: str) -> AnyResponse:
    """A seed, a download, an entry of an archive, or a clean document."""
    record = _found(hash)
    offered = (JSON, HTML, TURTLE, N_QUADS) if record["type"] == "clean" else (JSON, HTML, TURTLE)
    wanted = preferred(*offered)
    if wanted == JSON:
        return json_data(record)
    if wanted == TURTLE:
        return document_turtle(hash)
    if wanted == N_QUADS:
        return document_quads(hash)
    return page("seed.html" if record["type"] == "seed" else "document.html", document=record)


@documents.get("/documents/<hash:hash>.json")
def document_json(hash: str) -> Response:
    """Its record as JSON."""
    return json_data(_found(hash))


@documents.get("/documents/<hash:hash>.ttl")
def document_turtle(hash: str) -> Response:
    """Its record as Turtle."""
    record = context().catalog.document_turtle(hash)
    if record is None:
        abort(404, _nothing(hash))
    return data(record, f"{TURTLE}; charset=utf-8")


@documents.get("/documents/<hash:hash>.nq")
def document_quads(hash: str) -> AnyResponse:
    """The way to the statements of a clean document."""
    record = _found(hash)
    if record["type"] != "clean":
        clean = record.get("clean")
        abort(404, f"{hash} is no clean document" + (f"; it gave /documents/{clean}." if clean else "."))
    response = redirect(f"/content/{record['sha256']}", code=303)
    response.vary.add("Accept")
    return response


def _listed() -> Record:
    state = request.args.get("state")
    if state is not None and not _STATE.fullmatch(state):
        abort(400, "`state` is the name of a state, such as parsed.")
    return context().catalog.documents(state, page_number("page", _LAST_PAGE))


def _found(hash: str) -> Record:
    record = context().catalog.document(hash, page_number("page", _LAST_PAGE))
    if record is None:
        abort(404, _nothing(hash))
    return record


def _nothing(hash: str) -> str:
    return f"There is no seed or document {hash!r} here; /documents/ lists them."
