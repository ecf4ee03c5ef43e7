"""The page of a version: what it changed, by subject."""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from flask import Blueprint, Response, abort, make_response, render_template, request

from sparql.web import changes
from sparql.web.dropped import no_version
from sparql.web.entity import labels, languages
from sparql.web.questions import Budget
from sparql.web.refusal import RETRY_S
from sparql.web.site import HTML, JSON, LAST_PAGE, context, found, json_data, page_number, preferred
from sparql.web.terms import LONGEST, TermLabels, address, outside, shorten

versions = Blueprint("versions", __name__)

READERS: Final = threading.BoundedSemaphore(4)
"""Changes that are read at once: a long one keeps a thread and a core busy for seconds."""
WAIT_S: Final = 1.0
LABELS_S: Final = 3.0
"""What labels may take: the page is of use without them."""

ROWS: Final = 100
"""Versions of one page of their list."""

log = logging.getLogger(__name__)


@versions.get("/providers/<name:name>/versions.json")
def versions_json(name: str) -> Response:
    """All versions of a provider, the newest first, a page at a time."""
    catalog = context().catalog
    provider = found(catalog.provider(name), name)
    newest = catalog.versions(name)[::-1]
    page = page_number("page", LAST_PAGE)
    return json_data(
        {
            "name": name,
            "total": len(newest),
            "page": page,
            "pages": max(1, math.ceil(len(newest) / ROWS)),
            "versions": newest[(page - 1) * ROWS : page * ROWS],
        }
        | ({"baseline": provider.baseline} if provider.baseline else {})
    )


@versions.get("/providers/<name:name>/versions/<int:n>")
def version(name: str, n: int) -> Response:
    """What a version changed, a page of subjects at a time; its record as JSON."""
    catalog = context().catalog
    provider = found(catalog.provider(name), name)
    known = {record.n: record for record in catalog.versions(name)}
    if n not in known:
        no_version(name, n)
    after = _after()
    if preferred(JSON, HTML) == JSON:
        return json_data(known[n])
    filed = catalog.change(name, n)
    page = _read(filed.path, name, n) if filed else None
    response = make_response(
        render_template(
            "version.html",
            provider=provider,
            version=known[n],
            older=n - 1 if n - 1 in known else None,
            newer=n + 1 if n + 1 in known else None,
            run=catalog.run(name, known[n].run),
            page=page,
            after=after,
            labels=_labels(page).within(provider.graph) if page else TermLabels(),
            address=address,
            outside=outside,
            shorten=shorten,
        )
    )
    response.vary.update(("Accept", "Accept-Language"))
    return response


def _after() -> str:
    after = request.args.get("after", "")
    if len(after) > LONGEST:
        abort(400, f"`after` is an IRI; this one has more than {LONGEST:,} characters.")
    return after


def _read(path: Path, name: str, n: int) -> changes.ChangePage:
    if not READERS.acquire(timeout=WAIT_S):
        abort(429, "Too many pages of changes are being made; try again in a while.", retry_after=RETRY_S)
    try:
        return changes.read(path, _after())
    except (OSError, EOFError, SyntaxError, ValueError) as error:
        log.error("The change %s cannot be read: %s", path, error)
        abort(
            503,
            f"The file of the change that made version {n} of {name} is damaged; `harvest rebuild {name}` mends it.",
        )
    finally:
        READERS.release()


def _labels(page: changes.ChangePage) -> TermLabels:
    here = context()
    tags = languages(request.accept_languages.values())
    return labels(_mentioned(page), tags, Budget(here.ask, min(LABELS_S, here.limits.timeout_s)))


def _mentioned(page: changes.ChangePage) -> Iterator[str]:
    for subject in page.subjects:
        yield from (row.predicate for row in subject.rows)
    yield from (subject.iri for subject in page.subjects)
    for subject in page.subjects:
        yield from (v.text for row in subject.rows for v in (row.old, row.new) if v and v.kind == "iri")
