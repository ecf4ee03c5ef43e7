"""
Items on archive.org: the original files, not those that were derived from them.

Source: archive.org, "Item metadata API"; fileset ingest NOTES (`source=original`).
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote, urlsplit

from harvest.discover.platforms.platform import Answers, Landing, Platform, Wanted
from harvest.discover.platforms.shapes import checksums, listed, mapping, objects, size, text, verbatim
from harvest.errors import FilesetError
from harvest.model import Manifest, ManifestFile

_ITEM: Final = re.compile(r"/(details|download|metadata)/([A-Za-z0-9][\w.-]*)(/.+)?$")


def _matches(landing: Landing) -> bool:
    return landing.host in ("archive.org", "www.archive.org") and bool(_ITEM.search(urlsplit(landing.url).path))


def _process(landing: Landing, answers: Answers) -> Wanted | Manifest:
    found = _ITEM.search(urlsplit(landing.url).path)
    if found is None or (found[1] == "download" and found[3]):
        raise FilesetError("platform-scope", f"{landing.url} is no item of archive.org", url=landing.url)
    item = found[2]
    asked = f"{landing.base}/metadata/{item}"
    if asked not in answers:
        return Wanted((asked,))
    said = answers[asked].json()
    if not said:
        raise FilesetError("platform-404", f"archive.org has no item {item}", url=landing.url)
    about = mapping(said.get("metadata"))
    if said.get("is_dark") or about.get("access-restricted-item") == "true":
        raise FilesetError("platform-restricted", f"the item {item} is not for everybody", url=landing.url)
    files = [each for each in objects(said.get("files")) if each.get("source") == "original"]
    names = about.get("creator")
    titles = listed(about.get("title")) or [about.get("title")]
    return Manifest(
        "archiveorg",
        urlsplit(landing.url).hostname or landing.host,
        item,
        tuple(_file(landing, item, each) for each in files),
        f"{landing.base}/details/{item}",
        title=text(titles[0]),
        creators=tuple(filter(None, map(text, names if isinstance(names, list) else [names]))),
        licence=text(about.get("licenseurl")) or text(about.get("rights")),
        released=text(about.get("publicdate")),
        description=text(about.get("description")),
        archiveorg_item_name=item,
    )


def _file(landing: Landing, item: str, file: dict[str, object]) -> ManifestFile:
    name = verbatim(file.get("name"))
    sums = checksums(file.get("md5"), file.get("sha1"))
    url = None if file.get("private") == "true" else f"{landing.base}/download/{item}/{quote(name)}"
    extra = {"format": file["format"]} if file.get("format") else {}
    return ManifestFile(name, size(file.get("size")), sums.get("md5"), sums.get("sha1"), extra=extra, platform_url=url)


ARCHIVEORG: Final = Platform(_matches, _process)
