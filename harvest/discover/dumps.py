"""
Dump addresses: which of the things that a void:dataDump names can be downloaded as RDF.

What cannot be RDF is left out with a finding, so that the rest of the dataset is still harvested. What may be RDF is
kept, archives too: washing looks inside.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import urldefrag, urljoin, urlsplit

from pyoxigraph import BlankNode, Literal, NamedNode

from harvest.discover.text import Text
from harvest.model import Finding
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
}
"""What a file with this extension holds instead of RDF."""


@dataclass(frozen=True, slots=True)
class Dump:
    """
    What one void:dataDump comes to.

    Attributes:
        url: Absolute, without a fragment; None when it is left out.
        findings: Why it is left out, or what is odd about it.
    """

    url: str | None
    findings: tuple[Finding, ...] = ()


def read_dump(term: NamedNode | BlankNode | Literal, text: Text) -> Dump:
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
    return Dump(checked.url, (odd, *checked.findings))


def extension(url: str) -> str:
    """The extension of a URL's path, lower case, compression aside; empty when there is none."""
    parts = urlsplit(url).path.rsplit("/", 1)[-1].lower().split(".")
    while len(parts) > 1 and parts[-1] in COMPRESSED:
        parts.pop()
    return parts[-1] if len(parts) > 1 else ""


def _checked(url: str, text: Text, needles: tuple[str, ...]) -> Dump:
    if HASH_URI.fullmatch(url):
        return Dump(url)
    parts = urlsplit(url)  # pyoxigraph and _address let nothing through that it would fail on
    if parts.scheme not in ("http", "https") or not parts.netloc:
        message = f"the dump <{url}> is left out: only http and https addresses are harvested"
        return _left_out(text, "dump-scheme", message, *needles)
    if not parts.query and (not parts.path or parts.path.endswith("/")):
        message = f"the dump <{url}> is left out: it names a directory; list the files in it"
        return _left_out(text, "dump-directory", message, *needles)
    if extension(url) in NOT_RDF:
        message = f"the dump <{url}> is left out: it is {NOT_RDF[extension(url)]}"
        return _left_out(text, "dump-not-rdf", message, *needles)
    if url == urldefrag(text.url).url:
        message = "the description names itself as a dump; it is harvested as one"
        return Dump(url, (text.finding("dump-is-description", message, *needles),))
    return Dump(url)


def _address(written: str, base: str) -> str | None:
    """The URL that a text means: an absolute one, or a relative one that shows it by a slash or an extension."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*:\S+|\S*/\S*|\S+\.[A-Za-z0-9]+", written):
        return None
    try:
        return urldefrag(urljoin(base, written)).url
    except ValueError:  # a bracket without its partner
        return None


def _left_out(text: Text, kind: str, message: str, *needles: str) -> Dump:
    return Dump(None, (text.finding(kind, message, *needles),))
