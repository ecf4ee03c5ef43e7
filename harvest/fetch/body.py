"""A body on its way to a temporary file: decoded, hashed and measured as it comes."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO, Final

from harvest.errors import BodyTooLargeError, FetchError, StorageError, TransferError
from harvest.fetch.coding import CodingError, Decoder, decode, decoders

_BUFFER: Final = 1 << 18
_SHA_256: Final = re.compile(r"(?:^|[,\s])sha-256=:([A-Za-z0-9+/]{43}=):")


@dataclass(frozen=True, slots=True)
class Arrived:
    """
    A whole body.

    Attributes:
        path: The file that holds it, decoded.
        digest: Its SHA-256, 64 lower-case hex digits.
        length: Its size in bytes.
    """

    path: Path
    digest: str
    length: int


class Body:
    """
    Collects one body, over several answers if need be.

    The decoders keep their state between answers, so a resumed transfer goes on with the encoded bytes where it broke
    off, and only decoded bytes are ever written.

    Attributes:
        received: Bytes so far, as sent.
    """

    def __init__(self, into: Path, limit_bytes: int, url: str) -> None:
        self._into = into
        self._limit = limit_bytes
        self._url = url
        self._file: BinaryIO | None = None
        self._path = into
        self.reset()

    def reset(self) -> None:
        """Forget what came, and start anew with the next answer."""
        self.received = 0
        self._length = 0
        self._decoders: list[Decoder] = []
        self._stated: dict[str, str] = {}
        self._encoded = self._decoded = sha256()

    def begin(self, headers: Mapping[str, str], announced: int | None) -> None:
        """
        Take in an answer that brings the body from its first byte.

        Raises:
            BodyTooLargeError: `announced`, its length in bytes where known, is over the limit.
            FetchError: It has a content-encoding that nobody asked for.
            StorageError: No file can be made.
        """
        self.reset()
        self._check_limit(announced or 0, "announced")
        try:
            self._decoders = decoders(headers.get("Content-Encoding"))
        except CodingError as error:
            raise FetchError(f"{self._url}: the body cannot be read: {error}; tell its owner", url=self._url) from error
        self._stated = stated_digests(headers)
        if self._stated and self._decoders:
            self._encoded = sha256()
        self._empty_file()

    def resume(self, announced: int | None) -> None:
        """
        Take in an answer that goes on where the last one broke off.

        Raises:
            BodyTooLargeError: What came and what is announced are over the limit.
        """
        self._check_limit(self.received + (announced or 0), "announced")

    def feed(self, data: bytes) -> None:
        """
        Take in the next bytes.

        Raises:
            BodyTooLargeError: The body is over the limit, as sent or decoded.
            TransferError: The bytes do not belong to the content-encoding.
            StorageError: They cannot be written.
        """
        self.received += len(data)
        self._check_limit(self.received, "received")
        if self._encoded is not self._decoded:
            self._encoded.update(data)
        try:
            for piece in decode(self._decoders, data):
                self._write(piece)
        except CodingError as error:
            raise self._broken(str(error)) from error

    def finish(self, framed: bool) -> Arrived:
        """
        The body, whole; its file is the caller's now.

        Args:
            framed: Whether the answer said where its body ends. Without that, an empty body with a content-encoding
                is a truncated one.

        Raises:
            TransferError: The content-encoding is not complete, or a stated digest is of other bytes.
            StorageError: The file cannot be closed.
        """
        self._check_decoders(framed)
        self._check_stated()
        assert self._file is not None
        try:
            self._file.close()
        except OSError as error:
            raise self._unwritten(error) from error
        arrived = Arrived(self._path, self._decoded.hexdigest(), self._length)
        self._file = None
        return arrived

    def discard(self) -> None:
        """Remove the file, if there is one."""
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
            self._path.unlink(missing_ok=True)
            self._file = None

    def _write(self, piece: bytes) -> None:
        self._length += len(piece)
        self._check_limit(self._length, "decoded")
        self._decoded.update(piece)
        assert self._file is not None
        try:
            self._file.write(piece)
        except OSError as error:
            raise self._unwritten(error) from error

    def _empty_file(self) -> None:
        try:
            if self._file is None:
                # Not tempfile: the file is renamed to its place later, and should have the usual permissions there.
                self._path = self._into / f"fetch-{token_hex(8)}.part"
                self._file = self._path.open("xb", buffering=_BUFFER)
            else:
                self._file.seek(0)
                self._file.truncate()
        except OSError as error:
            raise self._unwritten(error) from error

    def _check_limit(self, size: int, how: str) -> None:
        if size > self._limit:
            raise BodyTooLargeError(
                f"{self._url}: the body has {size:,} bytes {how}, more than max_bytes of {self._limit:,};"
                " raise the limit if it is meant to be so large",
                url=self._url,
            )

    def _check_decoders(self, framed: bool) -> None:
        if self.received == 0 and framed:
            return
        try:
            for decoder in self._decoders:
                decoder.finish()
        except CodingError as error:
            raise self._broken(str(error)) from error

    def _check_stated(self) -> None:
        """Some servers state the digest of the file and then compress it in passing, so either form may match."""
        found = (self._encoded.hexdigest(), self._decoded.hexdigest())
        for header, digest in self._stated.items():
            if digest not in found:
                raise self._broken(f"its {header} header states sha-256 {digest}, but {found[0]} came")

    def _broken(self, reason: str) -> TransferError:
        """A body whose bytes are wrong: nothing of it can be kept for resuming."""
        received = self.received
        self.reset()
        message = f"{self._url}: the body is not whole: {reason}, after {received:,} bytes; it is tried again later"
        return TransferError(message, url=self._url)

    def _unwritten(self, error: OSError) -> StorageError:
        message = f"{self._into}: {self._url} cannot be written there ({error.strerror or error}); see to the disk"
        return StorageError(message, url=self._url)


def stated_digests(headers: Mapping[str, str]) -> dict[str, str]:
    """
    The SHA-256 that an answer states of its body, in hexadecimal, by header; one that cannot be read is passed over.

    Source: RFC 9530, sections 2 and 3. Both headers mean the same bytes, unless the answer is a 206.
    """
    found = {header: _SHA_256.search(headers.get(header, "")) for header in ("Repr-Digest", "Content-Digest")}
    return {header: b64decode(match[1]).hex() for header, match in found.items() if match}
