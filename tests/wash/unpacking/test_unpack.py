"""Compressed documents are undone by what they are, and damaged ones never pass for whole."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from harvest.errors import WashError
from harvest.wash.unpacking.unpack import LAYERS, opened
from tests.realdata import realdata
from tests.wash.packed import Unpacked

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

URL = "http://example.org/dump.nt.gz"
TEXT = b"".join(b"<http://example.org/%d> <http://example.org/p> <http://example.org/o> .\n" % n for n in range(3000))

PACK: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": lambda data: zstd.compress(data, options={zstd.CompressionParameter.checksum_flag: 1}),
}
every = pytest.mark.parametrize("pack", PACK.values(), ids=PACK)


def unpacked(folder: Path, data: bytes) -> bytes:
    path = folder / "body"
    path.write_bytes(data)
    with opened(path, URL) as stream:
        return stream.read()


@pytest.mark.parametrize("data", [TEXT, b"", b"<", b"BZ", b"\x1f"], ids=["text", "empty", "one byte", "BZ", "1f"])
def test_a_plain_file_is_given_as_it_is(tmp_path: Path, data: bytes) -> None:
    """Most dumps are not compressed, and short ones must not be lost to looking at their first bytes."""
    assert unpacked(tmp_path, data) == data


@every
def test_a_compressed_file_is_given_unpacked(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    """The name says nothing: the URL here ends in .gz whatever the compression is."""
    assert unpacked(tmp_path, pack(TEXT)) == TEXT


@every
def test_members_one_after_another_are_one_document(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    """Our own all.nq.gz is made so, and pigz, pbzip2 and zstd write such files too; an empty member ends nothing."""
    assert unpacked(tmp_path, pack(b"") + pack(TEXT) + pack(b"") + pack(b"more\n")) == TEXT + b"more\n"


@every
def test_a_file_that_was_cut_off_is_an_error(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    """Half a dump taken for a whole one would remove the other half from the graph."""
    packed = pack(TEXT)
    for end in (7, len(packed) // 2, len(packed) - 9, len(packed) - 1):
        with pytest.raises(WashError, match="damaged or cut off") as caught:
            unpacked(tmp_path, packed[:end])
        assert caught.value.url == URL


@every
@pytest.mark.parametrize("end", [1, 2, 3, 20, -9])
def test_a_second_member_that_was_cut_off_is_an_error(tmp_path: Path, pack: Callable[[bytes], bytes], end: int) -> None:
    """The whole first member is no excuse, however little there is of the second."""
    with pytest.raises(WashError, match="damaged or cut off"):
        unpacked(tmp_path, pack(TEXT) + pack(TEXT)[:end])


@every
def test_a_flipped_bit_is_an_error(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    """All four formats carry a checksum, if their writer asks for it."""
    packed = bytearray(pack(TEXT))
    packed[len(packed) // 2] ^= 0x10
    with pytest.raises(WashError, match="damaged or cut off"):
        unpacked(tmp_path, bytes(packed))


@pytest.mark.parametrize("rest", [b"\0" * 512, b""], ids=["zeros", "nothing"])
def test_zeros_after_gzip_are_padding(tmp_path: Path, rest: bytes) -> None:
    """Tapes and block devices pad with zeros, and gzip itself takes them as the end."""
    assert unpacked(tmp_path, gzip.compress(TEXT) + rest) == TEXT


def test_a_gzip_of_blocks_with_extra_fields_is_read(tmp_path: Path) -> None:
    """bgzip writes many small members, each with its length in an extra field, and an empty one at the end."""
    members = b""
    for start in range(0, len(TEXT), 60_000):
        plain = gzip.compress(TEXT[start : start + 60_000])
        members += plain[:3] + b"\x04" + plain[4:10] + b"\x06\x00BC\x02\x00\x00\x00" + plain[10:]
    assert unpacked(tmp_path, members + gzip.compress(b"")) == TEXT


def test_a_skippable_frame_before_zstd_is_passed_over(tmp_path: Path) -> None:
    """pzstd writes one first."""
    assert unpacked(tmp_path, b"\x50\x2a\x4d\x18\x04\x00\x00\x00abcd" + PACK["zstd"](TEXT)) == TEXT


def test_rubbish_after_gzip_is_an_error(tmp_path: Path) -> None:
    """It may be a member whose header was damaged."""
    with pytest.raises(WashError, match="damaged or cut off"):
        unpacked(tmp_path, gzip.compress(TEXT) + b"rubbish, not a member")


@pytest.mark.parametrize("pack", [bz2.compress, lzma.compress], ids=["bzip2", "xz"])
def test_rubbish_after_bzip2_and_xz_is_left_out(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    """The standard library reads them so; what stands before the rubbish is whole and checked."""
    assert unpacked(tmp_path, pack(TEXT) + b"rubbish, not a member") == TEXT


@pytest.mark.parametrize("outer", PACK)
@pytest.mark.parametrize("inner", PACK)
def test_a_layer_within_a_layer_is_undone(tmp_path: Path, outer: str, inner: str) -> None:
    """Some servers compress what is compressed already."""
    assert unpacked(tmp_path, PACK[outer](PACK[inner](TEXT))) == TEXT


@every
def test_so_many_layers_are_undone_and_no_more(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    """A file that unpacks to itself would never end."""
    data = TEXT
    for _ in range(LAYERS):
        data = pack(data)
    assert unpacked(tmp_path, data) == TEXT
    with pytest.raises(WashError, match=f"compressed more than {LAYERS} times") as caught:
        unpacked(tmp_path, pack(data))
    assert caught.value.url == URL


def _tar() -> bytes:
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        entry = tarfile.TarInfo("dump.nt")
        entry.size = len(TEXT)
        tar.addfile(entry, io.BytesIO(TEXT))
    return archive.getvalue()


def _zip() -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("dump.nt", TEXT)
    return archive.getvalue()


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("zip", _zip()),
        ("tar", _tar()),
        ("tar", gzip.compress(_tar())),
        ("7z", b"7z\xbc\xaf\x27\x1c\x00\x04"),
        ("rar", b"Rar!\x1a\x07\x01\x00"),
    ],
    ids=["zip", "tar", "tar.gz", "7z", "rar"],
)
def test_an_archive_is_refused_by_name(tmp_path: Path, kind: str, data: bytes) -> None:
    """The parser would only say that PK is no valid subject, and nobody would know what to do."""
    with pytest.raises(WashError, match=f"is a {kind} archive; list the RDF files one by one") as caught:
        unpacked(tmp_path, data)
    assert caught.value.url == URL


def test_a_real_zip_is_refused() -> None:
    """DCAT-AP publishes its shapes as one."""
    path = realdata() / "messy/SEMICeu__DCAT-AP__releases_1.1_shacl-201608.zip"
    with pytest.raises(WashError, match="is a zip archive"), opened(path, URL):
        pass


@pytest.mark.parametrize("data", [b"", b"<a> <b> <c> .", TEXT, gzip.compress(bz2.compress(TEXT), mtime=0)])
def test_a_file_that_is_no_archive_is_one_leaf(tmp_path: Path, data: bytes) -> None:
    """Most dumps are; nothing of them is copied."""
    found = Unpacked(tmp_path, data)
    (leaf,) = found.items
    assert leaf.names == leaf.problems == ()
    assert found.leaves == {(): TEXT if data[:2] == b"\x1f\x8b" else data}


@pytest.mark.long
def test_a_real_dump_is_given_whole() -> None:
    """A bzip2 file of the Deutsche Nationalbibliothek, as published, against the standard library."""
    path = realdata() / "large/dbpedia-links/dnb-extended-links.nt.bz2"
    with opened(path, URL) as stream:
        assert stream.read() == bz2.decompress(path.read_bytes())


def test_a_file_that_is_not_there_is_not_called_damaged(tmp_path: Path) -> None:
    """That is our trouble, not the provider's."""
    with pytest.raises(FileNotFoundError), opened(tmp_path / "gone", URL):
        pass
