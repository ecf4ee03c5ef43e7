"""
The pipeline: for one provider, from its description to a published version. Nothing else knows the order.

    look       ask for the description; announce datasets that are due
    fetch      download the dumps of an announcement
    file       put them into the archive and the ledger
    wait       until the provider's turn comes
    check      see whether the same bytes were harvested before
    wash       parse them into one canonical input
    revise     compare it with the graph: the delta
    ...        then the steps of committing, in `harvest.pipeline.commit`

A provider's announcements are worked off in the order in which they were seen. A full one that a newer full one of
the same dataset overtakes is skipped; a partial one never is.
"""

from harvest.pipeline.commit import recover
from harvest.pipeline.desk import Desk, Result
from harvest.pipeline.instance import opened
from harvest.pipeline.look import Look, look
from harvest.pipeline.preview import preview
from harvest.pipeline.prove import Proof, prove
from harvest.pipeline.seeding import BATCH
from harvest.pipeline.workshop import METADATA, Workshop, now_utc

STEPS = (
    "look",
    "fetch",
    "file",
    "wait",
    "check",
    "wash",
    "revise",
    "file-change",
    "file-version",
    "load",
    "describe",
    "adopt",
    "publish",
    "commit",
    "write-back",
)
"""The names of the steps, in order, as the workshop's `on_step` hears them."""

__all__ = [
    "BATCH",
    "METADATA",
    "STEPS",
    "Desk",
    "Look",
    "Proof",
    "Result",
    "Workshop",
    "look",
    "now_utc",
    "opened",
    "preview",
    "prove",
    "recover",
]
