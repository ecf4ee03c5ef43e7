"""
From any page or host to its ResourceSync documents: Link header, link element, well-known address, robots.txt.

Source: ResourceSync 1.1, section 6.3 (discovery); RFC 8288 (Link header).
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import urljoin, urlsplit

from harvest.discover.sitemap_items import address
from harvest.model.resourcesync import WELL_KNOWN, Relation

MOST: Final = 20
"""Links of one page that are followed."""

PAGE_BYTES: Final = 1 << 20
"""Bytes of a page in which its links are looked for."""

_HEADER_LINK: Final = re.compile(r'<([^<>]*)>((?:\s*;\s*[\w*-]+\s*(?:=\s*(?:"[^"]*"|[^\s",;]+))?)*)')
_PARAMETER: Final = re.compile(r';\s*([\w*-]+)\s*=\s*(?:"([^"]*)"|([^\s",;]+))')
_ELEMENT: Final = re.compile(r"<(?:link|a)\b([^>]*)>", re.IGNORECASE)
_ATTRIBUTE: Final = re.compile(r"""([\w-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")


def header_links(values: Iterable[str], url: str) -> list[str]:
    """Where the `resourcesync` links of an answer's Link headers lead to, each once."""
    found: dict[str, None] = {}
    for value in values:
        for link in _HEADER_LINK.finditer(value):
            said = {name.lower(): quoted or bare for name, quoted, bare in _PARAMETER.findall(link[2])}
            if Relation.RESOURCESYNC in said.get("rel", "").lower().split() and (to := address(link[1], url)):
                found[to] = None
    return list(found)[:MOST]


def page_links(body: str, url: str) -> list[str]:
    """Where the `resourcesync` link elements of a page lead to, each once."""
    found: dict[str, None] = {}
    for element in _ELEMENT.finditer(body):
        pairs = _ATTRIBUTE.findall(element[1])
        said = {name.lower(): html.unescape(one or two or three) for name, one, two, three in pairs}
        if Relation.RESOURCESYNC in said.get("rel", "").lower().split() and (to := address(said.get("href", ""), url)):
            found[to] = None
    return list(found)[:MOST]


def well_known(url: str) -> str:
    """The address of the source description of a host."""
    return urljoin(url, WELL_KNOWN)


def robots(url: str) -> str:
    """The address of a host's robots.txt."""
    return urljoin(url, "/robots.txt")


def is_host(url: str) -> bool:
    """Whether an address names a host and nothing on it."""
    parts = urlsplit(url)
    return parts.path in ("", "/") and not parts.query
