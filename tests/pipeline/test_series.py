"""Every real release series, harvested release by release over HTTP, against the differences that are true."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from harvest.model import Outcome
from harvest.wash.problems import STATEMENTS
from tests.pipeline.conftest import TemporaryInstance
from tests.provider import ProviderServer
from tests.realdata import realdata

SERIES = ("schemaorg", "periodo", "berlin-vocabulary", "yourselftoscience")

PASSED = 4
"""Broken releases of the Berlin vocabulary that the default threshold lets pass."""

REACHED = {
    "periodo_03": (3768, 0),
    "periodo_09": (0, 4),
    "resources_45": (215, 0),
    "resources_63": (192, 80),
}
"""Lines added and removed that the design measured for pairs of releases with blank nodes; as good or better is due."""


@dataclass(frozen=True)
class Expected:
    """A row of EXPECTED-DIFFS.tsv: what truly changed, blank nodes by whole components."""

    file: str
    broken: str | None
    triples: int
    ground: tuple[int, int]
    blank: tuple[int, int]


def rows(series: str) -> list[Expected]:
    found = []
    with (realdata() / "EXPECTED-DIFFS.tsv").open(newline="") as stream:
        for row in csv.DictReader(stream, delimiter="\t"):
            name = Path(row["file"]).name
            if f"/{series}/" not in row["file"] or name.startswith("void_"):
                continue
            broken = row["distinct_triples"] == "BROKEN"
            counts = [int(row[key] or 0) for key in list(row)[5:9]] if not broken else [0] * 4
            found.append(
                Expected(
                    row["file"],
                    row["bnode_triples"] if broken else None,
                    0 if broken else int(row["distinct_triples"]),
                    (counts[0], counts[1]),
                    (counts[2], counts[3]),
                )
            )
    return found


@pytest.mark.sampled(1)
@pytest.mark.parametrize("series", SERIES)
def test_a_series_harvested_release_by_release_gives_the_true_differences(
    series: str, instance: TemporaryInstance, provider: ProviderServer
) -> None:
    """Ground triples exactly; blank nodes at most as many as whole components; broken releases keep the last one."""
    instance.guard(1_000_000, 1)
    # The table compares with the last release that a strict parser reads; the default threshold takes more of them.
    instance.settings = replace(instance.settings, wash=replace(instance.settings.wash, threshold=0.0))
    instance.register(f"p:\n  void: {provider.url}/void.ttl\n  removals: mirror\n")
    good = 0
    for day, expected in enumerate(rows(series), 1):
        name = Path(expected.file).name
        provider.put(f"/{name}", (realdata() / expected.file).read_bytes())
        # One address for the whole series, as the provider has it: relative IRIs keep their meaning.
        provider.put("/dump" + Path(name).suffix, (realdata() / expected.file).read_bytes())
        moment = f"2026-{1 + day // 28:02d}-{1 + day % 28:02d}T00:00:00Z"
        provider.describe("/void.ttl", moment, ["/dump" + Path(name).suffix])
        [result] = instance.tick("p")
        if expected.broken is not None:
            broken_as_expected(result.finding, expected.broken)
            continue
        assert result.outcome is Outcome.COMMITTED, result
        version = instance.harvester.instance.ledger.versions("p")[-1]
        if good == 0:
            assert (version.added, version.removed, version.triples) == (expected.triples, 0, expected.triples)
        else:
            as_true(name, expected, (version.added, version.removed))
        assert version.triples == expected.triples == len(instance.graph("p"))
        good += 1
    assert good > 2
    assert instance.proven("p")


def broken_as_expected(finding: object, message: str) -> None:
    """The finding's place is that of the known parse error, or of one behind it that costs more triples."""
    line = re.search(r"line (\d+)", message)
    assert line is not None
    assert getattr(finding, "line", None) is not None, finding
    assert getattr(finding, "line", 0) >= int(line.group(1)), finding
    assert getattr(finding, "column", None)
    assert getattr(finding, "excerpt", None)


def as_true(name: str, expected: Expected, found: tuple[int, int]) -> None:
    """What a harvest changed is what truly changed."""
    for i in (0, 1):
        assert expected.ground[i] <= found[i] <= expected.ground[i] + expected.blank[i], (name, found, expected)
    if expected.blank == (0, 0):
        assert found == expected.ground
    reached = next((value for key, value in REACHED.items() if name.startswith(key)), None)
    if reached is not None:
        assert found[0] <= reached[0] and found[1] <= reached[1], (name, found, reached)


@pytest.mark.long
def test_releases_with_few_bad_statements_are_harvested_without_those(
    instance: TemporaryInstance, provider: ProviderServer
) -> None:
    """Of the twelve broken releases of the Berlin vocabulary those that lose at most one triple in 100 pass."""
    instance.guard(1_000_000, 1)
    instance.register(f"p:\n  void: {provider.url}/void.ttl\n  removals: mirror\n")
    passed = failed = 0
    for day, expected in enumerate(rows("berlin-vocabulary"), 1):
        provider.put("/dump.ttl", (realdata() / expected.file).read_bytes())
        provider.describe("/void.ttl", f"2026-{1 + day // 28:02d}-{1 + day % 28:02d}T00:00:00Z", ["/dump.ttl"])
        [result] = instance.tick("p")
        run = instance.harvester.instance.ledger.runs("p")[0]
        if expected.broken is None:
            assert result.outcome in (Outcome.COMMITTED, Outcome.UNCHANGED)
            assert len(instance.graph("p")) == expected.triples
        elif result.outcome in (Outcome.COMMITTED, Outcome.UNCHANGED):
            passed += 1
            assert any(finding.kind in STATEMENTS and finding.line for finding in run.findings)
        else:
            failed += 1
            assert result.outcome is Outcome.FAILED
    assert (passed, failed) == (PASSED, 12 - PASSED)
    assert instance.proven("p")
