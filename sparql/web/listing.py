"""Lists of providers as the address asks for them: which, in what order, and which page of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import urlencode

from flask import abort, request

from sparql.reports import ProviderSummary
from sparql.web.site import page_number

ROWS: Final = 100
"""Providers of one page."""

STATES: Final = ("failing", "held", "harvesting", "idle", "disabled")
"""Of providers, those first that somebody has to look at."""


LONG_AGO: Final = datetime.min.replace(tzinfo=UTC)
"""Before all times: what never happened is sorted as if it had been then."""

_KEYS: Final[dict[str, tuple[Callable[[ProviderSummary], Any], bool]]] = {
    "name": (lambda provider: provider.name.lower(), False),
    "state": (lambda provider: STATES.index(provider.state), False),
    "triples": (lambda provider: provider.triples, True),
    "version": (lambda provider: provider.version, True),
    "modified": (lambda provider: provider.modified or LONG_AGO, True),
    "last": (lambda provider: provider.last_run.started if provider.last_run else LONG_AGO, True),
}
"""What a list can be sorted by, and whether the largest come first."""

_TITLES: Final = ("Provider", "State", "Triples", "Version", "Modified", "Last harvest")


@dataclass(frozen=True, slots=True)
class ProviderListing:
    """
    A page of a list of providers.

    Attributes:
        rows: The providers on it.
        total: How many there are in all.
        matching: How many of them the filter lets through.
        page: From 1.
        pages: How many there are.
        sort: A key of the list; with `-` before it the other way round.
        state: The state that was asked for, or empty.
        text: What names are to hold, or empty.
        states: How many providers are in each state, of those that there are.
    """

    rows: Sequence[ProviderSummary]
    total: int
    matching: int
    page: int
    pages: int
    sort: str
    state: str
    text: str
    states: dict[str, int]

    @property
    def sorts(self) -> dict[str, str]:
        """What it can be sorted by, for people; what the address asked for is always among it."""
        usual = dict(zip(_KEYS, _TITLES, strict=True))
        asked = self.sort.removeprefix("-")
        return usual if self.sort == asked else usual | {self.sort: f"{usual[asked]}, the other way round"}

    def link(self, **different: str | int) -> str:
        """The address of this list with something else; what is as usual is left out."""
        asked = {"q": self.text, "state": self.state, "sort": self.sort, "page": self.page} | different
        usual = {"q": "", "state": "", "sort": "name", "page": 1}
        query = urlencode({key: value for key, value in asked.items() if value != usual[key]})
        return f"?{query}#all" if query else "?#all"

    def sorting(self, key: str) -> str:
        """How a column is sorted, for `aria-sort`."""
        if self.sort.removeprefix("-") != key:
            return "none"
        return "descending" if _KEYS[key][1] != self.sort.startswith("-") else "ascending"

    def by(self, key: str) -> str:
        """The address of the list sorted by a column, the other way round where it is sorted so."""
        return self.link(sort=f"-{key}" if self.sort == key else key, page=1)


def listing(providers: Sequence[ProviderSummary]) -> ProviderListing:
    """The page that the address asks for; a mistake in it is reported."""
    sort, state = request.args.get("sort", "name"), request.args.get("state", "")
    text = request.args.get("q", "").strip()[:100]
    if sort.removeprefix("-") not in _KEYS:
        abort(400, f"`sort` is one of {', '.join(_KEYS)}, or one of them with `-` before it.")
    if state and state not in STATES:
        abort(400, f"`state` is one of {', '.join(STATES)}.")
    matching = [provider for provider in providers if state in ("", provider.state) and _has(provider, text)]
    key, largest = _KEYS[sort.removeprefix("-")]
    matching.sort(key=lambda provider: provider.name)
    matching.sort(key=key, reverse=largest != sort.startswith("-"))
    pages = max(1, math.ceil(len(matching) / ROWS))
    page = page_number("page", max(pages, 1))
    counts = {each: sum(provider.state == each for provider in providers) for each in STATES}
    return ProviderListing(
        matching[(page - 1) * ROWS : page * ROWS],
        len(providers),
        len(matching),
        page,
        pages,
        sort,
        state,
        text,
        {each: count for each, count in counts.items() if count},
    )


def _has(provider: ProviderSummary, text: str) -> bool:
    """Whether its name or its title holds a text."""
    return any(text.lower() in words.lower() for words in (provider.name, provider.title or ""))
