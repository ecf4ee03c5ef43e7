"""What a provider learns of its dumps, as Turtle."""

from __future__ import annotations

from harvest.catalog.runs import run_report
from harvest.ledger import Run
from harvest.publish.receipt import receipt, receipt_of_run
from sparql.reports import ProviderReport


def provider_receipt(base_url: str, provider: ProviderReport) -> bytes:
    """The receipt of a provider: how it is, and what became of the dumps of its last run."""
    return receipt(base_url, provider)


def run_receipt(base_url: str, provider: ProviderReport, run: Run) -> bytes:
    """The receipt of the dumps of one run."""
    return receipt_of_run(base_url, provider, run_report(run))
