"""
Dump addresses: which of the things that a void:dataDump names can be downloaded as RDF.

What cannot be RDF is left out with a finding, so that the rest of the dataset is still harvested. What may be RDF is
kept, archives too: washing looks inside.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urldefrag, urljoin, urlsplit

from pyoxigraph import BlankNode, Literal, NamedNode

from harvest.discover.text import DescriptionText
from harvest.model import Coverage, Finding
from sparql.rdf import HASH_URI

COMPRESSED: Final = frozenset({"gz", "bz2", "xz", "zst", "zstd"})
"""Extensions that wrap another one."""

NOT_RDF: Final[dict[str, str]] = {
    **dict.fromkeys(("csv", "tsv", "tab"), "a table"),
    **dict.fromkeys(("xls", "xlsx", "ods"), "a spreadsheet"),
    "json": "JSON; if it is JSON-LD, publish it as .jsonld",
    **dict.fromkeys(("jsonl", "ndjson"), "a list of JSON lines"),
    "hdt": "HDT, a binary format that is not read here; publish an N-Triples dump beside it",
    **dict.fromkeys(("html", "htm", "xhtml"), "a page, not a dump"),
    **dict.fromkeys(("md", "pdf", "doc", "docx", "odt"), "a text for people"),
    **dict.fromkeys(("geojson", "gml", "gpkg", "kml", "kmz", "shp", "tif", "tiff"), "a map format"),
    **dict.fromkeys(("gif", "jpg", "jpeg", "png", "svg"), "a picture"),
    **dict.fromkeys(("avro", "db", "mdb", "parquet", "sql", "sqlite"), "a database format"),
    **dict.fromkeys(("yaml", "yml"), "YAML"),
    **dict.fromkeys(("idx", "index"), "an index, not the data"),
    **dict.fromkeys(("md5", "sha1", "sha256", "sha512", "asc", "sig"), "a checksum or signature of another file"),
}
"""What a file with this extension holds instead of RDF."""

_INDEX: Final = re.compile(r"\.hdt\.index\b[^/]*$", re.IGNORECASE)
"""What HDT programs write beside a file, such as `a.hdt.index.v1-1`."""


@dataclass(frozen=True, slots=True)
class DescribedDump:
    """
    What one void:dataDump comes to.

    Attributes:
        url: Absolute, without a fragment; None when it is left out.
        findings: Why it is left out, or what is odd about it.
    """

    url: str | None
    findings: tuple[Finding, ...] = ()


def read_dump(term: NamedNode | BlankNode | Literal, text: DescriptionText) -> DescribedDump:
    """The dump that the object of a void:dataDump names."""
    if isinstance(term, BlankNode):
        return _left_out(text, "dump-unusable", "a void:dataDump is a blank node; it must be the dump's address")
    if isinstance(term, NamedNode):
        return _checked(urldefrag(term.value).url, text, (f"<{term.value}>", f'"{term.value}"'))
    written = term.value.strip()
    needles = (f'"{term.value}"', f"'{term.value}'", f">{term.value}<")
    url = _address(written, text.url)
    if url is None:
        message = f"a void:dataDump is the text {written[:200]!r}; it must be the dump's address"
        return _left_out(text, "dump-unusable", message, *needles)
    odd = text.finding("dump-literal", f"a void:dataDump is text; it was read as the address <{url}>", *needles)
    checked = _checked(url, text, needles)
    return DescribedDump(checked.url, (odd, *checked.findings))


def extension(url: str) -> str:
    """The extension of a URL's path, lower case, compression aside; empty when there is none."""
    parts = urlsplit(url).path.rsplit("/", 1)[-1].lower().split(".")
    while len(parts) > 1 and parts[-1] in COMPRESSED:
        parts.pop()
    return parts[-1] if len(parts) > 1 else ""


def is_change_address(url: str) -> bool:
    """Whether an address is that of an N-Quads unified diff, by its extension."""
    return extension(url) == "nqud"


def coverage_of(dumps: Sequence[str], stated: Coverage) -> Coverage:
    """What dumps hold: what is stated, but changes are never all of a dataset."""
    return Coverage.PARTIAL if dumps and all(map(is_change_address, dumps)) else stated


def unusable(url: str) -> tuple[str, str] | None:
    """Kind and reason for which nothing at an address can be harvested as a dump; None where something may be."""
    if HASH_URI.fullmatch(url):
        return None
    parts = urlsplit(url)  # pyoxigraph, _address and the registry let nothing through that it would fail on
    if parts.scheme not in ("http", "https") or not parts.netloc:
        return "dump-scheme", "only http and https addresses are harvested"
    if not parts.query and (not parts.path or parts.path.endswith("/")):
        return "dump-directory", "it names a directory; list the files in it"
    if _INDEX.search(parts.path):
        return "dump-not-rdf", "it is an index of a binary file"
    if extension(url) in NOT_RDF:
        return "dump-not-rdf", f"it is {NOT_RDF[extension(url)]}"
    return None


def _checked(url: str, text: DescriptionText, needles: tuple[str, ...]) -> DescribedDump:
    if HASH_URI.fullmatch(url):
        return DescribedDump(url)
    if found := unusable(url):
        kind, reason = found
        return _left_out(text, kind, f"the dump <{url}> is left out: {reason}", *needles)
    if url == urldefrag(text.url).url:
        message = "the description names itself as a dump; it is harvested as one"
        return DescribedDump(url, (text.finding("dump-is-description", message, *needles),))
    return DescribedDump(url)


def _address(written: str, base: str) -> str | None:
    """The URL that a text means: an absolute one, or a relative one that shows it by a slash or an extension."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*:\S+|\S*/\S*|\S+\.[A-Za-z0-9]+", written):
        return None
    try:
        return urldefrag(urljoin(base, written)).url
    except ValueError:  # a bracket without its partner
        return None


def _left_out(text: DescriptionText, kind: str, message: str, *needles: str) -> DescribedDump:
    return DescribedDump(None, (text.finding(kind, message, *needles),))
