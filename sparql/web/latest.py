"""
What changed last, over all providers: each version as an entry of a JSON Feed and of an Atom feed.

Source: JSON Feed 1.1; RFC 4287 (Atom); RFC 5005, section 3 (pages of a feed).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from typing import Any, Final

from flask import Blueprint, Response

from sparql.rdf import NQUD
from sparql.reports import PublishedVersion, VersionPage, iso
from sparql.web.figures import counted, number
from sparql.web.site import LAST_PAGE, context, data, page_number

latest = Blueprint("latest", __name__)

JSON_FEED: Final = "application/feed+json"
ATOM: Final = "application/atom+xml"
NEVER: Final = "1970-01-01T00:00:00Z"
"""When an empty feed changed: Atom asks for a time."""


@latest.get("/changes.json")
def changes_json() -> Response:
    """The versions of all providers as a JSON Feed, the newest first."""
    site, page = context().site, context().catalog.latest(page_number("page", LAST_PAGE))
    feed: dict[str, Any] = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": f"{site.title}: changes",
        "home_page_url": f"{site.base_url}/",
        "feed_url": _address("json", page.page),
    }
    if page.page < page.pages:
        feed["next_url"] = _address("json", page.page + 1)
    items = [_item(each) for each in page.versions]
    return data(json.dumps(feed | {"items": items}, ensure_ascii=False, indent=1) + "\n", JSON_FEED)


@latest.get("/changes.atom")
def changes_atom() -> Response:
    """The same as Atom."""
    return data("".join(_atom(context().catalog.latest(page_number("page", LAST_PAGE)))), f"{ATOM}; charset=utf-8")


def _item(each: PublishedVersion) -> dict[str, Any]:
    version = each.version
    return {
        "id": _version(each),
        "url": _version(each),
        "title": _title(each),
        "content_text": _text(each),
        "date_published": iso(version.at),
        "tags": [each.provider],
        "attachments": [{"url": _change(each), "mime_type": NQUD}],
        "_harvest": {
            "provider": each.provider,
            "version": version.n,
            "added": version.added,
            "removed": version.removed,
            "triples": version.triples,
        },
    }


def _atom(page: VersionPage) -> Iterator[str]:
    site = context().site
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">\n'
    yield f"  <id>{escape(_address('atom', 1))}</id>\n  <title>{escape(site.title)}: changes</title>\n"
    yield f"  <updated>{iso(page.versions[0].version.at) if page.versions else NEVER}</updated>\n"
    yield f"  <author><name>{escape(site.title)}</name></author>\n"
    links = [("self", _address("atom", page.page)), ("alternate", f"{site.base_url}/")]
    if page.page < page.pages:
        links.append(("next", _address("atom", page.page + 1)))
    for rel, href in links:
        yield f'  <link rel="{rel}" href="{escape(href)}"/>\n'
    for each in page.versions:
        at = iso(each.version.at)
        yield f"  <entry>\n    <id>{escape(_version(each))}</id>\n    <title>{_title(each)}</title>\n"
        yield f'    <updated>{at}</updated>\n    <link rel="alternate" href="{escape(_version(each))}"/>\n'
        yield f'    <link rel="enclosure" type="{NQUD}" href="{escape(_change(each))}"/>\n'
        yield f"    <summary>{_text(each)}</summary>\n  </entry>\n"
    yield "</feed>\n"


def _address(kind: str, page: int) -> str:
    address = f"{context().site.base_url}/changes.{kind}"
    return address if page == 1 else f"{address}?page={page}"


def _version(each: PublishedVersion) -> str:
    return f"{context().site.base_url}/providers/{each.provider}/versions/{each.version.n}"


def _change(each: PublishedVersion) -> str:
    kind = "versions" if each.is_baseline else "changes"  # what it changed was dropped with the versions before it
    return f"{context().site.base_url}/providers/{each.provider}/{kind}/{each.version.n}.nqud"


def _title(each: PublishedVersion) -> str:
    return f"{each.provider}, version {each.version.n}"


def _text(each: PublishedVersion) -> str:
    version = each.version
    if each.is_baseline:
        return f"The baseline, as the versions before it were dropped: {counted(version.triples, 'triple')}."
    added = counted(version.added, "triple")
    return f"{added} added, {number(version.removed)} removed; {number(version.triples)} in all."
