"""
Figshare and the repositories that run on it.

Source: docs.figshare.com, API v2, "Public article details" and "Public article version details".
"""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from harvest.discover.platforms.platform import Answers, Landing, Platform, Wanted
from harvest.discover.platforms.shapes import address, checksums, mapping, objects, size, text, verbatim
from harvest.errors import FilesetError
from harvest.model import Manifest, ManifestFile

_ARTICLE: Final = re.compile(r"/articles/(?:[^/]+/)*?(\d+)(?:/(\d+))?/?$")
_DOI: Final = re.compile(r"10\.\d+/(?:\w+\.)*figshare\.(\d+)(?:\.v(\d+))?$", re.IGNORECASE)


def _named(landing: Landing) -> tuple[str | None, str | None]:
    """Number and version of an article in the addresses of a landing page, the more exact one first."""
    paths = [unquote(urlsplit(url).path) for url in reversed(landing.passed)]
    found = [match for path in paths if (match := _DOI.search(path) or _ARTICLE.search(path))]
    best = next((match for match in found if match[2]), found[0] if found else None)
    return (best[1], best[2]) if best else (None, None)


def _is_figshare(landing: Landing) -> bool:
    host = urlsplit(landing.url).hostname or ""
    return (host == "figshare.com" or host.endswith(".figshare.com")) and _named(landing)[0] is not None


def _process(landing: Landing, answers: Answers) -> Wanted | Manifest:
    number, version = _named(landing)
    if number is None:
        raise FilesetError("platform-scope", f"{landing.url} is no article of Figshare", url=landing.url)
    if version is None and not landing.latest:
        message = f"{landing.answer.url} stands for all versions of an article; add the number of one, such as /1"
        raise FilesetError("platform-scope", message, url=landing.url)
    host = urlsplit(landing.url).hostname or ""
    api = "https://api.figshare.com" if host.endswith("figshare.com") else landing.base
    asked = f"{api}/v2/articles/{number}"
    if not landing.latest:
        asked += f"/versions/{version}"
    if asked not in answers:
        return Wanted((asked,))
    article = answers[asked].json()
    if article.get("is_embargoed") or (article.get("is_confidential") and not article.get("files")):
        until = text(article.get("embargo_date"))
        message = f"{landing.url} is under embargo{f' until {until}' if until else ''}"
        raise FilesetError("platform-restricted", message, url=landing.url)
    return _manifest(landing, article, number)


def _manifest(landing: Landing, article: dict[str, Any], number: str) -> Manifest:
    folders = mapping(article.get("folder_structure"))
    licence = mapping(article.get("license"))
    page = address(article.get("url_public_html")) or address(article.get("figshare_url"))
    return Manifest(
        "figshare",
        urlsplit(landing.url).hostname or landing.host,
        text(article.get("id")) or number,
        tuple(_file(landing, entry, folders) for entry in objects(article.get("files"))),
        page or landing.url,
        version=text(article.get("version")),
        doi=text(article.get("doi")),
        title=text(article.get("title")),
        creators=tuple(filter(None, (text(one.get("full_name")) for one in objects(article.get("authors"))))),
        licence=text(licence.get("url")) or text(licence.get("name")),
        released=text(article.get("published_date")),
        description=text(article.get("description")),
    )


def _file(landing: Landing, entry: dict[str, Any], folders: dict[str, Any]) -> ManifestFile:
    number, name = text(entry.get("id")), verbatim(entry.get("name"))
    folder = (text(folders.get(number or "")) or "").strip("/")
    figshare = (urlsplit(landing.url).hostname or "").endswith("figshare.com")
    downloads = "https://ndownloader.figshare.com" if figshare else f"{landing.base}/ndownloader"
    extra = {"is_link_only": True} if entry.get("is_link_only") else {}
    return ManifestFile(
        f"{folder}/{name}" if folder else name,
        size(entry.get("size")),
        (checksums(entry.get("computed_md5")) or checksums(entry.get("supplied_md5"))).get("md5"),
        mimetype=text(entry.get("mimetype")),
        extra=extra,
        platform_url=address(entry.get("download_url")) or (f"{downloads}/files/{number}" if number else None),
    )


FIGSHARE: Final = Platform(_is_figshare, _process)
