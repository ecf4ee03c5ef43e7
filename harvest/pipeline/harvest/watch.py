"""Watching: the dumps of described datasets are asked for between harvests, and announced when they are other bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from harvest.errors import HarvestError
from harvest.fetch.client import Fetched
from harvest.ledger import RunFacts
from harvest.ledger.announcements import backoff
from harvest.ledger.watches import DAY, Next, WatchedDataset, is_blind
from harvest.model import Capture, Finding, Provider, Validators, Watch
from harvest.pipeline.harvest import pages
from harvest.pipeline.harvest.look import as_finding
from harvest.pipeline.instance import Instance
from harvest.pipeline.seeds.dump_records import DumpRecords

AGAIN_TRIES: Final = 9
"""How often a dump is asked for again that is the same under a newer date: over eight and a half hours."""

MOST_DAYS: Final = 32
"""How rarely a dump is asked for that has a date and that its server sends whole each time."""


@dataclass(frozen=True, slots=True)
class Watching:
    """
    What asking for dumps led to.

    Attributes:
        announced: Ids of new announcements.
        failed: Why the dumps of some datasets could not be asked for, where that is new.
    """

    announced: tuple[int, ...] = ()
    failed: tuple[tuple[str, Finding], ...] = ()


def watch(instance: Instance, provider: Provider) -> Watching:
    """
    Ask for the dumps of a provider that are to be asked for now, and announce those that are other bytes.

    They are asked for as they are downloaded; one that fails keeps no other from being asked for.
    """
    announced, failed = [], []
    for watched in instance.ledger.watches.due(provider.name, instance.clock()):
        try:
            id = _asked(instance, provider, watched)
        except HarvestError as error:
            instance.check_stopping()
            if finding := _failed(instance, provider.name, watched, error):
                failed.append((watched.dataset.iri, finding))
            continue
        if id is not None:
            announced.append(id)
    return Watching(tuple(announced), tuple(failed))


def _asked(instance: Instance, provider: Provider, watched: WatchedDataset) -> int | None:
    """Ask for the dumps of a dataset; returns the announcement if they are other bytes than those that are known."""
    if not watched.dataset.lastmods:
        return _taken(instance, provider.name, watched, _answers(instance, provider, watched))
    known = {c.url: c for c in watched.captures if c.digest and instance.content.holds(c.digest)}
    captures = pages.obtain(instance, provider, watched.dataset, known)
    return _paged(instance, provider.name, watched, captures)


def _paged(instance: Instance, name: str, watched: WatchedDataset, captures: tuple[Capture, ...]) -> int | None:
    """File what pages are now; returns the announcement if one of them is other bytes, or is gone."""
    now = instance.clock()
    if [capture.digest for capture in captures] != _digests(watched):
        return instance.ledger.watches.announce(name, watched, captures, now)
    instance.ledger.watches.file(name, watched, Next(Watch.DAILY, now + DAY, captures=captures), now)
    return None


def _answers(instance: Instance, provider: Provider, watched: WatchedDataset) -> list[Fetched]:
    validators: dict[str, Validators] = {}
    if watched.watch is not Watch.AGAIN:
        validators = {c.url: c.validators for c in watched.captures if c.digest and instance.content.holds(c.digest)}
    urls = watched.dataset.dumps
    return instance.crawl.download_all(urls, provider.limits, validators, led_to(instance, provider, urls[0]))


def _taken(instance: Instance, name: str, watched: WatchedDataset, answers: Sequence[Fetched]) -> int | None:
    """File what dumps are now; returns the announcement if they are other bytes than those that are known."""
    known = {capture.url: capture for capture in watched.captures}
    captures = tuple(
        known[url] if answer.capture.digest is None else answer.capture
        for url, answer in zip(watched.dataset.dumps, answers, strict=True)
    )
    now = instance.clock()
    if [capture.digest for capture in captures] != [capture.digest for capture in watched.captures]:
        new = [answer for answer in answers if answer.capture.digest not in (None, *_digests(watched))]
        with DumpRecords(instance, name).downloading([answer.capture.url for answer in new]) as filed:
            for answer in new:
                filed(answer.capture.url, answer.capture, answer.http)
        return instance.ledger.watches.announce(name, watched, captures, now)
    came = any(answer.capture.digest is not None for answer in answers)
    following = replace(_following(watched, captures, came, now), captures=captures if came else None)
    if came or watched.is_late or watched.watch is not Watch.ALWAYS:
        instance.ledger.watches.file(name, watched, following, now)
    return None


def _digests(watched: WatchedDataset) -> list[str | None]:
    return [capture.digest for capture in watched.captures]


def _following(watched: WatchedDataset, captures: tuple[Capture, ...], came: bool, now: datetime) -> Next:
    """When dumps that are what they were are asked for next; `came` if some were sent whole all the same."""
    tries = watched.tries + 1 if came else 0
    if watched.watch is Watch.AGAIN:
        if watched.tries + 1 < AGAIN_TRIES:
            return Next(Watch.AGAIN, now + backoff(watched.tries + 1), watched.tries + 1)
        return Next(Watch.DAILY, now + DAY, 0, _let_go(watched, now))
    if watched.watch is Watch.DAILY:
        return Next(Watch.DAILY, now + DAY * min(2 ** max(tries - 1, 0), MOST_DAYS), tries, _kept(watched))
    if not came:
        return Next(Watch.ALWAYS, None)
    wait = DAY if is_blind(captures) else min(timedelta(minutes=2 ** min(tries, 12)), DAY)
    return Next(Watch.ALWAYS, now + wait, tries)


def _let_go(watched: WatchedDataset, now: datetime) -> Finding:
    iri = watched.dataset.iri
    message = (
        f"{iri} has a newer date but its dumps are the same bytes; they were asked for again {AGAIN_TRIES} times "
        f"until {now:%Y-%m-%d %H:%M} UTC, and are compared once a day from now on"
    )
    return Finding("same-bytes", message, iri)


def _kept(watched: WatchedDataset) -> Finding | None:
    """The finding that a newer date came with the same bytes, kept until there is another date."""
    return watched.found if watched.found and watched.found.kind == "same-bytes" else None


def _failed(instance: Instance, name: str, watched: WatchedDataset, error: HarvestError) -> Finding | None:
    """
    File that dumps could not be asked for; returns why where that is new.

    It stops the harvests of a dataset without a date; of one with a date it is reported, and a newer date is harvested.
    """
    now = instance.clock()
    finding = replace(as_finding(error), fatal=watched.watch is Watch.ALWAYS)
    wait = max(backoff(watched.tries), DAY) if watched.watch is Watch.DAILY else backoff(watched.tries)
    instance.ledger.watches.file(name, watched, Next(watched.watch, now + wait, watched.tries + 1, finding), now)
    if finding == watched.found:
        return None
    if not finding.fatal:
        return finding
    run = instance.ledger.start_run(name, now, None)
    instance.ledger.end_run(run, "failed", now, RunFacts(findings=(finding,), dataset=watched.dataset.iri))
    return finding


def led_to(instance: Instance, provider: Provider, url: str) -> str | None:
    """The IRI of the download of the description that names a dump; None for a dump that is registered itself."""
    return None if url == provider.url else instance.crawl.activity(provider.url)
