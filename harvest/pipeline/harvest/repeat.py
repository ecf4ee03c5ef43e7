"""Dumps that came before: the same bytes that were harvested, or that could not be, and what is applied again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence

from harvest.ledger import DatasetRecord, Ledger, ProviderRecord
from harvest.model import Announcement, Capture, Finding, Outcome
from harvest.pipeline.harvest import older_names
from harvest.pipeline.instance import Instance


def failed_before(instance: Instance, announcement: Announcement) -> bool:
    """Whether the same bytes failed to be washed already; then no further run says so, and they are tried later."""
    runs = instance.ledger.runs_of(announcement.id)
    before = next((run for run in runs if run.ended is not None), None)
    if before is None or before.outcome != Outcome.FAILED or not any(f.kind == "wash" for f in before.findings):
        return False
    if [dump.sha256 for dump in before.dumps] != _digests(announcement.captures):
        return False
    for run in runs:
        if run.ended is None:
            instance.ledger.drop_run(run.id)
    instance.ledger.announcements.postpone(announcement.id, instance.clock())
    return True


def is_in_the_graph(ledger: Ledger, record: ProviderRecord, announcement: Announcement, mirrored: bool) -> bool:
    """
    Whether harvesting dumps would change nothing, as the dataset's last harvest was of the same bytes.

    Only while nothing else was harvested of the provider since, which may have replaced what the dumps say, and
    under the same rules.
    """
    last = ledger.dataset(record.name, announcement.dataset.iri)
    return (
        last is not None
        and last.coverage is announcement.dataset.coverage
        and _digests(last.captures) == _digests(announcement.captures)
        and (last.version, last.mirrored) == (record.version, mirrored)
        and not older_names.is_older(ledger, record.name, announcement.dataset)
    )


def findings(ledger: Ledger, announcement: Announcement) -> Iterator[Finding]:
    """What is odd with the date of dumps, and that they are applied again."""
    dataset = announcement.dataset
    last = ledger.dataset(announcement.provider, dataset.iri)
    if ledger.announcements.was_harvested(announcement.id):
        message = f"an older dump of another dataset was harvested; what {dataset.iri} says since is applied again"
        yield Finding("applied-again", message, dataset.iri)
    elif last is not None and last.coverage is dataset.coverage and dataset.modified is not None:
        yield from _odd_date(last, announcement)


def _odd_date(last: DatasetRecord, announcement: Announcement) -> Iterator[Finding]:
    iri, modified = announcement.dataset.iri, announcement.dataset.modified
    same = _digests(last.captures) == _digests(announcement.captures)
    if same and modified and (last.modified is None or modified > last.modified):
        yield Finding("same-bytes", f"{iri} has a newer date but its dumps are the same bytes", iri)
    if not same and modified == last.modified:
        yield Finding("same-date", f"{iri} has the same date but its dumps are other bytes", iri)


def input_digest(captures: Iterable[Capture]) -> str:
    """What an approval is for: SHA-256 of the digests of all that is harvested, in order."""
    return hashlib.sha256("\n".join(capture.digest or "" for capture in captures).encode()).hexdigest()


def _digests(captures: Sequence[Capture]) -> list[str | None]:
    return [capture.digest for capture in captures]
