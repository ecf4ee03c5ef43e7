"""What a look files of a description: all of it or nothing, and once."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harvest.ledger import described
from harvest.model import Validators
from harvest.pipeline import Look
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_semantics import A1, A2, outcomes, release, ttl
from tests.provider import ProviderServer

DumpRecords = Callable[..., None]


class Killed(BaseException):
    """The process ends here."""


def test_a_release_is_not_lost_when_the_process_ends_before_it_is_announced(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A description that was filed as read, and whose announcement was not, would never be looked at again."""
    registered()
    release(provider, 1, A1)
    instance.tick("p")
    release(provider, 2, A2)

    def die(*values: object) -> int:
        raise Killed

    monkeypatch.setattr(described, "announce", die)
    with pytest.raises(Killed):
        instance.tick("p")
    monkeypatch.undo()
    instance.close()
    assert outcomes(instance) == ["committed"]
    assert instance.graph("p") == {A2}


def test_a_lone_dump_is_a_description_with_one_dataset(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """Its IRI is its URL; another dump in the entry takes its place, and an unchanged one files nothing."""
    for name in ("one", "two"):
        provider.put(f"/{name}.ttl", ttl(A1))
        instance.register(f"p:\n  dump: {provider.url}/{name}.ttl\n")
        instance.tick("p")
        [found] = instance.harvester.instance.ledger.described.of("p")
        assert (found.dataset.iri, found.harvested) == (f"{provider.url}/{name}.ttl", instance.clock.now)
    assert instance.harvester.look("p") == Look()


def test_a_description_that_moved_with_the_same_bytes_is_asked_for_conditionally(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """Where it was read is filed with it, and relative IRIs in it are others now."""
    registered()
    release(provider, 1, A1)
    instance.tick("p")
    provider.pages["/moved.ttl"] = provider.pages["/void.ttl"]
    instance.register(instance.settings.registry.read_text().replace("void.ttl", "moved.ttl"))
    for _ in range(3):
        instance.tick("p")
    assert provider.asked("/moved.ttl") == [200, 304, 304]
    assert provider.asked("/void.ttl") == [200]


def test_other_validators_of_the_same_description_are_filed(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """A server that was set up anew has another ETag for them; asked by the old one it would send them each time."""
    registered()
    release(provider, 1, A1)
    instance.tick("p")
    ledger = instance.harvester.instance.ledger
    record = ledger.provider("p")
    assert record is not None and record.validators.etag
    ledger.described.renew("p", Validators(etag='"another"'))
    for _ in range(3):
        assert instance.tick("p") == []
    assert provider.asked("/void.ttl") == [200, 200, 304, 304]
