"""Blank nodes of a graph whose names hold no dataset, because older rules named them, until each dataset came again."""

from __future__ import annotations

from harvest.ledger import Ledger
from harvest.model import RULES, Coverage, Dataset, Delta, Finding
from harvest.revise.target import Origin, Target


def origin(ledger: Ledger, provider: str, dataset: Dataset) -> Origin:
    """Where an input is from; nodes without a dataset count as its own once no other full dataset may have any."""
    return Origin(dataset.iri, not _older(ledger, provider, dataset))


def findings(ledger: Ledger, provider: str, dataset: Dataset) -> tuple[Finding, ...]:
    """What people should know of blank nodes whose names hold no dataset, if there may be any afterwards."""
    now = {each.iri for each in ledger.described.datasets(provider)}
    older = [iri for iri in _older(ledger, provider, dataset) if iri in now]
    if not older:
        return ()
    message = (
        f"blank nodes of {', '.join(older)} may have names of an older release, which hold no dataset; they stay until "
        f"each of these is harvested again, which `harvest run {provider}` does now"
    )
    return (Finding("older-names", message, dataset.iri),)


def is_older(ledger: Ledger, provider: str, dataset: Dataset) -> bool:
    """Whether the last harvest of a dataset was by older rules; then the same bytes have to be named again."""
    last = ledger.dataset(provider, dataset.iri)
    return last is not None and last.rules < RULES


def renamed(delta: Delta, graph: str, origin: Origin) -> int:
    """How many removed lines may be there again under names that hold a dataset."""
    target = Target(graph, origin)
    counts = []
    for path, wanted in ((delta.removed, False), (delta.added, True)):
        with path.open("rb") as stream:
            found = (target.named(line) for line in stream if target.blank in line)
            counts.append(sum(any(target.has_dataset(node) is wanted for node in nodes) for nodes in found))
    return min(counts)


def _older(ledger: Ledger, provider: str, dataset: Dataset) -> list[str]:
    """Other full datasets of the provider whose last harvest was by older rules."""
    return [
        other.iri
        for other in ledger.datasets(provider)
        if other.iri != dataset.iri and other.coverage is Coverage.FULL and other.rules < RULES
    ]
