"""
The names of seeds and of what comes from them: normalised URIs, and hashes.

    seed       MD5 of the normalised URI
    download   MD5 of the seed's hash, "-", and when the download began
    entry      MD5 of the hash of the archive, "-", and the name of the entry in it

Source: LOD Laundromat 2, "Adding a seedpoint".
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from hashlib import md5
from typing import Final

_PARTS: Final = re.compile(
    r"(?:(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*):)?(?://(?P<authority>[^/?#]*))?(?P<path>[^?#]*)(?P<rest>.*)", re.DOTALL
)
"""Source: RFC 3986, appendix B; a scheme is one of section 3.1, so that `1a:b` is a relative path."""

_OCTET: Final = re.compile(r"%[0-9A-Fa-f]{2}")
_SEGMENT: Final = re.compile(r"/?[^/]*")
_USERINFO: Final = re.compile(r"(?<=//)[^/?#]*@")
_UNUSABLE: Final = re.compile(r"[\x00-\x20\x7f<>\"{}|\\^`\ud800-\udfff]")
_UNRESERVED: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
GRAPHS: Final = "seed-"
"""Begins the last part of the IRI of a clean document's graph; names of providers hold no hyphen."""

LONGEST: Final = 8000
"""Characters of the longest URI that is registered; servers are advised to take so many. Source: RFC 9110, 4.1."""


def normalised(uri: str) -> str:
    """
    The URI after the five steps, in their order, and no more.

    1. The URI as it is. 2. Scheme and host in lower case. 3. Hexadecimal digits of percent-encoded octets in upper
    case. 4. Octets that denote unreserved characters decoded. 5. `.` and `..` removed from the path.

    Ports, slashes at the end, queries, fragments and the case of a user's name stay as they are. The host of an IRI
    gets the lower case of its U-labels; an A-label (`xn--...`) and an encoded octet (`%C3%89`) are other spellings,
    and stay such. Dot segments go from relative references and opaque URIs too. As the steps have an order, a host
    `%41` becomes `A`.

    Source: LOD Laundromat 2, "Adding a seedpoint"; RFC 3986, sections 6.2.2.1 to 6.2.2.3 and 5.2.4.
    """
    parts = _split(uri)
    scheme, authority = parts["scheme"], parts["authority"]
    start = "" if scheme is None else f"{scheme.lower()}:"
    if authority is not None:
        start += f"//{_lower_host(authority)}"
    return _octets(start) + without_dots(_octets(parts["path"] or "")) + _octets(parts["rest"] or "")


def without_dots(path: str) -> str:
    """The path without `.` and `..`. Source: RFC 3986, section 5.2.4."""
    kept: list[str] = []
    at = 0
    while at < len(path):
        # Each branch is a rule of the section, in its order; `at` is where its input buffer begins.
        if path.startswith("../", at):
            at += 3
        elif path.startswith(("./", "/./"), at):
            at += 2
        elif path.startswith("/../", at) or path[at:] == "/..":
            del kept[-1:]
            at += 3
            if at == len(path):
                kept.append("/")
        elif path[at:] in ("/.", ".", ".."):
            kept.extend("/" if path[at] == "/" else "")
            break
        else:
            segment = _SEGMENT.match(path, at)
            assert segment is not None
            kept.append(segment[0])
            at = segment.end()
    return "".join(kept)


def is_relative(uri: str) -> bool:
    """Whether it is a relative reference, such as `data.ttl` or `//host/data.ttl`. Source: RFC 3986, section 4.2."""
    return _split(uri)["scheme"] is None


def unusable(uri: str) -> str | None:
    """Why a text is no URI that can be registered, or None where it is one; relative references and IRIs are."""
    if not uri:
        return "it is empty"
    if len(uri) > LONGEST:
        return f"it has {len(uri):,} characters, more than {LONGEST:,}"
    found = _UNUSABLE.search(uri)
    return f"it holds {found[0]!r}, which no URI does" if found else None


def seed_hash(uri: str) -> str:
    """The hash of a seed, 32 lower-case hex digits."""
    return _md5(normalised(uri))


def download_hash(seed: str, began: datetime) -> str:
    """The hash of a download of a seed that began then."""
    return _md5(f"{seed}-{began.astimezone(UTC).isoformat()}")


def entry_hash(parent: str, name: str) -> str:
    """The hash of an entry of the archive `parent`."""
    return _md5(f"{parent}-{name}")


def place_hash(seed: str, names: Iterable[str]) -> str:
    """The hash of a place in a seed's data that stays the same over downloads: the seed, or an entry in its archive."""
    for name in names:
        seed = entry_hash(seed, name)
    return seed


def place_graph(base: str, seed: str, names: Iterable[str]) -> str:
    """The graph of what is at a place of a seed, which stays the same over downloads; no provider can have it."""
    return f"{base}{GRAPHS}{place_hash(seed, names)}"


def public(uri: str) -> str:
    """The URI as it may be shown: without user and password."""
    return _USERINFO.sub("", uri, count=1)


def _split(uri: str) -> re.Match[str]:
    parts = _PARTS.fullmatch(uri)
    assert parts is not None, "every text matches"
    return parts


def _lower_host(authority: str) -> str:
    user, at, place = authority.rpartition("@")
    return user + at + place.lower()


def _octets(text: str) -> str:
    return _OCTET.sub(_spelled, text)


def _spelled(octet: re.Match[str]) -> str:
    character = chr(int(octet[0][1:], 16))
    return character if character in _UNRESERVED else octet[0].upper()


def _md5(text: str) -> str:
    # A name, not a proof: the document asks for MD5.
    return md5(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()
