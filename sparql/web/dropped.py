"""
Versions that are not there: those that never were, and those that were dropped for a baseline, which are gone.

Source: RFC 9110, section 15.5.11 (410 Gone); RFC 5829, section 3.4 (successor-version).
"""

from __future__ import annotations

from typing import NoReturn

from flask import abort
from werkzeug.exceptions import Gone

from sparql.web.site import context, found


class Dropped(Gone):
    """410, with a link to the version that all replay begins with."""

    def __init__(self, description: str, baseline: str) -> None:
        super().__init__(description)
        self.baseline = baseline

    def get_headers(self, *args: object, **kwargs: object) -> list[tuple[str, str]]:
        """As for any error, and the link."""
        return [*super().get_headers(), ("Link", f'<{self.baseline}>; rel="successor-version"')]


def no_version(name: str, n: int, what: str = "version") -> NoReturn:
    """
    Answer that there is no such version, or no change that made it.

    Raises:
        Dropped: It was there, and was dropped.
        NotFound: It never was, or there is no such provider.
    """
    catalog = context().catalog
    provider = found(catalog.provider(name), name)
    baseline = provider.baseline or 0
    if baseline and (0 < n < baseline or (n == baseline and what != "version")):
        address = f"{context().site.base_url}/providers/{name}/versions/{baseline}.nq"
        raise Dropped(
            f"The {what} {n} of {name} was dropped when versions were compacted; they begin with the baseline, version "
            f"{baseline}: {address}",
            address,
        )
    known = [record.n for record in catalog.versions(name)]
    there = f"it has versions {min(known)} to {max(known)}" if known else "it has none yet"
    abort(404, f"{name} has no version {n}: {there}.")
