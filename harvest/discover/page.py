"""HTML pages that stand where a description was expected, and the descriptions that they link."""

from __future__ import annotations

import html
import re
from contextlib import suppress
from typing import Final
from urllib.parse import urljoin

from sparql.rdf import by_media_type

HEAD: Final = 1000
"""Characters in which a page shows that it is one."""

_PAGE = re.compile(r"\s*(?:<\?[^>]*\?>\s*|<!--.*?-->\s*)*<(?:!doctype\s+html\b|html[\s>])", re.IGNORECASE | re.DOTALL)
_LINK = re.compile(r"<link\b([^>]*)>", re.IGNORECASE)
_PAIR = re.compile(r"""([\w-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")


def is_page(body: str) -> bool:
    """Whether a document is an HTML page; XHTML, comments and an XML declaration before it included."""
    return _PAGE.match(body[:HEAD]) is not None


def linked_descriptions(body: str, url: str) -> list[str]:
    """
    The RDF documents that a page names in its `<link>` elements, as absolute URLs in the order of the page.

    Source: VoID, section 6.3, "Discovery via links in the dataset's documents".
    """
    found: list[str] = []
    for link in _LINK.finditer(body):
        named = {name.lower(): html.unescape(one or two or three) for name, one, two, three in _PAIR.findall(link[1])}
        with suppress(ValueError):  # an address with a bracket without its partner
            if named.get("href") and by_media_type(named.get("type")):
                found.append(urljoin(url, named["href"]))
    return list(dict.fromkeys(found))
