"""Trouble with one provider: what no stage foresaw is a finding, and stops no other provider."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import structlog

from harvest.errors import HarvestError, StoppedError, StorageError, unusable
from harvest.ledger import RunFacts
from harvest.model import Announcement, Finding, Outcome
from harvest.pipeline.harvest.look import Look, as_finding, undescribed
from harvest.pipeline.instance import Instance
from harvest.pipeline.metadata import write_run
from sparql.errors import EngineLost, StoreError

FAULT: Final = "fault"
"""The kind of a finding that is a fault of ours."""

log = structlog.get_logger()


def is_stuck(instance: Instance, name: str) -> bool:
    """Whether a filed version of a provider could not be loaded: nothing may be built on it before it is."""
    return any(version.provider == name for version in instance.ledger.loading())


@contextmanager
def filing_trouble(instance: Instance, name: str, announcement: Announcement | None = None) -> Iterator[list[Finding]]:
    """
    Keep one provider's trouble from stopping the others.

    What a stage foresees is handled there. This is for the rest: a full disk, a damaged store, a fault of ours. The
    finding is in the list that this gives, afterwards.
    """
    troubles: list[Finding] = []
    try:
        yield troubles
    except StoppedError as error:
        log.info("given up", provider=name, reason=error.message)
    except Exception as error:  # one provider must not stop the others
        finding = finding_of(instance, error)
        if finding.kind == FAULT:
            log.exception("harvest failed", provider=name)
        else:
            log.error("harvest failed", provider=name, reason=finding.message)
        troubles.append(finding)
        _file_trouble(instance, name, announcement, finding)


def finding_of(instance: Instance, error: Exception) -> Finding:
    """The finding for an error: trouble with the disk and the store is of storage, the unforeseen a fault."""
    if isinstance(error, HarvestError):
        return as_finding(error)
    if isinstance(error, OSError):
        return as_finding(StorageError(unusable(error, instance.settings.data_dir)))
    if isinstance(error, EngineLost):
        return as_finding(StorageError(f"{error.message}; the harvest is taken up again when it does"))
    if isinstance(error, StoreError):
        return as_finding(StorageError(f"{error.message.rstrip('.')}; see to the disk"))
    return Finding(FAULT, f"{type(error).__name__}: {error}", fatal=True)


def file_stuck(instance: Instance, name: str, finding: Finding) -> None:
    """End the run whose version is filed but could not be loaded, for now: loading it once more goes on with it."""
    for version in instance.ledger.loading():
        run = instance.ledger.run(version.run)
        if version.provider == name and run is not None and run.ended is None:
            findings = (*(found for found in run.findings if not found.fatal), finding)
            instance.ledger.end_run(run.id, Outcome.FAILED, instance.clock(), RunFacts(findings=findings))


def _file_trouble(instance: Instance, name: str, announcement: Announcement | None, finding: Finding) -> None:
    ledger, now = instance.ledger, instance.clock()
    if is_stuck(instance, name):
        # The version is filed, and the next tick loads it: the announcement ends there.
        log.error("a version is filed but could not be loaded; it is tried again", provider=name)
        file_stuck(instance, name, finding)
        return
    if announcement is not None:
        ledger.announcements.postpone(announcement.id, now, finding)
        run = ledger.run_of(announcement.id)
        if run is not None and run.ended is None:
            ledger.end_run(run.id, Outcome.FAILED, now, RunFacts(findings=(*run.findings, finding)))


def filed_look(instance: Instance, name: str, found: Look, troubles: list[Finding]) -> Look:
    """A look as it is filed: with what nobody foresaw as the reason why it failed, if there was anything."""
    if troubles:
        found = Look(failed=troubles[0])
        with filing_trouble(instance, name):
            undescribed(instance, name, troubles[0])
    if found.failed:
        log.warning("description not usable", provider=name, reason=found.failed.message)
        with filing_trouble(instance, name):
            write_run(instance, name)
    return found
