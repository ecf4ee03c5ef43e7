"""The setting `write`: both ways to write a version end with the same graph."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harvest.catalog.instance import InstanceCatalog
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_crash import NEW, OLD
from tests.pipeline.test_semantics import outcomes, release
from tests.provider import ProviderServer

SPELLED = {f'<http://x/1> <http://p> "{text}"^^<http://www.w3.org/2001/XMLSchema#integer>' for text in ("01", "1")}


@pytest.mark.parametrize("write", ["auto", "delta", "subjects"])
def test_every_way_to_write_ends_the_same(write: str, instance: TemporaryInstance, provider: ProviderServer) -> None:
    """Full, partial, and two spellings of a value one of which goes; the run says which way was taken."""
    instance.settings = replace(instance.settings, write=write)
    instance.guard(1_000_000, 1)
    instance.register(f"p:\n  void: {provider.url}/void.ttl\n  removals: mirror\n")
    for day, (lines, partial) in enumerate(((OLD, False), (NEW, False), (SPELLED, True)), 1):
        release(provider, day, *lines, partial=partial)
        assert outcomes(instance) == ["committed"]
        assert instance.proven("p")
    release(provider, 4, '<http://x/1> <http://p> "1"^^<http://www.w3.org/2001/XMLSchema#integer>', partial=True)
    assert outcomes(instance) == ["committed"]
    assert instance.proven("p")
    assert '<http://x/1> <http://p> "1"^^<http://www.w3.org/2001/XMLSchema#integer>' in instance.graph("p")
    written = "subjects" if write == "subjects" else "delta"
    receipt = (InstanceCatalog(instance.settings).receipt("p") or b"").decode()
    assert f'harvest:written "{written}"' in receipt
    [load] = [step for step in instance.harvester.instance.ledger.runs("p")[0].steps if step.name == "load"]
    assert load.figures["written"] == written
