"""What the query page offers: counted once for each state of the graphs, and right in each."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from harvest.catalog.instance import InstanceCatalog
from harvest.config.settings import Settings
from harvest.model import Finding, Note, Statistics
from sparql.reports import StatisticsReport
from sparql.web.vocabulary import Vocabulary
from tests.web.reported import ReportedInstance, reported_instance

CLASS, OTHER = "http://x.example/Ship", "http://x.example/Station"
NAME = "http://x.example/name"


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[ReportedInstance]:
    made = reported_instance(tmp_path, "p", "q")
    commit(made, "p", 1, 5)
    yield made
    made.ledger.database.close()


def commit(made: ReportedInstance, name: str, n: int, entities: int, kind: str = CLASS) -> None:
    """A version with its figures."""
    made.ledger.figures.put(name, n, Statistics(10, 5, {NAME: 10}, {kind: entities}))
    made.commit(name, n, 10, 10)


def classes(made: ReportedInstance) -> dict[str, int]:
    found: list[dict[str, Any]] = made.client.get("/sparql/terms.json").get_json()["classes"]
    return {entry["iri"]: entry["entities"] for entry in found}


class Watched(InstanceCatalog):
    """The catalog of an instance that remembers whose figures were read."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.read: list[str] = []

    def statistics(self, name: str) -> StatisticsReport | None:
        self.read.append(name)
        return super().statistics(name)


@pytest.fixture
def watched(instance: ReportedInstance) -> Watched:
    return Watched(instance.client.application.extensions["sparql.web"].catalog.settings)


def test_a_new_version_shows_at_once(instance: ReportedInstance) -> None:
    """Of a graph that was there, and of another one; and one with other numbers has another ETag."""
    first = instance.client.get("/sparql/terms.json")
    assert classes(instance) == {CLASS: 5}
    commit(instance, "p", 2, 7)
    assert classes(instance) == {CLASS: 7}
    commit(instance, "q", 1, 2, OTHER)
    assert classes(instance) == {CLASS: 7, OTHER: 2}
    again = instance.client.get("/sparql/terms.json", headers={"If-None-Match": first.headers["ETag"]})
    assert again.status_code == 200


def test_a_visitor_that_has_it_gets_no_second_copy(instance: ReportedInstance) -> None:
    """The page asks at every visit."""
    tag = instance.client.get("/sparql/terms.json").headers["ETag"]
    again = instance.client.get("/sparql/terms.json", headers={"If-None-Match": tag})
    assert (again.status_code, again.data) == (304, b"")


def test_figures_are_read_once_for_each_state(instance: ReportedInstance, watched: Watched) -> None:
    """A thousand graphs take seconds to add up; a version of one, or its end, is a new state of all."""
    vocabulary = Vocabulary()
    first = vocabulary.document(watched)
    assert vocabulary.document(watched) == first and watched.read == ["p"]
    commit(instance, "q", 1, 2)
    assert vocabulary.document(watched) == vocabulary.document(watched) != first
    assert watched.read == ["p", "p", "q"]


def test_figures_that_come_later_are_not_missed(instance: ReportedInstance, watched: Watched) -> None:
    """Those of a large partial harvest are counted when it is exported, with no new version."""
    vocabulary = Vocabulary()
    instance.commit("q", 1, 10, 10)
    assert b'"entities": 3' not in vocabulary.document(watched)
    instance.ledger.figures.put("q", 1, Statistics(10, 5, {}, {OTHER: 3}))
    assert b'"entities": 3' in vocabulary.document(watched)


def test_a_graph_that_was_forgotten_and_harvested_anew_is_another(instance: ReportedInstance, watched: Watched) -> None:
    """It has version 1 again, of the same size at the same time, and other figures."""
    vocabulary = Vocabulary()
    assert b'"entities": 5' in vocabulary.document(watched)
    instance.ledger.forget("p", Note("urn:uuid:0", datetime.now(UTC), ""))
    assert b'"entities"' not in vocabulary.document(watched)
    instance.ledger.enrol("p", "http://h.example/graph/p")
    instance.fail("p", 5, Finding("wash", "no"))
    commit(instance, "p", 1, 6)
    assert b'"entities": 6' in vocabulary.document(watched)
