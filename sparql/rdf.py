"""
Vocabularies, and the table of RDF formats.

Source: the media types registered for each format (RDF 1.1 N-Triples section 6, N-Quads 5, Turtle 6, TriG 6,
RDF/XML 3.4, JSON-LD 1.1 C, Notation3 9).
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from pyoxigraph import NamedNode, RdfFormat

__all__ = [
    "DCAT",
    "DCTERMS",
    "FOAF",
    "PAV",
    "PROV",
    "RDF",
    "RDFS",
    "SPDX",
    "VOID",
    "XSD",
    "Format",
    "by_extension",
    "by_media_type",
]
"""What other packages may import."""

RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS: Final = "http://www.w3.org/2000/01/rdf-schema#"
XSD: Final = "http://www.w3.org/2001/XMLSchema#"
VOID: Final = "http://rdfs.org/ns/void#"
DCTERMS: Final = "http://purl.org/dc/terms/"
DCAT: Final = "http://www.w3.org/ns/dcat#"
PAV: Final = "http://purl.org/pav/"
PROV: Final = "http://www.w3.org/ns/prov#"
FOAF: Final = "http://xmlns.com/foaf/0.1/"
SPDX: Final = "http://spdx.org/rdf/terms#"
HARVEST: Final = "https://w3id.org/sparql-harvest/ns#"

PREFIXES: Final = {
    "rdf": RDF,
    "rdfs": RDFS,
    "xsd": XSD,
    "void": VOID,
    "dcterms": DCTERMS,
    "dcat": DCAT,
    "prov": PROV,
    "foaf": FOAF,
    "spdx": SPDX,
    "harvest": HARVEST,
}

NQUD: Final = "application/vnd.timbuctoo-rdf.nquads_unified_diff"
"""Media type of an N-Quads unified diff. Source: Timbuctoo exchange protocol, "Media type and file extension"."""

GENID: Final = "/.well-known/genid/"
"""What follows the graph IRI in a Skolem IRI. Source: RDF 1.1 Concepts, section 3.5."""


HASH_URI: Final = re.compile(r"hash://sha256/([0-9a-f]{64})")
"""A name of bytes wherever they are. Source: hash-archive.org, "hash URI"; Preston, "blob store"."""


@dataclass(frozen=True, slots=True)
class Format:
    """
    One RDF format.

    Attributes:
        name: As people write it.
        native: The pyoxigraph format, or None where pyoxigraph has none.
        media_types: The registered one first, then those seen in the wild; lower case.
        extensions: Without the dot, lower case, the usual one first.
    """

    name: str
    native: RdfFormat | None
    media_types: tuple[str, ...]
    extensions: tuple[str, ...]

    @property
    def parser(self) -> RdfFormat:
        """
        The pyoxigraph format.

        Raises:
            ValueError: It has none: this is HTML.
        """
        if self.native is None:
            raise ValueError(f"pyoxigraph does not read {self.name}")
        return self.native


TURTLE: Final = Format(
    "Turtle", RdfFormat.TURTLE, ("text/turtle", "application/x-turtle", "application/turtle"), ("ttl", "turtle")
)
N_TRIPLES: Final = Format("N-Triples", RdfFormat.N_TRIPLES, ("application/n-triples",), ("nt", "ntriples"))
N_QUADS: Final = Format(
    "N-Quads", RdfFormat.N_QUADS, ("application/n-quads", "text/x-nquads", "text/n-quads"), ("nq", "nquads")
)
TRIG: Final = Format("TriG", RdfFormat.TRIG, ("application/trig", "application/x-trig"), ("trig",))
RDF_XML: Final = Format("RDF/XML", RdfFormat.RDF_XML, ("application/rdf+xml",), ("rdf", "rdfs", "owl", "xml"))
JSON_LD: Final = Format("JSON-LD", RdfFormat.JSON_LD, ("application/ld+json",), ("jsonld", "json-ld"))
N3: Final = Format("N3", RdfFormat.N3, ("text/n3", "text/rdf+n3"), ("n3",))
HTML: Final = Format("HTML", None, ("text/html", "application/xhtml+xml"), ("html", "htm", "xhtml", "rdfa"))
"""RDFa and JSON-LD in a page. Not in `FORMATS`: pages are read where they are met, neither asked for nor written."""

_STRAY_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")

FORMATS: Final = (N_QUADS, N_TRIPLES, TURTLE, TRIG, RDF_XML, JSON_LD, N3)


def as_iri(url: str) -> str:
    """
    An IRI that stands for a URL, whatever that is.

    Servers and people leave brackets, spaces and stray percent signs in, ports that are none, and zones of addresses.
    """
    scheme, _, rest = url.partition("://")
    escaped = _STRAY_PERCENT.sub("%25", url)
    for iri in (url, quote(escaped, safe="!#$%&'()*+,/:;=?@~"), f"{scheme}://{quote(rest, safe='/')}"):
        with suppress(ValueError):
            return NamedNode(iri).value
    return f"about:invalid#{quote(url, safe='')}"


def by_media_type(media_type: str | None) -> Format | None:
    """The format registered for a media type (parameters ignored), or None."""
    bare = (media_type or "").split(";")[0].strip().lower()
    return next((f for f in FORMATS if bare in f.media_types), None)


def by_extension(path: str) -> Format | None:
    """The format that the extension of a file name or URL path stands for, or None."""
    name = path.split("?")[0].split("#")[0].rsplit("/", 1)[-1].lower()
    if "." not in name:
        return None
    extension = name.rsplit(".", 1)[-1]
    return next((f for f in FORMATS if extension in f.extensions), None)
