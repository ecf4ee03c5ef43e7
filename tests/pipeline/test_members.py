"""An entry of the registry that takes all providers of another instance."""

from __future__ import annotations

from pathlib import Path

import pytest

from harvest.catalog.instance import InstanceCatalog
from harvest.cli.check import check_offline, check_online
from harvest.config.registry import check_registry
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_semantics import A1, B1, C1, ttl
from tests.provider import ProviderServer
from tests.resourcesync import capabilities, document, item

LINES = {"fleet": A1, "ports": B1, "crews": C1}


def source(provider: ProviderServer, *names: str) -> None:
    """Publish a source with one file each of these providers."""
    lists = []
    for name in names:
        url = provider.put(f"/resourcesync/{name}/dataset.ttl", ttl(LINES[name]))
        resources = provider.put(
            f"/resourcesync/{name}/resourcelist.xml",
            document("resourcelist", item(url, lastmod="2025-06-01T00:00:00Z"), at="2025-06-01T00:00:00Z"),
            "application/xml",
        )
        address = f"/resourcesync/{name}/capabilitylist.xml"
        lists.append(provider.put(address, capabilities(resourcelist=resources), "application/xml"))
    listed = document("description", *(item(url, capability="capabilitylist") for url in lists))
    provider.put("/.well-known/resourcesync", listed, "application/xml")


def register(instance: TemporaryInstance, provider: ProviderServer, more: str = "") -> None:
    instance.register(f"other:\n  resourcesync: {{source: {provider.url}, prefix: other}}\n{more}")


def names(instance: TemporaryInstance) -> list[str]:
    instance.harvester.instance.roster.refresh()
    return sorted(instance.harvester.instance.roster.all())


def test_all_providers_of_a_source_are_providers_here(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """Each with a graph of its own; new ones appear, and after a restart they are still there."""
    source(provider, "fleet", "ports")
    register(instance, provider)
    assert names(instance) == ["other"]
    assert instance.tick("other") == []
    assert names(instance) == ["other", "otherfleet", "otherports"]
    for name, line in (("otherfleet", A1), ("otherports", B1)):
        assert [result.outcome.value for result in instance.tick(name)] == ["committed"]
        assert instance.graph(name) == {line}
        assert instance.proven(name)
    source(provider, "fleet", "ports", "crews")
    instance.tick("other")
    instance.close()
    assert names(instance) == ["other", "othercrews", "otherfleet", "otherports"]
    shown = {report.name: report.state for report in InstanceCatalog(instance.settings).providers()}
    assert shown == dict.fromkeys(["other", "othercrews", "otherfleet", "otherports"], "idle")


def test_one_that_the_source_names_no_more_is_like_one_that_left_the_registry(
    instance: TemporaryInstance, provider: ProviderServer
) -> None:
    """It is not harvested, its graph stays, and it may be forgotten; when it is named again it goes on."""
    source(provider, "fleet", "ports")
    register(instance, provider)
    for name in ("other", "otherfleet", "otherports"):
        instance.tick(name)
    source(provider, "fleet")
    instance.tick("other")
    assert names(instance) == ["other", "otherfleet"] and instance.graph("otherports") == {B1}
    report = InstanceCatalog(instance.settings).provider("otherports")
    assert report is not None and report.state == "disabled"
    assert [finding.kind for finding in report.findings] == ["unregistered"]
    source(provider, "fleet", "ports")
    instance.tick("other")
    assert instance.tick("otherports") == [] and instance.graph("otherports") == {B1}
    source(provider, "fleet")
    instance.tick("other")
    instance.harvester.forget("otherports")
    assert instance.graph("otherports") == set()


def test_a_name_that_somebody_has_is_a_finding(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """The one of the registry stays what it is, and the others are harvested; checking online says it before."""
    source(provider, "fleet", "ports")
    own = provider.put("/own.ttl", ttl(C1))
    register(instance, provider, f"OtherFleet:\n  dump: {own}\n")
    instance.tick("other")
    assert names(instance) == ["OtherFleet", "other", "otherports"]
    [finding] = instance.harvester.instance.ledger.findings("other")
    assert finding.kind == "name-clash" and "'OtherFleet' of the registry" in finding.message
    path = instance.settings.registry
    assert check_offline(path, instance.settings).ok
    online = check_online(path, instance.settings)
    assert not online.ok
    assert [each.kind for each in online.all_findings if each.fatal] == ["name-clash"]


def test_a_source_that_cannot_be_read_keeps_its_providers(
    instance: TemporaryInstance, provider: ProviderServer
) -> None:
    """What was there the last time is there until the source says otherwise."""
    source(provider, "fleet")
    register(instance, provider)
    instance.tick("other")
    provider.put("/.well-known/resourcesync", "<urlset", "application/xml")
    [result] = instance.tick("other")
    assert result.outcome.value == "failed"
    assert names(instance) == ["other", "otherfleet"]


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("{source: 'http://x.example/'}", "no-source"),
        ("{prefix: other}", "no-source"),
        ("{source: 'http://x.example/', prefix: 'o-'}", "wrong-value"),
        ("{source: 'http://x.example/', prefix: o, suffix: p}", "unknown-key"),
        ("{source: x, prefix: o}", "wrong-value"),
    ],
)
def test_what_is_wrong_with_such_an_entry_is_said_with_its_line(tmp_path: Path, said: str, kind: str) -> None:
    """As of any entry."""
    path = tmp_path / "registry.yaml"
    path.write_text(f"other:\n  resourcesync: {said}\n")
    registry, findings = check_registry(path)
    assert registry is None
    assert kind in {finding.kind for finding in findings} and {finding.line for finding in findings} <= {1, 2}
