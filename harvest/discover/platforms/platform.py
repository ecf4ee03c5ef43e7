"""
What a platform is: two functions over answers that are filed. It never fetches.

Other packages add theirs by the entry point group `sparql_harvest.platforms`; docs/filesets.md has a whole one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from harvest.errors import FilesetError
from harvest.model import Manifest

GROUP: Final = "sparql_harvest.platforms"
"""The entry point group. The name of an entry point is the name of its platform; it leads to a `Platform`."""

LARGEST: Final = 64 << 20
"""Bytes of an answer that are read."""

_GONE: Final = frozenset({401, 403, 410, 451})
"""Statuses of what is there, or was, and not for everybody."""


@dataclass(frozen=True, slots=True)
class Answer:
    """
    What a URL gave.

    Attributes:
        url: As asked for.
        status: HTTP status.
        final_url: After redirects.
        path: Where the body is, read only; None where the status is not 2xx.
        media_type: The Content-Type header as received, or None.
        headers: Of the last answer, names in lower case.
        redirects: The URLs passed through, in order, without `final_url`.
    """

    url: str
    status: int
    final_url: str
    path: Path | None = None
    media_type: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    redirects: tuple[str, ...] = ()

    def text(self) -> str:
        """The body as UTF-8, what is none replaced; empty without a body."""
        if self.path is None:
            return ""
        with self.path.open("rb") as stream:
            return stream.read(LARGEST).decode("utf-8", "replace")

    def json(self, kind: type = dict) -> Any:
        """
        The body as JSON: an object, or a list where `kind` is that.

        Raises:
            FilesetError: platform-404, platform-restricted or platform-http-error by the status; platform-error where
                it is no JSON, or nothing of that kind.
        """
        if self.path is None:
            raise FilesetError(
                _status_of(self.status), f"{self.url}: the platform answered {self.status}", url=self.url
            )
        try:
            found = json.loads(self.text())
        except (ValueError, RecursionError) as error:
            raise FilesetError("platform-error", f"{self.url} gave no JSON: {error}", url=self.url) from None
        if not isinstance(found, kind):
            message = f"{self.url} gave {type(found).__name__} in place of {kind.__name__}"
            raise FilesetError("platform-error", message, url=self.url)
        return found


def _status_of(status: int) -> str:
    if status in _GONE:
        return "platform-restricted"
    return "platform-404" if status == 404 else "platform-http-error"


@dataclass(frozen=True, slots=True)
class Landing:
    """
    The landing page that a request led to.

    Attributes:
        answer: What it gave; its `url` is what was asked for.
        latest: Whether the newest version of the dataset is wanted, not the very one that is named.
    """

    answer: Answer
    latest: bool = False

    @property
    def url(self) -> str:
        """After redirects."""
        return self.answer.final_url

    @property
    def host(self) -> str:
        """Of the page, with its port where that is no usual one; lower case."""
        return urlsplit(self.url).netloc.rpartition("@")[2].lower()

    @property
    def base(self) -> str:
        """Scheme and host, without a slash at the end."""
        return f"{urlsplit(self.url).scheme}://{self.host}"

    @property
    def passed(self) -> tuple[str, ...]:
        """All addresses from the one that was asked for to that of the page."""
        return (self.answer.url, *self.answer.redirects, self.url)


@dataclass(frozen=True, slots=True)
class Wanted:
    """
    Further documents that a platform needs.

    Attributes:
        urls: http or https.
        accept: The Accept header to ask with.
    """

    urls: tuple[str, ...]
    accept: str = "application/json, */*;q=0.5"


Answers = Mapping[str, Answer]
"""What was answered so far, by the URL as asked for."""


@dataclass(frozen=True, slots=True)
class Platform:
    """
    A kind of repository.

    Attributes:
        matches: Whether a landing page is of this platform, by its address and what it says.
        process: The manifest, or what else is needed for it; called again with the answers until it gives a manifest.
            It raises a FilesetError where there is none.

    Source: fileset ingest document, "FilesetPlatformHelper" (match_request, process_request).
    """

    matches: Callable[[Landing], bool]
    process: Callable[[Landing, Answers], Wanted | Manifest]
