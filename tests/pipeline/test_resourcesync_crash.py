"""SIGKILL in the midst of a ResourceSync sync: it ends where it would have, and each diff is applied once."""

from __future__ import annotations

import signal

import pytest

from harvest.pipeline import STEPS, Look
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_crash import NEW, OLD, published, run_and_die
from tests.pipeline.test_resourcesync import registered
from tests.pipeline.test_resourcesync_changes import Feed, asked_for
from tests.pipeline.test_semantics import A1, B1, outcomes
from tests.provider import ProviderServer
from tests.selection import mostly_long

KILLED = [*STEPS, "load+"]


def applied(instance: TemporaryInstance) -> list[str]:
    """The dumps and diffs that versions were made of, oldest first, by the ends of their addresses."""
    runs = reversed(instance.harvester.instance.ledger.runs("p"))
    return [dump.url.rsplit("/", 1)[-1] for run in runs if run.version for dump in run.dumps]


def settled(instance: TemporaryInstance, lines: set[str]) -> None:
    """Assert that the sync came to these lines, for readers, too, and that nothing is left to be done."""
    assert instance.graph("p") == published(instance) == lines
    assert instance.harvester.look("p") == Look()
    ledger = instance.harvester.instance.ledger
    assert {version.state for version in ledger.versions("p")} == {"committed"}
    assert not [run for run in ledger.runs("p") if run.ended is None]
    assert not ledger.announcements.open("p")
    assert instance.proven("p")
    made = instance.harvester.rebuild("p", check=True)
    assert [each.same for each in made] == [True] * len(ledger.versions("p"))


@pytest.mark.parametrize("step", mostly_long(KILLED, ("load+",)))
@pytest.mark.parametrize("with_file", [True, False], ids=["dataset", "replay"])
def test_a_first_sync_that_is_killed_ends_where_it_would_have(
    with_file: bool, step: str, instance: TemporaryInstance, provider: ProviderServer
) -> None:
    """From the dataset file or by all diffs; what the source lists next is applied on it, and nothing before that."""
    feed = Feed(provider, with_file=with_file)
    feed.change(*OLD)
    feed.change(*OLD, A1)
    registered(instance, provider)
    assert run_and_die(instance, step) == -signal.SIGKILL
    instance.clock.forward(days=20)
    instance.tick("p")
    settled(instance, OLD | {A1})
    first = ["dataset.nq"] if with_file else ["changes0.nqud", "changes1.nqud"]
    assert applied(instance) == first
    feed.change(*OLD, B1)
    assert outcomes(instance) == ["committed"]
    assert instance.graph("p") == OLD | {B1}
    assert applied(instance) == [*first, "changes2.nqud"]


@pytest.mark.parametrize("step", mostly_long(KILLED, ("fetch", "load+", "commit")))
def test_an_increment_that_is_killed_skips_and_repeats_no_diff(
    step: str, instance: TemporaryInstance, provider: ProviderServer
) -> None:
    """The diffs go one way and back again, so that one too few or too many, or another order, gives another graph."""
    feed = Feed(provider)
    feed.change(*OLD)
    registered(instance, provider)
    assert outcomes(instance) == ["committed"]
    instance.close()
    for lines in (OLD | {A1}, NEW, NEW | {B1}):
        feed.change(*lines)
    assert run_and_die(instance, step) == -signal.SIGKILL
    feed.change(*(NEW - OLD), A1)
    instance.clock.forward(days=20)
    instance.tick("p")
    instance.tick("p")
    settled(instance, (NEW - OLD) | {A1})
    assert applied(instance) == ["dataset.nq", *(f"changes{n}.nqud" for n in range(1, 5))]
    assert set(asked_for(provider)) == {f"{n}.nqud" for n in range(1, 5)}
