"""Writing the date of the last harvest to the registry."""

from __future__ import annotations

import structlog

from harvest.errors import HarvestError
from harvest.model import Source
from harvest.pipeline.instance import Instance

log = structlog.get_logger()


def write_back_owed(instance: Instance, name: str | None = None) -> None:
    """
    Write the dates of harvests that ended without it, or that a start has finished, of one provider or of all.

    What somebody edited meanwhile is left as it is.
    """
    for record in instance.ledger.providers():
        provider = instance.roster.get(record.name)
        if name not in (None, record.name) or provider is None or record.modified is None:
            continue
        if provider.modified == record.modified != record.written:
            instance.ledger.set_written(record.name, record.modified)  # it was written, and that was not filed
        elif provider.modified == record.written and (provider.modified is None or provider.modified < record.modified):
            write_back(instance, record.name)


def write_back(instance: Instance, name: str) -> None:
    """Have a provider's entry in the registry say what was last harvested, if the settings want it."""
    record = instance.ledger.provider(name)
    if record is None or record.modified is None or not instance.settings.write_back:
        return
    provider = instance.roster.get(name)
    if provider is None or provider.modified == record.modified or provider.source is Source.UPDATES:
        return
    if name not in instance.roster.registered():
        return  # another entry stands for it
    instance.on_step(name, "write-back")
    try:
        written = instance.roster.write_back(name, record.modified)
    except (HarvestError, OSError) as error:
        log.error("`modified` not written to the registry", provider=name, reason=str(error))
        return
    if written:
        instance.ledger.set_written(name, record.modified)
    else:
        log.warning("registry edited meanwhile; `modified` left as it is", provider=name)
