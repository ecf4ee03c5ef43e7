"""
The manifest of a dataset in a repository, as RDF in the metadata graph.

    <providers/NAME#fileset>        a harvest:Fileset, of the graph; what came of it, its size, how to cite it
    <providers/NAME#file-HASH>      a dcat:Distribution; path, size, media type, address, and what came of it
    <providers/NAME#file-HASH-md5>  a spdx:Checksum of it, as the platform or the filed bytes have it

Source: DCAT 3, sections 6.8 and 6.8.21 (checksum); SPDX 2.3, section 8.4.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import sha256
from typing import Final

from pyoxigraph import Literal, NamedNode

from sparql.rdf import DCAT, DCTERMS, HARVEST, PROV, RDF, SPDX, XSD, as_iri
from sparql.reports import AboutReport, ManifestFileReport, ProviderReport

Fact = tuple[NamedNode, str, NamedNode | Literal]

FILE: Final = HARVEST + "file"
"""From a graph to the files of its fileset."""

MOST_FILES: Final = 1000
"""Files of a fileset that are written, by their paths; the provider's JSON has all of them."""

CHECKSUMS: Final = ("md5", "sha1", "sha256")
_A: Final = RDF + "type"
_MEDIA_TYPES: Final = "https://www.iana.org/assignments/media-types/"


def checksums_of(file: str) -> list[str]:
    """The IRIs that checksums of a file may have, whose IRI is given."""
    return [f"{file}-{name}" for name in CHECKSUMS]


def of_manifest(graph: NamedNode, page: str, provider: ProviderReport) -> Iterator[Fact]:
    """What came of the landing page of a provider, whose graph and page are given; nothing where it has none."""
    found = provider.ingest
    if found is None:
        return
    node = NamedNode(f"{page}#fileset")
    yield graph, HARVEST + "fileset", node
    yield node, _A, NamedNode(HARVEST + "Fileset")
    yield node, DCAT + "landingPage", NamedNode(as_iri(str(found.request["base_url"])))
    yield node, HARVEST + "status", Literal(found.status)
    yield node, HARVEST + "files", Literal(found.file_count)
    yield node, DCAT + "byteSize", Literal(found.total_size)
    for term, value in (
        (HARVEST + "platform", found.platform_name),
        (HARVEST + "platformDomain", found.platform_domain),
        (HARVEST + "strategy", found.ingest_strategy),
        (DCTERMS + "identifier", found.platform_id),
    ):
        if value:
            yield node, term, Literal(value)
    for about in provider.about[:1]:
        yield from _as_cited(node, about)
    for file in sorted(found.manifest, key=lambda each: each.path)[:MOST_FILES]:
        yield from _of_file(graph, node, NamedNode(f"{page}#file-{sha256(file.path.encode()).hexdigest()[:16]}"), file)


def _as_cited(node: NamedNode, about: AboutReport) -> Iterator[Fact]:
    """Title, version, DOI and citation of a dataset, in the terms that its description has."""
    for term, value in (
        (DCTERMS + "title", about.title),
        (DCAT + "version", about.version),
        (DCTERMS + "bibliographicCitation", about.citation),
    ):
        if value:
            yield node, term, Literal(value)
    if about.doi:
        doi = Literal(f"https://doi.org/{about.doi}", datatype=NamedNode(XSD + "anyURI"))
        yield node, DCTERMS + "identifier", doi


def _of_file(graph: NamedNode, fileset: NamedNode, node: NamedNode, file: ManifestFileReport) -> Iterator[Fact]:
    yield graph, FILE, node
    yield fileset, DCAT + "distribution", node
    yield node, _A, NamedNode(DCAT + "Distribution")
    yield node, HARVEST + "path", Literal(file.path)
    if file.size is not None:
        yield node, DCAT + "byteSize", Literal(file.size)
    if file.mimetype and re.fullmatch(r"[\w.+-]+/[\w.+-]+", file.mimetype):
        yield node, DCAT + "mediaType", NamedNode(_MEDIA_TYPES + file.mimetype)
    if file.platform_url:
        yield node, DCAT + "downloadURL", NamedNode(as_iri(file.platform_url))
    if file.status:
        yield node, HARVEST + "status", Literal(file.status)
    if file.terminal_url:
        yield node, PROV + "atLocation", NamedNode(as_iri(file.terminal_url))
    for name, digits in zip(CHECKSUMS, (file.md5, file.sha1, file.sha256), strict=True):
        if digits:
            checksum = NamedNode(f"{node.value}-{name}")
            yield node, SPDX + "checksum", checksum
            yield checksum, _A, NamedNode(SPDX + "Checksum")
            yield checksum, SPDX + "algorithm", NamedNode(f"{SPDX}checksumAlgorithm_{name}")
            yield checksum, SPDX + "checksumValue", Literal(digits, datatype=NamedNode(XSD + "hexBinary"))
