"""
Recovery: what a crash or a full disk left of commits is finished, taken back, or swept away.

    loading, its files are whole       finished from the filed delta, by the steps of `harvest.pipeline.harvest.commit`
    loading, its files are damaged     taken back: the graph is what readers see of it, the announcement waits again
    files that no version has          removed

Nothing is downloaded again. What should keep a provider from being harvested at all, such as a full disk while a
version is taken back, is tried again at the next tick.
"""

from __future__ import annotations

import structlog

from harvest.errors import DamageError, HarvestError
from harvest.ledger import VersionRecord
from harvest.model import Finding
from harvest.pipeline.harvest.commit import finish
from harvest.pipeline.harvest.load import Loadable
from harvest.pipeline.instance import Instance
from harvest.pipeline.rebuild.righting import put_right
from harvest.pipeline.run_progress import RunProgress
from harvest.pipeline.trouble import file_stuck, finding_of
from harvest.revise import delta as deltas
from sparql.errors import SparqlError

log = structlog.get_logger()


def recover(instance: Instance, name: str) -> None:
    """Finish the version of a provider that was left loading; take it back where its files are damaged."""
    for version in instance.ledger.loading():
        if version.provider == name:
            try:
                _recover(instance, version)
            except DamageError as error:
                withdraw(instance, version, error)


def recover_all(instance: Instance) -> None:
    """Finish what was left loading, as far as it goes: no provider keeps the instance from starting."""
    for name in {version.provider: None for version in instance.ledger.loading()}:
        try:
            recover(instance, name)
        except (HarvestError, SparqlError, OSError) as error:
            log.error("a version is filed but could not be loaded; it is tried again", provider=name, reason=str(error))
            file_stuck(instance, name, finding_of(instance, error))


def _recover(instance: Instance, version: VersionRecord) -> None:
    with instance.room() as room, instance.writing:
        files = instance.files(version.provider)
        delta = deltas.read(files.change(version.n), room)
        if (delta.added_triples, delta.removed_triples) != (version.added, version.removed):
            raise DamageError(f"{files.change(version.n)} does not hold the change of version {version.n}")
        after = files.snapshot_file(version.n)
        if not after.exists():
            after = files.at(version.n, version.n, room)
        instance.ledger.steps.break_off(version.run, instance.clock())
        instance.ledger.reopen_run(version.run)
        finish(instance, version, Loadable(delta, after), RunProgress(instance, version.provider, version.run))


def sweep(instance: Instance) -> None:
    """End the runs that a crash left open, and remove the files that never counted."""
    instance.ledger.abandon(instance.clock())
    loading = {version.provider: version.n for version in instance.ledger.loading()}
    for provider in instance.ledger.providers():
        files = instance.files(provider.name)
        if files.folder.exists():
            files.prepare()
            if files.snapshot_file(provider.version).exists():
                files.adopt(provider.version)
            files.sweep(loading.get(provider.name, provider.version))
            files.drop_before(provider.baseline)
            files.drop_since()


def withdraw(instance: Instance, version: VersionRecord, error: DamageError) -> None:
    """Take a version that is loading back; its announcement waits again, with the dumps that are filed."""
    name, ledger = version.provider, instance.ledger
    record = ledger.provider(name)
    assert record is not None
    message = (
        f"version {version.n} was filed and could not be loaded: {error.message}; it was taken back, and is harvested "
        "again from the filed dumps"
    )
    try:
        put_right(instance, record)
    except DamageError as other:  # readers keep the graph as they see it
        message += f"; version {record.version} is damaged as well: {other.message} (`harvest rebuild {name}`)"
    ledger.withdraw_version(version, Finding("damage", message, error.url, fatal=True), instance.clock())
    instance.files(name).sweep(record.version)
    log.error("a version was taken back", provider=name, version=version.n, reason=error.message)
