"""What a provider learns of its dumps, as Turtle."""

from __future__ import annotations

from harvest.publish.receipt import receipt, receipt_of_run
from sparql.reports import ProviderReport, RunReport


def provider_receipt(base_url: str, provider: ProviderReport) -> bytes:
    """The receipt of a provider: how it is, and what became of the dumps of its last run."""
    return receipt(base_url, provider)


def run_receipt(base_url: str, provider: ProviderReport, run: RunReport) -> bytes:
    """The receipt of the dumps of one run."""
    return receipt_of_run(base_url, provider, run)
