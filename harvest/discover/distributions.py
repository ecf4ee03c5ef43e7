"""
Distributions of DCAT: where each is, which format it is said to be in, and its checksum.

A format is said by dcat:mediaType or dct:format: a media type, one of IANA's addresses for it, a name of the European
file type vocabulary, an IRI of the W3C's formats, a word, or a node with a label; else by the extension of the address.

Source: DCAT 3, sections 6.8.9 to 6.8.17; SPDX 2.2, checksum.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import urldefrag, urlsplit

from pyoxigraph import Literal

from harvest.discover.dumps import NOT_RDF, extension, unusable
from harvest.discover.parsing import Node, Term
from harvest.discover.reading import DescriptionReading
from sparql.rdf import (
    DCAT,
    DCTERMS,
    JSON_LD,
    N3,
    N_QUADS,
    N_TRIPLES,
    RDF,
    RDF_XML,
    RDFS,
    SPDX,
    TRIG,
    TURTLE,
    Format,
    by_extension,
    by_media_type,
)

_WORDS: Final = {
    "n-triples": N_TRIPLES,
    "ntriples": N_TRIPLES,
    "nt": N_TRIPLES,
    "n-quads": N_QUADS,
    "nquads": N_QUADS,
    "nq": N_QUADS,
    "turtle": TURTLE,
    "ttl": TURTLE,
    "trig": TRIG,
    "rdf": RDF_XML,
    "rdf/xml": RDF_XML,
    "rdf-xml": RDF_XML,
    "rdfxml": RDF_XML,
    "owl": RDF_XML,
    "json-ld": JSON_LD,
    "jsonld": JSON_LD,
    "n3": N3,
}
"""Formats by the words that stand for them in catalogues and at the ends of vocabularies' IRIs, in lower case."""

_WRAPPERS: Final = frozenset(
    {"application/zip", "application/gzip", "application/x-gzip", "application/octet-stream", ""}
)
"""Media types that do not say what is inside."""

_GENERIC: Final = frozenset({"application/json", "application/xml", "text/xml", "text/plain"})
"""Media types that RDF is served under by name, and other things as well."""

_DIGITS: Final = {"md5": 32, "sha1": 40, "sha256": 64, "sha384": 96, "sha512": 128}
"""Hexadecimal digits of a checksum, by the name of its algorithm in `hashlib`."""

_MEDIA_TYPE: Final = re.compile(r"(?:https?://www\.iana\.org/assignments/media-types/)?([\w.+-]+/[\w.+-]+)(?:\s*;.*)?")


@dataclass(frozen=True, slots=True)
class Distribution:
    """
    A distribution with an address.

    Attributes:
        node: That describes it.
        url: dcat:downloadURL, else dcat:accessURL.
        form: What RDF it is said to be, or None.
        media_type: Of that form, where it is said plainly and not packed; or None.
        said: What it is said to be in place of RDF, for people.
        is_other: Whether it cannot be harvested whatever its format.
        hashes: As (name in `hashlib`, lower-case hex digits).
    """

    node: Node
    url: str
    form: Format | None
    media_type: str | None
    said: str
    is_other: bool
    hashes: tuple[tuple[str, str], ...]


def readable(reading: DescriptionReading, node: Node) -> Iterator[Distribution]:
    """The files of a distribution: all its download addresses, else its access addresses where they are RDF."""
    listed = _addresses(reading, node, DCAT + "downloadURL")
    access = [] if listed else _addresses(reading, node, DCAT + "accessURL")
    words = [*_said(reading, node, DCAT + "mediaType"), *_said(reading, node, DCTERMS + "format")]
    packed = bool(reading.objects(node, DCAT + "compressFormat") or reading.objects(node, DCAT + "packageFormat"))
    for url in (*listed, *access):
        form = _form(words, url)
        found = None if form else unusable(url)
        if form is not None and extension(url) not in NOT_RDF:
            found = unusable(url)
        plain = None if form is None or packed else _plain(words, form)
        said = words[0] if words else (found[1] if found else "")
        hashes = tuple(_hashes(reading, node)) if len(listed) + len(access) == 1 else ()
        yield Distribution(node, url, form, plain, said, found is not None, hashes)


def _addresses(reading: DescriptionReading, node: Node, predicate: str) -> list[str]:
    """Usable addresses; many catalogues write them as text."""
    found = []
    for term in reading.objects(node, predicate):
        url = urldefrag(term.value.strip()).url
        if urlsplit(url).scheme in ("http", "https") and urlsplit(url).netloc and " " not in url:
            found.append(url)
    return list(dict.fromkeys(found))


def _said(reading: DescriptionReading, node: Node, predicate: str) -> Iterator[str]:
    """What is said of a format: literals, IRIs, and of nodes their labels and values."""
    for term in reading.objects(node, predicate):
        yield term.value.strip()
        if not isinstance(term, Literal):
            yield from (label.value.strip() for label in _labels(reading, term))


def _labels(reading: DescriptionReading, node: Node) -> Iterator[Term]:
    for predicate in (RDFS + "label", RDF + "value", DCTERMS + "title"):
        yield from (term for term in reading.objects(node, predicate) if isinstance(term, Literal))


def _form(words: list[str], url: str) -> Format | None:
    """The format of RDF that words or else the extension say; words that say something else win over that."""
    other = False
    for word in words:
        match = _MEDIA_TYPE.fullmatch(word)
        bare = match[1].lower() if match else ""
        if form := by_media_type(bare) or by_word(word):
            return form
        other = other or bool(match and bare not in _WRAPPERS | _GENERIC)
    # `.xml` is mostly something else.
    return None if other or extension(url) == "xml" else by_extension(urlsplit(url).path)


def by_word(word: str) -> Format | None:
    """The format that a word, or the last part of an IRI (`.../RDF_TURTLE`, `.../formats/N3`), stands for."""
    last = re.split(r"[/#]", word)[-1] if "://" in word else word
    bare = last.strip().strip(".").lower()
    return _WORDS.get(bare) or _WORDS.get(bare.replace("_", "-").removeprefix("rdf-"))


def _plain(words: list[str], form: Format) -> str | None:
    """The media type where one is said plainly; a packed file is recognised by its content."""
    types = (match[1].lower() for word in words if (match := _MEDIA_TYPE.fullmatch(word)))
    return next((each for each in types if by_media_type(each) is form), None)


def _hashes(reading: DescriptionReading, node: Node) -> Iterator[tuple[str, str]]:
    for checksum in reading.objects(node, SPDX + "checksum"):
        if isinstance(checksum, Literal):
            continue
        for algorithm in reading.objects(checksum, SPDX + "algorithm"):
            name = re.split(r"[/#_]", algorithm.value)[-1].lower().replace("-", "")
            for value in reading.objects(checksum, SPDX + "checksumValue"):
                digest = value.value.strip().lower()
                if name in _DIGITS and re.fullmatch(f"[0-9a-f]{{{_DIGITS[name]}}}", digest):
                    yield name, digest
