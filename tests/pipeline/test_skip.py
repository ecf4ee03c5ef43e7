"""Partial dumps behind one that cannot be harvested: they are downloaded, they wait, and an operator can end that."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harvest.errors import UnknownName
from harvest.model import State
from harvest.service.orders import execute
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_semantics import A1, outcomes, release
from tests.pipeline.test_watch import lone, states
from tests.provider import ProviderServer

DumpRecords = Callable[..., None]


def triples(count: int, value: str) -> list[str]:
    return [f'<http://x/{n}> <http://p> "{value}"' for n in range(count)]


def publish(provider: ProviderServer, day: int, *lines: str) -> None:
    """A partial dump, always under the same URL."""
    provider.put("/part.nt", "".join(f"{line} .\n" for line in lines))
    provider.describe("/void.ttl", f"2026-01-{day:02}T00:00:00Z", ["/part.nt"], partial=True)


def test_partials_behind_a_held_one_are_downloaded_when_they_are_seen(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """The next one has the same URL: what was not downloaded would be lost."""
    instance.guard(2, 0.2)
    registered()
    publish(provider, 1, *triples(20, "0"))
    outcomes(instance)
    publish(provider, 2, *triples(10, "1"))
    assert outcomes(instance) == ["held"]
    for day in (3, 4):
        publish(provider, day, f'<http://x/new> <http://p{day}> "{day}"', f'<http://x/{day}{day}> <http://p> "{day}"')
        assert outcomes(instance) == []
    assert provider.asked("/part.nt") == [200] * 4
    assert [result.outcome.value for result in instance.harvester.approve("p")] == ["committed"] * 3
    graph = instance.graph("p")
    assert {'<http://x/33> <http://p> "3"', '<http://x/44> <http://p> "4"', '<http://x/new> <http://p4> "4"'} <= graph
    assert '<http://x/new> <http://p3> "3"' not in graph


def test_a_partial_that_is_gone_can_be_skipped(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """The dump would block its dataset for ever; those behind it are harvested, and the log says what was left out."""
    registered()
    release(provider, 1, A1, partial=True)
    outcomes(instance)
    provider.describe("/void.ttl", "2026-01-02T00:00:00Z", ["/gone.nt"], partial=True)
    outcomes(instance)
    release(provider, 3, '<http://x/3> <http://p> "3"', partial=True)
    assert outcomes(instance) == []
    assert states(instance) == [State.FAILING]
    answer = execute(instance.harvester, "skip", ("p",))
    assert [result["outcome"] for result in answer["results"]] == ["skipped", "committed"]
    assert '<http://x/3> <http://p> "3"' in instance.graph("p")
    assert states(instance) == [State.IDLE]
    [log] = [text for text in logs(instance) if b"skippedAtTime" in text]
    assert f"<{provider.url}/gone.nt>".encode() in log
    instance.clock.forward(days=30)
    assert outcomes(instance) == []


def logs(instance: TemporaryInstance) -> list[bytes]:
    """The provenance logs."""
    running = instance.harvester.instance
    rows = running.ledger.database.rows("SELECT digest FROM log ORDER BY id")
    return [running.content.path(row["digest"]).read_bytes() for row in rows]


def test_what_was_skipped_is_not_announced_again_unless_it_is_asked_for(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """Its date stays newer than that of the last harvest, and its description may be edited for another reason."""
    registered()
    release(provider, 1, A1)
    outcomes(instance)
    provider.describe("/void.ttl", "2026-01-02T00:00:00Z", ["/gone.nt"])
    outcomes(instance)
    instance.harvester.skip("p")
    provider.pages["/void.ttl"].body += b"# edited\n"
    assert outcomes(instance) == []
    assert outcomes(instance, forced=True) == ["failed"]


def test_an_announcement_is_skipped_by_its_number(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """The number is what `harvest status` prints; another number is refused with those of the open announcements."""
    registered()
    release(provider, 1, A1, partial=True)
    with pytest.raises(UnknownName, match=r"nothing of it fails or is held; open announcements: none"):
        instance.harvester.skip("p")
    provider.describe("/void.ttl", "2026-01-01T00:00:00Z", ["/gone.nt"], partial=True)
    outcomes(instance)
    release(provider, 2, A1, partial=True)
    outcomes(instance)
    gone, behind = instance.harvester.instance.ledger.announcements.open("p")
    assert (behind.state, behind.behind) == ("fetched", gone.announcement)
    with pytest.raises(UnknownName, match=rf"no open announcement 99; open announcements: {gone.announcement}, "):
        instance.harvester.skip("p", 99)
    assert instance.harvester.skip("p", behind.announcement) == behind
    [run] = instance.harvester.instance.ledger.runs_of(behind.announcement)
    assert [finding.kind for finding in run.findings] == ["skipped"]
    assert [each.announcement for each in instance.harvester.instance.ledger.announcements.open("p")] == [
        gone.announcement
    ]


def test_a_skipped_dump_without_a_date_is_not_taken_for_new(
    instance: TemporaryInstance, provider: ProviderServer
) -> None:
    """The bytes that somebody skipped are known; other bytes are announced again."""
    instance.guard(2, 0.2)
    full = triples(20, "0")
    provider.put("/d.ttl", "".join(f"{line} .\n" for line in full))
    lone(instance, provider, "removals: mirror")
    outcomes(instance)
    provider.put("/d.ttl", f"{full[0]} .\n")
    assert outcomes(instance) == ["held"]
    instance.harvester.skip("p")
    assert outcomes(instance) == []
    assert states(instance) == [State.IDLE]
    provider.put("/d.ttl", "".join(f"{line} .\n" for line in full[1:]))
    assert outcomes(instance) == ["committed"]
