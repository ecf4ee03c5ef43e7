"""Without libarchive, the standard library reads what it can, and the rest is reported with the package to install."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.wash.packed import PACK, TEXT, URL, WRITERS, Unpacked, archive, zipped

ROOT = Path(__file__).resolve().parents[3]

PROGRAM = """
import json, sys
from pathlib import Path
from harvest.model import Document
from harvest.wash.unpacking.archives import is_installed
from harvest.wash.unpacking.members import Leaf
from harvest.wash.unpacking.unpack import unpack
from harvest.wash.unpacking.volume import Volume

assert not is_installed()
items = []
for item in unpack(Document(Path(sys.argv[1]), "http://example.org/dump"), Volume(), Path(sys.argv[2])):
    content = None
    if isinstance(item, Leaf):
        with item.open() as stream:
            content = stream.read().decode("latin-1")
    items.append([list(item.names), content, [[p.kind, p.message] for p in item.problems]])
print(json.dumps(items))
"""


def unpacked(folder: Path, data: bytes) -> list[tuple[tuple[str, ...], str | None, list[list[str]]]]:
    """What comes out where the library is missing: names, content of a leaf, and problems."""
    path = folder / "dump"
    path.write_bytes(data)
    env = dict(os.environ, LIBARCHIVE=str(folder / "no-such-library.so"), PYTHONPATH=str(ROOT))
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(path), str(folder)], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return [(tuple(names), content, problems) for names, content, problems in json.loads(done.stdout)]


def test_zip_and_tar_in_one_another_and_compressed_are_read(tmp_path: Path) -> None:
    """What is published most needs no library."""
    inner = PACK["gzip"](archive("pax", {"ä.nt": TEXT, "empty": b""}))
    data = PACK["xz"](
        zipped([("t.tar.gz", inner), ("b.nt.bz2", PACK["bzip2"](TEXT)), ("c.nt.zst", PACK["zstd"](b"c"))])
    )
    assert unpacked(tmp_path, data) == [
        (("t.tar.gz", "ä.nt"), TEXT.decode(), []),
        (("t.tar.gz", "empty"), "", []),
        (("t.tar.gz",), None, []),
        (("b.nt.bz2",), TEXT.decode(), []),
        (("c.nt.zst",), "c", []),
        ((), None, []),
    ]


@pytest.mark.parametrize("kind", sorted(WRITERS.keys() - {"zip", "ustar", "pax", "gnutar", "v7tar"}))
def test_other_kinds_are_reported_with_the_package_to_install(tmp_path: Path, kind: str) -> None:
    """The operator can do something about it, the provider need not."""
    ((names, content, [[problem, message]]),) = unpacked(tmp_path, archive(kind, {"a.nt": TEXT}))
    assert (names, content, problem) == ((), None, "archive")
    assert message.startswith(f"{URL} is packed with ")
    assert "install it (Debian: libarchive13)" in message


def test_lz4_is_reported_with_the_package_to_install(tmp_path: Path) -> None:
    """The standard library has no lz4."""
    ((names, content, [[problem, message]]),) = unpacked(tmp_path, PACK["lz4"](TEXT))
    assert (names, content, problem) == ((), None, "archive")
    assert "is packed with lz4" in message
    assert "libarchive13" in message


def test_an_entry_of_another_kind_leaves_the_others_readable(tmp_path: Path) -> None:
    """One 7z in a zip is no reason to give up the zip."""
    data = zipped([("a.7z", archive("7z", {"a.nt": TEXT})), ("b.nt", TEXT)])
    first, second, last = unpacked(tmp_path, data)
    assert first[0] == ("a.7z",)
    assert first[2][0][0] == "archive"
    assert second == (("b.nt",), TEXT.decode(), [])
    assert last == ((), None, [])


@pytest.mark.parametrize("kind", ["ustar", "zip"])
def test_damage_is_reported_and_what_was_read_is_kept(tmp_path: Path, kind: str) -> None:
    """The standard library reports it as libarchive does."""
    data = archive(kind, {"a.nt": TEXT, "b.nt": TEXT}, "compression=store" if kind == "zip" else "")
    place = data.rfind(TEXT[:100]) + 100
    if kind == "zip":
        items = unpacked(tmp_path, data[:place] + b"?" + data[place + 1 :])
    else:
        items = unpacked(tmp_path, data[: place + 5000])
    assert items[0] == (("a.nt",), TEXT.decode(), [])
    assert items[1][0] == ("b.nt",)
    assert items[1][2][0][0] == "cut-off"


def test_a_compressed_tar_that_was_cut_off_is_reported(tmp_path: Path) -> None:
    """The standard library reports it as libarchive does."""
    packed = PACK["gzip"](archive("ustar", {"a.nt": TEXT, "b.nt": TEXT}))
    items = unpacked(tmp_path, packed[: len(packed) * 3 // 4])
    assert items[0] == (("a.nt",), TEXT.decode(), [])
    assert items[1][2][0][0] == "cut-off"
    assert items[-1][2][0][0] == "cut-off"
    whole = archive("ustar", {"a.nt": TEXT})
    bare = whole.rstrip(b"\x00")
    assert unpacked(tmp_path, bare + bytes(-len(bare) % 512))[-1][2][0][0] == "cut-off"
    assert not unpacked(tmp_path, whole)[-1][2]


def test_encrypted_entries_are_named(tmp_path: Path) -> None:
    """The standard library reports it as libarchive does."""
    data = archive("zip", {"secret.nt": TEXT}, "encryption=zipcrypt", passphrase="x")
    ((_, _, [[problem, message]]),) = unpacked(tmp_path, data)
    assert problem == "archive"
    assert "entry secret.nt is encrypted" in message


def test_what_is_no_zip_after_all_is_reported(tmp_path: Path) -> None:
    """A download that broke off has no directory at its end."""
    data = zipped([("a.nt", TEXT)])
    ((_, _, [[problem, message]]),) = unpacked(tmp_path, data[: len(data) // 2])
    assert problem == "archive"
    assert "cannot be read as zip" in message


def test_both_ways_give_the_same(tmp_path: Path) -> None:
    """Names in a code page of old included."""
    raw = zipped([("d/", b""), ("grXn.nt", TEXT), ("../x", b"x")]).replace(b"grXn", b"gr\x81n")
    with_library = Unpacked(tmp_path, raw)
    without = unpacked(tmp_path, raw)
    assert {names: content.encode() for names, content, _ in without if content is not None} == with_library.leaves
    assert zipfile.is_zipfile(tmp_path / "dump")
