"""Digests that servers state."""

from __future__ import annotations

import hashlib
from base64 import b64encode

import pytest

from harvest.fetch.digest import Claim, Sums, claims

SHA256 = hashlib.sha256(b"x").digest()
SHA512 = hashlib.sha512(b"x").digest()
MD5 = hashlib.md5(b"x").digest()


def text(value: bytes) -> str:
    return b64encode(value).decode()


@pytest.mark.parametrize(
    ("header", "value", "expected"),
    [
        ("Repr-Digest", f"sha-256=:{text(SHA256)}:", [("sha-256", SHA256, False)]),
        ("Content-Digest", f"sha-512=:{text(SHA512)}:", [("sha-512", SHA512, True)]),
        (
            "Repr-Digest",
            f"unixsum=:MzA2Mzc=:, sha-256=:{text(SHA256)}:, sha-512=:{text(SHA512)}:",
            [("sha-256", SHA256, False), ("sha-512", SHA512, False)],
        ),
        ("Digest", f"SHA-256={text(SHA256)},MD5={text(MD5)}", [("sha-256", SHA256, False), ("md5", MD5, False)]),
        ("Content-MD5", text(MD5), [("md5", MD5, True)]),
    ],
)
def test_a_stated_digest_is_read(header: str, value: str, expected: list[tuple[str, bytes, bool]]) -> None:
    """Three generations of headers are in use."""
    assert list(claims({header: value})) == [Claim(header, *rest) for rest in expected]


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("Digest", f"sha-256={SHA256.hex()}"),
        ("Content-MD5", MD5.hex()),
        ("Content-MD5", "*"),
        ("Repr-Digest", "sha-256"),
        ("Repr-Digest", "sha-1=:AAAA:"),
        ("Digest", ""),
    ],
)
def test_what_cannot_be_read_is_passed_over(header: str, value: str) -> None:
    """A digest in hexadecimal is a mistake of the header, not of the body."""
    assert claims({header: value}) == ()


def test_sums_run_over_pieces() -> None:
    """A body is never in memory whole."""
    sums = Sums(["sha-256", "md5"])
    sums.update(b"")
    sums.update(b"x")
    assert (sums.value("sha-256"), sums.value("md5"), sums.value("sha-512")) == (SHA256, MD5, None)
