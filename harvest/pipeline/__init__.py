"""
The pipeline: for one provider, from its description to a published version. Nothing else knows the order.

    look       ask for the description; announce datasets that are due
    fetch      download the dumps of an announcement
    file       put them into the archive and the ledger
    wait       until the provider's turn comes
    check      see whether the same bytes were harvested before
    wash       parse them into one canonical input
    revise     compare it with the graph: the delta
    ...        then the steps of committing, in `harvest.pipeline.harvest.commit`

A provider's announcements are worked off in the order in which they were seen. A full one that a newer full one of
the same dataset overtakes is skipped; a partial one never is.
"""

from harvest.config.settings import METADATA
from harvest.discover.resourcesync.members import members_of
from harvest.discover.sitemap_items import Item, SitemapDataset
from harvest.pipeline.harvest.look import Look, look
from harvest.pipeline.harvest.preview import dumps, preview, refused
from harvest.pipeline.harvest.preview import listed as in_sitemap
from harvest.pipeline.harvest.recovery import recover
from harvest.pipeline.harvester import Harvester
from harvest.pipeline.instance import Instance, now_utc
from harvest.pipeline.opening import opened
from harvest.pipeline.rebuild.prove import Proof, prove
from harvest.pipeline.retention import Retention
from harvest.pipeline.rounds import LOOKS, HarvestResult, Round
from harvest.pipeline.seeds.seeding import BATCH
from harvest.pipeline.threads import HostThreads, ThreadBounds, host_of

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
    "publish",
    "commit",
    "adopt",
    "feed",
    "write-back",
)
"""The names of the steps, in order, as the instance's `on_step` is called with them."""

__all__ = [
    "BATCH",
    "LOOKS",
    "METADATA",
    "STEPS",
    "HarvestResult",
    "Harvester",
    "HostThreads",
    "Instance",
    "Item",
    "Look",
    "Proof",
    "Retention",
    "Round",
    "SitemapDataset",
    "ThreadBounds",
    "dumps",
    "host_of",
    "in_sitemap",
    "look",
    "members_of",
    "now_utc",
    "opened",
    "preview",
    "prove",
    "recover",
    "refused",
]
