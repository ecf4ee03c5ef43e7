"""
The receipt: for a provider, what became of its dump.

It says which dataset, date, dump URLs and digests were last harvested, when, with what counts, or why not, and so
answers the GeoLink document's open question of how providers learn that a partial dump was harvested.
"""

from __future__ import annotations

from itertools import chain

from harvest.publish.manifest import of_manifest
from harvest.publish.provenance import ProviderFacts, turtle
from sparql.reports import ProviderReport, RunReport


def receipt(base_url: str, provider: ProviderReport) -> bytes:
    """The receipt of a provider as Turtle."""
    facts = ProviderFacts(base_url, provider)
    run = provider.last_run
    of_run = chain(facts.of_run(run), facts.of_dumps(run)) if run else ()
    files = of_manifest(facts.graph, facts.page, provider)
    return turtle(chain(facts.of_provider(), of_run, files))


def receipt_of_run(base_url: str, provider: ProviderReport, run: RunReport) -> bytes:
    """The receipt of the dumps of one run as Turtle: what became of them, and nothing of what came later."""
    facts = ProviderFacts(base_url, provider)
    return turtle(chain(facts.of_run(run), facts.of_dumps(run)))
