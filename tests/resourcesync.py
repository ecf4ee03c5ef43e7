"""ResourceSync documents for tests, written as short as they can be."""

from __future__ import annotations

import hashlib
from xml.sax.saxutils import quoteattr

NAMESPACES = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:rs="http://www.openarchives.org/rs/terms/"'


def attributes(**said: object) -> str:
    """Attributes of an element; `since` is written as `from`, None is left out."""
    return "".join(
        f" {'from' if name == 'since' else name}={quoteattr(str(value))}"
        for name, value in said.items()
        if value is not None
    )


def link(rel: str, href: str, **said: object) -> str:
    """An `rs:ln`."""
    return f"<rs:ln{attributes(rel=rel, href=href, **said)}/>"


def item(loc: str, *links: str, lastmod: str | None = None, **said: object) -> str:
    """An item with its `rs:md`."""
    date = f"<lastmod>{lastmod}</lastmod>" if lastmod else ""
    return f"<url><loc>{loc}</loc>{date}<rs:md{attributes(**said)}/>{''.join(links)}</url>"


def document(capability: str | None, *items: str, **said: object) -> str:
    """A list of items."""
    meta = f"<rs:md{attributes(capability=capability, **said)}/>" if capability else ""
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset {NAMESPACES}>{meta}{"".join(items)}</urlset>\n'


def index(capability: str, *items: str, **said: object) -> str:
    """An index of lists."""
    return document(capability, *items, **said).replace("urlset", "sitemapindex").replace("url>", "sitemap>")


def capabilities(**lists: str) -> str:
    """A capability list that names lists by their capability."""
    return document("capabilitylist", *(item(url, capability=name) for name, url in lists.items()))


def md5(body: str) -> str:
    """The `hash` of a file."""
    return "md5:" + hashlib.md5(body.encode(), usedforsecurity=False).hexdigest()


def sha256(body: str) -> str:
    """The `hash` of a file."""
    return "sha-256:" + hashlib.sha256(body.encode()).hexdigest()
