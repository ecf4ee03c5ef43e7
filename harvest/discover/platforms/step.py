"""From a landing page to a manifest, one step at a time; each runs in a process of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.metadata import EntryPoint, entry_points
from typing import Final
from urllib.parse import urlsplit

from harvest.discover.platforms.paths import settled
from harvest.discover.platforms.platform import GROUP, Answers, Landing, Platform, Wanted
from harvest.errors import FilesetError
from harvest.model import Manifest

_OWN: Final = "harvest.discover.platforms."

OWN: Final[Mapping[str, str]] = {
    "zenodo": _OWN + "invenio:ZENODO",
    "figshare": _OWN + "figshare:FIGSHARE",
    "archiveorg": _OWN + "archiveorg:ARCHIVEORG",
    "dryad": _OWN + "dryad:DRYAD",
    "dataone": _OWN + "dataone:DATAONE",
    "pangaea": _OWN + "references:PANGAEA",
    "dataverse": _OWN + "dataverse:DATAVERSE",
    "inveniordm": _OWN + "invenio:INVENIORDM",
    "ckan": _OWN + "ckan:CKAN",
    "schemaorg": _OWN + "pages:SCHEMAORG",
    "dcat": _OWN + "pages:DCAT",
    "datacite": _OWN + "references:DATACITE",
    "signposting": _OWN + "pages:SIGNPOSTING",
}
"""Our own, the most specific first."""

_BY_HEADERS: Final = frozenset({"signposting"})
"""Those of ours that read the headers of a page, which an answer that it is unchanged (304) need not repeat."""

_UNFORESEEN: Final = (AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What code raises over an answer of another shape than it expects."""


@dataclass(frozen=True, slots=True)
class PlatformEntry:
    """
    A platform that is known by name and not loaded yet.

    Attributes:
        name: As manifests have it.
        reference: `module:attribute`.
    """

    name: str
    reference: str

    def load(self) -> Platform:
        """
        The platform; imports its module.

        Raises:
            FilesetError: platform-error: it cannot be imported, or is none.
        """
        try:
            loaded = EntryPoint(self.name, self.reference, GROUP).load()
        except (ImportError, AttributeError, SyntaxError, TypeError, ValueError) as error:
            message = f"the platform {self.name} ({self.reference}) cannot be loaded: {error}"
            raise FilesetError("platform-error", message) from None
        if not isinstance(loaded, Platform):
            raise FilesetError("platform-error", f"{self.reference} is no Platform")
        return loaded


def registered() -> tuple[PlatformEntry, ...]:
    """All platforms, in the order in which they are asked: those of other packages by name, then our own."""
    others = {PlatformEntry(point.name, point.value) for point in entry_points(group=GROUP) if point.name not in OWN}
    named = sorted(others, key=lambda each: (each.name, each.reference))
    return (*named, *(PlatformEntry(name, reference) for name, reference in OWN.items()))


def reads_headers(name: str) -> bool:
    """Whether a platform may read the headers of a landing page, as any of another package may."""
    return name not in OWN or name in _BY_HEADERS


def step(
    landing: Landing, answers: Answers, platforms: tuple[PlatformEntry, ...], hosts: Mapping[str, str]
) -> Wanted | Manifest:
    """
    What the platform of a landing page needs next, or at last the manifest.

    Args:
        landing: The page.
        answers: What was answered so far, the page left out.
        platforms: In the order in which they are asked; the first that matches wins.
        hosts: Names of platforms by host, or host and port, for those that their pages do not show.

    Raises:
        FilesetError: There is no manifest; its status says why.
    """
    chosen = _chosen(landing, platforms, hosts)
    try:
        found = chosen.load().process(landing, answers)
    except _UNFORESEEN as error:
        message = f"{landing.url}: the answers of {chosen.name} are not as expected: {type(error).__name__}: {error}"
        raise FilesetError("platform-error", message, url=landing.url) from None
    if not isinstance(found, Manifest):
        return found
    if not found.files:
        raise FilesetError("empty-manifest", f"{landing.url} has no files", url=landing.url)
    return replace(found, files=settled(found.files))


def _chosen(landing: Landing, platforms: tuple[PlatformEntry, ...], hosts: Mapping[str, str]) -> PlatformEntry:
    name = hosts.get(landing.host) or hosts.get(urlsplit(landing.url).hostname or "")
    if name is not None:
        for each in platforms:
            if each.name == name:
                return each
        message = f"the setting filesets.platform_hosts names {name} for {landing.host}; no installed package has it"
        raise FilesetError("no-platform-match", message, url=landing.url)
    for each in platforms:
        if each.load().matches(landing):
            return each
    if landing.answer.path is None:
        message = f"{landing.answer.url}: the landing page was answered with {landing.answer.status}"
        raise FilesetError("terminal-bad-status", message, url=landing.url)
    message = (
        f"{landing.url} is of no platform that is known, and names no files by JSON-LD or Signposting; "
        "the setting filesets.platform_hosts names those of your own"
    )
    raise FilesetError("no-platform-match", message, url=landing.url)
