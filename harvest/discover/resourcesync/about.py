"""
What a `describedby` document says of a dataset: title, licence and the like, as a VoID description does.

Source: shared Timbuctoo exchange protocol, "Resource sync": the description of a capability list, best as RDF.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path

from harvest.discover.about import about
from harvest.discover.page import is_page
from harvest.discover.parsing import Node, parse
from harvest.discover.reading import DUMP, DescriptionReading, is_read
from harvest.discover.text import read_text
from harvest.model import About, Dataset
from sparql.rdf import DCAT


def read_about(path: Path, url: str, media_type: str | None, dataset: Dataset) -> About | None:
    """
    What a filed document says of a dataset; None for a page, and where nothing in it is a dataset.

    Args:
        path: The filed bytes.
        url: The final URL, base of relative IRIs.
        media_type: The Content-Type header as received, or None.
        dataset: Whose IRI is the address of its capability list.

    Raises:
        DescriptionError: The bytes are no RDF that can be read; with line, column and the text around.
    """
    text = read_text(path, url, media_type)
    if is_page(text.body):
        return None
    reading = DescriptionReading(text, parse(text, is_read), {}, datetime.now(UTC))
    node = _meant(reading, dataset)
    return None if node is None else about(reading, node, dataset.iri)


def _meant(reading: DescriptionReading, dataset: Dataset) -> Node | None:
    """The node that is the dataset: by its address or that of its dump, else the first that is a dataset."""
    nodes = [node for node in reading.said if reading.is_dataset(node) or DCAT + "Dataset" in reading.types(node)]
    known: Collection[str] = {dataset.iri, *dataset.dumps}
    named = [node for node in reading.said if node.value in known]
    dumped = [node for node in nodes if any(term.value in known for term in reading.objects(node, DUMP))]
    return next(iter([*named, *dumped, *nodes]), None)
