"""Descriptions for the tests of discovery, written as short as they can be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from harvest.discover.void import read_description
from harvest.model import Dataset, Description, Finding

URL = "http://provider.example/data/void.ttl"
NOW = datetime(2026, 7, 15, 12, tzinfo=UTC)

PREFIXES = """\
@prefix void: <http://rdfs.org/ns/void#> .
@prefix dcterms: <http://purl.org/dc/terms/> .
@prefix dcat: <http://www.w3.org/ns/dcat#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix gl: <http://schema.geolink.org/dev/voc/harvester#> .
"""


def described(
    folder: Path,
    body: str | bytes,
    url: str = URL,
    media_type: str | None = "text/turtle",
    features: Mapping[str, str] | None = None,
) -> Description:
    """
    What is read from a description; text gets the usual prefixes when it is to be Turtle.

    Without the note on features: `noted` gives it, and most of the descriptions here have none, for shortness.
    """
    description = noted(folder, body, url, media_type, features)
    return replace(description, findings=tuple(f for f in description.findings if f.kind != "feature-absent"))


def noted(
    folder: Path,
    body: str | bytes,
    url: str = URL,
    media_type: str | None = "text/turtle",
    features: Mapping[str, str] | None = None,
) -> Description:
    """What is read from a description, with all its findings."""
    path = folder / "description"
    turtle = isinstance(body, str) and media_type == "text/turtle"
    path.write_bytes(body if isinstance(body, bytes) else ((PREFIXES if turtle else "") + body).encode())
    return read_description(path, url, media_type, features or {}, NOW)


def only(description: Description) -> Dataset:
    """The one dataset of a description."""
    (dataset,) = description.datasets
    return dataset


def kinds(description: Description) -> list[str]:
    """The kinds of the findings, sorted."""
    return sorted(finding.kind for finding in description.findings)


def finding_of(description: Description, kind: str) -> Finding:
    """The one finding of a kind."""
    (finding,) = (finding for finding in description.findings if finding.kind == kind)
    return finding
