"""A change of a ResourceSync feed as Timbuctoo publishes it."""

from __future__ import annotations

from harvest.pipeline import Look
from sparql.rdf import NQUD
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_resourcesync import registered
from tests.pipeline.test_resourcesync_changes import PATCH, day, lists
from tests.pipeline.test_semantics import outcomes
from tests.provider import ProviderServer
from tests.realdata import realdata
from tests.resourcesync import document, item, link, sha256


def test_a_real_diff_is_applied_as_a_change_of_a_feed(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """Timbuctoo's own example: out of order, a head of hunk that counts other lines, no last line end."""
    folder = realdata() / "platforms" / "resourcesync"
    original, diff = ((folder / f"arrdf-{name}").read_text() for name in ("original.nq", "change.nqud"))
    dataset = item(provider.put("/dataset.nq", original, "text/plain"), hash=sha256(original), length=len(original))
    resources = document("resourcelist", dataset, at=day(1))
    patch = link(PATCH, provider.put("/changes/changes1.nqud", diff, "text/plain"), type=NQUD, hash=sha256(diff))
    lists(provider, resources, document("changelist", since=day(1)))
    registered(instance, provider)
    assert outcomes(instance) == ["committed"]
    before = {line.removesuffix(" .") for line in original.splitlines()}
    assert instance.graph("p") == before
    change = item("/dataset.nq", patch, change="updated", datetime=day(2))
    lists(provider, resources, document("changelist", change, since=day(1)))
    assert outcomes(instance) == ["unchanged"]  # its lists had no diff before: it begins, as a feed does, with the file
    assert outcomes(instance) == ["committed"]
    [gone] = [line for line in before if line.endswith('"The Netherlands"')]
    assert instance.graph("p") == before - {gone} | {gone.replace("Netherlands", "Netherland")}
    assert outcomes(instance) == [] and instance.harvester.look("p") == Look()
    assert [made.same for made in instance.harvester.rebuild("p", check=True)] == [True, True]
