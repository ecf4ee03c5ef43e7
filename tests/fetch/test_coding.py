"""Content-encodings are undone exactly, in small memory, or not at all."""

from __future__ import annotations

import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harvest.fetch.coding import PIECE, CodingError, decode, decoders


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


def unpack(header: str, data: bytes, step: int) -> bytes:
    steps = decoders(header)
    out = b"".join(piece for i in range(0, len(data), step) for piece in decode(steps, data[i : i + step]))
    for decoder in steps:
        decoder.finish()
    return out


CODINGS = {
    "gzip": gzip.compress,
    "X-GZIP": gzip.compress,
    "deflate": zlib.compress,
    "Deflate": raw_deflate,
    "identity": bytes,
    "none, gzip": gzip.compress,
    "gzip, deflate": lambda data: zlib.compress(gzip.compress(data)),
    "": bytes,
}


@given(st.sampled_from(sorted(CODINGS)), st.binary(), st.integers(1, 50))
def test_a_coding_is_undone_however_it_is_cut(header: str, data: bytes, step: int) -> None:
    """TCP cuts where it likes."""
    assert unpack(header, CODINGS[header](data), step) == data


@given(st.lists(st.binary(max_size=50), min_size=1, max_size=4), st.integers(1, 9), st.integers(0, 9))
def test_gzip_members_follow_one_another(parts: list[bytes], step: int, zeros: int) -> None:
    """Files made by appending have many, and some writers pad the end with zeros."""
    packed = b"".join(map(gzip.compress, parts)) + bytes(zeros)
    assert unpack("gzip", packed, step) == b"".join(parts)


@given(st.sampled_from([gzip.compress, zlib.compress]), st.binary(), st.data())
def test_a_truncated_coding_is_an_error(pack: object, data: bytes, drawn: st.DataObject) -> None:
    """A cut body must never pass as a whole one."""
    packed = pack(data)  # type: ignore[operator]  # one of two functions
    cut = drawn.draw(st.integers(1, len(packed) - 1))
    with pytest.raises(CodingError):
        unpack("gzip" if pack is gzip.compress else "deflate", packed[:cut], 7)


NOT_GZIP = {
    "text": b"plain text",
    "garbage behind": gzip.compress(b"x") + b"garbage",
    "half a member behind": gzip.compress(b"x") + b"\x1f",
    "wrong checksum": gzip.compress(b"x" * 100)[:-8] + bytes(8),
    "zlib": zlib.compress(b"x"),
}


@pytest.mark.parametrize("data", NOT_GZIP.values(), ids=NOT_GZIP)
def test_what_is_not_gzip_is_an_error(data: bytes) -> None:
    """Headers lie, and bits flip: the checksum of gzip is looked at."""
    with pytest.raises(CodingError, match="gzip encoding"):
        unpack("gzip", data, 1000)


def test_something_after_a_deflate_stream_is_an_error() -> None:
    """It has no members."""
    with pytest.raises(CodingError, match="something follows"):
        unpack("deflate", zlib.compress(b"x") * 2, 1000)


@pytest.mark.parametrize("header", ["br", "zstd", "gzip, br", "gzip,gzip,gzip,gzip"])
def test_a_coding_that_nobody_asked_for_is_an_error(header: str) -> None:
    """Filed undecoded, it would look like data."""
    with pytest.raises(CodingError, match="only gzip and deflate"):
        decoders(header)


@pytest.mark.parametrize("header", ["utf-8", "UTF-8", "binary", "none"])
def test_a_charset_in_the_wrong_header_means_nothing(header: str) -> None:
    """Seen in the wild; the body is as it should be."""
    assert unpack(header, b"data", 2) == b"data"


def test_a_bomb_comes_out_in_pieces() -> None:
    """1 GiB must be noticed after 1 MiB."""
    packed = gzip.compress(gzip.compress(bytes(1 << 26)))
    first = next(decode(decoders("gzip, gzip"), packed))
    assert len(first) == PIECE
