"""
Zenodo, and InvenioRDM, on which it runs since October 2023.

A record has had its files as a list with `key` (until 2023), with `filename` and `links.download` (for some weeks after
the move), or not at all, with a list of its own at `/files`; all of these are read.

Source: developers.zenodo.org, "Records"; InvenioRDM, REST API, "Drafts and records".
"""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from harvest.discover.platforms.platform import Answers, Landing, Platform, Wanted
from harvest.discover.platforms.shapes import address, checksums, mapping, objects, segment, size, text, verbatim
from harvest.errors import FilesetError
from harvest.model import Manifest, ManifestFile

_HOSTS: Final = frozenset({"zenodo.org", "www.zenodo.org", "sandbox.zenodo.org"})
_RECORD: Final = re.compile(r"/(?:api/)?(?:records?|deposit)/([A-Za-z0-9][\w-]*)(?:[/?#]|$)")
_DOI: Final = re.compile(r"10\.\d+/zenodo\.(\d+)$", re.IGNORECASE)
_CLOSED: Final = frozenset({"restricted", "closed", "embargoed"})


def _id(url: str) -> str | None:
    """The number of a record in its address or in its DOI."""
    path = unquote(urlsplit(url).path)
    found = _DOI.search(path) or _RECORD.search(path)
    return found[1] if found else None


def _is_zenodo(landing: Landing) -> bool:
    return landing.host in _HOSTS and any(map(_id, landing.passed))


def _is_invenio(landing: Landing) -> bool:
    """Whether a page has the address of a record and says what it is made with."""
    return bool(_RECORD.search(urlsplit(landing.url).path)) and "invenio" in landing.answer.text().lower()


def _process(landing: Landing, answers: Answers, name: str) -> Wanted | Manifest:
    if landing.answer.status == 410:
        landing.answer.json()
    number = next((found for url in reversed(landing.passed) if (found := _id(url))), None)
    if number is None:
        raise FilesetError("platform-scope", f"{landing.url} is no record of {name}", url=landing.url)
    asked = f"{landing.base}/api/records/{number}"
    if asked not in answers:
        return Wanted((asked,))
    record = answers[asked].json()
    _check_scope(landing, record, number)
    if landing.latest and not _is_latest(record):
        newest = address(mapping(record.get("links")).get("latest")) or f"{asked}/versions/latest"
        if newest not in answers:
            return Wanted((newest,))
        asked, record = newest, answers[newest].json()
    _check_access(landing, record)
    return _with_files(landing, answers, record, name)


def _with_files(landing: Landing, answers: Answers, record: dict[str, Any], name: str) -> Wanted | Manifest:
    """The manifest of a record, its files from a list of their own where the record does not have them."""
    found = record.get("files")
    entries = objects(found) if isinstance(found, list) else []
    if not entries:
        at = f"{landing.base}/api/records/{_own_id(record)}/files"
        at = address(mapping(record.get("links")).get("files")) or at
        for _ in range(len(answers) + 1):
            if at not in answers:
                return Wanted((at,))
            listing = answers[at].json()
            entries += objects(listing.get("entries"))
            further = address(mapping(listing.get("links")).get("next"))
            if further is None or further == at:
                break
            at = further
    files = tuple(_file(landing, record, entry) for entry in entries if not mapping(entry.get("access")).get("hidden"))
    return _manifest(landing, record, name, files)


def _file(landing: Landing, record: dict[str, Any], entry: dict[str, Any]) -> ManifestFile:
    path = verbatim(entry.get("key")) or verbatim(entry.get("filename"))
    links = mapping(entry.get("links"))
    content = f"{landing.base}/api/records/{_own_id(record)}/files/{segment(path)}/content"
    legacy = links.get("self") if "bucket" in entry else None
    bytes_at = address(links.get("content") or links.get("download") or legacy)
    if bytes_at is None:
        mine = address(links.get("self"))
        bytes_at = mine if mine and mine.endswith("/content") else content
    if not links and mapping(record.get("links")).get("archive"):
        bytes_at = None  # handed over as one archive alone
    said = "size" if "size" in entry else "filesize"
    sums = checksums(entry.get("checksum"), kind="md5")
    return ManifestFile(
        path,
        size(entry.get(said)),
        sums.get("md5"),
        sums.get("sha1"),
        sums.get("sha256"),
        text(entry.get("mimetype")),
        platform_url=bytes_at,
    )


def _manifest(landing: Landing, record: dict[str, Any], name: str, files: tuple[ManifestFile, ...]) -> Manifest:
    said, links = mapping(record.get("metadata")), mapping(record.get("links"))
    number = _own_id(record)
    licence = mapping(said.get("license")) or next(iter(objects(said.get("rights"))), {})
    page = links.get("self_html") or links.get("html")
    return Manifest(
        name,
        urlsplit(landing.url).hostname or landing.host,
        number,
        files,
        address(page) or landing.url,
        version=text(said.get("version")),
        doi=text(record.get("doi")) or text(mapping(mapping(record.get("pids")).get("doi")).get("identifier")),
        title=text(said.get("title")) or text(record.get("title")),
        creators=tuple(filter(None, map(_creator, objects(said.get("creators"))))),
        licence=text(mapping(licence.get("props")).get("url")) or text(licence.get("id")),
        released=text(said.get("publication_date")),
        description=text(said.get("description")),
        web_bundle_url=address(links.get("archive")),
    )


def _creator(creator: dict[str, Any]) -> str | None:
    return text(creator.get("name")) or text(mapping(creator.get("person_or_org")).get("name"))


def _own_id(record: dict[str, Any]) -> str:
    found = text(record.get("id")) or text(record.get("recid"))
    if found is None:
        raise FilesetError("platform-error", "the record has no id")
    return found


def _is_latest(record: dict[str, Any]) -> bool:
    """Whether no newer version of a record is known."""
    versions = mapping(record.get("versions"))
    if "is_latest" in versions:
        return bool(versions["is_latest"])
    relations = objects(mapping(mapping(record.get("metadata")).get("relations")).get("version"))
    return all(relation.get("is_last") is not False for relation in relations)


def _check_scope(landing: Landing, record: dict[str, Any], number: str) -> None:
    """
    Return unless what was asked for stands for all versions of a record.

    Raises:
        FilesetError: It does: platform-scope.
    """
    parent = text(record.get("conceptrecid")) or text(mapping(record.get("parent")).get("id"))
    asked = {found for url in landing.passed if (found := _id(url))} | {number}
    if parent in asked and parent != _own_id(record):
        message = (
            f"{landing.answer.url} stands for all versions of a dataset; name one of them, such as {_own_id(record)}"
        )
        raise FilesetError("platform-scope", message, url=landing.url)


def _check_access(landing: Landing, record: dict[str, Any]) -> None:
    """
    Return when everybody may have the files of a record.

    Raises:
        FilesetError: It is restricted, embargoed or deleted: platform-restricted.
    """
    access = mapping(record.get("access"))
    said = (mapping(record.get("metadata")).get("access_right"), access.get("files"), access.get("record"))
    closed = next((each for each in said if each in _CLOSED), None)
    if closed or mapping(record.get("tombstone")):
        message = f"{landing.url}: the files of the record are {closed or 'deleted'}"
        raise FilesetError("platform-restricted", message, url=landing.url)


def _process_zenodo(landing: Landing, answers: Answers) -> Wanted | Manifest:
    return _process(landing, answers, "zenodo")


def _process_invenio(landing: Landing, answers: Answers) -> Wanted | Manifest:
    return _process(landing, answers, "inveniordm")


ZENODO: Final = Platform(_is_zenodo, _process_zenodo)
INVENIORDM: Final = Platform(_is_invenio, _process_invenio)
