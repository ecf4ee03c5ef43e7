"""The pages of seeds and documents, and the same as data."""

from __future__ import annotations

import re
from typing import Final

from flask import Blueprint, Response, abort, redirect, request
from werkzeug.routing import BaseConverter
from werkzeug.wrappers import Response as AnyResponse

from sparql.reports import (
    DirtyReport,
    DocumentPage,
    DocumentReport,
    DocumentSummary,
    DownloadTotals,
    SeedList,
    SeedPage,
    SeedReport,
)
from sparql.web.site import HTML, JSON, TURTLE, context, data, json_data, page, page_number, preferred

documents = Blueprint("documents", __name__)

N_QUADS: Final = "application/n-quads"
_STATE: Final = re.compile(r"[a-z]{1,20}")
_LAST_PAGE: Final = 1_000_000
_DONE: Final = frozenset({"parsed", "cleaned", "depleted"})
"""The states that end well."""
_LEFT_OUT: Final = frozenset({"archive", "too-large"})
"""The kinds of problems of an archive for which entries were left out."""


class Hash(BaseConverter):
    """The hash of a seed or document: MD5, or SHA-256 for a clean document."""

    regex = "(?:[0-9a-f]{64}|[0-9a-f]{32})"


@documents.get("/documents/")
def listed() -> Response:
    """The seeds, a page at a time."""
    wanted = preferred(JSON, HTML)
    return listed_json() if wanted == JSON else page("documents.html", listed=_listed(), tone=tone)


@documents.get("/documents.json")
def listed_json() -> Response:
    """The seeds as JSON, a page at a time."""
    return json_data(_listed())


@documents.get("/documents/<hash:hash>")
def document(hash: str) -> AnyResponse:
    """A seed, a download, an entry of an archive, or a clean document."""
    found = _found(hash)
    is_clean = isinstance(found, DocumentPage) and found.document.type == "clean"
    offered = (JSON, HTML, TURTLE, N_QUADS) if is_clean else (JSON, HTML, TURTLE)
    wanted = preferred(*offered)
    if wanted == JSON:
        return json_data(found)
    if wanted == TURTLE:
        return document_turtle(hash)
    if wanted == N_QUADS:
        return document_quads(hash)
    if isinstance(found, SeedPage):
        return page("seed.html", seed=found.seed, downloads=found.downloads, tone=tone)
    return page("document.html", shown=found, document=found.document, origin=found.document.origin, tone=tone)


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
    found = _found(hash)
    if isinstance(found, SeedPage) or found.document.type != "clean":
        clean = clean_of(found)
        abort(404, f"{hash} is no clean document" + (f"; it gave /documents/{clean}." if clean else "."))
    response = redirect(f"/content/{found.document.sha256}", code=303)
    response.vary.add("Accept")
    return response


def clean_of(found: SeedPage | DocumentPage | None) -> str | None:
    """The hash of the clean document that a download or entry gave, or None."""
    origin = found.document.origin if isinstance(found, DocumentPage) else None
    return origin.clean if isinstance(origin, DirtyReport) else None


def tone(
    report: SeedReport | DocumentReport | DocumentSummary, totals: DownloadTotals | None = None
) -> tuple[str, str]:
    """The class that colours the state of a seed or document, and the state in words: green is only what went well."""
    read = report.latest if isinstance(report, SeedReport) else report
    state, counts = report.status, read.counts if read else {}
    unread = (read is not None and read.whole is False) or "cut-off" in {*counts, *(totals.counts if totals else ())}
    if (isinstance(report, SeedReport) and report.failures) or "download" in counts:
        return "failing", f"{state}, failed"
    if unread or (state == "depleted" and counts.keys() & _LEFT_OUT):
        return "failing", f"{state}, not to its end"
    if "no-rdf" in counts:
        return "disabled" if report.type == "entry" else "failing", f"{state}, no RDF"
    if state not in _DONE:
        return "harvesting", state
    dropped = (read and read.dropped) or (totals and totals.dropped)
    return ("held", f"{state}, with losses") if dropped else ("idle", state)


def _listed() -> SeedList:
    state = request.args.get("state")
    if state is not None and not _STATE.fullmatch(state):
        abort(400, "`state` is the name of a state, such as parsed.")
    return context().catalog.documents(state, page_number("page", _LAST_PAGE))


def _found(hash: str) -> SeedPage | DocumentPage:
    record = context().catalog.document(hash, page_number("page", _LAST_PAGE))
    if record is None:
        abort(404, _nothing(hash))
    return record


def _nothing(hash: str) -> str:
    return f"There is no seed or document {hash!r} here, or not any more if it was an old one; /documents/ lists them."
