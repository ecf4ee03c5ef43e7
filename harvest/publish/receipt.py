"""
The receipt: for a provider, what became of its dump.

It says which dataset, date, dump URLs and digests were last harvested, when, with what counts, or why not, and so
answers the GeoLink document's open question of how providers learn that a partial dump was harvested.
"""

from __future__ import annotations

from itertools import chain

from harvest.publish.provenance import ProviderFacts, turtle
from sparql.reports import ProviderReport, RunReport


def receipt(base_url: str, provider: ProviderReport) -> bytes:
    """The receipt of a provider as Turtle."""
    facts = ProviderFacts(base_url, provider)
    run = provider.last_run
    if run is None:
        return turtle(facts.of_provider())
    return turtle(chain(facts.of_provider(), facts.of_run(run), facts.of_dumps(run)))


def receipt_of_run(base_url: str, provider: ProviderReport, run: RunReport) -> bytes:
    """The receipt of the dumps of one run as Turtle: what became of them, and nothing of what came later."""
    facts = ProviderFacts(base_url, provider)
    return turtle(chain(facts.of_run(run), facts.of_dumps(run)))
