"""
Dryad: the newest version of a dataset that everybody may have, and its files.

Source: datadryad.org, API v2, "List the versions of a dataset" and "List the files of a version" (HAL).
"""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import quote, unquote, urljoin, urlsplit

from harvest.discover.platforms.platform import Answers, Landing, Platform, Wanted
from harvest.discover.platforms.shapes import address, checksums, mapping, objects, size, text, verbatim
from harvest.errors import FilesetError
from harvest.model import Manifest, ManifestFile

_DATASET: Final = re.compile(r"(?:/dataset/doi:|/datasets/doi:|doi\.org/|/)(10\.\d+/[\w.-]+)", re.IGNORECASE)


def _doi(landing: Landing) -> str | None:
    """The DOI of a dataset in the addresses of its landing page."""
    found = (_DATASET.search(unquote(urlsplit(url).path)) for url in reversed(landing.passed))
    return next((match[1] for match in found if match), None)


def _is_dryad(landing: Landing) -> bool:
    return landing.host in ("datadryad.org", "www.datadryad.org") and _doi(landing) is not None


def _process(landing: Landing, answers: Answers) -> Wanted | Manifest:
    doi = _doi(landing)
    if doi is None:
        raise FilesetError("platform-scope", f"{landing.url} is no dataset of Dryad", url=landing.url)
    asked = f"{landing.base}/api/v2/datasets/{quote(f'doi:{doi}', safe='')}/versions"
    versions = _all(asked, "stash:versions", landing, answers)
    if isinstance(versions, Wanted):
        return versions
    public = [each for each in versions if each.get("visibility", "public") == "public"]
    if not public:
        message = f"{landing.url}: no version of the dataset is for everybody"
        raise FilesetError("platform-restricted", message, url=landing.url)
    version = max(public, key=lambda each: size(each.get("versionNumber")) or 0)
    listing = _link(version, "stash:files", landing)
    if listing is None:
        raise FilesetError("platform-error", f"{asked}: a version without a list of files", url=asked)
    files = _all(listing, "stash:files", landing, answers)
    return files if isinstance(files, Wanted) else _manifest(landing, doi, version, files)


def _all(url: str, name: str, landing: Landing, answers: Answers) -> list[dict[str, Any]] | Wanted:
    """What a list holds on all its pages, or the page that is not answered yet."""
    found: list[dict[str, Any]] = []
    at: str | None = url
    passed = set[str]()
    while at is not None and at not in passed:
        if at not in answers:
            return Wanted((at,))
        passed.add(at)
        said = answers[at].json()
        found += objects(mapping(said.get("_embedded")).get(name))
        at = _link(said, "next", landing)
    return found


def _link(said: dict[str, Any], name: str, landing: Landing) -> str | None:
    """Where a link leads; Dryad writes paths."""
    written = text(mapping(mapping(said.get("_links")).get(name)).get("href"))
    return address(urljoin(landing.base, written)) if written else None


def _manifest(landing: Landing, doi: str, version: dict[str, Any], files: list[dict[str, Any]]) -> Manifest:
    names = (
        " ".join(filter(None, (text(one.get("firstName")), text(one.get("lastName")))))
        for one in objects(version.get("authors"))
    )
    return Manifest(
        "dryad",
        urlsplit(landing.url).hostname or landing.host,
        doi,
        tuple(_file(landing, each) for each in files if each.get("status") != "deleted"),
        landing.url,
        version=text(version.get("versionNumber")),
        doi=doi,
        title=text(version.get("title")),
        creators=tuple(filter(None, names)),
        licence=text(version.get("license")),
        released=text(version.get("publicationDate")),
        description=text(version.get("abstract")),
        web_bundle_url=_link(version, "stash:download", landing),
    )


def _file(landing: Landing, entry: dict[str, Any]) -> ManifestFile:
    sums = checksums(entry.get("digest"), kind=text(entry.get("digestType")))
    return ManifestFile(
        verbatim(entry.get("path")),
        size(entry.get("size")),
        sums.get("md5"),
        sums.get("sha1"),
        sums.get("sha256"),
        text(entry.get("mimeType")),
        platform_url=_link(entry, "stash:download", landing),
    )


DRYAD: Final = Platform(_is_dryad, _process)
