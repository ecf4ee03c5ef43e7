"""
DCAT: the datasets of a catalogue, or one dataset, with the distributions that hold RDF as their dumps.

Distributions of one dataset are the same data in other forms, so those of one format are taken: the first in the order
of `sparql.rdf.FORMATS`. What is read is the document after washing, so it may have come in any form.

Source: DCAT 3, sections 6.6 (dataset), 6.8 (distribution) and 6.17 (checksum); Hydra Core, section 5.1 (collections).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final
from urllib.parse import urldefrag, urlsplit, urlunsplit

from pyoxigraph import Literal, NamedNode

from harvest.discover.about import about
from harvest.discover.dates import read_date
from harvest.discover.distributions import Distribution, readable
from harvest.discover.dumps import coverage_of, unusable
from harvest.discover.parsing import Node, parse
from harvest.discover.reading import DATASET_TYPES, MODIFIED, DescriptionReading, is_read
from harvest.discover.statements import title
from harvest.discover.text import read_text
from harvest.errors import DescriptionError
from harvest.model import AHEAD, About, Coverage, Dataset, Description, Finding, ListedFile, Listing
from sparql.rdf import DCAT, DCTERMS, FORMATS, GENID, N_QUADS, SPDX

HYDRA: Final = "http://www.w3.org/ns/hydra/core#"

NAMED: Final = 20
"""Datasets and distributions of a catalogue that are left out and get a finding of their own."""

MOST_DATASETS: Final = 10_000
"""Datasets of one provider."""

_NEXT: Final = (HYDRA + "next", HYDRA + "nextPage")
_READ: Final = frozenset({*_NEXT, DCTERMS + "format", DCTERMS + "identifier"})
_KINDS: Final = frozenset({DCAT + "Dataset", *DATASET_TYPES})


@dataclass(frozen=True, slots=True)
class CataloguePage:
    """
    What a page of a catalogue says.

    Attributes:
        datasets: Those with a dump, in the order of the page.
        about: What is said of each of them.
        left_out: Why other datasets, and distributions, are not harvested.
        total: Datasets in it.
        next: Addresses of further pages.
        problems: What was wrong with the document itself.
    """

    datasets: tuple[Dataset, ...]
    about: tuple[About, ...]
    left_out: tuple[Finding, ...]
    total: int
    next: tuple[str, ...]
    problems: tuple[Finding, ...] = ()


def read_page(path: Path, url: str, now: datetime) -> CataloguePage:
    """
    What a washed page says.

    Args:
        path: N-Quads.
        url: The final URL of the page.
        now: Aware; dates more than a day later do not count.

    Raises:
        DescriptionError: It is larger than a description may be.
    """
    text = read_text(path, url, N_QUADS.media_types[0])
    reading = DescriptionReading(text, parse(text, _is_wanted), {}, now)
    nodes = [node for node in reading.said if reading.types(node) & _KINDS]
    found: list[tuple[Node, Dataset]] = []
    left_out: list[Finding] = []
    for node in nodes:
        chosen = _chosen(reading, node, left_out)
        if chosen:
            found.append((node, _dataset(reading, node, chosen, url)))
    pages = (term.value for one in reading.said.values() for predicate in _NEXT for term in one.get(predicate, ()))
    abouts = tuple(about(reading, node, dataset.iri) for node, dataset in found)
    further = tuple(dict.fromkeys(urldefrag(each).url for each in pages))
    return CataloguePage(tuple(dataset for _, dataset in found), abouts, tuple(left_out), len(nodes), further)


def describe(pages: Sequence[CataloguePage], url: str) -> Description:
    """
    The datasets of all pages of a catalogue; what two pages say of one dataset counts as the first says it.

    Raises:
        DescriptionError: There is none that can be harvested, or too many.
    """
    datasets = {each.iri: each for page in reversed(pages) for each in page.datasets}
    abouts = {each.iri: each for page in reversed(pages) for each in page.about}
    left_out = [finding for page in pages for finding in page.left_out]
    if not datasets:
        total = sum(page.total for page in pages)
        reasons = "; ".join(finding.message for finding in left_out[:3])
        message = f"{url} describes {total:,} datasets (dcat:Dataset), none of them with a dump that can be harvested"
        raise DescriptionError(f"{message}: {reasons}" if reasons else message, url=url)
    if len(datasets) > MOST_DATASETS:
        message = f"{url} describes {len(datasets):,} datasets with dumps, more than {MOST_DATASETS:,}"
        raise DescriptionError(f"{message}; register parts of it", url=url)
    findings = [*(finding for page in pages for finding in page.problems), *left_out[:NAMED]]
    if len(left_out) > NAMED:
        message = f"{len(left_out):,} datasets and distributions in all are left out: no RDF that can be had"
        findings.append(Finding("more", message, url))
    ordered = sorted(datasets)
    return Description(tuple(datasets[iri] for iri in ordered), tuple(findings), tuple(abouts[iri] for iri in ordered))


def _is_wanted(predicate: str) -> bool:
    return predicate in _READ or predicate.startswith((DCAT, SPDX)) or is_read(predicate)


def _chosen(reading: DescriptionReading, node: Node, left_out: list[Finding]) -> list[Distribution]:
    """The distributions of a dataset that are its dumps; reports all others."""
    usable: list[Distribution] = []
    reasons = []
    for each in _distributions(reading, node):
        found = unusable(each.url) if each.form is None else None
        if each.is_other or each.form is None:
            reasons.append(f"{each.url} is {each.said or (found[1] if found else 'not said to be RDF')}")
        else:
            usable.append(each)
    if not usable:
        named = "; ".join(reasons[:3]) or "it has no distribution with an address"
        message = f"the dataset {_name(reading, node)} has no distribution in RDF: {named}"
        left_out.append(Finding("no-dump", message, _named(node)))
        return []
    rank = min(FORMATS.index(each.form) for each in usable if each.form)
    chosen = [each for each in usable if each.form is FORMATS[rank]]
    if len(chosen) < len(usable):
        others = ", ".join(each.url for each in usable if each not in chosen)
        message = f"of {_name(reading, node)} the dump in {FORMATS[rank].name} is taken; {others} is the same otherwise"
        left_out.append(Finding("other-format", message, _named(node)))
    return chosen


def _distributions(reading: DescriptionReading, node: Node) -> Iterator[Distribution]:
    """The distributions with an address, each address once."""
    seen = set()
    for term in reading.objects(node, DCAT + "distribution"):
        if not isinstance(term, Literal):
            for each in readable(reading, term):
                if each.url not in seen:
                    seen.add(each.url)
                    yield each


def _dataset(reading: DescriptionReading, node: Node, chosen: Sequence[Distribution], url: str) -> Dataset:
    urls = tuple(each.url for each in chosen)
    listing = Listing(None, dumps=tuple(ListedFile(each.url, each.media_type, None, each.hashes) for each in chosen))
    dates = [date for each in (node, *(one.node for one in chosen)) for date in _dates(reading, each)]
    iri = _iri(reading, node, urls, url)
    made = Dataset(iri, urls, coverage_of(urls, Coverage.FULL), max(dates, default=None), title(reading, node))
    return replace(made, listing=listing)


def _dates(reading: DescriptionReading, node: Node) -> Iterator[datetime]:
    for term in reading.objects(node, MODIFIED):
        date = read_date(term.value) if isinstance(term, Literal) else None
        if date is not None and date <= reading.now + AHEAD:
            yield date


def _iri(reading: DescriptionReading, node: Node, urls: Sequence[str], url: str) -> str:
    """Its own IRI; of a blank node its identifier if that is an address, else a Skolem IRI by identifier or dumps."""
    if _named(node):
        return node.value
    written = [term.value for term in reading.objects(node, DCTERMS + "identifier")]
    if written and urlsplit(written[0]).scheme in ("http", "https"):
        return written[0]
    parts = urlsplit(url)
    base = urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/"), "", ""))
    digest = hashlib.sha256("\n".join(written[:1] or sorted(urls)).encode()).hexdigest()[:32]
    return f"{base}{GENID}{digest}"


def _named(node: Node) -> str | None:
    """The IRI of a node that has one of its own; washing gave one to the others."""
    return node.value if isinstance(node, NamedNode) and GENID not in node.value else None


def _name(reading: DescriptionReading, node: Node) -> str:
    iri = _named(node)
    return f"<{iri}>" if iri else repr(title(reading, node) or "without a name")
