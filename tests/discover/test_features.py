"""The features of a dataset say whether its dumps are full or partial."""

from __future__ import annotations

from pathlib import Path

import pytest

from harvest.discover.features import KNOWN
from harvest.model import Coverage
from tests.discover.describe import described, kinds, only, told

DUMP = "void:dataDump <d.ttl> ; dcterms:modified '2020-01-01'"

WILD = [
    *(
        f"http://{base}#{word}"
        for base in ("schema.geolink.org/dev/voc/harvester",)
        for word in ("FullDump", "PartialDump")
    ),
    *(
        f"http://{host}.dataone.org/glharvest#{word}"
        for host in ("lod", "harvest")
        for word in ("FullDump", "PartialDump")
    ),
    *(f"http://{host}/{word}" for host in ("lod.dataone.org", "dataone.org") for word in ("fulldump", "partialdump")),
]
"""All that were met, as the notes on the design documents list them."""


def test_all_that_were_met_are_known() -> None:
    """Providers of the predecessors keep their descriptions as they are."""
    assert set(KNOWN) == set(WILD)


@pytest.mark.parametrize("feature", WILD)
def test_a_known_feature_is_heard(tmp_path: Path, feature: str) -> None:
    """Each of them says full or partial by its name."""
    description = described(tmp_path, f"<#d> a void:Dataset ; void:feature <{feature}> ; {DUMP} .")
    assert only(description).coverage == ("partial" if "partial" in feature.lower() else "full")
    assert kinds(description) == []


@pytest.mark.parametrize(
    "features", ["", "void:feature <http://www.w3.org/ns/formats/Turtle> ;", "void:feature 'x', [] ;"]
)
def test_without_one_a_dataset_is_full(tmp_path: Path, features: str) -> None:
    """Format IRIs, words and blank nodes say nothing of it."""
    description = described(tmp_path, f"<#d> a void:Dataset ; {features} {DUMP} .")
    assert only(description).coverage is Coverage.FULL
    assert kinds(description) == []


def test_both_are_taken_as_partial(tmp_path: Path) -> None:
    """Partial never takes a subject away and is never skipped in a backlog, so it is the reading that loses nothing."""
    description = described(tmp_path, f"<#d> a void:Dataset ; void:feature gl:FullDump, gl:PartialDump ; {DUMP} .")
    assert only(description).coverage is Coverage.PARTIAL
    assert "both full and partial" in told(description, "coverage-contradiction").message


@pytest.mark.parametrize("word", ["full", "partial"])
def test_the_settings_add_features(tmp_path: Path, word: str) -> None:
    """A provider with a vocabulary of its own is no reason for a new version."""
    body = f"<#d> a void:Dataset ; void:feature <http://example.org/terms#x> ; {DUMP} ."
    description = described(tmp_path, body, features={"http://example.org/terms#x": word})
    assert only(description).coverage == word


def test_a_feature_that_looks_like_one_is_told(tmp_path: Path) -> None:
    """Its provider believes that it said something."""
    feature = "https://lod.example.org/glharvest#PartialDump"
    description = described(tmp_path, f"<#d> a void:Dataset ; void:feature <{feature}> ; {DUMP} .")
    assert only(description).coverage is Coverage.FULL
    finding = told(description, "feature-unknown")
    assert feature in finding.message
    assert (finding.line, finding.column) == (7, 36)


def test_a_subset_is_as_partial_as_what_it_is_part_of(tmp_path: Path) -> None:
    """What is said of the whole holds for its parts, unless they say otherwise."""
    body = f"""
        <#whole> a void:Dataset ; void:feature gl:PartialDump ; void:subset <#a>, <#b> .
        <#a> {DUMP} ; void:subset <#c> .
        <#b> {DUMP.replace("d.ttl", "e.ttl")} ; void:feature gl:FullDump .
        <#c> {DUMP.replace("d.ttl", "f.ttl")} ; void:subset <#whole> .
    """
    found = {dataset.iri[-1]: dataset.coverage for dataset in described(tmp_path, body).datasets}
    assert found == {"a": Coverage.PARTIAL, "b": Coverage.FULL, "c": Coverage.PARTIAL}
