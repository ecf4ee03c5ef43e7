"""Damaged archives and compressions give what could be read, say where they end, and never pass for whole."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from harvest.model import Document
from harvest.wash.unpacking.members import Leaf
from harvest.wash.unpacking.unpack import unpack
from harvest.wash.unpacking.volume import Volume
from tests.wash.packed import PACK, TEXT, URL, WRITERS, Unpacked, archive, zipped

RANDOM = random.Random(7)
LONG = b"".join(
    b'<http://example.org/%d> <http://example.org/p> "%x" .\n' % (n, RANDOM.getrandbits(90)) for n in range(30000)
)
FILES = {"a.nt": LONG[:300_000], "b.nt": LONG, "c.nt": LONG[:1000]}
every = pytest.mark.parametrize("pack", PACK.values(), ids=PACK)


@every
def test_a_compressed_file_gives_its_beginning(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    """A download that broke off; most of what arrived is read before the error."""
    packed = pack(LONG)
    unpacked = Unpacked(tmp_path, packed[: len(packed) * 2 // 3])
    data = unpacked.leaves[()]
    assert LONG.startswith(data)
    assert len(data) > len(LONG) // 3
    assert "damaged or cut off" in unpacked.errors[()].message
    assert unpacked.errors[()].url == URL


def test_all_that_gzip_can_give_is_given(tmp_path: Path) -> None:
    """Without buffers of 64 KiB that are thrown away: small documents would give nothing at all."""
    assert Unpacked(tmp_path, gzip.compress(TEXT[:2000])[:-8]).leaves[()] == TEXT[:2000]


@every
def test_each_opening_of_a_damaged_file_ends_alike(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    """The second reader must meet the damage where the first did."""
    packed = pack(LONG)
    path = tmp_path / "dump"
    path.write_bytes(packed[: len(packed) // 2])
    leaf = next(unpacking := unpack(Document(path, URL), Volume(), tmp_path))
    assert isinstance(leaf, Leaf)
    ends = []
    for size in (100, 1 << 20):
        with leaf.open() as stream:
            count = 0
            with pytest.raises(Exception, match="damaged or cut off") as caught:
                while block := stream.read(size):
                    count += len(block)
            with pytest.raises(type(caught.value)):
                stream.read(1)
        ends.append(count)
    assert list(unpacking) == []
    assert ends[0] == ends[1] > 0


@pytest.mark.parametrize("kind", WRITERS)
def test_an_archive_that_was_cut_off_gives_what_it_has(tmp_path: Path, kind: str) -> None:
    """Its first file is whole, the second says where it ends, and the archive that more is missing."""
    data = archive(kind, FILES)
    unpacked = Unpacked(tmp_path, data[: len(data) * 2 // 3])
    problems = unpacked.archives[()].problems
    if kind == "7z":
        # Its directory is at its end, and there is no way without.
        assert not unpacked.leaves
        assert problems[0].kind == "archive"
        return
    assert unpacked.leaves[("a.nt",)] == FILES["a.nt"]
    part = unpacked.leaves[("b.nt",)]
    assert LONG.startswith(part)
    assert len(part) > len(LONG) // 3
    broken = next(item for item in unpacked.items if item.names == ("b.nt",))
    assert [problem.kind for problem in broken.problems] == ["cut-off"]
    assert f"entry b.nt is damaged or cut off after {len(part):,} bytes" in broken.problems[0].message
    if kind != "iso9660":
        # An image has its directory at its beginning, so that nothing is missing but what follows of the files.
        assert "cut-off" in [problem.kind for problem in problems]


def test_a_tar_cut_off_between_two_entries_is_not_taken_for_whole(tmp_path: Path) -> None:
    """libarchive and GNU tar do, but the rest of the graph would be removed."""
    data = archive("ustar", FILES)
    end = data.find(b"c.nt\x00")
    for cut in (data[:end], gzip.compress(data[:end])):
        unpacked = Unpacked(tmp_path, cut)
        assert unpacked.leaves == {("a.nt",): FILES["a.nt"], ("b.nt",): LONG}
        assert [kind for kind, _ in unpacked.problems] == ["cut-off"]
        assert "without the mark that ends a tar archive, after 2 entries" in unpacked.problems[0][1]


@pytest.mark.parametrize("blocks", [1, 2, 20, 500])
def test_a_tar_may_end_with_any_number_of_blocks_of_zeros(tmp_path: Path, blocks: int) -> None:
    """Some programs write one, GNU tar fills up twenty, tapes more."""
    data = archive("ustar", {"a.nt": TEXT}).rstrip(b"\x00")
    data += bytes(-len(data) % 512 + 512 * blocks)
    assert not Unpacked(tmp_path, data).problems
    assert not Unpacked(tmp_path, gzip.compress(data)).problems


@pytest.mark.parametrize("pack", [PACK["gzip"], PACK["xz"], PACK["zstd"]], ids=["gzip", "xz", "zstd"])
def test_damage_behind_the_end_of_a_compressed_tar_is_reported(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    """The checksum over all entries stands there."""
    packed = bytearray(pack(archive("ustar", FILES)))
    packed[-9 if pack is PACK["xz"] else -5] ^= 1
    unpacked = Unpacked(tmp_path, bytes(packed))
    assert unpacked.leaves[("a.nt",)] == FILES["a.nt"]
    assert [kind for kind, _ in unpacked.problems][-1] == "cut-off"
    assert "damaged or cut off" in unpacked.problems[-1][1]


def test_a_damaged_entry_of_a_zip_leaves_the_others_whole(tmp_path: Path) -> None:
    """Each has its own checksum and its own place."""
    data = bytearray(zipped(FILES.items()))
    data[len(data) // 2] ^= 0xFF
    unpacked = Unpacked(tmp_path, bytes(data))
    assert unpacked.leaves[("a.nt",)] == FILES["a.nt"]
    assert unpacked.leaves[("c.nt",)] == FILES["c.nt"]
    ((kind, message),) = unpacked.problems
    assert kind == "cut-off"
    assert "entry b.nt" in message


def test_a_wrong_checksum_is_reported_and_the_bytes_are_given(tmp_path: Path) -> None:
    """Which of them are wrong is not known."""
    stored = zipped([("a.nt", TEXT)], 0).replace(b"example.org/7>", b"example.org/8>")
    unpacked = Unpacked(tmp_path, stored)
    assert len(unpacked.leaves[("a.nt",)]) == len(TEXT)
    assert [kind for kind, _ in unpacked.problems] == ["cut-off"]
    assert "CRC" in unpacked.problems[0][1]


def test_a_damaged_head_in_a_tar_costs_its_entry_alone(tmp_path: Path) -> None:
    """The next whole head is looked for."""
    data = bytearray(archive("ustar", FILES))
    data[data.find(b"b.nt\x00") + 150] ^= 0x0F
    unpacked = Unpacked(tmp_path, bytes(data))
    assert unpacked.leaves == {("a.nt",): FILES["a.nt"], ("c.nt",): FILES["c.nt"]}
    assert unpacked.problems == [("archive", f"{URL}: Damaged tar archive")]


def test_a_damaged_archive_within_an_archive_leaves_the_others_whole(tmp_path: Path) -> None:
    """Trouble stays where it is."""
    inner = gzip.compress(archive("ustar", FILES))
    data = zipped([("half.tar.gz", inner[: len(inner) // 2]), ("after.nt", TEXT)])
    unpacked = Unpacked(tmp_path, data)
    assert unpacked.leaves[("half.tar.gz", "a.nt")] == FILES["a.nt"]
    assert unpacked.leaves[("after.nt",)] == TEXT
    assert not unpacked.archives[()].problems
    assert unpacked.archives[("half.tar.gz",)].problems


@pytest.mark.parametrize("kind", WRITERS)
def test_no_change_of_bytes_makes_it_fail(tmp_path: Path, kind: str) -> None:
    """Whatever is damaged, it ends with findings and without an error."""
    data = archive(kind, {f"{n}.nt": LONG[n * 100 : n * 100 + 700] for n in range(5)})
    chance = random.Random(kind)
    for _ in range(60):
        broken = bytearray(data)
        for _ in range(chance.choice((1, 3, 30))):
            broken[chance.randrange(chance.choice((600, len(data)))) % len(data)] = chance.randrange(256)
        if chance.random() < 0.3:
            del broken[chance.randrange(len(broken)) :]
        unpacked = Unpacked(tmp_path, bytes(broken), Volume(max_bytes=10 << 20))
        assert all(kind in ("archive", "links", "cut-off", "too-large") for kind, _ in unpacked.problems)


def test_rubbish_with_the_mark_of_an_archive_is_reported(tmp_path: Path) -> None:
    """It is none, but no document either."""
    for head in (b"PK\x03\x04", b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07\x00", b"MSCF\x00\x00\x00\x00", b"xar!\x00\x1c"):
        unpacked = Unpacked(tmp_path, head + random.Random(1).randbytes(5000))
        assert not any(unpacked.leaves.values())
        assert unpacked.archives[()].problems


def test_our_own_disk_trouble_is_not_called_damage(tmp_path: Path) -> None:
    """A scratch folder that is gone is nothing that a provider can mend."""
    path = tmp_path / "dump"
    path.write_bytes(zipped([("large", random.Random(0).randbytes(2 << 20))]))
    with pytest.raises(FileNotFoundError):
        list(unpack(Document(path, URL), Volume(), tmp_path / "gone"))
    with pytest.raises(FileNotFoundError):
        list(unpack(Document(tmp_path / "gone", URL), Volume(), tmp_path))
