"""The features of a dataset say whether its dumps are full or partial."""

from __future__ import annotations

from pathlib import Path

import pytest

from harvest.discover.features import KNOWN
from harvest.model import Coverage
from tests.discover.describe import described, finding_of, kinds, noted, only

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
    """Format IRIs, words and blank nodes say nothing of it, which is a note and stops nothing."""
    description = noted(tmp_path, f"<#d> a void:Dataset ; {features} {DUMP} .")
    assert only(description).coverage is Coverage.FULL
    [finding] = description.findings
    assert (finding.kind, finding.fatal) == ("feature-absent", False)
    assert "<http://provider.example/data/void.ttl#d> says full or partial" in finding.message


def test_datasets_without_a_feature_are_reported_once_for_all(tmp_path: Path) -> None:
    """A description of thousands has one note; a part of what has a feature needs none."""
    body = "".join(f"<#{name}> a void:Dataset ; {DUMP.replace('d.ttl', name)} . " for name in ("a.ttl", "b.ttl"))
    assert "#a.ttl> (and of 1 more) says" in finding_of(noted(tmp_path, body), "feature-absent").message
    whole = f"<#w> a void:Dataset ; void:feature gl:FullDump ; void:subset <#a> . <#a> {DUMP} ."
    assert kinds(noted(tmp_path, whole)) == []


def test_a_dataset_and_its_subset_that_both_have_dumps_are_named(tmp_path: Path) -> None:
    """Each would take the place of what the other says, which nobody expects."""
    body = f"""<#w> a void:Dataset ; void:feature gl:FullDump ; void:subset <#a> ; {DUMP} .
        <#a> void:dataDump <a.ttl> ; dcterms:modified '2020-01-01' ."""
    finding = finding_of(noted(tmp_path, body), "datasets-overlap")
    assert "#a> is a subset of" in finding.message and "#w>, and both have dumps" in finding.message


def test_both_are_taken_as_partial(tmp_path: Path) -> None:
    """Partial never takes a subject away and is never skipped in a backlog, so it is the reading that loses nothing."""
    description = described(tmp_path, f"<#d> a void:Dataset ; void:feature gl:FullDump, gl:PartialDump ; {DUMP} .")
    assert only(description).coverage is Coverage.PARTIAL
    assert "both full and partial" in finding_of(description, "coverage-contradiction").message


@pytest.mark.parametrize("word", ["full", "partial"])
def test_the_settings_add_features(tmp_path: Path, word: str) -> None:
    """A provider with a vocabulary of its own is no reason for a new version."""
    body = f"<#d> a void:Dataset ; void:feature <http://example.org/terms#x> ; {DUMP} ."
    description = described(tmp_path, body, features={"http://example.org/terms#x": word})
    assert only(description).coverage == word


def test_a_feature_that_looks_like_one_is_reported(tmp_path: Path) -> None:
    """The provider believes that it said something."""
    feature = "https://lod.example.org/glharvest#PartialDump"
    description = described(tmp_path, f"<#d> a void:Dataset ; void:feature <{feature}> ; {DUMP} .")
    assert only(description).coverage is Coverage.FULL
    finding = finding_of(description, "feature-unknown")
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
