"""Full, partial, mirror, the guard, several dumps and several datasets, over HTTP, in a real store."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harvest.errors import UnknownName
from harvest.model import Outcome
from tests.pipeline.conftest import TemporaryInstance
from tests.provider import VOID, ProviderServer, dataset

A1 = '<http://x/a> <http://p> "1"'
A2 = '<http://x/a> <http://p> "2"'
B1 = '<http://x/b> <http://p> "1"'
C1 = '<http://x/c> <http://p> "1"'
DumpRecords = Callable[..., None]


def ttl(*triples: str) -> str:
    return "".join(f"{triple} .\n" for triple in triples)


def release(provider: ProviderServer, day: int, *triples: str, partial: bool = False) -> None:
    """Publish a dump and a description of that day."""
    provider.put(f"/{day}.ttl", ttl(*triples))
    provider.describe("/void.ttl", f"2026-01-{day:02d}T00:00:00Z", [f"/{day}.ttl"], partial=partial)


def outcomes(instance: TemporaryInstance, **options: bool) -> list[str]:
    return [result.outcome.value for result in instance.tick("p", **options)]


def test_a_full_dump_replaces_its_subjects_and_keeps_the_others(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """Subjects that a later full dump lacks stay, and are counted (GeoLink, "Importing Process")."""
    registered()
    release(provider, 1, A1, B1)
    assert outcomes(instance) == ["committed"]
    release(provider, 2, A2, C1)
    assert outcomes(instance) == ["committed"]
    assert instance.graph("p") == {A2, B1, C1}
    run = instance.harvester.instance.ledger.runs("p")[0]
    assert (run.added, run.removed, run.vanished_subjects) == (2, 1, 1)
    assert instance.proven("p")


def test_mirroring_ends_in_exactly_the_input(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """With `removals: mirror` what the full dump lacks goes."""
    registered("removals: mirror")
    release(provider, 1, A1, B1)
    instance.tick("p")
    release(provider, 2, A2)
    instance.tick("p")
    assert instance.graph("p") == {A2}
    assert instance.proven("p")


def test_a_partial_dump_changes_its_subjects_alone(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """A partial after a full, and a full after that: the deltas add up, and every version can be read again."""
    registered()
    release(provider, 1, A1, B1)
    instance.tick("p")
    release(provider, 2, A2, partial=True)
    instance.tick("p")
    release(provider, 3, C1, partial=True)
    instance.tick("p")
    assert instance.graph("p") == {A2, B1, C1}
    release(provider, 4, A1, B1)
    instance.tick("p")
    assert instance.graph("p") == {A1, B1, C1}
    assert instance.proven("p")


def test_partial_mirrored_is_still_partial(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """Mirroring is for full dumps; a partial one never removes a subject it does not speak of."""
    registered("removals: mirror")
    release(provider, 1, A1, B1)
    instance.tick("p")
    release(provider, 2, A2, partial=True)
    instance.tick("p")
    assert instance.graph("p") == {A2, B1}


def test_several_dumps_are_one_input(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """A subject that spans two dumps keeps what both say; deleting before each dump would lose the first half."""
    registered()
    provider.put("/1.ttl", ttl(A1))
    provider.put("/2.ttl", ttl(A2))
    provider.describe("/void.ttl", "2026-01-01T00:00:00Z", ["/1.ttl", "/2.ttl"])
    instance.tick("p")
    assert instance.graph("p") == {A1, A2}


def test_a_dataset_commits_only_if_all_its_dumps_landed(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """One dump missing: nothing changes, the date stays, the finding names the URL."""
    registered()
    release(provider, 1, A1)
    instance.tick("p")
    provider.put("/2.ttl", ttl(A2))
    provider.describe("/void.ttl", "2026-01-02T00:00:00Z", ["/2.ttl", "/gone.ttl"])
    [result] = instance.tick("p")
    assert result.outcome is Outcome.FAILED
    assert result.finding is not None and result.finding.url == provider.url + "/gone.ttl"
    assert instance.graph("p") == {A1}
    record = instance.harvester.instance.ledger.provider("p")
    assert record is not None and record.modified is not None and record.modified.day == 1


def test_each_dataset_of_a_description_is_tracked_by_itself(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """Two datasets with dates of their own: the second's new date harvests the second alone."""
    registered()
    provider.put("/1.ttl", ttl(A1))
    provider.put("/2.ttl", ttl(B1))
    first, second = f"{provider.url}/#1", f"{provider.url}/#2"
    provider.put(
        "/void.ttl",
        VOID + dataset(first, "2026-01-02T00:00:00Z", ["/1.ttl"]) + dataset(second, "2026-01-01T00:00:00Z", ["/2.ttl"]),
    )
    assert outcomes(instance) == ["committed", "committed"]
    provider.put("/2.ttl", ttl(C1))
    provider.put(
        "/void.ttl",
        VOID + dataset(first, "2026-01-02T00:00:00Z", ["/1.ttl"]) + dataset(second, "2026-01-03T00:00:00Z", ["/2.ttl"]),
    )
    assert outcomes(instance) == ["committed"]
    assert instance.graph("p") == {A1, B1, C1}
    assert provider.asked("/1.ttl") == [200]


def test_mirroring_several_datasets_mirrors_their_union(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """A harvest of one dataset does not take away what another one of the provider holds."""
    registered("removals: mirror")
    provider.put("/1.ttl", ttl(A1))
    provider.put("/2.ttl", ttl(B1))
    both = [(f"{provider.url}/#1", "/1.ttl"), (f"{provider.url}/#2", "/2.ttl")]
    provider.put("/void.ttl", VOID + "".join(dataset(iri, "2026-01-01T00:00:00Z", [dump]) for iri, dump in both))
    instance.tick("p")
    provider.put("/2.ttl", ttl(C1))
    provider.put("/void.ttl", VOID + "".join(dataset(iri, "2026-01-02T00:00:00Z", [dump]) for iri, dump in both))
    instance.tick("p")
    assert instance.graph("p") == {A1, C1}


def test_foreign_graph_names_land_in_the_providers_own_graph(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """A dump in N-Quads cannot write to another provider's graph."""
    registered()
    provider.put("/1.nq", '<http://x/a> <http://p> "1" <http://h.example/graph/other> .\n', "application/n-quads")
    provider.describe("/void.ttl", "2026-01-01T00:00:00Z", ["/1.nq"])
    instance.tick("p")
    assert instance.graph("p") == {A1}
    assert instance.graph("other") == set()


def test_the_guard_holds_a_harvest_that_removes_too_much(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """Held: nothing changes, the figures are reported, and approving lets the filed dumps through."""
    instance.guard(2, 0.2)
    registered("removals: mirror")
    lines = [f'<http://x/{i}> <http://p> "1"' for i in range(10)]
    release(provider, 1, *lines)
    instance.tick("p")
    release(provider, 2, *lines[:5])
    [result] = instance.tick("p")
    assert result.outcome is Outcome.HELD
    assert result.finding is not None and "5 of 10 triples would be removed" in result.finding.message
    assert len(instance.graph("p")) == 10
    instance.clock.forward(hours=1)
    assert instance.tick("p") == []
    assert [done.outcome for done in instance.harvester.approve("p")] == [Outcome.COMMITTED]
    assert instance.graph("p") == set(lines[:5])
    assert instance.proven("p")


def test_a_mended_dump_takes_the_place_of_the_held_one(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """A newer full announcement supersedes the held one; then there is nothing to approve."""
    instance.guard(2, 0.2)
    registered("removals: mirror")
    lines = [f'<http://x/{i}> <http://p> "1"' for i in range(10)]
    release(provider, 1, *lines)
    instance.tick("p")
    release(provider, 2, *lines[:5])
    instance.tick("p")
    release(provider, 3, *lines, C1)
    assert outcomes(instance) == ["committed"]
    with pytest.raises(UnknownName, match="nothing of p is held"):
        instance.harvester.approve("p")


def test_blank_node_descriptions_go_with_the_subject_that_alone_referred_to_them(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """A partial that replaces <a> takes <a>'s address with it, but not the one that <b> shares."""
    registered()
    own = "<http://x/a> <http://address> [ <http://street> 'Own' ] ."
    shared = "<http://x/a> <http://home> _:s . <http://x/b> <http://home> _:s . _:s <http://street> 'Shared' ."
    provider.put("/1.ttl", own + shared)
    provider.describe("/void.ttl", "2026-01-01T00:00:00Z", ["/1.ttl"])
    instance.tick("p")
    assert len(instance.graph("p")) == 5
    release(provider, 2, A1, partial=True)
    instance.tick("p")
    graph = instance.graph("p")
    assert A1 in graph and len(graph) == 3
    assert any('"Shared"' in line for line in graph) and not any('"Own"' in line for line in graph)
    assert instance.proven("p")


def test_harvesting_the_same_blank_nodes_again_changes_nothing(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """Blank nodes do not double: other labels, other order, other indentation, same graph."""
    registered()
    provider.put("/1.ttl", "<http://x/a> <http://q> [ <http://p> 1 ], [ <http://p> 2 ] . [] <http://p> 3 .")
    provider.describe("/void.ttl", "2026-01-01T00:00:00Z", ["/1.ttl"])
    instance.tick("p")
    again = "_:z <http://p> 3 .\n_:b <http://p> 2 . _:c <http://p> 1 . <http://x/a> <http://q> _:b, _:c ."
    provider.put("/2.ttl", again)
    provider.describe("/void.ttl", "2026-01-02T00:00:00Z", ["/2.ttl"])
    assert outcomes(instance) == ["unchanged"]


def test_spellings_of_one_value_are_kept_apart_through_partials(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """The store folds "1" and "01" into one triple; snapshots, deltas and exports keep what the provider wrote."""
    registered()
    number = "<http://www.w3.org/2001/XMLSchema#integer>"
    one, other = f'<http://x/a> <http://p> "1"^^{number}', f'<http://x/a> <http://p> "01"^^{number}'
    release(provider, 1, one, other, f'<http://x/b> <http://p> "007"^^{number}')
    instance.tick("p")
    assert instance.proven("p")
    release(provider, 2, one, f'<http://x/b> <http://p> "08"^^{number}', partial=True)
    instance.tick("p")
    assert instance.proven("p")
    assert instance.graph("p") == {one, f'<http://x/b> <http://p> "8"^^{number}'}
    assert instance.harvester.instance.ledger.versions("p")[1].removed == 2


def test_many_partials_in_a_row_add_up(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """What they change together is kept beside the snapshot, added to each time, and ends with the next snapshot."""
    registered()
    release(provider, 1, A1, B1, C1)
    instance.tick("p")
    for day in range(2, 8):
        release(provider, day, f'<http://x/{"abc"[day % 3]}> <http://p> "{day}"', partial=True)
        assert outcomes(instance) == ["committed"]
    folder = instance.harvester.instance.files("p").folder
    assert [path.name for path in folder.glob("since-*")] == ["since-000001-000006"]
    assert instance.graph("p") == {f'<http://x/{"abc"[day % 3]}> <http://p> "{day}"' for day in (5, 6, 7)}
    assert instance.proven("p")
    assert list(folder.glob("since-*")) == []
    release(provider, 8, A1, partial=True)
    instance.tick("p")
    assert A1 in instance.graph("p")
    assert instance.proven("p")
