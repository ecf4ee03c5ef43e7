"""Archives of every kind are read to their leaves, and nothing in them is more than data."""

from __future__ import annotations

import gzip
import io
import os
import random
import stat
import struct
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from harvest.model import Document
from harvest.wash.unpacking.members import Leaf, UnpackedArchive
from harvest.wash.unpacking.unpack import unpack
from harvest.wash.unpacking.volume import Volume
from tests.realdata import realdata
from tests.wash.packed import PACK, TEXT, URL, WRITERS, Unpacked, archive, folder, link, lz4, open_in, written, zipped

if TYPE_CHECKING:
    from libarchive.write import ArchiveWrite

ROOT = Path(__file__).resolve().parents[3]
FILES = {"a.nt": TEXT, "b.ttl": b"<a> <b> <c> .\n", "empty.nt": b"", "c.nt": TEXT[:5000]}
KIND = {"ustar": "tar", "pax": "tar", "gnutar": "tar", "v7tar": "tar", "newc": "cpio", "odc": "cpio", "ar_bsd": "ar"}
every = pytest.mark.parametrize("kind", WRITERS)


def bare(unpacked: Unpacked) -> dict[str, bytes]:
    """The files of one archive, by the last part of their names."""
    return {names[-1].rsplit("/", 1)[-1].rstrip(";1"): data for names, data in unpacked.leaves.items()}


@every
def test_every_kind_gives_its_files_in_full(tmp_path: Path, kind: str) -> None:
    """Portals publish whatever their archiver makes by default."""
    unpacked = Unpacked(tmp_path, archive(kind, FILES))
    assert unpacked.leaves == {(name,): data for name, data in FILES.items()}
    assert unpacked.items[-1] == UnpackedArchive(
        (), KIND.get(kind, kind), len(unpacked.items) - 1 + (kind == "iso9660")
    )
    assert not unpacked.problems


@every
@pytest.mark.parametrize("pack", PACK.values(), ids=PACK)
def test_every_kind_is_read_under_every_compression(tmp_path: Path, kind: str, pack: Callable[[bytes], bytes]) -> None:
    """A `.tar.gz` is the plainest of them; some servers compress zip archives once more."""
    unpacked = Unpacked(tmp_path, pack(archive(kind, FILES)))
    assert unpacked.leaves == {(name,): data for name, data in FILES.items()}
    assert not unpacked.problems


@every
def test_every_kind_is_read_within_another_archive(tmp_path: Path, kind: str) -> None:
    """An inner archive is given after its own files, before what follows it outside."""
    inner = archive(kind, FILES)
    unpacked = Unpacked(tmp_path, archive("ustar", {"inner": inner, "after.nt": b"x"}))
    names = [item.names for item in unpacked.items]
    assert {names[1:]: data for names, data in unpacked.leaves.items() if len(names) == 2} == {
        (name,): data for name, data in FILES.items()
    }
    assert names[-3:] == [("inner",), ("after.nt",), ()]
    assert not unpacked.problems


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_every_method_of_zip_is_undone(tmp_path: Path, method: int) -> None:
    """Deflate is not the only one in use."""
    assert Unpacked(tmp_path, zipped(FILES.items(), method)).leaves == {(n,): data for n, data in FILES.items()}


def test_a_zip_written_to_a_pipe_is_read(tmp_path: Path) -> None:
    """Servers that make archives on the fly put sizes after the data, not before it."""

    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

        def seek(self, *_: int) -> int:
            raise io.UnsupportedOperation

        def tell(self) -> int:
            raise io.UnsupportedOperation

    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in FILES.items():
            packed.writestr(name, data)
    assert Unpacked(tmp_path, pipe.getvalue()).leaves == {(name,): data for name, data in FILES.items()}


def test_a_zip64_is_read(tmp_path: Path) -> None:
    """Writers that do not know the size beforehand use the large form for small files too."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as packed, packed.open("a.nt", "w", force_zip64=True) as entry:
        entry.write(TEXT)
    assert Unpacked(tmp_path, out.getvalue()).leaves == {("a.nt",): TEXT}


def test_an_empty_zip_is_an_archive_of_nothing(tmp_path: Path) -> None:
    """It begins with its end record."""
    assert Unpacked(tmp_path, zipped([])).items == [UnpackedArchive((), "zip", 0)]


def test_a_mixture_is_read_to_its_leaves(tmp_path: Path) -> None:
    """Issue text: to any depth, and mixtures."""
    innermost = zipped([("x/a.nt.gz", gzip.compress(TEXT)), ("b.ttl", b"<a> <b> <c> .")])
    middle = gzip.compress(archive("pax", {"z.zip": innermost, "c.nt": b"c"}))
    unpacked = Unpacked(tmp_path, lz4(archive("7z", {"m.tar.gz": middle})))
    assert unpacked.leaves == {
        ("m.tar.gz", "z.zip", "x/a.nt.gz"): TEXT,
        ("m.tar.gz", "z.zip", "b.ttl"): b"<a> <b> <c> .",
        ("m.tar.gz", "c.nt"): b"c",
    }
    assert [(item.names, item.kind) for item in unpacked.archives.values()] == [
        (("m.tar.gz", "z.zip"), "zip"),
        (("m.tar.gz",), "tar"),
        ((), "7z"),
    ]
    assert not unpacked.problems


def test_an_entry_may_be_opened_again_until_the_next(tmp_path: Path) -> None:
    """The format is recognised, the entry parsed, the place of a fault sought; a large entry lies on disk."""
    large = random.Random(0).randbytes(3 << 20)
    data = zipped([("small", TEXT), ("large", large), ("packed", gzip.compress(TEXT))])
    expected = {"small": TEXT, "large": large, "packed": TEXT}
    (tmp_path / "dump").write_bytes(data)
    leaves = 0
    for item in unpack(Document(tmp_path / "dump", URL), Volume(), tmp_path):
        if isinstance(item, Leaf):
            with item.open() as first, item.open() as second:
                assert first.read(1000) == second.read(1000) == expected[item.names[0]][:1000]
                assert second.read() == expected[item.names[0]][1000:]
                assert first.read() == expected[item.names[0]][1000:]
            leaves += 1
    assert leaves == 3


def test_names_are_only_text(tmp_path: Path) -> None:
    """A name that leads out of a folder, or to a file of ours, leads nowhere: nothing is written under it."""
    names = ["../../etc/passwd", "/etc/passwd", "a/../../b", "CON", "-rf", str(tmp_path / "gone")]
    unpacked = Unpacked(tmp_path, zipped([(name, b"<a> <b> <c> .") for name in names]))
    assert sorted(name for (name,) in unpacked.leaves) == sorted(names)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["body", "scratch"]


@pytest.mark.parametrize("kind", ["ustar", "zip", "newc"])
def test_names_that_are_no_text_are_shown_with_escapes(tmp_path: Path, kind: str) -> None:
    """Archives of old have names in the code page of their maker."""
    data = archive(kind, {"grXn.nt": b"x"}).replace(b"grXn", b"gr\xfcn")
    if kind == "ustar":
        data = _with_sum(data)
    unpacked = Unpacked(tmp_path, data)
    assert unpacked.leaves == {(r"gr\xfcn.nt",): b"x"}
    assert not unpacked.problems


def _with_sum(tar: bytes) -> bytes:
    header = bytearray(tar[:512])
    header[148:156] = b"        "
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header) + tar[512:]


@pytest.mark.parametrize("kind", ["pax", "zip", "7z"])
def test_names_in_unicode_are_kept(tmp_path: Path, kind: str) -> None:
    """Names are part of what an entry is called in the metadata."""
    assert list(Unpacked(tmp_path, archive(kind, {"Größe/日本.nt": b"x"})).leaves) == [("Größe/日本.nt",)]


@pytest.mark.parametrize("kind", ["pax", "zip", "7z"])
def test_names_do_not_depend_on_the_locale(tmp_path: Path, kind: str) -> None:
    """A container without a locale would otherwise lose them, or give them other names."""
    (tmp_path / "dump").write_bytes(archive(kind, {"Größe/日本.nt": b"x", "gr\u00fcn": b""}))
    program = """
import sys
from pathlib import Path
from harvest.model import Document
from harvest.wash.unpacking.unpack import unpack
from harvest.wash.unpacking.volume import Volume
print(ascii([item.names for item in unpack(Document(Path(sys.argv[1]), "u"), Volume(), Path("."))]))
"""
    outputs = [
        subprocess.run(
            [sys.executable, "-c", program, str(tmp_path / "dump")],
            env=dict(os.environ, LC_ALL=name, PYTHONPATH=str(ROOT)),
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for name in ("C", "C.UTF-8")
    ]
    assert outputs[0] == outputs[1]
    assert ascii("Größe/日本.nt") in outputs[0]


def test_control_characters_in_names_are_shown_with_escapes(tmp_path: Path) -> None:
    """A name with a line end in it would forge lines of a log."""
    assert list(Unpacked(tmp_path, archive("pax", {"a\nb\x1b[31m.nt": b"x"})).leaves) == [(r"a\nb\x1b[31m.nt",)]


def test_entries_of_the_same_name_are_all_given(tmp_path: Path) -> None:
    """tar appends a newer file under the same name; which one counts is not ours to say."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for data in (b"one", b"two"):
            info = tarfile.TarInfo("same.nt")
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    assert [item.names for item in Unpacked(tmp_path, out.getvalue()).items] == [("same.nt",), ("same.nt",), ()]


def test_links_are_left_out_and_counted_and_folders_are_not_reported(tmp_path: Path) -> None:
    """A link leads to a file of the archive, which is read anyway, or out of it, where it must not lead."""

    def fill(writer: ArchiveWrite) -> None:
        folder(writer, "d")
        link(writer, "d/link", "/etc/passwd")
        link(writer, "d/other", "a.nt")
        writer.add_file_from_memory("d/a.nt", 1, b"x")

    for kind in ("ustar", "zip", "newc", "7z", "xar"):
        unpacked = Unpacked(tmp_path, written(kind, fill))
        assert unpacked.leaves == {("d/a.nt",): b"x"}, kind
        assert unpacked.problems == [
            ("links", f"{URL}: 2 links or devices were left out; they have no bytes of their own")
        ]
        assert unpacked.archives[()].entries == 4


def test_hard_links_and_devices_are_links(tmp_path: Path) -> None:
    """A hard link repeats a file that is given already; a device has nothing to read."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        first = tarfile.TarInfo("a.nt")
        first.size = len(TEXT)
        tar.addfile(first, io.BytesIO(TEXT))
        for name, sort in (("b.nt", tarfile.LNKTYPE), ("null", tarfile.CHRTYPE), ("pipe", tarfile.FIFOTYPE)):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = sort, "a.nt"
            tar.addfile(info)
    unpacked = Unpacked(tmp_path, out.getvalue())
    assert unpacked.leaves == {("a.nt",): TEXT}
    assert unpacked.problems[0][1].startswith(f"{URL}: 3 links or devices")


def test_the_holes_of_a_sparse_file_are_zeros(tmp_path: Path) -> None:
    """GNU tar packs them so; dropping them would move what follows."""
    header = tarfile.TarInfo("sparse")
    header.size = 512
    block = bytearray(header.tobuf(tarfile.GNU_FORMAT))
    block[156:157] = b"S"
    block[386:398] = b"%011o\0" % 4096
    block[398:410] = b"%011o\0" % 512
    block[483:495] = b"%011o\0" % 8192
    data = _with_sum(bytes(block)) + b"d" * 512 + bytes(1024)
    unpacked = Unpacked(tmp_path, data)
    assert unpacked.leaves == {("sparse",): bytes(4096) + b"d" * 512 + bytes(8192 - 4608)}


def _lha(name: bytes, data: bytes) -> bytes:
    """A stored entry with a header of level 0, and the end of the archive. Source: "LHA Header Format"."""
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xA001 if crc & 1 else 0)
    size = len(data).to_bytes(4, "little")
    rest = b"-lh0-" + size + size + bytes(4) + b"\x20\x00" + bytes([len(name)]) + name + crc.to_bytes(2, "little")
    return bytes([len(rest), sum(rest) & 0xFF]) + rest + data + b"\x00"


def _cab(name: bytes, data: bytes) -> bytes:
    """A cabinet of one stored file. Source: [MS-CAB], section 2."""
    file = struct.pack("<IIHHHH", len(data), 0, 0, 0x21, 0, 0x20) + name + b"\x00"
    block = 36 + 8 + len(file)
    total = block + 8 + len(data)
    header = struct.pack("<4sIIIIIBBHHHHH", b"MSCF", 0, total, 0, 44, 0, 3, 1, 1, 1, 0, 0, 0)
    return header + struct.pack("<IHH", block, 1, 0) + file + struct.pack("<IHH", 0, len(data), len(data)) + data


@pytest.mark.parametrize(("kind", "make"), [("lha", _lha), ("cab", _cab)])
def test_kinds_of_old_are_read(tmp_path: Path, kind: str, make: Callable[[bytes, bytes], bytes]) -> None:
    """libarchive does, and there are dumps from before 2000."""
    unpacked = Unpacked(tmp_path, make(b"a.nt", TEXT[:5000]))
    assert unpacked.leaves == {("a.nt",): TEXT[:5000]}
    assert unpacked.items[-1] == UnpackedArchive((), kind, 1)


def test_an_encrypted_entry_is_named_and_the_others_are_given(tmp_path: Path) -> None:
    """Nobody can wash it; its provider can publish it without a password."""
    secret = archive("zip", {"secret.nt": TEXT}, "encryption=aes256", passphrase="x")
    outer = zipped([("a.nt", TEXT), ("locked.zip", secret), ("b.nt", TEXT)])
    unpacked = Unpacked(tmp_path, outer)
    assert unpacked.leaves == {("a.nt",): TEXT, ("b.nt",): TEXT}
    assert unpacked.problems == [
        (
            "archive",
            f"{URL}, entry locked.zip, entry secret.nt is encrypted and was left out; publish it without a password",
        )
    ]


def test_many_encrypted_entries_are_not_reported_one_by_one(tmp_path: Path) -> None:
    """A page of findings is read; a hundred thousand are not."""
    files = {f"{n}.nt": b"x" for n in range(150)}
    archive_ = Unpacked(tmp_path, archive("zip", files, "encryption=zipcrypt", passphrase="x")).archives[()]
    assert len(archive_.problems) == 101
    assert archive_.problems[-1].message == f"{URL}: 50 further problems are not reported"
    assert archive_.entries == 150


def test_real_archives_are_read_as_the_standard_library_reads_them(tmp_path: Path) -> None:
    """DCAT-AP publishes its shapes as zip; Preston files its histories so."""
    paths = [*(realdata() / "messy").glob("*.zip"), *(realdata() / "preston").rglob("*.zip")]
    assert len(paths) >= 3
    for path in paths:
        with zipfile.ZipFile(path) as packed:
            infos = packed.infolist()
            expected = {(i.filename,): packed.read(i) for i in infos if not i.is_dir()}
        unpacked = Unpacked(tmp_path, path)
        assert {names: data for names, data in unpacked.leaves.items() if len(names) == 1} == expected
        assert not unpacked.problems
        assert unpacked.archives[()].entries == len(infos)


def test_a_zip_entry_that_is_a_link_is_no_leaf(tmp_path: Path) -> None:
    """Info-ZIP files links as entries that hold their target."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as packed:
        info = zipfile.ZipInfo("link")
        info.create_system, info.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
        packed.writestr(info, "/etc/passwd")
    assert not Unpacked(tmp_path, out.getvalue()).leaves


def test_nothing_stays_open(tmp_path: Path) -> None:
    """A caller that stops early, at a limit of its own, must not leave files behind."""
    (tmp_path / "dump").write_bytes(zipped([("large", random.Random(0).randbytes(3 << 20)), ("b", b"")]))
    items = unpack(Document(tmp_path / "dump", URL), Volume(), tmp_path)
    next(items)
    assert open_in(tmp_path) > 0
    items.close()  # type: ignore[attr-defined]  # it is a generator
    assert open_in(tmp_path) == 0
