"""
DataONE and its member repositories: a package is what a resource map holds, and the index of DataONE lists it.

Source: DataONE, "Solr Query Engine" of the Coordinating Node's API v2; recorded answers of 2018 to 2022.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final
from urllib.parse import quote, unquote, urlsplit

from harvest.discover.platforms.platform import Answers, Landing, Platform, Wanted
from harvest.discover.platforms.shapes import address, checksums, listed, mapping, objects, size, text, verbatim
from harvest.errors import FilesetError
from harvest.model import Manifest, ManifestFile

_HOSTS: Final = ("dataone.org", "arcticdata.io", "knb.ecoinformatics.org", "data.ess-dive.lbl.gov")
"""Where its pages are, subdomains included; others are named by the setting filesets.platform_hosts."""

_NODE: Final = "https://cn.dataone.org"
_VIEWED: Final = re.compile(r"(?:^|/)(?:view|v\d/resolve|v\d/object|v\d/packages/[^/]+)/(.+)$")
_DOI: Final = re.compile(r"/(10\.\d+/.+)$")
_ROWS: Final = 1000
_NAMED: Final = "identifier,formatType,formatId,resourceMap,obsoletedBy"
_MEMBERS: Final = (
    "identifier,formatType,title,size,formatId,fileName,documents,checksum,checksumAlgorithm,keywords,dataUrl,"
    "dateUploaded"
)
_MEDIA_TYPE: Final = re.compile(r"[\w.+-]+/[\w.+-]+")


def _identifier(landing: Landing) -> str | None:
    """The identifier of a page or an object, by the addresses that led to it; by its DOI where no other says it."""
    parts = [part for url in reversed(landing.passed) for part in (urlsplit(url).fragment, urlsplit(url).path)]
    found = next(filter(None, map(_VIEWED.search, parts)), None)
    if found:
        return unquote(found[1]).strip("/")
    found = next(filter(None, map(_DOI.search, map(unquote, parts))), None)
    return f"doi:{found[1]}" if found else None


def _is_of_dataone(landing: Landing) -> bool:
    host = urlsplit(landing.url).hostname or ""
    return any(host == name or host.endswith(f".{name}") for name in _HOSTS)


def _matches(landing: Landing) -> bool:
    return _is_of_dataone(landing) and _identifier(landing) is not None


def _asked(landing: Landing, field: str, value: str, fields: str, start: int) -> str:
    """The query for what has an identifier in a field."""
    quoted = json.dumps(value, ensure_ascii=False)  # its escapes are those of Solr
    node = _NODE if _is_of_dataone(landing) else landing.base
    query = f"{field}:{quote(quoted, safe='')}&fl={fields}&rows={_ROWS}&start={start}&wt=json"
    return f"{node}/cn/v2/query/solr/?q={query}"


def _process(landing: Landing, answers: Answers) -> Wanted | Manifest:
    identifier = _identifier(landing)
    if identifier is None:
        raise FilesetError("platform-scope", f"{landing.url} is no dataset of DataONE", url=landing.url)
    found = _newest(landing, answers, identifier)
    if isinstance(found, Wanted):
        return found
    package = _package(landing, found)
    members = _members(landing, package, answers)
    return members if isinstance(members, Wanted) else _manifest(landing, verbatim(found["identifier"]), members)


def _newest(landing: Landing, answers: Answers, identifier: str) -> dict[str, Any] | Wanted:
    """What the index says of an object, or where the newest version is wanted, of the last that is for everybody."""
    found: dict[str, Any] | None = None
    passed = set[str]()
    newer: str | None = identifier
    while newer is not None and newer not in passed:
        passed.add(newer)
        asked = _asked(landing, "identifier", newer, _NAMED, 0)
        if asked not in answers:
            return Wanted((asked,))
        docs = objects(mapping(answers[asked].json().get("response")).get("docs"))
        if found is not None and not docs:
            return found
        found = _named(docs, newer, asked)
        newer = text(found.get("obsoletedBy")) if landing.latest else None
    assert found is not None
    return found


def _named(docs: list[dict[str, Any]], identifier: str, asked: str) -> dict[str, Any]:
    """
    What an answer of the index says of an object.

    Raises:
        FilesetError: Nothing: platform-404; or of others alone: platform-error.
    """
    if not docs:
        raise FilesetError("platform-404", f"DataONE knows no {identifier}", url=asked)
    for each in docs:
        if each.get("identifier") == identifier:
            return each
    raise FilesetError("platform-error", f"{asked} says nothing of {identifier}", url=asked)


def _package(landing: Landing, named: dict[str, Any]) -> str:
    """
    The resource map of a dataset: of several the one that has its name, else the last.

    Raises:
        FilesetError: The identifier is that of a single file: platform-scope.
    """
    identifier = verbatim(named["identifier"])
    if named.get("formatType") == "RESOURCE":
        return identifier
    maps = [one for one in listed(named.get("resourceMap")) if isinstance(one, str)]
    if named.get("formatType") != "METADATA" or not maps:
        inside = f", such as {maps[-1]}" if maps else ""
        message = f"{identifier} is a single file of DataONE; name the dataset that holds it{inside}"
        raise FilesetError("platform-scope", message, url=landing.url)
    own = f"resource_map_{identifier}"
    return own if own in maps else maps[-1]


def _members(landing: Landing, package: str, answers: Answers) -> list[dict[str, Any]] | Wanted:
    """What a resource map holds, or the next page of it that is not answered yet."""
    members: list[dict[str, Any]] = []
    while True:
        asked = _asked(landing, "resourceMap", package, _MEMBERS, len(members))
        if asked not in answers:
            return Wanted((asked,))
        response = mapping(answers[asked].json().get("response"))
        page = objects(response.get("docs"))
        members += page
        if not page or len(members) >= (size(response.get("numFound")) or 0):
            return members


def _manifest(landing: Landing, identifier: str, members: list[dict[str, Any]]) -> Manifest:
    about = [each for each in members if each.get("formatType") == "METADATA"]
    own = next((each for each in about if each.get("identifier") == identifier), about[0] if about else {})
    doi = identifier.removeprefix("doi:")
    return Manifest(
        "dataone",
        urlsplit(landing.url).hostname or landing.host,
        identifier,
        tuple(map(_file, members)),
        landing.url,
        doi=doi if doi.startswith("10.") else None,
        title=text(own.get("title")),
        released=text(own.get("dateUploaded")),
    )


def _file(member: dict[str, Any]) -> ManifestFile:
    bare = re.sub(r"[/:]+", "_", verbatim(member.get("identifier")))
    kind = _media_type(member)
    sums = checksums(member.get("checksum"), kind=text(member.get("checksumAlgorithm")))
    extra = {name: found for name in ("identifier", "formatId", "formatType") if (found := text(member.get(name)))}
    return ManifestFile(
        verbatim(member.get("fileName")) or (f"{bare}.xml" if kind == "application/xml" else bare),
        size(member.get("size")),
        sums.get("md5"),
        sums.get("sha1"),
        sums.get("sha256"),
        kind,
        extra,
        platform_url=address(member.get("dataUrl")),
    )


def _media_type(member: dict[str, Any]) -> str | None:
    """Of a file by its format: resource maps are RDF/XML, and metadata is XML where its format says nothing else."""
    form, what = text(member.get("formatId")) or "", member.get("formatType")
    if what == "RESOURCE":
        return "application/rdf+xml"
    if _MEDIA_TYPE.fullmatch(form):
        return form
    return "application/xml" if what == "METADATA" and "json" not in form else None


DATAONE: Final = Platform(_matches, _process)
