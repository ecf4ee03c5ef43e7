"""
What `harvest run` does and answers: the outcome of each dataset that was due, and why the others were not.

An answer has one object a harvest, with the figures of its own run, and one a provider of which something waits or
nothing is new.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from harvest.catalog.providers import provider_report
from harvest.model import Finding, Outcome, Source, State
from harvest.pipeline import Harvester, HarvestResult, Round
from harvest.service.notifying import Notifier
from sparql.reports import DatasetReport, to_json

WRITTEN = Finding("updates", "its graph is written by SPARQL updates (`harvest update`); there is nothing to fetch")

Answer = dict[str, Any]


def run(harvester: Harvester, names: Sequence[str]) -> Answer:
    """Look at providers now, and harvest what is new; those that are named whatever their dates say."""
    harvester.instance.roster.refresh()
    chosen = list(names) or [name for name, provider in harvester.instance.roster.all().items() if provider.enabled]
    round = Round(harvester)
    found = round.run(chosen, forced=bool(names))
    results: list[Answer] = []
    for name in found:
        unread = round.unread.get(name)
        unanswered = [_unanswered(name, iri, finding) for iri, finding in round.unanswered.get(name, ())]
        answers = [answered(name, Outcome.FAILED.value, unread)] if unread else _answers(harvester, name, found[name])
        results += unanswered + answers
    Notifier(harvester.instance).send_due()
    return {"ok": all(result["outcome"] not in ("failed", "held") for result in results), "results": results}


def _unanswered(name: str, iri: str, finding: Finding) -> Answer:
    """Why the dumps of a dataset could not be asked for."""
    figures = {"run": None, "dataset": iri, "added": 0, "removed": 0, "version": None}
    return answered(name, Outcome.FAILED.value, finding) | figures


def _answers(harvester: Harvester, name: str, found: Sequence[HarvestResult]) -> list[Answer]:
    """The outcome of each dataset of a provider that was due, and why the others were not."""
    results = [harvest_answer(harvester, result) for result in found]
    provider = harvester.instance.roster.get(name)
    if provider is not None and provider.source is Source.UPDATES:
        return results or [answered(name, "nothing to fetch", WRITTEN)]
    return results + _not_harvested(harvester, name, {result["dataset"] for result in results})


def _not_harvested(harvester: Harvester, name: str, harvested: set[str]) -> list[Answer]:
    """What waits of a provider, and until when; where nothing was harvested, also why not."""
    instance = harvester.instance
    found = provider_report(instance.ledger, instance.settings, name, instance.roster.get(name), instance.clock())
    datasets = found.datasets if found else ()
    waiting = [each for each in datasets if each.waiting and (each.iri not in harvested or each.state == State.FAILING)]
    if waiting:
        return [answered(name, "waiting", None) | {"reasons": _reasons(waiting)}]
    return [] if harvested else [answered(name, "nothing new", None) | {"reasons": _reasons(datasets)}]


def _reasons(datasets: Sequence[DatasetReport]) -> list[Answer]:
    """Why nothing is harvested of datasets, with the findings that say more."""
    return [
        to_json({key: getattr(each, key) for key in ("iri", "state", "reason", "next_try", "findings")})
        for each in datasets
    ]


def harvest_answer(harvester: Harvester, result: HarvestResult) -> Answer:
    """The outcome of an announcement, with the figures of its own run."""
    run = harvester.instance.ledger.run(result.run) if result.run is not None else None
    figures = {"run": None, "dataset": None, "added": 0, "removed": 0, "version": None}
    if run is not None:
        figures = {key: getattr(run, "id" if key == "run" else key) for key in figures}
    return answered(result.provider, result.outcome.value, result.finding) | figures


def answered(name: str, outcome: str, finding: Finding | None) -> Answer:
    """One object of an answer."""
    return {"name": name, "outcome": outcome, "finding": None if finding is None else asdict(finding)}
