"""Asking handlers: each is called with a version, in a process apart, and its wishes are collected."""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import Final

from harvest.archive.handling import Dump, HandlerEntry, Version
from harvest.errors import HarvestError, WashCrash, WashTimeout
from harvest.wash import process

MOST: Final = 100_000
"""Wishes of one handler after one version; later ones are not looked at."""

LONGEST: Final = 16_384
"""Characters of a URL; the name of an archive entry with escapes in it may have 12,400."""

HANDLER_S: Final = 120.0
"""Seconds that a handler may take over one version."""


_IRI: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>\"{}|\\^`]+")

BATCH: Final = 512
"""Jobs that share a process while they go well: starting one takes 0.1 s."""


@dataclass(frozen=True, slots=True)
class HandlerJob:
    """A handler, and the version that it is given."""

    handler: HandlerEntry
    version: Version


@dataclass(frozen=True, slots=True)
class Wish:
    """
    What a handler asked for after it saw a version.

    Attributes:
        urls: In its order, each once.
        beyond: How many more it asked for than it may.
        trouble: What went wrong with it, or None; what it asked for before counts.
        is_broken: Whether the handler cannot even be loaded.
        dumps: What it named as dumps, in its order, each once.
    """

    urls: tuple[str, ...] = ()
    beyond: int = 0
    trouble: str | None = None
    is_broken: bool = False
    dumps: tuple[Dump, ...] = ()


@dataclass(frozen=True, slots=True)
class HandlerBounds:
    """
    What ends a job.

    Attributes:
        timeout_s: Seconds that it may take.
        most: URLs that it may ask for.
    """

    timeout_s: float = HANDLER_S
    most: int = MOST


NO_BOUNDS: Final = HandlerBounds()


def ask(jobs: Sequence[HandlerJob], stop: threading.Event, bounds: HandlerBounds = NO_BOUNDS) -> Iterator[Wish]:
    """
    What comes of each job, in their order.

    They are done one after another in a process of their own. When that ends or is too slow, the job in hand gets
    another process, which it does not share with those before it: only then is it to blame.

    Raises:
        StoppedError: The instance is shutting down.
    """
    done = 0
    while done < len(jobs):
        wishes: list[Wish] = []
        limits = process.Bounds(bounds.timeout_s, jobs[done].version.url, stop, wishes.append)
        try:
            process.call(_run, limits, jobs[done : done + BATCH], min(bounds.most, MOST))
        except (WashTimeout, WashCrash) as error:
            if not wishes:
                wishes.append(_ended(jobs[done], error, bounds.timeout_s))
        yield from wishes
        done += len(wishes)


def _ended(job: HandlerJob, error: HarvestError, timeout_s: float) -> Wish:
    how = f"took longer than {timeout_s:g} s" if isinstance(error, WashTimeout) else "ended its process"
    return Wish(trouble=f"the {job.handler} {how} over {job.version.url}, and was given up")


def _run(jobs: Sequence[HandlerJob], most: int) -> None:
    """Do jobs, and send what comes of each."""
    # What others print must not stand between the words of a command's answer.
    os.dup2(sys.stderr.fileno(), 1)
    with ThreadPoolExecutor(1) as thread:
        for job in jobs:
            process.report(_wish(job, most, thread))


def _wish(job: HandlerJob, most: int, thread: ThreadPoolExecutor) -> Wish:
    """What comes of a job. A handler may raise anything, and so may its import; a thread keeps that as a value."""
    loading = thread.submit(job.handler.load)
    if error := loading.exception():
        return Wish(trouble=f"the {job.handler} cannot be loaded: {_reason(error)}", is_broken=True)
    urls: dict[str, None] = {}
    dumps: dict[Dump, None] = {}
    beyond = 0

    def collect() -> None:
        nonlocal beyond
        for url in islice(loading.result()(job.version), MOST):
            if isinstance(url, Dump) and len(urls) + len(dumps) < most:
                dumps[_checked_dump(url)] = None
            elif isinstance(url, Dump):
                beyond += 1
            elif len(urls) + len(dumps) < most:
                urls[_checked(url)] = None
            else:
                beyond += url not in urls

    error = thread.submit(collect).exception()
    trouble = f"the {job.handler} failed over {job.version.url}: {_reason(error)}" if error else None
    return Wish(tuple(urls), beyond, trouble, dumps=tuple(dumps))


def _reason(error: BaseException) -> str:
    return error.message if isinstance(error, HarvestError) else f"{type(error).__name__}: {error}"


def _checked_dump(dump: Dump) -> Dump:
    """
    A dump that a handler named.

    Raises:
        TypeError: Something of it is no text.
        ValueError: Something of it is too long, or its IRI or digest is none.
    """
    for value in (dump.url, dump.dataset, dump.modified, dump.title, dump.media_type, dump.sha256):
        if value is not None:
            _checked(value)
    if dump.dataset is not None and not _IRI.fullmatch(dump.dataset):
        raise ValueError(f"it named the dataset {dump.dataset!r:.200}, which is no IRI")
    if dump.sha256 is not None and not re.fullmatch(r"[0-9A-Fa-f]{64}", dump.sha256):
        raise ValueError(f"it named the digest {dump.sha256!r:.200}, which is no SHA-256")
    return dump


def _checked(url: object) -> str:
    """
    A URL that a handler gave.

    Raises:
        TypeError: It is no text.
        ValueError: It is too long, or holds what no text may.
    """
    if not isinstance(url, str):
        raise TypeError(f"it asked for {url!r:.200}, which is no text")
    url.encode()
    if len(url) > LONGEST:
        raise ValueError(f"it asked for a URL of {len(url):,} characters, and {LONGEST:,} are allowed")
    return url
