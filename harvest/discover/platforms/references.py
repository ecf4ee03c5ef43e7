"""
Answers that refer to datasets and are none: what DataCite knows of a DOI, and results of a search of PANGAEA.

Source: DataCite, REST API ("dois") and content negotiation, recorded in 2023; PANGAEA, advanced search, 2020.
"""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import parse_qs, unquote, urlsplit

from harvest.discover.platforms.platform import Answers, Landing, Platform, Wanted
from harvest.discover.platforms.shapes import address, listed, mapping, objects, size, text
from harvest.errors import FilesetError
from harvest.model import Manifest, ManifestFile


def _json(landing: Landing) -> dict[str, Any]:
    """The page as JSON, empty where it is none."""
    if "json" not in (landing.answer.media_type or "") or landing.answer.path is None:
        return {}
    try:
        found: dict[str, Any] = landing.answer.json()
    except FilesetError:
        return {}
    return found


def _of_datacite(landing: Landing) -> dict[str, Any] | None:
    """What DataCite says of a DOI, in its own JSON or in JSON-LD; None where the page is another one."""
    said = _json(landing)
    data = mapping(said.get("data"))
    if data.get("type") == "dois":
        return mapping(data.get("attributes"))
    return said if mapping(said.get("provider")).get("name") == "datacite" else None


def _is_datacite(landing: Landing) -> bool:
    return _of_datacite(landing) is not None


def _refer(landing: Landing, answers: Answers) -> Wanted | Manifest:
    """The manifest of a DOI for which DataCite has the addresses of files; of any other one that it is metadata."""
    said = _of_datacite(landing) or {}
    named = text(said.get("doi")) or text(said.get("@id")) or ""
    doi = named.partition("doi.org/")[2] or named
    written = said.get("contentUrl")
    urls = [url for one in (listed(written) or [written]) if (url := address(one))]
    if not urls:
        at = f"https://doi.org/{doi}" if doi.startswith("10.") else "its DOI"
        message = f"{landing.url} is what DataCite knows of a DOI, and names no files; register the dataset by {at}"
        raise FilesetError("platform-scope", message, url=landing.url)
    titles = objects(said.get("titles")) or [{"title": said.get("name")}]
    creators = objects(said.get("creators")) or objects(said.get("author"))
    rights = next(iter(objects(said.get("rightsList"))), {})
    return Manifest(
        "datacite",
        urlsplit(landing.url).hostname or landing.host,
        doi or landing.url,
        tuple(ManifestFile(_last(url), platform_url=url) for url in urls),
        address(said.get("url")) or landing.url,
        version=text(said.get("version")),
        doi=doi if doi.startswith("10.") else None,
        title=text(titles[0].get("title")),
        creators=tuple(filter(None, (text(each.get("name")) for each in creators))),
        licence=text(rights.get("rightsUri")) or next(filter(None, map(text, listed(said.get("license")))), None),
        released=text(said.get("datePublished")) or text(said.get("publicationYear")),
    )


def _last(url: str) -> str:
    """The last part of an address that names something."""
    parts = urlsplit(url)
    return unquote(parts.path.rstrip("/").rpartition("/")[2]) or parts.netloc


def _found(landing: Landing) -> tuple[int, list[str]] | None:
    """How many datasets a search of PANGAEA found, and some of their DOIs; None where the page is no search."""
    said = _json(landing)
    if "totalCount" in said and isinstance(said.get("results"), list):
        named = [text(each.get("URI")) for each in objects(said.get("results"))]
        return size(said.get("totalCount")) or 0, [each for each in named if each]
    parts = urlsplit(landing.url)
    is_search = parts.hostname in ("pangaea.de", "www.pangaea.de") and "q" in parse_qs(parts.query)
    return (0, []) if is_search else None


def _is_search(landing: Landing) -> bool:
    return _found(landing) is not None


def _searched(landing: Landing, answers: Answers) -> Wanted | Manifest:
    count, named = _found(landing) or (0, [])
    many = f"of {count:,} datasets" if count else "of datasets"
    such = f", such as {' or '.join(named[:2])}" if named else ""
    message = f"{landing.url} is a search {many} of PANGAEA, no dataset; register each by its DOI{such}"
    raise FilesetError("platform-scope", message, url=landing.url)


DATACITE: Final = Platform(_is_datacite, _refer)
PANGAEA: Final = Platform(_is_search, _searched)
