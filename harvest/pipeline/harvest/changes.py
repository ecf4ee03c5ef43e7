"""
Dumps that are changes: N-Quads unified diffs, which say what goes and what comes.

A dump is one by its media type, or by `.nqud` in its address. Each is parted into what it removes and what it adds, and
both are washed as any N-Quads dump is, with the same limits and findings, and under the provider's graph. What that
does to the graph is as in `harvest.revise.changes`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from harvest.discover.dumps import is_change_address
from harvest.errors import WashError
from harvest.ledger import ProviderRecord
from harvest.model import Announcement, Capture, Content, Coverage, Document, Finding, Part, Snapshot, Status
from harvest.pipeline.harvest import washing
from harvest.pipeline.instance import Instance
from harvest.revise import lines, nqud
from harvest.revise.changes import Sides, applied
from harvest.revise.partial import Lookup
from harvest.revise.replace import Revision
from harvest.revise.target import Origin
from harvest.wash import process
from harvest.wash.leaves import Progress
from sparql.rdf import N_QUADS, NQUD

FORMAT = "N-Quads unified diff"
MISFITS = ("change-absent", "change-blank", "change-present")
"""Findings that say that a change is of another state of the graph."""


@dataclass(frozen=True, slots=True)
class WashedChanges:
    """
    What washing changes gave.

    Attributes:
        sides: What each removes and adds, as sorted lines of the provider's graph, in order.
        documents: What became of each; a change is one part.
        empty: Those that say nothing, as a diff of two equal files does.
    """

    sides: tuple[Sides, ...]
    documents: tuple[tuple[Part, ...], ...]
    empty: frozenset[int]


def is_change(url: str, media_type: str | None) -> bool:
    """Whether a dump is an N-Quads unified diff."""
    return (media_type or "").partition(";")[0].strip().lower() == NQUD or is_change_address(url)


def are_changes(captures: Iterable[Capture]) -> bool:
    """
    Whether the dumps of a dataset are changes.

    Raises:
        WashError: Some are and some are not.
    """
    found = {is_change(each.url, None) or is_change(each.final_url, each.media_type): each for each in captures}
    if len(found) > 1:
        change, dump = found[True].url, found[False].url
        message = (
            f"{change} is an N-Quads unified diff and {dump} is not; a dataset has either dumps or changes, as what "
            "the changes are of would not be clear: describe them as two datasets"
        )
        raise WashError(message, url=change)
    return True in found


def as_partial(instance: Instance, announcement: Announcement) -> Announcement:
    """An announcement of changes as what it is: partial, so that it gives way to no later one and keeps the order."""
    if announcement.dataset.coverage is Coverage.PARTIAL or not is_of_changes(announcement.captures):
        return announcement
    dataset = replace(announcement.dataset, coverage=Coverage.PARTIAL)
    instance.ledger.announcements.describe(announcement.id, dataset)
    return replace(announcement, dataset=dataset)


def is_of_changes(captures: Sequence[Capture]) -> bool:
    """Whether there are dumps, and all of them are changes."""
    try:
        return are_changes(captures)
    except WashError:
        return False


def _nobody(progress: Progress) -> None:
    """Nobody listens."""


def wash(
    instance: Instance,
    documents: Sequence[Document],
    graph: str,
    room: Path,
    on_report: Callable[[Progress], None] = _nobody,
) -> WashedChanges:
    """
    Wash changes, each by itself.

    Raises:
        WashError: One is cut off or no diff at all, or washing went past its limits.
        StoppedError: The instance is shutting down.
    """
    sides, parts, empty = [], [], set()
    for number, document in enumerate(documents):
        folder = room / f"wash-{number}"
        folder.mkdir()
        washed = _Side(instance, document, graph, folder, on_report)
        parted = washed.parted()
        if not parted.removed and not parted.added:
            empty.add(number)
        both = washed.side("removed", parted.removed), washed.side("added", parted.added)
        sides.append((both[0][0], both[1][0]))
        parts.append((_joint(parted, [part for _, its in both for part in its], washed.began),))
    return WashedChanges(tuple(sides), tuple(parts), frozenset(empty))


@dataclass(slots=True)
class _Side:
    """A change that is parted and washed."""

    instance: Instance
    document: Document
    graph: str
    folder: Path
    on_report: Callable[[Progress], None]
    began: datetime = datetime.min

    def parted(self) -> nqud.Sides:
        """What it removes and adds, each in a file."""
        self.began = datetime.now(UTC)
        settings, url = self.instance.settings.wash, self.document.url
        bounds = process.Bounds(settings.timeout_s, url, self.instance.stopping)
        files = self._text("removed"), self._text("added")
        try:
            parted = process.call(nqud.part, bounds, self.document.path, *files, settings.max_bytes)
        except WashError as error:
            error.url = error.url or url
            raise
        if not parted.is_diff:
            message = f"{url} is no N-Quads unified diff: no line begins with a single + or -; nothing was changed"
            raise WashError(message, url=url)
        return parted

    def side(self, name: str, count: int) -> tuple[Path, Sequence[Part]]:
        """The clean lines of one side, and what became of it."""
        room = self.folder / f"{name}-clean"
        room.mkdir()
        if not count:
            (room / "none.nq").touch()
            return room / "none.nq", ()
        given = replace(self.document, path=self._text(name), media_type=N_QUADS.media_types[0])
        washed, _ = washing.union(self.instance, [given], self.graph, room, self.on_report)
        return washed.snapshot.path, washed.documents[0]

    def _text(self, name: str) -> Path:
        return self.folder / f"{name}.nq"


def _joint(parted: nqud.Sides, parts: Sequence[Part], began: datetime) -> Part:
    """One record of both sides."""
    encoding = next((part.content.encoding for part in parts if part.content), None)
    content = Content(parted.bytes, None, parted.lines, None, encoding)
    problems = sorted((each for part in parts for each in part.problems), key=lambda each: each.line or 0)
    return Part(
        (),
        next((part.status for part in parts if part.status is not Status.PARSED), Status.PARSED),
        began,
        datetime.now(UTC),
        content,
        FORMAT,
        sum(part.statements for part in parts),
        sum(part.dropped for part in parts),
        all(part.whole for part in parts),
        tuple(problems),
        dict(sum((Counter(part.counts) for part in parts), Counter[str]())),
        lost=sum(part.lost for part in parts),
    )


def revise(
    instance: Instance, record: ProviderRecord, washed: WashedChanges, room: Path, origin: Origin
) -> tuple[Revision, list[Finding]]:
    """What washed changes do to a provider's graph, and what of them it was like already."""
    with instance.current(record, room) as current:
        return revised(record.graph, washed, current, room, origin)


def revised(
    graph: str, washed: WashedChanges, current: Lookup | None, room: Path, origin: Origin
) -> tuple[Revision, list[Finding]]:
    """The same for any graph; `current` is None for an empty one."""
    return applied(graph, washed.sides, current, room, origin)


def apart(room: Path) -> Path:
    """A folder in `room` where nothing is."""
    folder = room / "apart"
    folder.mkdir()
    return folder


def whole(revision: Revision, room: Path) -> Snapshot:
    """The graph that changes make of an empty one."""
    return lines.union(room / "first.nq", revision.delta.added)
