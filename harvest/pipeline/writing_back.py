"""Writing the date of the last harvest to the registry."""

from __future__ import annotations

import structlog

from harvest.errors import HarvestError
from harvest.model import Source
from harvest.pipeline.workshop import Workshop

log = structlog.get_logger()


def write_back(workshop: Workshop, name: str) -> None:
    """Have a provider's entry in the registry say what was last harvested, if the settings want it."""
    record = workshop.ledger.provider(name)
    if record is None or record.modified is None or not workshop.settings.write_back:
        return
    provider = workshop.roster.get(name)
    if provider is None or provider.modified == record.modified or provider.source is Source.UPDATES:
        return
    workshop.on_step(name, "write-back")
    try:
        written = workshop.roster.write_back(name, record.modified)
    except (HarvestError, OSError) as error:
        log.error("`modified` not written to the registry", provider=name, reason=str(error))
        return
    if written:
        workshop.ledger.set_written(name, record.modified)
    else:
        log.warning("registry edited meanwhile; `modified` left as it is", provider=name)
