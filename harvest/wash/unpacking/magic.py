"""
What a file is packed with, by its first bytes alone.

Names and media types are wrong too often. A text must never pass for an archive, so each kind is recognised by bytes
that no text has, or, where its marks are letters and figures, by the whole header being as the format wants it.
"""

from __future__ import annotations

import re
from typing import Final

HEAD: Final = 32775
"""Bytes from the start that show every kind; an ISO 9660 image has its mark at their end."""

_COMPRESSIONS: Final = (
    (b"\x1f\x8b\x08", "gzip"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\x04\x22\x4d\x18", "lz4"),
    (b"\x02\x21\x4c\x18", "lz4"),
)
_BZIP2 = re.compile(rb"BZh[1-9](.{0,6})", re.DOTALL)
_BLOCKS: Final = (b"1AY&SY", b"\x17\x72\x45\x38\x50\x90")
"""What follows the head of a bzip2 stream: a block, or the end of an empty one."""
_SKIPPED: Final = re.compile(rb"[\x50-\x5f]\x2a\x4d\x18")
"""A frame of Zstandard to be passed over, which pzstd writes first. Source: RFC 8878, section 3.1.2."""

_ARCHIVES: Final = (
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),
    (b"PK\x07\x08PK\x03\x04", "zip"),
    (b"PK00PK\x03\x04", "zip"),
    (b"7z\xbc\xaf\x27\x1c", "7z"),
    (b"Rar!\x1a\x07", "rar"),
    (b"MSCF\x00\x00\x00\x00", "cab"),
    (b"xar!\x00\x1c", "xar"),
)
_NEWC = re.compile(rb"07070[12][0-9A-Fa-f]{104}")
_ODC = re.compile(rb"070707[0-7]{70}")
_LHA = re.compile(rb"..-l[hz][0-9a-z]-.{13}[\x00-\x03]", re.DOTALL)
_ISO = re.compile(rb"[\x00-\x03\xff]CD001\x01")
_TAR = 512
_OCTAL = re.compile(rb" *([0-7]{1,7})[ \x00]*")


def compression_of(head: bytes) -> str | None:
    """The compression of what begins with `head`, at least ten bytes of it if it has them, or None."""
    for magic, name in _COMPRESSIONS:
        if head.startswith(magic):
            return name
    if head == b"\x1f\x8b":
        return "gzip"
    if _SKIPPED.match(head):
        return "zstd"
    if found := _BZIP2.match(head):
        return "bzip2" if any(block.startswith(found[1]) for block in _BLOCKS) else None
    return None


def goes_on(kind: str, rest: bytes) -> bool:
    """Whether what follows a compressed member is another one, or the beginning of one that was cut off."""
    if compression_of(rest) == kind:
        return True
    marks = [magic for magic, name in _COMPRESSIONS if name == kind] or [b"BZh"]
    return any(mark.startswith(rest) for mark in marks)


def archive_of(head: bytes) -> str | None:
    """The kind of archive that begins with `head`, at least `HEAD` bytes of it if it has them, or None."""
    for magic, name in _ARCHIVES:
        if head.startswith(magic):
            return name
    if head.startswith(b"!<arch>\n") and (head[66:68] == b"`\n" or len(head) == 8):
        return "ar"
    if _NEWC.match(head) or _ODC.match(head) or _is_binary_cpio(head):
        return "cpio"
    if _LHA.match(head):
        return "lha"
    # A header block of tar has zeros at its end and elsewhere. This look spares texts the sum.
    if len(head) >= _TAR and head[0] and 0 in head[:_TAR] and _is_tar(head[:_TAR]):
        return "tar"
    if _ISO.match(head, 32768):
        return "iso9660"
    return None


def _is_tar(block: bytes) -> bool:
    """
    Whether a block is the header of a tar entry: marked as one, or with the right sum where it is older than the mark.

    Source: POSIX.1-2024, pax, "ustar Interchange Format".
    """
    if block[257:265] in (b"ustar\x0000", b"ustar  \x00") or block[257:263] == b"ustar\x00":
        return True
    checksum = _OCTAL.fullmatch(block[148:156])
    return checksum is not None and int(checksum[1], 8) == sum(block[:148]) + sum(block[156:]) + 8 * ord(" ")


def _is_binary_cpio(head: bytes) -> bool:
    """Whether this is a cpio header of 13 two-byte numbers, the eleventh being the length of the name with its zero."""
    order = {b"\xc7\x71": "little", b"\x71\xc7": "big"}.get(head[:2])
    if order is None or len(head) < 28:
        return False
    length = int.from_bytes(head[20:22], "little" if order == "little" else "big")
    end = 26 + length
    return 1 < length <= 4096 and end <= len(head) and head.find(b"\x00", 26, end) == end - 1
