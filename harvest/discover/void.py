"""
VoID discovery: the datasets with dumps that a provider's description names.

What counts as a dataset: a node typed void:Dataset or void:Linkset (a subclass), and the object of a void:subset,
typed or not. Each is tracked by its IRI, and only those with a dump that can be RDF are given. A node of another kind
with a void:dataDump, dcat:Dataset included, is a finding.

A subset that says nothing itself of its date or of full and partial takes what a dataset around it says; a dataset
without any date takes the one of the description (its void:DatasetDescription, or the document itself).

Source: VoID, sections 1.2, 2.4, 3.4, 4.3; shared GeoLink document, "VoID Dataset File".
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from pyoxigraph import BlankNode

from harvest.discover.about import about
from harvest.discover.absence import report_absence, report_undeclared
from harvest.discover.dumps import coverage_of, read_dump
from harvest.discover.page import is_page, linked_descriptions
from harvest.discover.parsing import Node, parse
from harvest.discover.reading import DUMP, DescriptionReading, is_read, shown
from harvest.discover.statements import coverage, modified, report_unstated, title
from harvest.discover.text import DescriptionText, read_text
from harvest.model import Dataset, Description, Finding
from sparql.rdf import GENID


def read_description(
    path: Path, url: str, media_type: str | None, features: Mapping[str, str], now: datetime | None = None
) -> Description:
    """
    What a filed VoID description says.

    One without a dataset that can be harvested has exactly one fatal finding, `no-dataset` or `html-page`.

    Args:
        path: The filed bytes.
        url: The final URL, base of relative IRIs.
        media_type: The Content-Type header as received, or None.
        features: Further void:feature IRIs with `full` or `partial`, as in the settings.
        now: Aware; the present when None.

    Raises:
        DescriptionError: The bytes are no RDF that can be read; with line, column and the text around.
    """
    text = read_text(path, url, media_type)
    if is_page(text.body):
        return Description((), (_page_finding(text),))
    reading = DescriptionReading(text, parse(text, is_read), features, now or datetime.now(UTC))
    nodes = [node for node in reading.said if reading.is_dataset(node)]
    dumps = {node: found for node in nodes if (found := _dumps(reading, node))}
    iris = _iris(url, dumps)
    datasets = [_dataset(reading, node, iris[node], dumps[node]) for node in sorted(dumps, key=iris.__getitem__)]
    if datasets:
        report_undeclared(reading)
        report_unstated(reading)
        _report_shared_dumps(reading, datasets)
        _report_overlaps(reading, dumps)
    else:
        report_absence(reading, nodes)
    abouts = (about(reading, node, iris[node]) for node in dumps)
    return Description(tuple(datasets), tuple(reading.findings), tuple(sorted(abouts, key=lambda each: each.iri)))


def _dumps(reading: DescriptionReading, node: Node) -> tuple[str, ...]:
    """The usable dumps of a dataset, in the order of the file; reports the others."""
    listed = reading.objects(node, DUMP)
    dumps = [read_dump(term, reading.text) for term in listed]
    for dump in dumps:
        reading.findings += dump.findings
    usable = tuple(dict.fromkeys(dump.url for dump in dumps if dump.url))
    if listed and not usable:
        message = f"the dataset {shown(node)} has no dump that can be harvested; all it lists was left out"
        reading.report("no-dump", message, f"<{node.value}>")
    return usable


def _dataset(reading: DescriptionReading, node: Node, iri: str, dumps: tuple[str, ...]) -> Dataset:
    stated = coverage(reading, node)
    return Dataset(iri, dumps, coverage_of(dumps, stated), modified(reading, node), title(reading, node))


def _iris(url: str, dumps: Mapping[Node, tuple[str, ...]]) -> dict[Node, str]:
    """
    The IRI of each dataset; for a blank node a Skolem IRI under the description's address.

    A blank node that is alone is called `dataset`, whatever is said of it, so that a new date or another dump does
    not make another dataset of it. Several are distinguished by their dumps. The query of the address does not count:
    addresses that redirects lead to carry signatures there.

    Source: RDF 1.1 Concepts, section 3.5.
    """
    parts = urlsplit(url)
    base = urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/"), "", "")) + GENID
    blank = [node for node in dumps if isinstance(node, BlankNode)]
    iris: dict[Node, str] = {node: node.value for node in dumps}
    taken: dict[str, int] = {}
    for node in blank:
        digest = hashlib.sha256("\n".join(sorted(dumps[node])).encode()).hexdigest()[:32]
        label = "dataset" if len(blank) == 1 else digest
        taken[label] = taken.get(label, 0) + 1
        iris[node] = base + label + (f"-{taken[label]}" if taken[label] > 1 else "")
    return iris


def _report_shared_dumps(reading: DescriptionReading, datasets: list[Dataset]) -> None:
    first: dict[str, str] = {}
    for dataset in datasets:
        for dump in dataset.dumps:
            owner = first.setdefault(dump, dataset.iri)
            if owner != dataset.iri:
                message = f"the dump <{dump}> is listed by <{owner}> and by <{dataset.iri}>; it is harvested for both"
                reading.report("dump-shared", message, f"<{dump}>")


def _report_overlaps(reading: DescriptionReading, dumps: Mapping[Node, tuple[str, ...]]) -> None:
    """Report, once for a whole description, which datasets with dumps are subsets of others with dumps."""
    overlaps = [(node, outer) for node in dumps for outer in reading.surrounding(node) if outer in dumps]
    if overlaps:
        (part, whole), *others = overlaps
        more = f" (and {len(others)} more such pairs)" if others else ""
        message = (
            f"{shown(part)} is a subset of {shown(whole)}, and both have dumps{more}; each is harvested, and takes the "
            "place of the other's statements about the same subjects"
        )
        reading.report("datasets-overlap", message, f"<{part.value}>")


def _page_finding(text: DescriptionText) -> Finding:
    links = linked_descriptions(text.body, text.url)
    hint = f"; it links {', '.join(f'<{link}>' for link in links[:3])}: register one of these" if links else ""
    message = f"the address gives an HTML page where a description was expected{hint}"
    return Finding("html-page", message, url=text.url, line=1, column=1, excerpt=text.excerpt(1), fatal=True)
