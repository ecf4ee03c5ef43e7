"""An entry of the registry that takes all providers of another instance: a look says who they are."""

from __future__ import annotations

from harvest.discover.resourcesync.members import members_of
from harvest.ledger import Described, ProviderRecord
from harvest.ledger.members import members, set_members
from harvest.model import Provider, Validators
from harvest.pipeline.instance import Instance
from harvest.pipeline.resourcesync.source import Conditionally
from harvest.pipeline.resourcesync.walk import capability_lists


def read_members(instance: Instance, provider: Provider, record: ProviderRecord, *, forced: bool) -> Described | None:
    """
    What an entry's source says of its providers, who are looked at from now on; None where it says what is filed.

    One that is not named any more is like one that left the registry: its last version stays and is served.

    Raises:
        DescriptionError: What the source says cannot be read.
        FetchError: A document is not answered.
    """
    ask = Conditionally(instance, provider, forced)
    url, lists = capability_lists(provider.url, ask)
    found, findings = members_of(provider, lists, instance.roster.registered())
    if members(instance.ledger.database).get(provider.name) != found:
        set_members(instance.ledger.database, provider.name, found)
        instance.roster.refresh()
    read = Described(provider.url, ask.digests.get(url), Validators(), findings, base=url)
    known = (record.url, record.description, instance.ledger.findings(record.name))
    return None if known == (read.url, read.digest, findings) and not forced else read
