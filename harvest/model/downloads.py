"""What the archive's provenance logs hold."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from harvest.model.exchanges import Capture


@dataclass(frozen=True, slots=True)
class Download:
    """
    One request that gave bytes, or failed.

    Attributes:
        activity: IRI of the request, `urn:uuid:...`.
        url: As asked for, without user and password.
        began: When it was asked for (aware, UTC).
        ended: When its bytes were filed, or when it failed (aware, UTC).
        capture: What was answered; None when it failed.
        status: HTTP status, or None where there was no answer.
        reason: Why it failed, for people; None where it did not.
        informed: IRI of the activity that led to it, or None.

    Source: PROV-O, prov:Generation and prov:wasInformedBy.
    """

    activity: str
    url: str
    began: datetime
    ended: datetime
    capture: Capture | None = None
    status: int | None = None
    reason: str | None = None
    informed: str | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """
    Statements of the pipeline's own that the next log is to hold.

    Attributes:
        activity: IRI of what they are about, `urn:uuid:...`; the graph that they stand in.
        at: When they came true (aware, UTC).
        facts: N-Triples.
    """

    activity: str
    at: datetime
    facts: str


@dataclass(frozen=True, slots=True)
class CrawlLog:
    """
    What one log holds.

    Attributes:
        activity: IRI of the crawl, `urn:uuid:...`.
        began: When the first of its downloads began (aware, UTC).
        ended: When the last one ended (aware, UTC).
        previous: SHA-256 of the log before; None for the first.
        downloads: In the order in which they ended.
        notes: In the order in which they were made.
    """

    activity: str
    began: datetime
    ended: datetime
    previous: str | None
    downloads: tuple[Download, ...]
    notes: tuple[Note, ...] = ()
