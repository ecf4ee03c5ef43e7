"""Digests that a server states, and the sums they are compared with."""

from __future__ import annotations

import hashlib
import re
from base64 import b64decode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

_NAMES: Final = {"sha-256": "sha256", "sha-512": "sha512", "md5": "md5"}
_FIELD: Final = re.compile(r"([A-Za-z0-9-]+)=:?([A-Za-z0-9+/]+={0,2}):?")


@dataclass(frozen=True, slots=True)
class Claim:
    """
    One stated digest.

    Attributes:
        header: The header that states it, for messages.
        algorithm: `sha-256`, `sha-512` or `md5`.
        value: The digest.
        of_message: Whether it is of the bytes of this answer alone; otherwise of the whole representation, of which
            a 206 answer brings a part.
    """

    header: str
    algorithm: str
    value: bytes
    of_message: bool


class Sums:
    """Running digests of one stream, by several algorithms."""

    def __init__(self, algorithms: Iterable[str]) -> None:
        self._sums = {name: hashlib.new(_NAMES[name], usedforsecurity=False) for name in set(algorithms)}

    def update(self, data: bytes) -> None:
        """Take in the next bytes."""
        for running in self._sums.values():
            running.update(data)

    def value(self, algorithm: str) -> bytes | None:
        """The digest so far; None for an algorithm that is not run."""
        running = self._sums.get(algorithm)
        return running.digest() if running else None


def claims(headers: Mapping[str, str]) -> tuple[Claim, ...]:
    """
    The digests that an answer states, of the algorithms known here; what cannot be read is passed over.

    Source: RFC 9530, sections 2 and 3; RFC 3230, section 4.3.2; RFC 1864.
    """
    found = []
    for header, of_message in (("Repr-Digest", False), ("Content-Digest", True), ("Digest", False)):
        for name, value in _FIELD.findall(headers.get(header, "")):
            found.append((header, name.lower(), value, of_message))
    if "Content-MD5" in headers:
        found.append(("Content-MD5", "md5", headers["Content-MD5"].strip(), True))
    read = ((header, name, _bytes(name, value), of_message) for header, name, value, of_message in found)
    return tuple(Claim(header, name, value, of_message) for header, name, value, of_message in read if value)


def _bytes(algorithm: str, text: str) -> bytes | None:
    if algorithm not in _NAMES:
        return None
    try:
        value = b64decode(text, validate=True)
    except ValueError:
        return None
    return value if len(value) == hashlib.new(_NAMES[algorithm], usedforsecurity=False).digest_size else None
