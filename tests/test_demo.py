"""What the demo puts before its visitors."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from pyoxigraph import RdfFormat, parse
from rich.console import Console

from harvest.archive.content import ContentStore
from harvest.cli import demo_repository
from harvest.cli import query as ask
from harvest.cli.demo import QUERIES, _settings
from harvest.cli.demo_provider import fleet, releases
from harvest.config.settings import Settings
from harvest.service.orders import carry_out
from sparql.web.examples import Example, read_examples

EXAMPLES = read_examples(QUERIES)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """The instance after all releases, and after the approval of what the last one held."""
    with fleet() as provider:
        settings = _settings(tmp_path_factory.mktemp("demo"), provider, 8080)
        for release in releases():
            provider.publish(release)
            carry_out(settings, "run", [], lambda name, step: None)
        assert carry_out(settings, "approve", ["fleet"], lambda name, step: None)["ok"]
    return settings


@pytest.mark.parametrize("example", EXAMPLES, ids=[example.name for example in EXAMPLES])
def test_every_example_has_rows(played: Settings, example: Example) -> None:
    """An example without a row looks like a broken instance; unbound variables are no rows of interest either."""
    if "CONSTRUCT" in example.query:
        assert list(parse(b"".join(ask.answer(played, example.query, "nt")), RdfFormat.N_TRIPLES))
        return
    answer = json.loads(b"".join(ask.answer(played, example.query, "json")))
    rows = answer["results"]["bindings"]
    assert {variable for row in rows for variable in row} == set(answer["head"]["vars"])


def test_the_examples_are_where_the_instance_looks_for_them(played: Settings) -> None:
    """Beside the settings file, each readable and with a sentence about it."""
    assert played.file is not None
    assert [e.name for e in read_examples(played.file.parent / "queries")] == [e.name for e in EXAMPLES]
    assert len(EXAMPLES) == len(list(QUERIES.iterdir())) >= 5
    assert all(example.description for example in EXAMPLES)


def test_the_first_example_asks_for_ships(played: Settings) -> None:
    """It is what the query page begins with; the guard's approval has halved the fleet."""
    table = b"".join(ask.answer(played, EXAMPLES[0].query, "tsv")).decode().splitlines()
    assert len(table) == 1 + 13 and '"Calypso II"' in "".join(table)


def test_the_examples_stand_in_the_package() -> None:
    """Below `harvest`, of which the wheel holds every file (tests/test_packaging.py)."""
    assert QUERIES.parent == Path(ask.__file__).parent


def test_a_dataset_in_a_repository_comes_from_its_registry_entry_to_sparql(
    played: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    """RDF in a graph, the table beside it in the archive, and a query over this provider and the fleet."""
    demo_repository.play(played, Console(soft_wrap=True))
    printed = capsys.readouterr().out
    assert "crew: {dataset: http://127.0.0.1:" in printed
    assert "Cite as: Okafor, Ada (2024). The captains of the fleet. Version 1.0" in printed
    assert f"exists  voyages.csv, {len(demo_repository.VOYAGES)} bytes, text/csv" in printed
    assert "version 1 of a graph, 9 triples" in printed
    captains = ["  Grace Adeyemi, Albatross", "  Ines Halvorsen, Endurance", "  Tomasz Ferreira, Calypso II"]
    assert printed.splitlines()[-3:] == captains
    table = hashlib.sha256(demo_repository.VOYAGES.encode()).hexdigest()
    assert ContentStore(played.layout.content).path(table).read_text() == demo_repository.VOYAGES
