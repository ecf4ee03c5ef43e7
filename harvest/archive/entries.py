"""
Names of archive entries: what an entry is called in a log.

    zip:hash://sha256/<64 hex digits>!/data/a%20b.ttl
    tar:gz:hash://sha256/<64 hex digits>!/a.nt          a tar archive in gzip

The bytes of the archive are named, not its URL, so that the name means the same bytes for ever. An entry that is an
archive has a hash of its own, and its entries are named by that.

Source: Preston, `ArchiveStreamHandler` and `CompressedStreamHandler`; Apache Commons VFS, "Supported File Systems".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, unquote

_SCHEMES: Final = {"gzip": "gz", "lz4": "lz4-framed", "7z": "x-7z"}
"""What is not called by its own name. A scheme begins with a letter (RFC 3986, 3.1), so 7z cannot be one."""

_KINDS: Final = {scheme: kind for kind, scheme in _SCHEMES.items()}
_ENTRY: Final = re.compile(r"((?:[a-z][a-z0-9+.-]*:)+)hash://sha256/([0-9a-f]{64})!/(.+)")
_ESCAPED: Final = re.compile(r"[^-._~/:@$&'()*+,;=A-Za-z0-9\x80-\U0010ffff]")
"""What no IRI may hold, and `%`, `?` and `#`; `!` too, since `!/` ends the name of the archive."""


@dataclass(frozen=True, slots=True)
class EntryName:
    """
    The name of an archive entry.

    Attributes:
        layers: What has to be undone, the outermost first: compressions, and last the kind of archive.
        digest: SHA-256 of the archive.
        entry: As in the archive.
    """

    layers: tuple[str, ...]
    digest: str
    entry: str

    @property
    def iri(self) -> str:
        """As logs have it."""
        schemes = "".join(f"{_SCHEMES.get(layer, layer)}:" for layer in reversed(self.layers))
        return f"{schemes}hash://sha256/{self.digest}!/{_ESCAPED.sub(_quoted, self.entry)}"


def entry_named(iri: str) -> EntryName | None:
    """The entry that an IRI names; None when it names none."""
    match = _ENTRY.fullmatch(iri)
    if match is None:
        return None
    schemes = match[1].rstrip(":").split(":")
    return EntryName(tuple(_KINDS.get(scheme, scheme) for scheme in reversed(schemes)), match[2], unquote(match[3]))


def _quoted(match: re.Match[str]) -> str:
    return quote(match[0], safe="")
