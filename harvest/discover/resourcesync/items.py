"""
What ResourceSync documents hold: items with an address, metadata (`rs:md`) and links (`rs:ln`).

Source: ResourceSync 1.1, section 7.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from harvest.discover.dates import read_date


@dataclass(frozen=True, slots=True)
class Meta:
    """
    What an `rs:md` says.

    Attributes:
        capability: As written, or None.
        at: When what a list holds was so (aware, UTC).
        completed: When making the list ended.
        since: `from`: begin of what a change list holds.
        until: Its end; None while the list is open.
        datetime: When a change happened.
        change: created, updated or deleted, as written.
        hashes: As (name in `hashlib`, lower-case hex digits); others are left out.
        length: Bytes.
        media_type: `type`, or None.
        is_dataset: Whether an item is the dataset itself. Source: Timbuctoo, `isDataset`.
    """

    capability: str | None = None
    at: datetime | None = None
    completed: datetime | None = None
    since: datetime | None = None
    until: datetime | None = None
    datetime: datetime | None = None
    change: str | None = None
    hashes: tuple[tuple[str, str], ...] = ()
    length: int | None = None
    media_type: str | None = None
    is_dataset: bool = False


@dataclass(frozen=True, slots=True)
class Link:
    """
    An `rs:ln`.

    Attributes:
        rel: As written.
        url: Absolute.
        meta: What its own attributes say of the file it leads to.
    """

    rel: str
    url: str
    meta: Meta = Meta()


@dataclass(frozen=True, slots=True)
class Item:
    """
    A `url` or `sitemap` element.

    Attributes:
        url: Its `loc`, absolute and without a fragment.
        line: Where it begins, from 1.
        lastmod: (aware, UTC), or None.
        meta: Its `rs:md`.
        links: Its `rs:ln`, in order.
    """

    url: str
    line: int
    lastmod: datetime | None = None
    meta: Meta = Meta()
    links: tuple[Link, ...] = ()

    @property
    def changed(self) -> datetime | None:
        """When it changed: `datetime`, else `lastmod`."""
        return self.meta.datetime or self.lastmod

    def link(self, rel: str) -> Link | None:
        """The first link with a relation, or None."""
        return next((link for link in self.links if link.rel == rel), None)


@dataclass(frozen=True, slots=True)
class SyncDocument:
    """
    A ResourceSync document, or a sitemap that is none.

    Attributes:
        url: Its final URL.
        is_index: Whether its items are documents of the same capability.
        meta: The `rs:md` of its root; without `capability` this is a sitemap and nothing more.
        links: The `rs:ln` of its root.
        items: In the order of the document.
    """

    url: str
    is_index: bool
    meta: Meta
    links: tuple[Link, ...]
    items: tuple[Item, ...]

    def linked(self, rel: str) -> tuple[str, ...]:
        """Where the root's links with a relation lead to."""
        return tuple(link.url for link in self.links if link.rel == rel)


def read_meta(attributes: dict[str, str]) -> Meta:
    """The attributes of an `rs:md` or `rs:ln`; what cannot be read is left out."""
    length = attributes.get("length", "").strip()
    return Meta(
        capability=attributes.get("capability"),
        at=_moment(attributes.get("at")),
        completed=_moment(attributes.get("completed")),
        since=_moment(attributes.get("from")),
        until=_moment(attributes.get("until")),
        datetime=_moment(attributes.get("datetime")),
        change=attributes.get("change"),
        hashes=_hashes(attributes.get("hash", "")),
        length=int(length) if length.isascii() and length.isdigit() and len(length) < 19 else None,
        media_type=attributes.get("type", "").strip() or None,
        is_dataset=attributes.get("isDataset", "").strip().lower() in ("true", "1"),
    )


_HASHES: Final = {"md5": ("md5", 32), "sha-1": ("sha1", 40), "sha-256": ("sha256", 64), "sha-512": ("sha512", 128)}
"""Name in `hashlib` and hex digits of each. Source: section 7.2, `hash`; RFC 6920 and IANA's registry of hash names."""


def _hashes(written: str) -> tuple[tuple[str, str], ...]:
    found = []
    for word in written.split():
        name, _, digest = word.partition(":")
        known = _HASHES.get(name.lower())
        if known and len(digest) == known[1] and not set(digest.lower()) - set("0123456789abcdef"):
            found.append((known[0], digest.lower()))
    return tuple(found)


def _moment(written: str | None) -> datetime | None:
    return read_date(written) if written else None
