"""Remote JSON-LD contexts: fetched by the guarded client, filed, and kept for a day."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeVar

import structlog

from harvest.errors import ContextWanted, HarvestError, WashError
from harvest.model import Limits
from harvest.pipeline.instance import Instance

T = TypeVar("T")
log = structlog.get_logger()

MOST: Final = 32
"""Contexts of one dataset."""

FRESH: Final = timedelta(days=1)
"""How long a context is used without asking for it again."""

LIMITS: Final = Limits(16 << 20, 120)
"""Bytes and seconds of one context."""

ACCEPT: Final = "application/ld+json, application/json;q=0.9, */*;q=0.1"


Contexts = Mapping[str, Path | None]
"""Where the bytes of contexts are, by URL; None for one that cannot be had."""


def with_contexts(instance: Instance, washing: Callable[[Contexts], T], known: Contexts = MappingProxyType({})) -> T:
    """
    What `washing` returns once it has all the contexts that it asks for; those not known are fetched and filed.

    Raises:
        WashError: It asks for more than `MOST`.
    """
    return supplied(washing, partial(context, instance), known)


def supplied(
    washing: Callable[[Contexts], T], fetch: Callable[[str], Path | None], known: Contexts = MappingProxyType({})
) -> T:
    """What `washing` returns once `fetch` has given it all the contexts that it asks for beside those known."""
    had = dict(known)
    while True:
        try:
            return washing(had)
        except ContextWanted as wanted:
            assert wanted.url is not None
            if wanted.url in had or len(had) >= MOST:
                raise WashError(f"{wanted.message}; {len(had)} were fetched already", url=wanted.url) from wanted
            had[wanted.url] = fetch(wanted.url)


def context(instance: Instance, url: str) -> Path | None:
    """
    Where a context is filed; None when it cannot be had.

    One that cannot be fetched now is the one that was fetched last, whenever that was: contexts hardly ever change.
    """
    key = f"context {url}"
    known = json.loads(instance.ledger.meta(key) or "null")
    if known and not instance.content.holds(known["digest"]):
        known = None
    if known and instance.clock() - datetime.fromisoformat(known["at"]) < FRESH:
        return instance.content.path(known["digest"])
    try:
        fetched = instance.crawl.get(url, limits=LIMITS, accept=ACCEPT)
    except HarvestError as error:
        instance.check_stopping()
        log.warning(
            "JSON-LD context not fetched", url=url, reason=error.message, used="the last one" if known else "none"
        )
        return instance.content.path(known["digest"]) if known else None
    assert fetched.path is not None and fetched.capture.digest is not None
    at = instance.clock().isoformat()
    instance.ledger.set_meta(key, json.dumps({"digest": fetched.capture.digest, "at": at}))
    return fetched.path
