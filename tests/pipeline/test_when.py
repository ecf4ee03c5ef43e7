"""When a dataset is harvested, and when it is left alone."""

from __future__ import annotations

import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from harvest.catalog.providers import provider_report
from harvest.model import Outcome
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_semantics import A1, A2, outcomes, release, ttl
from tests.provider import ProviderServer

DumpRecords = Callable[..., None]


def kinds(instance: TemporaryInstance) -> set[str]:
    harvester = instance.harvester
    item = provider_report(
        harvester.instance.ledger, instance.settings, "p", harvester.instance.roster.get("p"), instance.clock.now
    )
    assert item is not None
    return {finding.kind for finding in item.findings}


def state_of_disk(folder: Path) -> dict[str, tuple[int, int]]:
    """Size and time of every file; the write-ahead log of SQLite included, and a file that is just going left out."""
    found = {}
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):
            facts = path.lstat()
            if not stat.S_ISDIR(facts.st_mode):
                found[str(path.relative_to(folder))] = facts.st_size, facts.st_mtime_ns
    return found


def test_an_unchanged_description_costs_one_conditional_request_and_no_write(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """The second tick gets a 304 and leaves every file of the instance as it is."""
    registered()
    release(provider, 1, A1)
    instance.tick("p")
    before = state_of_disk(instance.folder)
    assert instance.tick("p") == []
    assert state_of_disk(instance.folder) == before
    assert provider.asked("/void.ttl") == [200, 304]


def test_the_date_is_written_back_to_the_registry(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """After the commit the registry says what was harvested, and its comments are still there."""
    registered("modified: 2025-01-01  # the day we met")
    release(provider, 1, A1)
    instance.tick("p")
    text = instance.settings.registry.read_text()
    assert "2026-01-01" in text and "# the day we met" in text


def test_a_failed_harvest_leaves_the_date_where_it_was(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """A dump that does not parse: last version served, `modified` as it was, a finding with line and column."""
    registered()
    release(provider, 1, A1)
    instance.tick("p")
    before = instance.settings.registry.read_text()
    provider.put("/2.ttl", "<http://x/a> <http://p> 'fine' .\n<http://x/a> <http://p> oops .\n")
    provider.describe("/void.ttl", "2026-01-02T00:00:00Z", ["/2.ttl"])
    [result] = instance.tick("p")
    assert result.outcome is Outcome.FAILED
    assert result.finding is not None
    assert (result.finding.url, result.finding.line) == (provider.url + "/2.ttl", 2)
    assert result.finding.column and result.finding.excerpt == "<http://x/a> <http://p> oops ."
    assert instance.settings.registry.read_text() == before
    assert instance.graph("p") == {A1}
    assert "wash" in kinds(instance)


def test_a_broken_dump_is_tried_again_later_and_reported_once(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """Mended under the same date and address the dump is harvested; until then one run reports it, not one a minute."""
    registered()
    provider.put("/1.ttl", "broken")
    provider.describe("/void.ttl", "2026-01-01T00:00:00Z", ["/1.ttl"])
    instance.tick("p")
    assert instance.tick("p") == []
    instance.clock.forward(hours=1)
    assert outcomes(instance) == ["failed"]
    assert len(instance.harvester.instance.ledger.runs("p")) == 1
    provider.put("/1.ttl", ttl(A1))
    instance.clock.forward(hours=7)
    assert outcomes(instance) == ["committed"]
    assert kinds(instance) == set()


def test_a_newer_date_over_the_same_bytes_is_reported(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """Nothing changes but the date; the dump is not even downloaded again."""
    registered()
    provider.put("/d.ttl", ttl(A1))
    provider.describe("/void.ttl", "2026-01-01T00:00:00Z", ["/d.ttl"])
    instance.tick("p")
    provider.describe("/void.ttl", "2026-01-02T00:00:00Z", ["/d.ttl"])
    assert outcomes(instance) == ["unchanged"]
    assert "same-bytes" in kinds(instance)
    assert provider.asked("/d.ttl") == [200, 304]
    assert "2026-01-02" in instance.settings.registry.read_text()
    assert instance.tick("p") == []


def test_the_same_date_over_other_bytes_is_reported(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """`harvest run NAME` takes the other bytes all the same."""
    registered()
    release(provider, 1, A1)
    instance.tick("p")
    provider.put("/1.ttl", ttl(A2))
    assert instance.tick("p") == []
    assert outcomes(instance, forced=True) == ["committed"]
    assert "same-date" in kinds(instance)
    assert instance.graph("p") == {A2}


def test_a_registry_date_that_is_as_new_holds_a_harvest_back(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """What the registry says is harvested is not harvested again, and a finding says how to have it."""
    registered("modified: 2026-01-01")
    release(provider, 1, A1)
    assert instance.tick("p") == []
    assert kinds(instance) == {"never-harvested"}
    release(provider, 2, A1)
    assert outcomes(instance) == ["committed"]


def test_removing_the_registry_date_asks_for_another_harvest(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """The operator's way to say: again."""
    registered("modified: 2025-01-01")
    release(provider, 1, A1)
    instance.tick("p")
    provider.put("/1.ttl", ttl(A2))
    registered()
    assert outcomes(instance) == ["committed"]
    assert instance.tick("p") == []


def test_without_write_back_the_date_stays_in_the_ledger(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """A registry under git is never touched, and an unchanged provider is still left alone."""
    from dataclasses import replace

    instance.settings = replace(instance.settings, write_back=False)
    registered()
    release(provider, 1, A1)
    before = instance.settings.registry.read_text()
    instance.tick("p")
    assert instance.settings.registry.read_text() == before
    assert instance.tick("p") == []
    release(provider, 2, A2)
    assert outcomes(instance) == ["committed"]


def test_a_dataset_without_a_date_is_watched_by_its_dumps(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """A third of the datasets in the wild have no date: their dumps are asked for conditionally."""
    registered()
    provider.put("/d.ttl", ttl(A1))
    provider.describe("/void.ttl", None, ["/d.ttl"])
    assert outcomes(instance) == ["committed"]
    assert instance.tick("p") == []
    provider.put("/d.ttl", ttl(A2))
    assert outcomes(instance) == ["committed"]
    assert provider.asked("/d.ttl") == [200, 304, 200]
    assert instance.graph("p") == {A2}


def test_a_description_that_is_gone_is_a_finding_and_backs_off(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """One run reports the loss, the graph stays, the next looks come later and later, and a good answer clears it."""
    registered()
    release(provider, 1, A1)
    instance.tick("p")
    provider.put("/void.ttl", "gone", status=404)
    assert instance.tick("p")[0].outcome is Outcome.FAILED
    assert kinds(instance) == {"status"}
    asked = len(provider.asked("/void.ttl"))
    assert instance.tick("p") == []
    assert len(provider.asked("/void.ttl")) == asked
    release(provider, 2, A2)
    instance.clock.forward(hours=7)
    assert outcomes(instance) == ["committed"]
    assert kinds(instance) == set()


def test_a_newer_full_overtakes_the_waiting_one_but_never_a_partial(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """A backlog coalesces to the newest full; each partial is harvested, in order."""
    registered()
    release(provider, 1, A1)
    instance.harvester.look("p")
    release(provider, 2, A2)
    instance.harvester.look("p")
    release(provider, 3, '<http://x/b> <http://p> "3"', partial=True)
    instance.harvester.look("p")
    release(provider, 4, '<http://x/b> <http://p> "4"', partial=True)
    instance.harvester.look("p")
    results = instance.harvester.work("p")
    assert [result.outcome for result in results] == [Outcome.COMMITTED] * 3
    assert provider.asked("/1.ttl") == []
    versions = instance.harvester.instance.ledger.versions("p")
    assert [version.coverage for version in versions] == ["full", "partial", "partial"]
    assert instance.graph("p") == {A2, '<http://x/b> <http://p> "4"'}


def test_a_lone_dump_needs_no_description(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """`dump:` in the registry names the file itself; it is watched by its validators."""
    provider.put("/d.ttl", ttl(A1))
    instance.register(f"p:\n  dump: {provider.url}/d.ttl\n")
    assert outcomes(instance) == ["committed"]
    assert instance.tick("p") == []
    provider.put("/d.ttl", ttl(A2))
    assert outcomes(instance) == ["committed"]
    assert instance.graph("p") == {A2}


def test_a_partial_waits_for_an_older_one_that_cannot_be_harvested_yet(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """Taken before it, it would be overwritten by older data when that is mended; nothing is skipped."""
    registered()
    release(provider, 1, A1)
    instance.tick("p")
    release(provider, 2, "<http://x/a> <http://p> broken", partial=True)
    assert outcomes(instance) == ["failed"]
    release(provider, 3, A2, partial=True)
    assert outcomes(instance) == []
    provider.put("/2.ttl", ttl('<http://x/a> <http://p> "older"'))
    instance.clock.forward(hours=1)
    assert outcomes(instance) == ["committed", "committed"]
    assert instance.graph("p") == {A2}


def test_a_newer_full_ends_the_waiting_for_older_partials(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """It says all that they could say, and better; they must not come after it."""
    registered()
    release(provider, 1, A1)
    instance.tick("p")
    release(provider, 2, "<http://x/a> <http://p> broken", partial=True)
    instance.tick("p")
    release(provider, 3, A2)
    assert outcomes(instance) == ["committed"]
    provider.put("/2.ttl", ttl(A1))
    instance.clock.forward(hours=7)
    assert outcomes(instance) == []
    assert instance.graph("p") == {A2}


@pytest.mark.parametrize("url", ["http://[fe80::1%25eth0]/", "http://x%25y.example/"])
def test_a_provider_with_an_odd_address_is_described_as_others_are(instance: TemporaryInstance, url: str) -> None:
    """The provider is refused, with the reason, and stands in the metadata graph as failing."""
    instance.register(f"p:\n  void: '{url}'\n")
    [result] = instance.tick("p")
    assert result.finding is not None
    assert result.finding.kind == "refused"
    metadata = b"".join(instance.harvester.instance.store.dump(instance.harvester.instance.metadata_graph)).decode()
    assert instance.settings.graph("p") in metadata
