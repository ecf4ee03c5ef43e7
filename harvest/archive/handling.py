"""
Content handlers: functions that are given what a URL gave, and ask for more.

A log is a stream of `<url> pav:hasVersion <hash>`. A handler is a function that is called with each of these and
gives what it asks for in turn: URLs, `hash://sha256/...`, or entries of archives (`harvest.archive.entries`). Other
packages add theirs by the entry point group `sparql_harvest.handlers`; docs/handlers.md has a whole one.

Source: Preston, "content handlers".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Final, cast

GROUP: Final = "sparql_harvest.handlers"
"""The entry point group. The name of an entry point is the name of its handler."""


@dataclass(frozen=True, slots=True)
class Version:
    """
    What a URL gave: `<url> pav:hasVersion <hash://sha256/digest>`.

    Attributes:
        url: As asked for.
        digest: SHA-256 of the bytes, 64 lower-case hex digits.
        path: Where the bytes are; read only.
        media_type: The Content-Type header as received, or None.
        final_url: After redirects; base of relative IRIs.
        at: When these bytes came first (aware, UTC).
    """

    url: str
    digest: str
    path: Path
    media_type: str | None
    final_url: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Dump:
    """
    A dump, as a handler names it for a provider that is registered by it.

    Attributes:
        url: http or https.
        dataset: IRI of the dataset that it belongs to; None for that of the registered address.
        modified: When that dataset was last changed, in any form that a dcterms:modified may have, or None.
        title: Of the dataset, or None.
        media_type: What it has, where the server may say otherwise, or None.
        sha256: Of its bytes, 64 hex digits, which are then verified, or None.
    """

    url: str
    dataset: str | None = None
    modified: str | None = None
    title: str | None = None
    media_type: str | None = None
    sha256: str | None = None


Handler = Callable[[Version], Iterable[str | Dump]]
"""
Gives what it asks for, and the dumps that it names; nothing for what it does not know.

It runs in a process apart, without the instance's settings, and is ended when it takes too long. What it gave before it
raised counts.
"""


@dataclass(frozen=True, slots=True)
class HandlerEntry:
    """
    A handler that is known by name and not loaded yet.

    Attributes:
        name: What it is called in commands and logs.
        reference: `module:function`.
        package: The distribution that it comes with, and its version; None for our own.
    """

    name: str
    reference: str
    package: str | None = None

    def load(self) -> Handler:
        """
        The function; imports its module, and so may raise anything.

        Raises:
            TypeError: It is no function.
        """
        loaded = EntryPoint(self.name, self.reference, GROUP).load()
        if not callable(loaded):
            raise TypeError(f"{self.reference} is no function")
        return cast(Handler, loaded)

    def __str__(self) -> str:
        return f"handler {self.name}" + (f" of {self.package}" if self.package else "")


def contributed() -> list[HandlerEntry]:
    """The handlers of all installed packages, by name; of several with one name all, by package."""
    found = {HandlerEntry(point.name, point.value, _package(point)) for point in entry_points(group=GROUP)}
    return sorted(found, key=lambda handler: (handler.name, handler.package or "", handler.reference))


def _package(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist else "an unknown package"
