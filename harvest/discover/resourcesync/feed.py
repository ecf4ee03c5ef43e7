"""
Feeds: change lists whose entries link to N-Quads unified diffs, which made in order what the dataset is now.

Which diffs were applied is counted by the feed itself: the ledger keeps the last one's name, and those behind it in the
list come next. No clock of ours decides. Where the dataset file is taken first, what is listed up to the `at` of its
resource list is in it. A diff too many does no harm, as long as all later ones follow.

Source: shared Timbuctoo exchange protocol, "Resource sync"; ResourceSync 1.1, sections 12 and 14.4 (patches).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Final

from harvest.discover.resourcesync.items import Item, Link
from harvest.discover.resourcesync.listing import DatasetLists, dump_items, listed_file, report_hole
from harvest.errors import DescriptionError
from harvest.model import Coverage, Dataset, Finding, ListedFile, Listing
from harvest.model.resourcesync import ChangeKind, Relation
from sparql.rdf import NQUD

MOST_DIFFS: Final = 1_000
"""Diffs that one harvest applies; the next look goes on behind them."""

START: Final = "start"
"""The state before the first diff of a feed."""

_NUMBER: Final = re.compile(r"(\d{1,9})(\.nqud(?:\.gz)?)?(?:$|\?)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Diff:
    """
    A diff of a feed.

    Attributes:
        file: The diff as its link says it is.
        at: When the change happened (aware, UTC), or None.
        created: Whether it makes the dataset from nothing.
        by: The list that names it.
    """

    file: ListedFile
    at: datetime | None
    created: bool
    by: str

    @property
    def token(self) -> str:
        """The state that it leads to."""
        digest = next((":".join(each) for each in self.file.hashes), "-")
        return f"{self.file.url} {self.at.isoformat() if self.at else '-'} {digest}"

    @property
    def number(self) -> tuple[str, int] | None:
        """Its number and what stands around it, where its address ends in one."""
        match = _NUMBER.search(self.file.url)
        return (self.file.url[: match.start(1)], int(match[1])) if match else None


def diffs_of(lists: DatasetLists) -> tuple[Diff, ...]:
    """
    The diffs that a change list links, in its order; none where it is no feed.

    Raises:
        DescriptionError: Some of its changes of the dataset have none, or they are out of order, repeated or missing.
    """
    found: list[Diff] = []
    bare: list[tuple[Item, str]] = []
    for each in lists.changes:
        for item in each.items:
            link = _patch(item)
            if link is None:
                bare.append((item, each.url))
                continue
            file = ListedFile(link.url, NQUD, link.meta.length, link.meta.hashes)
            found.append(Diff(file, item.changed, item.meta.change == ChangeKind.CREATED, each.url))
    if found:
        _check_bare(lists, bare)
        _check_order(found)
        report_hole(lists, None)
    return tuple(found)


def _patch(item: Item) -> Link | None:
    """The link of an item to an N-Quads unified diff, by its type, or without one by its extension."""
    for link in item.links:
        if link.rel == Relation.PATCH:
            said = (link.meta.media_type or "").partition(";")[0].strip().lower()
            named = re.search(r"\.nqud(\.gz)?(\?|$)", link.url, re.IGNORECASE) is not None
            if said == NQUD or (not said and named):
                return link
    return None


def _check_bare(lists: DatasetLists, bare: Sequence[tuple[Item, str]]) -> None:
    """Refuse a feed in which the dataset changed without a diff."""
    urls = {item.url for item in dump_items(lists)}
    for item, by in bare:
        if item.url in urls:
            message = (
                f"the change list {by} has, on line {item.line}, a change of the dataset {item.url} without a link to "
                "an N-Quads unified diff, though others have one; nothing was applied"
            )
            raise DescriptionError(message, url=by, line=item.line)


def _check_order(diffs: Sequence[Diff]) -> None:
    """Refuse a sequence that is out of order, that repeats a diff, or in which one is missing."""
    seen: set[str] = set()
    for diff in diffs:
        if diff.file.url in seen:
            raise _broken(diff, "it is listed twice")
        seen.add(diff.file.url)
    dates = [(diff, diff.at) for diff in diffs if diff.at]
    for (_, earlier), (diff, at) in pairwise(dates):
        if at < earlier:
            raise _broken(diff, f"its date {at.isoformat()} is before {earlier.isoformat()}, that of one ahead of it")
    # A baseline, which creates the dataset in the place of all changes up to it, may have an address of another kind.
    numbered = diffs[1:] if diffs[0].created and len(diffs) > 2 and not _is_numbered(diffs) else diffs
    is_numbered = _is_numbered(numbered)
    for before, diff in pairwise(numbered):
        if is_numbered and _gap(before, diff):
            raise _broken(diff, f"what comes between {before.file.url} and it is missing")


def _is_numbered(diffs: Sequence[Diff]) -> bool:
    """Whether the addresses of diffs count them: ascending numbers behind one name, from 0 or 1, or mostly by one."""
    numbers = [diff.number for diff in diffs]
    if any(number is None for number in numbers) or len({number[0] for number in numbers if number}) > 1:
        return False
    counted = [number[1] for number in numbers if number]
    steps = [later - earlier for earlier, later in pairwise(counted)]
    return bool(steps) and min(steps) > 0 and (counted[0] <= 1 or steps.count(1) * 2 > len(steps))


def _gap(before: Diff, diff: Diff) -> bool:
    one, other = before.number, diff.number
    return one is not None and other is not None and one[0] == other[0] and other[1] != one[1] + 1


def _broken(diff: Diff, why: str) -> DescriptionError:
    message = (
        f"the sequence of the change list {diff.by} is broken at {diff.file.url}: {why}; nothing was applied, the sync "
        "goes on when the list is mended"
    )
    return DescriptionError(message, url=diff.by)


def dataset_of_feed(
    lists: DatasetLists, diffs: Sequence[Diff], applied: str | None, *, anew: bool = False
) -> tuple[Dataset, tuple[Finding, ...]]:
    """
    What is to be harvested of a feed next: the dataset file or all diffs at first, then the diffs behind the last.

    Where nothing is, the dataset has the state that was applied.

    Args:
        lists: The lists of the dataset.
        diffs: Its diffs, at least one.
        applied: The state that was last harvested here, or None; where it is one of files, the feed is begun.
        anew: Whether to begin with the dataset file, whatever was applied.

    Raises:
        DescriptionError: What was applied is not in the feed as it was, and there is nothing to begin anew with.
    """
    is_new = applied is None or (applied != START and len(applied.split()) != 3)  # or its diffs are new
    if applied is None or is_new or (anew and dump_items(lists)):
        return _beginning(lists, diffs), ()
    if applied == START:
        return _increment(lists, diffs, applied), ()
    place = next((n for n, diff in enumerate(diffs) if diff.file.url == applied.split()[0]), None)
    if place is not None:
        _check_applied(diffs[place], applied)
    elif _stands_for(diffs[0], applied):
        place = 0
    if place is not None:
        later = diffs[place + 1 :]
        return (_increment(lists, later, applied) if later else _at_rest(lists, diffs, applied)), ()
    behind = diffs[1:] if diffs[0].created and len(diffs) > 1 else diffs
    if _goes_on(behind[0], applied):
        return _increment(lists, behind, applied), ()
    return _beginning_again(lists, diffs, applied)


def _check_applied(diff: Diff, applied: str) -> None:
    """Refuse a feed in which the diff that was applied last is another one now."""
    digest = applied.split()[2]
    now = diff.token.split()[2]
    if "-" not in (digest, now) and digest != now:
        raise _broken(diff, f"its hash was {digest} when it was applied, and is {now} now")


def _stands_for(first: Diff, applied: str) -> bool:
    """Whether a feed begins with a baseline, in the place of what was applied last: it has the date of that."""
    return first.created and first.at is not None and first.at.isoformat() == applied.split()[1]


def _goes_on(first: Diff, applied: str) -> bool:
    """Whether a feed that lists no more what was applied begins right behind it."""
    url, number = applied.split()[0], first.number
    match = _NUMBER.search(url)
    return number is not None and match is not None and (url[: match.start(1)], int(match[1]) + 1) == number


def _beginning_again(lists: DatasetLists, diffs: Sequence[Diff], applied: str) -> tuple[Dataset, tuple[Finding, ...]]:
    """A new baseline, where the feed begins after what was applied."""
    url, at, _ = applied.split()
    first = diffs[0]
    is_later = first.at is not None and at != "-" and first.at > datetime.fromisoformat(at)
    if not is_later or not dump_items(lists):
        raise _broken(first, f"{url}, which was applied last, is not in the list any more")
    message = (
        f"the feed of {lists.iri} begins after {url}, which was applied last; its dataset file is taken as the new "
        "beginning"
    )
    return _beginning(lists, diffs), (Finding("new-baseline", message, lists.iri),)


def _beginning(lists: DatasetLists, diffs: Sequence[Diff]) -> Dataset:
    """The first harvest: the dataset file, or all diffs from the one that created the dataset."""
    items = dump_items(lists)
    if items:
        taken = _taken(lists, items)
        place = -1
        while taken and place + 1 < len(diffs) and (at := diffs[place + 1].at) and at <= taken:
            place += 1
        token = START if place < 0 else diffs[place].token
        listing = Listing(token, dumps=tuple(map(listed_file, items)), mirrored=True)
        modified = taken if place < 0 else diffs[place].at
        return Dataset(lists.iri, tuple(item.url for item in items), modified=modified, listing=listing)
    if not diffs[0].created:
        raise _broken(diffs[0], "it does not create the dataset, and no resource list names a dataset file")
    return _increment(lists, diffs, None)


def _taken(lists: DatasetLists, items: Sequence[Item]) -> datetime | None:
    """Up to when changes are in the dataset file for certain."""
    ats = [each.meta.at for each in lists.resources if each.meta.at]
    if ats:
        return min(ats)
    dates = [item.changed for item in items]
    return min((date for date in dates if date), default=None) if all(dates) else None


def _increment(lists: DatasetLists, diffs: Sequence[Diff], follows: str | None) -> Dataset:
    """Diffs to be applied on a state, as one change."""
    taken = diffs[:MOST_DIFFS]
    listing = Listing(taken[-1].token, follows, tuple(diff.file for diff in taken))
    urls = tuple(diff.file.url for diff in taken)
    return Dataset(lists.iri, urls, Coverage.PARTIAL, taken[-1].at, listing=listing)


def _at_rest(lists: DatasetLists, diffs: Sequence[Diff], applied: str) -> Dataset:
    """A dataset of which all was applied."""
    items = dump_items(lists)
    urls = tuple(item.url for item in items) or (diffs[-1].file.url,)
    coverage = Coverage.FULL if items else Coverage.PARTIAL
    return Dataset(lists.iri, urls, coverage, diffs[-1].at, listing=Listing(applied))
