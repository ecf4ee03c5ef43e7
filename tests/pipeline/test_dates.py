"""Which date counts for which dataset, and which counts for none."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_semantics import A1, A2, outcomes, release, ttl
from tests.provider import VOID, ProviderServer, dataset

DumpRecords = Callable[..., None]

B1 = '<http://x/b> <http://p> "1"'
B2 = '<http://x/b> <http://p> "2"'


def describe(provider: ProviderServer, *datasets: tuple[str, str | None, Sequence[str]], partial: str = "") -> None:
    """Put a description of several datasets: fragment, date, dumps; `partial` holds the fragments of partial ones."""
    said = (
        dataset(f"{provider.url}/#{name}", date, list(dumps), partial=name in partial) for name, date, dumps in datasets
    )
    provider.put("/void.ttl", VOID + "".join(said))


def found(instance: TemporaryInstance) -> list[str]:
    """The kinds of the findings of the datasets that the description names now."""
    return [finding.kind for each in instance.harvester.instance.ledger.described.of("p") for finding in each.findings]


def test_a_dataset_that_is_added_later_is_harvested_whatever_its_date(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """The registry's `modified` was written for the datasets of then, and says nothing of this one."""
    registered()
    provider.put("/a.ttl", ttl(A1))
    provider.put("/b.ttl", ttl(B1))
    describe(provider, ("a", "2026-01-01T00:00:00Z", ["/a.ttl"]))
    instance.tick("p")
    describe(provider, ("a", "2026-01-01T00:00:00Z", ["/a.ttl"]), ("b", "2019-12-31T00:00:00Z", ["/b.ttl"]))
    assert outcomes(instance) == ["committed"]
    assert instance.graph("p") == {A1, B1}
    assert "2026-01-01" in instance.settings.registry.read_text()


def test_the_registry_date_goes_on_counting_for_what_was_named_when_it_was_read(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """Two datasets that the registry says are harvested stay so when one of them is harvested here."""
    registered("modified: 2025-06-01")
    provider.put("/a.ttl", ttl(A1))
    provider.put("/b.ttl", ttl(B1))
    describe(provider, ("a", "2025-06-01", ["/a.ttl"]), ("b", "2025-05-01", ["/b.ttl"]))
    assert outcomes(instance) == []
    describe(provider, ("a", "2025-07-01", ["/a.ttl"]), ("b", "2025-05-01", ["/b.ttl"]))
    assert outcomes(instance) == ["committed"]
    describe(provider, ("a", "2025-07-01", ["/a.ttl"]), ("b", "2025-05-02", ["/b.ttl"]))
    assert outcomes(instance) == []
    describe(provider, ("a", "2025-07-01", ["/a.ttl"]), ("b", "2025-06-02", ["/b.ttl"]))
    assert outcomes(instance) == ["committed"]


def test_a_date_in_the_future_freezes_nothing(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """A typing error of one day would otherwise keep out all that is published until 2062."""
    registered()
    for n, date in enumerate(("2026-01-01", "2062-01-02", "2026-01-03", "2026-01-04")):
        instance.clock.forward(days=1)
        provider.put("/a.ttl", ttl(f'<http://x/a> <http://p> "{n}"'))
        describe(provider, ("a", date, ["/a.ttl"]))
        assert outcomes(instance) == ["committed"]
    assert instance.graph("p") == {'<http://x/a> <http://p> "3"'}
    assert "2026-01-04" in instance.settings.registry.read_text()


def test_a_date_in_the_future_that_was_harvested_once_gives_way(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """A ledger or registry that was written when such dates counted is no baseline either, and is mended."""
    registered("modified: 2062-01-01  # a typing error")
    release(provider, 1, A1)
    assert outcomes(instance) == ["committed"]
    assert found(instance) == ["modified-in-future"]
    with instance.harvester.instance.ledger.database.transaction() as db:
        for table in ("provider", "dataset"):
            db.execute(f"UPDATE {table} SET modified = '2062-01-01T00:00:00+00:00'")
    release(provider, 2, A2)
    assert outcomes(instance) == ["committed"]
    assert "2026-01-02" in instance.settings.registry.read_text()


def test_a_date_older_than_the_harvested_one_is_reported(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """A provider that restores a backup would otherwise be idle for no visible reason."""
    registered()
    release(provider, 3, A1)
    instance.tick("p")
    release(provider, 2, A2)
    assert outcomes(instance) == []
    assert found(instance) == ["modified-older"]
    release(provider, 4, A2)
    assert outcomes(instance) == ["committed"]
    assert found(instance) == []


def test_a_registry_that_was_edited_meanwhile_hides_no_release(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """The date of another dataset, written back or set by hand, is no reason to take a newer one for harvested."""
    registered()
    provider.put("/a.ttl", ttl(A1))
    provider.put("/b.ttl", ttl(B1))
    describe(provider, ("a", "2025-01-01", ["/a.ttl"]), ("b", "2025-01-01", ["/b.ttl"]))
    assert outcomes(instance) == ["committed"] * 2
    registered("modified: 2025-03-01")
    provider.put("/b.ttl", ttl(B2))
    describe(provider, ("a", "2025-01-01", ["/a.ttl"]), ("b", "2025-02-01", ["/b.ttl"]))
    assert outcomes(instance) == ["committed"]
    assert instance.graph("p") == {A1, B2}


def test_what_is_due_at_once_is_harvested_in_the_order_of_its_dates(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """The older of two datasets that speak of one subject must not come over the newer, whatever their IRIs are."""
    registered()
    provider.put("/new.ttl", ttl(A2))
    provider.put("/old.ttl", ttl(A1))
    describe(provider, ("a", "2025-02-01", ["/new.ttl"]), ("b", "2025-01-01", ["/old.ttl"]), partial="b")
    assert outcomes(instance) == ["committed"] * 2
    assert instance.graph("p") == {A2}
