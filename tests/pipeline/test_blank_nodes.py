"""Blank nodes of different dumps, over HTTP, in a real store: none is taken for another one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from harvest.model import dataset_mark
from harvest.pipeline.harvest import job as job_module
from harvest.revise.target import Origin
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_semantics import release
from tests.provider import VOID, ProviderServer, dataset

OTHER_BYTES = "# the same statements in other bytes\n"
DumpRecords = Callable[..., None]
STATION = """_:s a <http://o/Sensor> ; <http://o/name> "{}" .
_:o1 a <http://o/Obs> ; <http://o/by> _:s ; <http://o/time> "10:00" ; <http://o/value> 5 .
_:o2 a <http://o/Obs> ; <http://o/by> _:s ; <http://o/time> "11:00" ; <http://o/value> 6 """


def publisher(graph: set[str], subject: str) -> str:
    """The name of the publisher of a subject."""
    [node] = [line.split()[2] for line in graph if line.startswith(f"<http://x/{subject}> <http://p/publisher> ")]
    [name] = [line.split('"')[1] for line in graph if line.startswith(f"{node} <http://p/name> ")]
    return name


@pytest.mark.parametrize("coverage", ["full", "partial"])
@pytest.mark.parametrize(("given", "other"), [("s", "t"), ("t", "s")])
def test_a_shared_node_stays_as_it_is_for_the_subject_that_is_not_replaced(
    instance: TemporaryInstance,
    provider: ProviderServer,
    registered: DumpRecords,
    coverage: str,
    given: str,
    other: str,
) -> None:
    """A new publisher of one subject says nothing of the other's, comes out the same again, and is made again."""
    registered()
    partly = coverage == "partial"
    shared = '<http://x/s> <http://p/publisher> _:o . <http://x/t> <http://p/publisher> _:o . _:o <http://p/name> "Old"'
    release(provider, 1, shared, partial=partly)
    instance.tick("p")
    fresh = f'<http://x/{given}> <http://p/publisher> [ <http://p/name> "New" ]'
    release(provider, 2, fresh, partial=partly)
    instance.tick("p")
    graph = instance.graph("p")
    assert len(graph) == 4
    assert (publisher(graph, given), publisher(graph, other)) == ("New", "Old")
    release(provider, 3, OTHER_BYTES + fresh, partial=partly)
    assert [result.outcome.value for result in instance.tick("p")] == ["unchanged"]
    release(provider, 4, fresh.replace("New", "Newer"), partial=partly)
    instance.tick("p")
    version = instance.harvester.instance.ledger.versions("p")[-1]
    assert (version.added, version.removed) == (1, 1)  # the name that it got is its own again
    assert instance.proven("p")
    assert [made.same for made in instance.harvester.rebuild("p")] == [True, True, True]


def test_nodes_that_nothing_leads_to_are_not_taken_for_others(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """Observations of two stations that differ in their station alone stay apart, and come out the same again."""
    registered()
    for day, name in ((1, "north"), (2, "south")):
        release(provider, day, STATION.format(name), partial=True)
        instance.tick("p")
    assert len(instance.graph("p")) == 20
    for day, name in ((3, "north"), (4, "south")):
        release(provider, day, OTHER_BYTES + STATION.format(name), partial=True)
        assert [result.outcome.value for result in instance.tick("p")] == ["unchanged"]
    assert instance.proven("p")
    assert [made.same for made in instance.harvester.rebuild("p")] == [True, True]


@contextmanager
def older_release() -> Iterator[None]:
    """Harvests as a release did it that followed the first rules."""
    with pytest.MonkeyPatch.context() as older:
        older.setattr(
            "harvest.pipeline.harvest.older_names.origin",
            lambda ledger, provider, dataset: Origin(dataset.iri, True, 1),
        )
        document = job_module.document_of
        older.setattr(job_module, "document_of", lambda job, capture, dataset: document(job, capture, None))
        older.setattr("harvest.pipeline.harvest.commit.RULES", 1)
        older.setattr("harvest.ledger.settling.RULES", 1)
        yield


def test_versions_made_by_older_rules_are_made_again_by_those(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """What was committed before stays what it was, byte for byte, also where names met; what comes now is safe."""
    registered()
    with older_release():
        for day, name in ((1, "north"), (2, "south")):
            release(provider, day, STATION.format(name), partial=True)
            instance.tick("p")
    assert len(instance.graph("p")) < 20
    release(provider, 3, STATION.format("west"), partial=True)
    instance.tick("p")
    assert [made.same for made in instance.harvester.rebuild("p")] == [True, True, True]
    assert instance.proven("p")


EVENT = '[] a <http://x/Event> ; <http://x/label> "{}" . <http://x/{}> <http://p> "{}"'


def events(provider: ProviderServer, a: int, b: int) -> None:
    """Describe two full datasets by the days of their releases, each with a node that nothing leads to."""
    sets = []
    for name, day in (("a", a), ("b", b)):
        provider.put(f"/{name}.ttl", EVENT.format(f"event {name} {day}", name, day) + " .\n")
        sets.append(dataset(f"{provider.url}/#{name}", f"2026-01-{day:02d}T00:00:00Z", [f"/{name}.ttl"]))
    provider.put("/void.ttl", VOID + "".join(sets))


def labels(instance: TemporaryInstance) -> list[str]:
    return sorted(line.split('"')[1] for line in instance.graph("p") if "/label>" in line)


def test_full_datasets_do_not_end_each_others_nodes(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """A node that nothing leads to ends with a full dump of its own dataset, and of no other."""
    registered()
    events(provider, 1, 1)
    instance.tick("p")
    assert labels(instance) == ["event a 1", "event b 1"]
    events(provider, 2, 1)
    instance.tick("p")
    assert labels(instance) == ["event a 2", "event b 1"]
    events(provider, 2, 3)
    instance.tick("p")
    assert labels(instance) == ["event a 2", "event b 3"]
    assert instance.proven("p")
    assert all(made.same for made in instance.harvester.rebuild("p"))


def test_the_nodes_of_a_mirror_of_several_datasets_have_the_name_of_their_own(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """A union is named dataset by dataset, so that a change of one leaves the names of others, and is made again."""
    registered("removals: mirror")
    events(provider, 1, 1)
    instance.tick("p")
    events(provider, 2, 1)
    instance.tick("p")
    assert labels(instance) == ["event a 2", "event b 1"]
    [node] = [line.split()[0] for line in instance.graph("p") if "event b" in line]
    assert node.endswith(f"-{dataset_mark(provider.url + '/#b')}>")
    version = instance.harvester.instance.ledger.versions("p")[-1]
    assert (version.added, version.removed) == (2, 2)
    assert all(made.same for made in instance.harvester.rebuild("p"))


def test_nodes_of_an_older_release_get_names_with_the_mark_of_their_dataset(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """They stay until each full dataset came again, which a finding says, and `harvest run` does; no guard holds it."""
    registered()
    events(provider, 1, 1)
    with older_release():
        instance.tick("p")
    events(provider, 1, 2)
    instance.guard(1, 0.1)
    instance.tick("p")
    [finding] = [f for f in instance.harvester.instance.ledger.runs("p")[0].findings if f.kind == "older-names"]
    assert f"{provider.url}/#a " in finding.message
    before = labels(instance)
    assert [result.outcome.value for result in instance.tick("p", forced=True)] == ["committed", "unchanged"]
    assert "event b 2" in before and labels(instance) == ["event a 1", "event b 2"]
    assert all("-" in line.split("/genid/")[1] for line in instance.graph("p") if "/genid/" in line)
    assert all(made.same for made in instance.harvester.rebuild("p"))
    assert instance.proven("p")


def rooted(title: str, records: list[str]) -> str:
    """A dump whose records hang below one blank root."""
    below = "".join(
        f'; <http://x/record> [ <http://x/name> "{name}" ; <http://x/at> [ <http://x/n> 1 ] ]' for name in records
    )
    return f'[] a <http://x/Catalog> ; <http://x/title> "{title}" {below}'


def test_an_edit_below_a_nameless_root_changes_the_lines_of_the_edit(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """Neither a new title of the root nor a new record renames what else hangs below it."""
    registered()
    names = [f"record {n}" for n in range(50)]
    steps = [("one", names), ("two", names), ("two", [*names, "more"]), ("two", ["other", *names[1:], "more"])]
    for day, (title, records) in enumerate(steps, 1):
        release(provider, day, rooted(title, records))
        instance.tick("p")
    versions = instance.harvester.instance.ledger.versions("p")
    assert [(version.added, version.removed) for version in versions] == [(202, 0), (1, 1), (4, 0), (4, 4)]
    assert all(made.same for made in instance.harvester.rebuild("p"))
