"""Skolem IRIs over the releases of real data sets: as few lines change as the data allows."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

import pytest
from pyoxigraph import BlankNode, RdfFormat, Triple, parse, serialize

from tests.realdata import realdata
from tests.wash.skolem_graphs import skolemized

PERIODO = "series/periodo/periodo"
SCIENCE = "series/yourselftoscience/resources"
SCIENCE_VOID = "series/yourselftoscience/void"
BERLIN_VOID = "series/berlin-vocabulary/void"

REACHED = {
    f"{PERIODO}_03_2014-10-14_9ab05995.ttl": (3768, 0),
    f"{PERIODO}_08_2015-03-16_d2af2a31.ttl": (30646, 13717),
    f"{PERIODO}_09_2015-04-10_6cdf08b3.ttl": (0, 4),
    f"{SCIENCE}_09_2026-02-03_d5a33145.ttl": (939, 713),
    f"{SCIENCE}_18_2026-02-05_d842cdd8.ttl": (102, 21),
    f"{SCIENCE}_27_2026-02-07_0c685d29.ttl": (1136, 1025),
    f"{SCIENCE}_36_2026-02-28_95070c3a.ttl": (253, 3),
    f"{SCIENCE}_45_2026-03-02_112ad762.ttl": (215, 0),
    f"{SCIENCE}_54_2026-03-03_560a876d.ttl": (37, 3),
    f"{SCIENCE}_63_2026-04-11_9a910589.ttl": (192, 80),
    f"{SCIENCE_VOID}_01_2025-11-19_3a8ec8bb.ttl": (1, 1),
    f"{SCIENCE_VOID}_02_2026-04-06_ba7626e3.ttl": (16, 0),
    f"{SCIENCE_VOID}_03_2026-04-07_7d7d704c.ttl": (1, 1),
    f"{SCIENCE_VOID}_04_2026-04-16_5591edce.ttl": (1, 1),
    f"{SCIENCE_VOID}_05_2026-06-10_aff9d293.ttl": (1, 1),
    f"{BERLIN_VOID}_06_2025-11-11_acb75824.ttl": (11, 2),
    f"{BERLIN_VOID}_07_2025-11-13_7bfdfe0d.ttl": (6, 3),
    f"{BERLIN_VOID}_08_2025-11-17_e4ece70d.ttl": (1, 14),
}
"""For each release how many lines, ground ones and those with Skolem IRIs, it adds to the one before, and removes."""


def is_ground(triple: Triple) -> bool:
    return not isinstance(triple.subject, BlankNode) and not isinstance(triple.object, BlankNode)


def lines_of(triples: set[Triple]) -> list[str]:
    return serialize(triples, format=RdfFormat.N_TRIPLES).decode().splitlines(keepends=True)


@cache
def statements(path: Path) -> frozenset[str]:
    """The statements of a release, with Skolem IRIs."""
    triples = {quad.triple for quad in parse(path=path, format=RdfFormat.TURTLE, base_iri="http://example.org/")}
    ground = {triple for triple in triples if is_ground(triple)}
    found = frozenset(line.rstrip("\n") for line in lines_of(ground)).union(
        skolemized(lines_of(triples - ground), steady=True)
    )
    assert len(found) == len(triples)
    return found


def expected() -> dict[str, tuple[str, int, int]]:
    """For each release the one before, and how many lines change at most when components are compared as a whole."""
    with (realdata() / "EXPECTED-DIFFS.tsv").open(newline="") as file:
        rows = [row for row in csv.reader(file, delimiter="\t") if len(row) > 8 and row[5].isdigit()]
    return {row[0]: (row[4], int(row[5]) + int(row[7]), int(row[6]) + int(row[8])) for row in rows}


@pytest.mark.parametrize("release", REACHED)
def test_a_release_changes_as_few_lines_as_its_data(release: str) -> None:
    """A harvest costs what changed; names that changed with it would cost the whole graph."""
    before, most_added, most_removed = expected()[release]
    old, new = statements(realdata() / before), statements(realdata() / release)
    added, removed = len(new - old), len(old - new)
    assert added <= REACHED[release][0] <= most_added
    assert removed <= REACHED[release][1] <= most_removed


def test_every_release_with_blank_nodes_is_compared() -> None:
    """A release that joins the data has to be measured too."""
    with (realdata() / "EXPECTED-DIFFS.tsv").open(newline="") as file:
        rows = {row["file"]: row for row in csv.DictReader(file, delimiter="\t")}
    blank = {name for name, row in rows.items() if row["distinct_triples"] != "BROKEN" and int(row["bnode_triples"])}
    assert {name for name, (before, _, _) in expected().items() if name in blank or before in blank} == set(REACHED)
