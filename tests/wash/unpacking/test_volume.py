"""What is made to explode is stopped, early and with figures, and what came before it stays."""

from __future__ import annotations

import gzip
import resource
import struct
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from harvest.config.settings import WashSettings
from harvest.errors import WashError
from harvest.wash.unpacking.volume import RATIO_FROM, Meter, Tally, TooLarge, Volume
from tests.wash.packed import PACK, TEXT, URL, Unpacked, archive, zipped

ZEROS = bytes(RATIO_FROM + (8 << 20))


@pytest.fixture(autouse=True)
def _bounded() -> Iterator[None]:
    """Every test here ends soon, and needs little more memory than what it makes itself."""
    start, most = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    assert time.monotonic() - start < 60
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - most < 512 << 10


def test_too_many_bytes_stop_the_unpacking_and_what_came_before_stays(tmp_path: Path) -> None:
    """The limit counts over all entries, so that many small ones do not pass it together."""
    files = {f"{n}.nt": TEXT for n in range(10)}
    limit = 6 * len(TEXT) - 1000
    for data in (archive("zip", files), archive("ustar", files), gzip.compress(archive("ustar", files))):
        unpacked = Unpacked(tmp_path, data, Volume(max_bytes=limit))
        assert [unpacked.leaves[(f"{n}.nt",)] for n in range(5)] == [TEXT] * 5
        assert ("7.nt",) not in unpacked.leaves
        kinds = [(kind, f"{limit:,}" in message) for kind, message in unpacked.problems]
        assert kinds == [("cut-off", True), ("too-large", True)]
        assert unpacked.archives[()].problems[-1].kind == "too-large"


def test_the_limit_itself_is_allowed(tmp_path: Path) -> None:
    """A figure in the settings is the last one that passes."""
    assert not Unpacked(tmp_path, zipped([("a", TEXT)]), Volume(max_bytes=len(TEXT))).problems
    assert Unpacked(tmp_path, zipped([("a", TEXT)]), Volume(max_bytes=len(TEXT) - 1)).problems


def test_a_ratio_beyond_measure_stops_the_unpacking(tmp_path: Path) -> None:
    """Deflate makes a thousand of one; no RDF packs so well."""
    unpacked = Unpacked(tmp_path, zipped([("before", TEXT), ("zeros", ZEROS), ("after", TEXT)]))
    assert unpacked.leaves[("before",)] == TEXT
    assert ("after",) not in unpacked.leaves
    assert len(unpacked.leaves[("zeros",)]) <= RATIO_FROM
    kind, message = unpacked.problems[-1]
    assert kind == "too-large"
    assert "200 times its size (max_ratio)" in message
    assert f"{RATIO_FROM:,} bytes" in message


def test_a_small_file_may_pack_as_well_as_it_likes(tmp_path: Path) -> None:
    """A table of one value is no attack."""
    unpacked = Unpacked(tmp_path, zipped([("zeros", bytes(RATIO_FROM >> 2))]))
    assert len(unpacked.leaves[("zeros",)]) == RATIO_FROM >> 2
    assert not unpacked.problems


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", PACK)
def test_a_compressed_file_that_explodes_cannot_be_read_to_its_end(tmp_path: Path, name: str) -> None:
    """It is no archive, so that the reader meets the limit."""
    unpacked = Unpacked(tmp_path, PACK[name](ZEROS))
    error = unpacked.errors[()]
    assert isinstance(error, TooLarge)
    assert error.kind == "too-large"
    assert error.url == URL
    assert "max_ratio" in error.message
    assert 0 < len(unpacked.leaves[()]) <= RATIO_FROM


def test_a_compressed_entry_that_explodes_stops_the_rest(tmp_path: Path) -> None:
    """The limits are those of the dump, however it is packed."""
    unpacked = Unpacked(tmp_path, zipped([("a.gz", gzip.compress(ZEROS)), ("b", TEXT), ("c", TEXT)]))
    assert isinstance(unpacked.errors[("a.gz",)], TooLarge)
    assert ("c",) not in unpacked.leaves
    assert unpacked.problems[-1][0] == "too-large"


def test_what_is_left_out_of_an_archive_counts_too(tmp_path: Path) -> None:
    """Zeros behind the end of a tar archive would be decompressed for nothing."""
    data = gzip.compress(archive("ustar", {"a.nt": TEXT}) + ZEROS)
    unpacked = Unpacked(tmp_path, data)
    assert unpacked.leaves[("a.nt",)] == TEXT
    assert [kind for kind, _ in unpacked.problems] == ["too-large"]


def test_archives_of_archives_of_archives_end_soon(tmp_path: Path) -> None:
    """42.zip: sixteen archives in each, five deep, 4 GB in each of the last."""
    data = zipped([("zeros", bytes(RATIO_FROM >> 1))])
    for _ in range(4):
        data = zipped([(f"{n}.zip", data) for n in range(16)])
    assert len(data) < 100_000
    unpacked = Unpacked(tmp_path, data)
    assert len(unpacked.leaves) <= 3
    stopped = list(unpacked.archives.values())[-5:]
    assert [item.problems[-1].kind for item in stopped] == ["too-large"] * 5
    assert stopped[-1].names == ()


def test_entries_over_one_another_are_no_bomb(tmp_path: Path) -> None:
    """The central directory may name the same bytes a thousand times."""
    data = zipped([("a", bytes(4 << 20))])
    end, directory = data.rfind(b"PK\x05\x06"), data.rfind(b"PK\x01\x02")
    names = data[directory:end] * 5000
    record = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, 5000, 5000, len(names), directory, 0)
    unpacked = Unpacked(tmp_path, data[:directory] + names + record)
    assert len(unpacked.items) < 50


def test_too_many_entries_stop_the_unpacking(tmp_path: Path) -> None:
    """Each entry costs a record, even an empty one or a folder."""
    files = [(f"{n}", b"") for n in range(1001)]
    unpacked = Unpacked(tmp_path, zipped(files), Volume(max_entries=1000))
    assert len(unpacked.leaves) == 1000
    assert unpacked.archives[()].entries == 1000
    assert [(kind, "1,000 (max_entries)" in message) for kind, message in unpacked.problems] == [("too-large", True)]
    assert not Unpacked(tmp_path, zipped(files[:1000]), Volume(max_entries=1000)).problems
    folders = [(f"{n}/", b"") for n in range(1001)]
    assert Unpacked(tmp_path, zipped(folders), Volume(max_entries=1000)).problems


@pytest.mark.long
def test_a_hundred_thousand_entries_are_stopped(tmp_path: Path) -> None:
    """The limit holds at the size that is seen in attacks, too."""
    data = zipped([(f"{n}", b"") for n in range(100_001)])
    assert len(Unpacked(tmp_path, data, Volume(max_entries=100_000)).leaves) == 100_000


def test_entries_of_all_archives_count_together(tmp_path: Path) -> None:
    """A thousand archives of a thousand entries are a million."""
    inner = zipped([(f"{n}", b"") for n in range(10)])
    unpacked = Unpacked(tmp_path, zipped([(f"{n}.zip", inner) for n in range(10)]), Volume(max_entries=50))
    assert sum(archive.entries for archive in unpacked.archives.values()) == 50


def test_what_lies_too_deep_is_reported_and_the_rest_is_given(tmp_path: Path) -> None:
    """An archive that holds itself would never end."""
    inner = zipped([("a.nt.gz", gzip.compress(TEXT)), ("b.nt", TEXT)])
    data = gzip.compress(archive("ustar", {"inner.zip": inner, "c.nt": TEXT}))
    assert not Unpacked(tmp_path, data, Volume(max_depth=4)).problems
    three = Unpacked(tmp_path, data, Volume(max_depth=3))
    assert set(three.leaves) == {("inner.zip", "b.nt"), ("c.nt",)}
    assert three.archives[("inner.zip", "a.nt.gz")].kind == "gzip"
    assert [kind for kind, _ in three.problems] == ["too-large"]
    assert "the limit is 3 (max_depth)" in three.problems[0][1]
    two = Unpacked(tmp_path, data, Volume(max_depth=2))
    assert set(two.leaves) == {("c.nt",)}
    assert two.archives[("inner.zip",)].kind == "zip"
    assert Unpacked(tmp_path, data, Volume(max_depth=1)).archives[()].kind == "tar"
    assert not Unpacked(tmp_path, TEXT, Volume(max_depth=0)).problems


def test_what_is_read_again_counts_once() -> None:
    """A document is opened to recognise its format, then to parse it."""
    meter = Meter(Volume(max_bytes=100), 1000, URL)
    tally = Tally(meter)
    for _ in range(3):
        tally.reach(60)
        tally.reach(100)
    with pytest.raises(TooLarge, match="past the limit of 100 bytes"):
        tally.reach(101)


def test_a_limit_that_was_reached_is_a_permanent_error() -> None:
    """The same dump would be too large again."""
    assert issubclass(TooLarge, WashError)
    assert not TooLarge("m").retriable


def test_the_limits_are_those_of_the_settings() -> None:
    """Washing without an instance and in one must not differ in what they take for a bomb."""
    settings = WashSettings()
    assert Volume() == Volume(settings.max_bytes, settings.max_ratio, settings.max_entries, settings.max_depth)
