"""
Landing pages that say themselves which files a dataset has: JSON-LD of schema.org or DCAT, and Signposting.

The JSON-LD is read by the names of its keys, whatever their prefix, and no remote context is fetched.

Source: schema.org, Dataset and DataDownload; DCAT 3, section 6.8; Signposting FAIR profile, levels 1 and 2; RFC 9264.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote, urljoin, urlsplit

from harvest.discover.platforms.markup import HtmlLink, read_markup
from harvest.discover.platforms.platform import Answer, Answers, Landing, Platform, Wanted
from harvest.discover.platforms.shapes import address, checksums, objects, size, text
from harvest.errors import FilesetError
from harvest.model import Manifest, ManifestFile

_LINKSET: Final = "application/linkset+json"


@dataclass(frozen=True, slots=True)
class _Node:
    """
    An object of JSON-LD, asked by local names.

    Attributes:
        said: Its keys without prefix or namespace.
        known: All objects of the document that say something, by `@id`.
    """

    said: dict[str, Any]
    known: dict[str, dict[str, Any]]

    def all(self, *names: str) -> list[Any]:
        """The values of the first of these keys that has any."""
        for name in names:
            value = self.said.get(name)
            if value not in (None, "", [], {}):
                return value if isinstance(value, list) else [value]
        return []

    def nodes(self, *names: str) -> Iterator[_Node]:
        """The values that are objects, references followed."""
        for value in self.all(*names):
            if isinstance(value, dict):
                at = value.get("@id")
                yield _Node(_local(self.known.get(at, value) if isinstance(at, str) else value), self.known)

    def text(self, *names: str) -> str | None:
        """The first value as text: of an object its `@value`, `@id`, name or URL."""
        for value in self.all(*names):
            if isinstance(value, dict):
                near = _local(value)
                value = next((near[key] for key in ("@value", "name", "url", "@id") if text(near.get(key))), None)
            if found := text(value):
                return found
        return None


def _local(said: dict[str, Any]) -> dict[str, Any]:
    return {
        key if key.startswith("@") else key.replace("#", "/").replace(":", "/").rpartition("/")[2]: value
        for key, value in said.items()
    }


def _documents(answer: Answer) -> Iterator[object]:
    """The JSON-LD of an answer: its body, or the scripts of its page."""
    bodies = (
        [answer.text()] if "json" in (answer.media_type or "") else read_markup(answer.text(), answer.final_url).scripts
    )
    for body in bodies:
        try:
            yield json.loads(body)
        except (ValueError, RecursionError):
            continue


def _inside(value: object) -> Iterator[dict[str, Any]]:
    """All objects in a value, at any depth."""
    waiting = [value]
    while waiting:
        each = waiting.pop(0)
        if isinstance(each, dict):
            yield each
        waiting += list(each.values()) if isinstance(each, dict) else each if isinstance(each, list) else []


def _datasets(answer: Answer) -> Iterator[tuple[_Node, str]]:
    """The datasets with distributions in an answer, each with the platform whose terms it uses."""
    for document in _documents(answer):
        found = list(_inside(document))
        known = {each["@id"]: each for each in found if isinstance(each.get("@id"), str) and len(each) > 1}
        for each in found:
            types = each.get("@type")
            said = [str(one) for one in (types if isinstance(types, list) else [types])]
            node = _Node(_local(each), known)
            if any(_local({one: 0}).keys() == {"Dataset"} for one in said) and node.all("distribution"):
                is_dcat = any("dcat" in word for word in (*said, *each))
                yield node, "dcat" if is_dcat else "schemaorg"


def _links(landing: Landing) -> list[HtmlLink]:
    """The links of a page, those of its header first."""
    headers = [value for name, value in landing.answer.headers if name == "link"]
    return [
        *HtmlLink.read_header(", ".join(headers), landing.url),
        *read_markup(landing.answer.text(), landing.url).links,
    ]


def _is(name: str) -> Platform:
    def matches(landing: Landing) -> bool:
        return any(found == name for _, found in _datasets(landing.answer))

    def process(landing: Landing, answers: Answers) -> Wanted | Manifest:
        node = next((node for node, found in _datasets(landing.answer) if found == name), None)
        if node is None:
            raise FilesetError("platform-error", f"{landing.url} holds no dataset with files", url=landing.url)
        return _of_node(landing, node, name)

    return Platform(matches, process)


def _of_node(landing: Landing, node: _Node, name: str) -> Manifest:
    identifier = node.text("identifier") or node.text("@id") or landing.url
    files = (_of_distribution(landing, each) for each in node.nodes("distribution"))
    return Manifest(
        name,
        urlsplit(landing.url).hostname or landing.host,
        identifier,
        tuple(file for file in files if file is not None),
        landing.url,
        version=node.text("version", "hasVersion"),
        doi=_doi(identifier),
        title=node.text("name", "title"),
        creators=tuple(filter(None, (each.text("name") for each in node.nodes("creator", "author")))),
        licence=node.text("license"),
        released=node.text("datePublished", "issued"),
        description=node.text("description"),
    )


def _of_distribution(landing: Landing, node: _Node) -> ManifestFile | None:
    written = node.text("contentUrl", "downloadURL", "accessURL", "url")
    url = address(urljoin(landing.url, written)) if written else None
    if url is None:
        return None
    sums: dict[str, str] = {}
    for each in node.nodes("checksum"):
        kind = (each.text("algorithm", "checksumAlgorithm") or "").replace("#", "_").rpartition("_")[2]
        sums |= checksums(each.text("checksumValue"), kind=kind)
    sums |= checksums(node.text("sha256"), kind="sha256") | checksums(node.text("md5"), kind="md5")
    media_type = node.text("encodingFormat", "mediaType", "format", "fileFormat")
    if media_type and "/media-types/" in media_type:
        media_type = media_type.partition("/media-types/")[2]
    length = (node.text("contentSize", "byteSize") or "").removesuffix("B").removesuffix("ytes").strip()
    return ManifestFile(
        _path(url),
        size(length),
        sums.get("md5"),
        sums.get("sha1"),
        sums.get("sha256"),
        media_type,
        {"name": title} if (title := node.text("name", "title")) else {},
        platform_url=url,
    )


def _path(url: str) -> str:
    """The last part of an address that names something."""
    parts = urlsplit(url)
    return unquote(parts.path.rstrip("/").rpartition("/")[2]) or parts.query or parts.netloc


def _doi(identifier: str) -> str | None:
    found = identifier.partition("doi.org/")[2] or identifier.removeprefix("doi:")
    return found if found.startswith("10.") else None


def _has_items(landing: Landing) -> bool:
    return any(
        link.relation == "item" or (link.relation == "linkset" and link.media_type == _LINKSET)
        for link in _links(landing)
    )


def _signposted(landing: Landing, answers: Answers) -> Wanted | Manifest:
    links = _links(landing)
    for link in [link for link in links if link.relation == "linkset" and link.media_type == _LINKSET]:
        if link.url not in answers:
            return Wanted((link.url,), f"{_LINKSET}, application/json;q=0.9")
        links += _of_linkset(answers[link.url], landing)
    items = {link.url: link for link in links if link.relation == "item"}
    named = next((link.url for link in links if link.relation == "cite-as"), landing.url)
    return Manifest(
        "signposting",
        urlsplit(landing.url).hostname or landing.host,
        named,
        tuple(ManifestFile(_path(url), mimetype=link.media_type, platform_url=url) for url, link in items.items()),
        landing.url,
        doi=_doi(named),
        title=read_markup(landing.answer.text(), landing.url).title,
        licence=next((link.url for link in links if link.relation == "license"), None),
    )


def _of_linkset(answer: Answer, landing: Landing) -> Iterator[HtmlLink]:
    """The links of a linkset whose context is the page, or of all where the page is none of their contexts."""
    sets = objects(answer.json().get("linkset"))
    anchored = [each for each in sets if each.get("anchor") in landing.passed]
    for each in anchored or sets:
        for relation, targets in each.items():
            for target in objects(targets if relation != "anchor" else []):
                if url := address(urljoin(answer.final_url, str(target.get("href") or ""))):
                    yield HtmlLink(relation, url, text(target.get("type")))


SCHEMAORG: Final = _is("schemaorg")
DCAT: Final = _is("dcat")
SIGNPOSTING: Final = Platform(_has_items, _signposted)
