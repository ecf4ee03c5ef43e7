"""JSON-LD dumps with a remote context: fetched by the guarded client, filed, used again."""

from __future__ import annotations

import json
from collections.abc import Callable

from tests.pipeline.conftest import TemporaryInstance
from tests.provider import ProviderServer

DumpRecords = Callable[..., None]
NAMED = '<http://x/{}> <http://schema.example/name> "{}"'
CONTEXT = json.dumps({"@context": {"name": "http://schema.example/name"}})


def release(provider: ProviderServer, day: int, name: str) -> None:
    document = {"@context": provider.url + "/context.jsonld", "@id": "http://x/a", "name": name}
    provider.put(f"/{day}.jsonld", json.dumps(document), "application/ld+json")
    provider.describe("/void.ttl", f"2026-01-{day:02d}T00:00:00Z", [f"/{day}.jsonld"])


def test_a_remote_context_is_fetched_and_filed(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """Most JSON-LD on the web names one; its bytes belong to what the version was made of."""
    registered()
    provider.put("/context.jsonld", CONTEXT, "application/ld+json")
    release(provider, 1, "one")
    assert [result.outcome.value for result in instance.tick("p")] == ["committed"]
    assert instance.graph("p") == {NAMED.format("a", "one")}


def test_a_version_is_made_again_with_the_context_of_then(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """Offline, long afterwards, and whatever the context says today: the log names the bytes that were used."""
    registered()
    provider.put("/context.jsonld", CONTEXT, "application/ld+json")
    release(provider, 1, "one")
    instance.tick("p")
    instance.clock.forward(days=30)
    other = json.dumps({"@context": {"name": "http://other.example/name"}})
    provider.put("/context.jsonld", other, "application/ld+json")
    asked = len(provider.requests)
    assert [version.same for version in instance.harvester.rebuild("p")] == [True]
    assert len(provider.requests) == asked
    assert instance.graph("p") == {NAMED.format("a", "one")}


def test_a_context_is_asked_for_once_a_day(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """A thousand documents with the same context are no thousand requests to one poor server."""
    registered()
    provider.put("/context.jsonld", CONTEXT, "application/ld+json")
    for day in (1, 2):
        release(provider, day, str(day))
        instance.tick("p")
        instance.clock.forward(hours=23)
    assert provider.asked("/context.jsonld") == [200]
    instance.clock.forward(hours=2)
    release(provider, 3, "3")
    instance.tick("p")
    assert provider.asked("/context.jsonld") == [200, 200]


def test_the_last_context_serves_while_its_server_does_not(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """Contexts hardly ever change, and a harvest must not hang on somebody else's server."""
    registered()
    provider.put("/context.jsonld", CONTEXT, "application/ld+json")
    release(provider, 1, "one")
    instance.tick("p")
    instance.clock.forward(days=3)
    provider.put("/context.jsonld", "gone", status=500)
    release(provider, 2, "two")
    assert [result.outcome.value for result in instance.tick("p")] == ["committed"]
    assert instance.graph("p") == {NAMED.format("a", "two")}


def test_a_context_that_cannot_be_had_fails_the_harvest_with_its_address(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """Without it nobody knows what the terms mean; the last good version stays."""
    registered()
    release(provider, 1, "one")
    (result,) = instance.tick("p")
    assert result.outcome.value == "failed"
    assert result.finding is not None
    assert f"{provider.url}/context.jsonld" in result.finding.message
