"""Links, scripts of JSON-LD and the title of a page; and links of a Link header."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Final
from urllib.parse import urljoin

_LINK: Final = re.compile(r"<([^>]*)>((?:\s*;\s*[\w!#$&+.^`|~*-]+\s*(?:=\s*(?:\"(?:[^\"\\]|\\.)*\"|[^\s;,\"]*))?)*)")
_PARAMETER: Final = re.compile(r";\s*([\w!#$&+.^`|~*-]+)\s*=\s*(?:\"((?:[^\"\\]|\\.)*)\"|([^\s;,\"]*))")


@dataclass(frozen=True, slots=True)
class HtmlLink:
    """
    A typed link of a page.

    Attributes:
        relation: Such as item.
        url: Absolute.
        media_type: Of its target, as said there, or None.
    """

    relation: str
    url: str
    media_type: str | None = None

    @classmethod
    def read_header(cls, header: str, base: str) -> Iterator[HtmlLink]:
        """The links of a Link header, one for each relation. Source: RFC 8288, section 3."""
        for url, parameters in _LINK.findall(header):
            said = {name.lower(): quoted or bare for name, quoted, bare in _PARAMETER.findall(parameters)}
            for relation in said.get("rel", "").split():
                yield cls(relation.lower(), urljoin(base, url.strip()), said.get("type") or None)


@dataclass(slots=True)
class Markup:
    """
    What a page holds besides its text.

    Attributes:
        title: Or None.
        links: Of `link` elements.
        scripts: Of JSON-LD, as text.
    """

    title: str | None = None
    links: list[HtmlLink] = field(default_factory=list)
    scripts: list[str] = field(default_factory=list)


def read_markup(page: str, base: str) -> Markup:
    """What a page holds; `base` is its address."""
    reader = _Reader(base)
    reader.feed(page)
    reader.close()
    reader.markup.title = " ".join("".join(reader.titles).split()) or None
    return reader.markup


class _Reader(HTMLParser):
    def __init__(self, base: str) -> None:
        super().__init__()
        self.markup = Markup()
        self.titles: list[str] = []
        self._base = base
        self._within: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Notice what is wanted."""
        said = {name: value or "" for name, value in attrs}
        self._within = None
        if tag == "link" and said.get("href"):
            for relation in said.get("rel", "").lower().split():
                link = HtmlLink(relation, urljoin(self._base, said["href"].strip()), said.get("type") or None)
                self.markup.links.append(link)
        elif tag == "script" and said.get("type", "").partition(";")[0].strip().lower() == "application/ld+json":
            self._within = tag
            self.markup.scripts.append("")
        elif tag == "title" and not self.titles:
            self._within = tag

    def handle_data(self, data: str) -> None:
        """Keep the text of what is wanted."""
        if self._within == "script":
            self.markup.scripts[-1] += data
        elif self._within == "title":
            self.titles.append(data)

    def handle_endtag(self, tag: str) -> None:
        """The text of what is wanted ends."""
        self._within = None
