"""
Writing the documents of ResourceSync: lists of items, cut into several with an index where there are too many.

    NAME.xml                  up to 50,000 items
    NAME.xml, NAME1.xml, ...  more: an index, and the lists that it names

Source: ResourceSync 1.1, sections 7 (formats), 10.1 and 10.2 (lists and their index); sitemaps.org (limits).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape

from harvest.model.resourcesync import MOST_ITEMS, RS, SITEMAP, Capability, Relation
from harvest.publish import checksums

MOST_BYTES: Final = 50_000_000
"""Bytes of the items of one document; a sitemap has 52,428,800 at most. Source: sitemaps.org."""

_SPECIAL: Final = re.compile(r"[&<>\"\n\t]")
_QUOTE: Final = {'"': "&quot;", "\n": "&#10;", "\t": "&#9;"}


@dataclass(frozen=True, slots=True)
class ListLink:
    """
    An `rs:ln`.

    Attributes:
        rel: A relation; see `harvest.model.resourcesync.Relation`.
        href: Absolute address.
        attributes: Further ones, such as type, hash and length.
    """

    rel: str
    href: str
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ListItem:
    """
    A `url` of a list.

    Attributes:
        loc: Absolute address.
        lastmod: When what is there was last modified (UTC), or None.
        md: Attributes of its `rs:md`.
        links: Its `rs:ln`.
    """

    loc: str
    lastmod: datetime | None = None
    md: Mapping[str, str] = field(default_factory=dict)
    links: tuple[ListLink, ...] = ()


@dataclass(frozen=True, slots=True)
class ListHead:
    """
    What stands before the items.

    Attributes:
        capability: What the document is for.
        md: Further attributes of its `rs:md`, such as at and from.
        links: Its `rs:ln`.
    """

    capability: Capability
    md: Mapping[str, str] = field(default_factory=dict)
    links: tuple[ListLink, ...] = ()


def seconds(moment: datetime) -> str:
    """A time in UTC to the second, as `lastmod` has it: the modification time of a file in many file systems."""
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")


def instant(moment: datetime) -> str:
    """A time in UTC as exactly as it is known. Source: W3C, "Date and Time Formats"."""
    return moment.isoformat().replace("+00:00", "Z")


def put(path: Path, data: bytes) -> None:
    """Write a document, beside its place and renamed, unless it stands there."""
    if not path.is_file() or path.read_bytes() != data:
        checksums.replace(path, data)


Put = Callable[[Path, bytes], None]
"""Writes a document in its place."""


def write_list(
    target: Path, address: str, head: ListHead | None, items: Iterable[ListItem], put: Put = put
) -> list[Path]:
    """
    Write a list to `target`, which ends in .xml and is found at `address`, in as many parts as it takes.

    Without a head it is a plain sitemap. `put` writes each document.

    Memory holds the items of two parts as bytes at most. Returns the files, `target` last.

    Raises:
        OSError: A file cannot be written.
    """
    bodies = _bodies(items)
    body, following = next(bodies, _Body(b"")), next(bodies, None)
    if following is None:
        put(target, _document("urlset", head, body.data))
        return [target]
    written, parts = [], []
    for number in count(1):
        path = target.with_name(f"{target.stem}{number}.xml")
        part = _part(head, address, body, last=following is None)
        put(path, _document("urlset", part, body.data))
        written.append(path)
        entry = ListItem(f"{address.removesuffix('.xml')}{number}.xml", md=part.md if part else {})
        parts.append(_entry("sitemap", entry))
        if following is None:
            break
        body, following = following, next(bodies, None)
    put(target, _document("sitemapindex", head, b"".join(parts)))
    return [*written, target]


@dataclass(frozen=True, slots=True)
class _Body:
    """The items of one document: their XML, and the datetimes of the first and of the next behind the last."""

    data: bytes
    since: str = ""
    until: str = ""


def _part(head: ListHead | None, address: str, body: _Body, *, last: bool) -> ListHead | None:
    """The head of one of several lists; the last part of a list of changes is open as the whole is."""
    if head is None:
        return None
    md = dict(head.md)
    if head.capability is Capability.CHANGE_LIST:
        md |= {"from": body.since} if last else {"from": body.since, "until": body.until}
    return ListHead(head.capability, md, (*head.links, ListLink(Relation.INDEX, address)))


def _bodies(items: Iterable[ListItem]) -> Iterator[_Body]:
    parts: list[bytes] = []
    size, since = 0, ""
    for item in items:
        at = item.md.get("datetime", "")
        entry = _entry("url", item)
        if len(parts) == MOST_ITEMS or size + len(entry) > MOST_BYTES:
            yield _Body(b"".join(parts), since, at)
            parts, size, since = [], 0, at
        since = since or at
        parts.append(entry)
        size += len(entry)
    if parts:
        yield _Body(b"".join(parts), since)


def _document(root: str, head: ListHead | None, body: bytes) -> bytes:
    lines = ['<?xml version="1.0" encoding="UTF-8"?>\n', f'<{root} xmlns="{SITEMAP}"']
    if head is None:
        lines.append(">\n")
    else:
        md = {"capability": str(head.capability), **head.md}
        lines += [f' xmlns:rs="{RS}">\n', *(_link(link, "  ") for link in head.links), f"  <rs:md{_attributes(md)}/>\n"]
    return b"".join(("".join(lines).encode(), body, f"</{root}>\n".encode()))


def _entry(name: str, item: ListItem) -> bytes:
    modified = "" if item.lastmod is None else f"    <lastmod>{seconds(item.lastmod)}</lastmod>\n"
    md = f"    <rs:md{_attributes(item.md)}/>\n" if item.md else ""
    links = "".join([_link(link, "    ") for link in item.links])
    return f"  <{name}>\n    <loc>{_escaped(item.loc)}</loc>\n{modified}{md}{links}  </{name}>\n".encode()


def _link(link: ListLink, indent: str) -> str:
    first = f'rel="{_escaped(link.rel)}" href="{_escaped(link.href)}"'
    return f"{indent}<rs:ln {first}{_attributes(link.attributes)}/>\n"


def _attributes(values: Mapping[str, str]) -> str:
    return "".join([f' {name}="{_escaped(value)}"' for name, value in values.items()])


def _escaped(text: str) -> str:
    """A text as it stands in an element or attribute; most texts are of letters, digits and slashes."""
    return escape(text, _QUOTE) if _SPECIAL.search(text) else text
