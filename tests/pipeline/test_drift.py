"""`harvest verify --store`: what somebody else changed in the store is found and repaired, and the rest left alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from harvest.cli.main import main
from harvest.service.orders import execute
from sparql.store.engine import Engine
from tests.engines import ENGINES, serving
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_semantics import outcomes, release
from tests.provider import ProviderServer

LINES = {f'<http://x/{n}> <http://p> "{n}"' for n in range(8)}
MANY = 2_000
"""Subjects of a sample, so that it misses none of eight."""


@pytest.fixture(params=["embedded", *ENGINES])
def instance(tmp_path: Path, request: pytest.FixtureRequest, provider: ProviderServer) -> Iterator[TemporaryInstance]:
    """An instance with the providers `p` and `q`, in the embedded store or an engine."""
    folder = tmp_path / "instance"
    folder.mkdir()
    with serving(request.param if request.param != "embedded" else ENGINES[0], tmp_path / "engine") as server:
        if request.param != "embedded":
            address = server.address
            (folder / "engine").write_text(f"{address.query}\n{address.update}\n{address.graph_store}\n")
        made = TemporaryInstance(folder)
        made.register("".join(f"{name}:\n  void: {provider.url}/void.ttl\n" for name in "pq"))
        release(provider, 1, *LINES)
        for name in "pq":
            assert [result.outcome.value for result in made.tick(name)] == ["committed"]
        yield made
        made.close()


def verified(instance: TemporaryInstance, *names: str, sample: int = 0, repair: bool = False) -> list[dict[str, Any]]:
    answer = execute(instance.harvester, "verify --store", [json.dumps({"sample": sample, "repair": repair}), *names])
    assert "error" not in answer and answer["ok"] == all(found["holds"] for found in answer["results"])
    results: list[dict[str, Any]] = answer["results"]
    return results


def changed_by_others(instance: TemporaryInstance, graph: str, gone: str, new: str) -> None:
    """Replace a statement of a graph behind the instance's back."""
    store = instance.harvester.instance.store
    lines = [f"{line} <{graph}> .\n".encode() for line in sorted({*LINES, new} - {gone})]
    store.replace_graph(graph, lines)


def test_a_store_that_holds_the_versions_is_proven(instance: TemporaryInstance) -> None:
    """Whole, by a sample, and for a provider that is named."""
    said = [found["detail"] for found in verified(instance)]
    assert said == ["the store holds the 8 triples of version 1"] * 2
    said = [found["detail"] for found in verified(instance, "q", sample=MANY)]
    assert said == ["the store has as many triples as version 1, and the same of 8 subjects"]


@pytest.mark.parametrize("sample", [0, MANY])
def test_what_differs_is_found_and_repaired(instance: TemporaryInstance, sample: int) -> None:
    """As many triples, one of them another; the provider beside it stays as it is."""
    graph = instance.settings.graph("p")
    changed_by_others(instance, graph, '<http://x/3> <http://p> "3"', '<http://x/3> <http://p> "4"')
    bad, good = verified(instance, sample=sample)
    assert good["holds"] and not bad["holds"] and bad["provider"] == "p"
    if sample:
        assert "the store has other triples of <http://x/3> than version 1" in bad["detail"]
    else:
        assert "lacks 1 of the 8 triples of version 1, and has 1 others, first <http://x/3>" in bad["detail"]
    assert bad["mend"] == "harvest verify --store --repair p"
    assert instance.graph("p") != LINES
    [repaired] = verified(instance, "p", sample=sample, repair=True)
    assert repaired["holds"] and repaired["detail"].startswith("repaired; the store ")
    assert instance.graph("p") == instance.graph("q") == LINES
    assert all(found["holds"] for found in verified(instance))
    assert instance.proven("p")


def test_a_graph_that_lost_all_is_found_by_its_number(instance: TemporaryInstance) -> None:
    """A sample of one subject is enough for that."""
    instance.harvester.instance.store.drop(instance.settings.graph("q"))
    good, bad = verified(instance, sample=1)
    assert good["holds"] and "the store has 0 triples and version 1 8" in bad["detail"]
    assert all(found["holds"] for found in verified(instance, repair=True))
    assert instance.graph("q") == LINES


def test_a_graph_of_nobody_is_found_and_dropped(instance: TemporaryInstance) -> None:
    """Under this instance's names; it came from somebody who wrote the engine."""
    graph = instance.settings.graph("stranger")
    changed_by_others(instance, graph, "", '<http://x/9> <http://p> "9"')
    *_, found = verified(instance)
    assert not found["holds"] and f"a graph <{graph}> that is nobody's" in found["detail"]
    *_, found = verified(instance, repair=True)
    assert found["holds"] and "dropped; " in found["detail"]
    assert graph not in instance.harvester.instance.store.graphs()
    assert len(verified(instance)) == 2


def test_an_engine_that_is_away_is_no_drift(tmp_path: Path, provider: ProviderServer) -> None:
    """The reason is that it does not answer, and nothing is repaired."""
    with serving(ENGINES[0], tmp_path / "engine") as server:
        address = server.address
        (folder := tmp_path / "instance").mkdir()
        (folder / "engine").write_text(f"{address.query}\n{address.update}\n{address.graph_store}\n")
        made = TemporaryInstance(folder)
        made.register(f"p:\n  void: {provider.url}/void.ttl\n")
        release(provider, 1, *LINES)
        assert outcomes(made) == ["committed"]
        server.kill()
        [found] = verified(made, "p", repair=True)
        assert not found["holds"] and address.query in found["detail"] and "gave no answer" in found["detail"]
        server.start()
        assert Engine(address).identify()
        [found] = verified(made, "p")
        assert found["holds"]
        made.close()


@pytest.mark.parametrize("words", [("--sample", "5"), ("--repair",)])
def test_the_options_go_with_the_store(words: tuple[str, ...]) -> None:
    """Without it they would say nothing."""
    found = CliRunner().invoke(main, ["verify", *words])
    assert found.exit_code == 2 and "goes with --store" in found.stderr


def test_the_command_compares_the_store(tmp_path: Path, provider: ProviderServer) -> None:
    """As it is called."""
    (tmp_path / "harvest.yaml").write_text(
        "base_url: http://h.example\ndata_dir: var\nexports_dir: exports\nhttp: {allow_loopback: true}\n"
    )
    (tmp_path / "registry.yaml").write_text(f"p:\n  void: {provider.url}/void.ttl\n")
    release(provider, 1, *LINES)
    config = ["--config", str(tmp_path / "harvest.yaml")]
    assert CliRunner().invoke(main, ["run", "p", *config]).exit_code == 0
    found = CliRunner().invoke(main, ["verify", "--store", "--sample", "3", *config])
    assert found.exit_code == 0, found.output
    assert "ok   p  store: the store has as many triples as version 1" in found.stdout
