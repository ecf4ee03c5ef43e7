"""
Dataverse, on any host: a landing page has a `persistentId` in its address.

Of a table that was ingested the original is taken (`format=original`): the checksum that the API gives is of the
tab-separated form that Dataverse made of it, and is kept in `extra`.

Source: Dataverse native API, "Get JSON Representation of a Dataset"; data access API, "Basic File Access".
"""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import parse_qs, quote, urlsplit

from harvest.discover.platforms.platform import Answers, Landing, Platform, Wanted
from harvest.discover.platforms.shapes import checksums, listed, mapping, objects, size, text, verbatim
from harvest.errors import FilesetError
from harvest.model import Manifest, ManifestFile

_SCHEMES: Final = ("doi:", "hdl:", "ark:", "perma:")


def _query(landing: Landing, name: str) -> str | None:
    """The last value that a parameter has in the addresses of a landing page."""
    found = (parse_qs(urlsplit(url).query).get(name, [None])[0] for url in reversed(landing.passed))
    return next(filter(None, found), None)


def _matches(landing: Landing) -> bool:
    return (_query(landing, "persistentId") or "").lower().startswith(_SCHEMES)


def _process(landing: Landing, answers: Answers) -> Wanted | Manifest:
    pid = _query(landing, "persistentId")
    if pid is None:
        raise FilesetError("platform-scope", f"{landing.url} has no persistentId", url=landing.url)
    if any(urlsplit(url).path.endswith("/file.xhtml") for url in landing.passed):
        message = f"{landing.answer.url} is a single file of a dataset; name the dataset"
        raise FilesetError("platform-scope", message, url=landing.url)
    version = None if landing.latest else _query(landing, "version")
    part = f"/versions/{quote(version, safe='.:')}" if version else ""
    asked = f"{landing.base}/api/datasets/:persistentId{part}?persistentId={quote(pid, safe=':/')}"
    if asked not in answers:
        return Wanted((asked,))
    said = answers[asked].json()
    data = mapping(said.get("data")) or said
    return _manifest(landing, mapping(data.get("latestVersion")) or data, data, pid)


def _manifest(landing: Landing, version: dict[str, Any], data: dict[str, Any], pid: str) -> Manifest:
    entries = objects(version.get("files"))
    if entries and all(entry.get("restricted") for entry in entries):
        raise FilesetError("platform-restricted", f"{landing.url}: all files are restricted", url=landing.url)
    fields = _fields(version)
    licence = version.get("license")
    numbers = [text(version.get(name)) for name in ("versionNumber", "versionMinorNumber")]
    return Manifest(
        "dataverse",
        urlsplit(landing.url).hostname or landing.host,
        pid,
        tuple(_file(landing, entry) for entry in entries),
        text(data.get("persistentUrl")) or landing.url,
        version=".".join(number for number in numbers if number) or None,
        doi=pid[4:] if pid.lower().startswith("doi:") else None,
        title=text(fields.get("title")),
        creators=tuple(filter(None, (_value(one, "authorName") for one in objects(fields.get("author"))))),
        licence=text(mapping(licence).get("uri")) or (text(licence) if licence != "NONE" else None),
        released=text(version.get("releaseTime")) or text(data.get("publicationDate")),
        description=next((_value(one, "dsDescriptionValue") for one in objects(fields.get("dsDescription"))), None),
        web_bundle_url=f"{landing.base}/api/access/dataset/:persistentId/?persistentId={quote(pid, safe=':/')}",
    )


def _file(landing: Landing, entry: dict[str, Any]) -> ManifestFile:
    file = mapping(entry.get("dataFile")) or mapping(entry.get("datafile"))
    said = mapping(file.get("checksum"))
    sums = checksums(said.get("value"), kind=text(said.get("type"))) or checksums(file.get("md5"), kind="md5")
    original = verbatim(file.get("originalFileName"))
    names = (
        original,
        *(verbatim(said.get(key)) for said, key in ((entry, "label"), (file, "name"), (file, "filename"))),
    )
    name = next(filter(None, names), "")
    folder = (text(entry.get("directoryLabel")) or "").strip("/")
    number = text(file.get("id"))
    url = f"{landing.base}/api/access/datafile/{number}" if number and not entry.get("restricted") else None
    extra: dict[str, Any] = {"persistentId": pid} if (pid := text(file.get("persistentId"))) else {}
    if entry.get("restricted"):
        extra["restricted"] = True
    length, mimetype = size(file.get("filesize")), text(file.get("contentType"))
    if original or "originalFileFormat" in file:
        extra["ingested"] = {"filename": file.get("filename"), "size": length, "mimetype": mimetype} | sums
        url, sums = url and f"{url}?format=original", {}
        length, mimetype = size(file.get("originalFileSize")), text(file.get("originalFileFormat"))
    digests = (sums.get("md5"), sums.get("sha1"), sums.get("sha256"))
    path = f"{folder}/{name}" if folder else name
    return ManifestFile(path, length, *digests, mimetype, extra, platform_url=url)


def _fields(version: dict[str, Any]) -> dict[str, Any]:
    citation = mapping(mapping(version.get("metadataBlocks")).get("citation"))
    return {str(one.get("typeName")): one.get("value") for one in listed(citation.get("fields")) if mapping(one)}


def _value(compound: dict[str, Any], name: str) -> str | None:
    return text(mapping(compound.get(name)).get("value"))


DATAVERSE: Final = Platform(_matches, _process)
