"""Providers that are registered by a content handler, which names their dumps."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from harvest.model import Outcome
from tests.packages import install
from tests.pipeline.conftest import TemporaryInstance
from tests.provider import VOID, ProviderServer, dataset
from tests.test_check import register
from tests.test_cli import Command, harvest

__all__ = ["harvest"]

A, B, C = (f'<http://x/{name}> <http://p> "{name}"' for name in "abc")
SOURCE = """
    import json
    from harvest.archive import Dump

    def listed(version):
        if version.url.endswith(".json"):
            said = json.loads(version.path.read_bytes())
            yield from said.get("further", [])
            for one in said["dumps"]:
                yield Dump(**one)
"""


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package with the handler `json-list`."""
    install(tmp_path / "site", monkeypatch, "jsonlist", {"json-list": "jsonlist:listed"}, SOURCE)


def outcomes(instance: TemporaryInstance) -> list[Outcome]:
    return [result.outcome for result in instance.tick("p")]


def lists(provider: ProviderServer, path: str, *dumps: dict[str, str], further: Sequence[str] = ()) -> str:
    return provider.put(path, json.dumps({"dumps": dumps, "further": further}), "application/json")


def registered(instance: TemporaryInstance, url: str, name: str = "json-list") -> None:
    instance.register(f"p:\n  handler: {{name: {name}, url: {url}}}\n")


def test_a_handler_of_another_package_feeds_versions(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """What it asks for is fetched and given to it; each dataset that it names is harvested, and again by its date."""
    a, b = provider.put("/a.ttl", f"{A} ."), provider.put("/b", f"{B} .", "text/plain")
    dated = {"url": b, "dataset": "http://x/B", "modified": "2025-01-01", "title": "Bs", "media_type": "text/turtle"}
    second = lists(provider, "/2.json", dated)
    registered(instance, lists(provider, "/1.json", {"url": a}, further=[second]))
    assert outcomes(instance) == [Outcome.COMMITTED, Outcome.COMMITTED]
    assert instance.graph("p") == {A, B}
    assert outcomes(instance) == []
    provider.put("/b", f"{B} . {C} .", "text/plain")
    lists(provider, "/2.json", dated | {"modified": "2025-02-01"})
    assert outcomes(instance) == [Outcome.COMMITTED]
    assert instance.graph("p") == {A, B, C}
    assert instance.proven("p")
    described = instance.harvester.instance.ledger.described.of("p")
    assert {each.dataset.iri for each in described} == {f"{provider.url}/1.json", "http://x/B"}


def test_a_handler_that_gives_urls_alone_feeds_versions(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """Our own handler of VoID: what it asks for and gives nothing for is a dump."""
    dump = provider.put("/a.ttl", f"{A} .")
    registered(instance, provider.put("/void.ttl", VOID + dataset("http://x/1", None, [dump])), "void")
    assert outcomes(instance) == [Outcome.COMMITTED]
    assert instance.graph("p") == {A}


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("{", "handler json-list of jsonlist 1.2 failed over"),
        ('{"dumps": []}', "names no dump"),
        ('{"dumps": [{"url": "ftp://x/a"}]}', "only http and https"),
        ('{"dumps": [{"url": "http://x/a", "sha256": "x"}]}', "no SHA-256"),
        ('{"dumps": [], "further": ["HOST/missing.json"]}', "404"),
    ],
    ids=["broken", "none", "scheme", "digest", "missing"],
)
def test_a_handler_that_fails_changes_nothing(
    instance: TemporaryInstance, provider: ProviderServer, body: str, reason: str
) -> None:
    """It is a finding, and when the document is mended the harvest goes on."""
    first = {"url": provider.put("/a.ttl", f"{A} ."), "modified": "2025-01-01"}
    registered(instance, lists(provider, "/1.json", first))
    assert outcomes(instance) == [Outcome.COMMITTED]
    provider.put("/1.json", body.replace("HOST", provider.url), "application/json")
    [result] = instance.tick("p")
    assert result.outcome is Outcome.FAILED
    assert result.finding and reason in result.finding.message
    assert instance.graph("p") == {A}
    provider.put("/a.ttl", f"{A} . {B} .")
    lists(provider, "/1.json", first | {"modified": "2025-02-01"})
    instance.clock.forward(days=1)
    assert outcomes(instance) == [Outcome.COMMITTED]
    assert instance.graph("p") == {A, B}


def test_the_digest_that_a_handler_names_is_verified(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """Other bytes are not applied."""
    url = provider.put("/a.ttl", f"{A} .")
    registered(instance, lists(provider, "/1.json", {"url": url, "sha256": hashlib.sha256(b"").hexdigest()}))
    assert outcomes(instance) == [Outcome.FAILED]
    assert instance.graph("p") == set()


def test_check_knows_handlers(harvest: Command, provider: ProviderServer) -> None:
    """One that no package has is an error, also offline; online the handler is asked."""
    url = lists(provider, "/1.json", {"url": provider.put("/a.ttl", f"{A} .")})
    register(harvest, f"handler: {{name: json-lists, url: {url}}}")
    result = harvest("check")
    assert result.exit_code == 1
    assert "json-list" in result.stdout and "will not be harvested" in " ".join(result.stdout.split())
    register(harvest, f"handler: {{name: json-list, url: {url}}}")
    result = harvest("check")
    assert result.exit_code == 0
    assert "nobody asked for them here" in " ".join(result.stdout.split())
    assert harvest("check", "--online").exit_code == 0
    lists(provider, "/1.json")
    assert harvest("check", "--online").exit_code == 1
