"""
CKAN: a dataset is a package, its files are resources.

Source: docs.ckan.org, API guide, `package_show`.
"""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import quote, unquote, urljoin, urlsplit

from harvest.discover.distributions import by_word
from harvest.discover.platforms.platform import Answers, Landing, Platform, Wanted
from harvest.discover.platforms.shapes import address, checksums, mapping, objects, size, text, verbatim
from harvest.errors import FilesetError
from harvest.model import Manifest, ManifestFile

_PACKAGE: Final = re.compile(r"/dataset/([^/]+)(/resource/[^/]+)?/?$")
_GENERATOR: Final = re.compile(r"<meta\s+name=[\"']generator[\"']\s+content=[\"']ckan\b", re.IGNORECASE)


def _matches(landing: Landing) -> bool:
    on_page = _PACKAGE.search(urlsplit(landing.url).path)
    return bool(on_page) and bool(_GENERATOR.search(landing.answer.text()))


def _process(landing: Landing, answers: Answers) -> Wanted | Manifest:
    found = _PACKAGE.search(urlsplit(landing.url).path)
    if found is None or found[2]:
        message = f"{landing.url} is no dataset of CKAN, or a single resource of one; name the dataset"
        raise FilesetError("platform-scope", message, url=landing.url)
    asked = f"{landing.base}/api/3/action/package_show?id={quote(unquote(found[1]), safe='')}"
    if asked not in answers:
        return Wanted((asked,))
    said = answers[asked].json()
    if not said.get("success"):
        error = mapping(said.get("error"))
        status = "platform-404" if "Not Found" in str(error.get("__type")) else "platform-restricted"
        raise FilesetError(status, f"{asked}: {text(error.get('message')) or 'no success'}", url=asked)
    package = mapping(said.get("result"))
    if package.get("private") or package.get("state") == "deleted":
        raise FilesetError("platform-restricted", f"{landing.url} is private or deleted", url=landing.url)
    return Manifest(
        "ckan",
        urlsplit(landing.url).hostname or landing.host,
        text(package.get("id")) or found[1],
        tuple(_file(landing, each) for each in objects(package.get("resources")) if each.get("state") != "deleted"),
        landing.url,
        version=text(package.get("version")),
        title=text(package.get("title")) or text(package.get("name")),
        creators=tuple(filter(None, [text(package.get("author")) or text(package.get("maintainer"))])),
        licence=text(package.get("license_url")) or text(package.get("license_title")),
        released=text(package.get("metadata_created")),
        description=text(package.get("notes")),
    )


def _file(landing: Landing, resource: dict[str, Any]) -> ManifestFile:
    url = address(urljoin(landing.url, text(resource.get("url")) or ""))
    last = unquote(urlsplit(url or "").path.rstrip("/").rpartition("/")[2])
    written = text(resource.get("format"))
    form = by_word(written) if written else None
    sums = checksums(resource.get("hash"))
    extra = {name: found for name in ("id", "format", "url_type") if (found := text(resource.get(name)))}
    return ManifestFile(
        verbatim(resource.get("name")) or last,
        size(resource.get("size")),
        sums.get("md5"),
        sums.get("sha1"),
        sums.get("sha256"),
        text(resource.get("mimetype")) or (form.media_types[0] if form else None),
        extra,
        platform_url=url,
    )


CKAN: Final = Platform(_matches, _process)
