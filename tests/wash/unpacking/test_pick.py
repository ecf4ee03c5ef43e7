"""Entries of archives, one level deep: what there is, and the bytes of what is wanted."""

from __future__ import annotations

import gzip
import hashlib
import io
import threading
import zipfile
from pathlib import Path

import pytest

from harvest.errors import WashError
from harvest.wash import process
from harvest.wash.unpacking import archives
from harvest.wash.unpacking.pick import Picked, WantedEntries, layers, names, pick
from harvest.wash.unpacking.volume import TooLarge, Volume
from tests.wash.packed import TEXT, archive

URL = "http://example.org/dump"
UNLIMITED = Volume()
FILES = {"a.nt": TEXT, "b/c.nt": b"<http://x/a> <http://x/b> <http://x/c> .\n"}


def filed(folder: Path, body: bytes) -> Path:
    path = folder / "dump"
    path.write_bytes(body)
    return path


def picked(path: Path, kinds: tuple[str, ...], *wanted: str, volume: Volume = UNLIMITED) -> dict[str, Picked]:
    """The reports on the wanted entries, from the process that unpacks; its errors are raised here."""
    reports: list[Picked] = []
    room = path.parent / "room"
    room.mkdir(exist_ok=True)
    bounds = process.Bounds(240, URL, threading.Event(), reports.append)
    process.call(pick, bounds, WantedEntries(path, URL, kinds, wanted), volume, room)
    return {item.name: item for item in reports}


@pytest.mark.parametrize("kind", ["zip", "7z", "ustar", "pax", "newc", "ar", "iso9660", "xar"])
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_every_kind_of_archive_is_picked_from(tmp_path: Path, kind: str, packed: bool) -> None:
    """Those that need seeking too, where they are compressed once more."""
    files = {"a.nt": TEXT, "c.nt": b"c\n"}
    body = archive(kind, files)
    path = filed(tmp_path, gzip.compress(body) if packed else body)
    found = layers(path, URL, 8)
    named = {"ustar": "tar", "pax": "tar", "newc": "cpio"}.get(kind, kind)
    assert found == (("gzip", named) if packed else (named,))
    listed = list(names(path, URL, Volume(), tmp_path))
    assert sorted(name.lower().strip("/") for name in listed) == ["a.nt", "c.nt"]
    for item in picked(path, found, *listed).values():
        assert item.path is not None and item.reason is None
        body = item.path.read_bytes()
        assert body == files[item.name.lower().strip("/")]
        assert (item.digest, item.size) == (hashlib.sha256(body).hexdigest(), len(body))


def test_what_is_no_archive_has_no_entries(tmp_path: Path) -> None:
    """A text, a compressed text, nothing at all, and an archive in more layers than are allowed."""
    for body in (TEXT, gzip.compress(TEXT), b""):
        path = filed(tmp_path, body)
        assert layers(path, URL, 8) == () and list(names(path, URL, Volume(), tmp_path)) == []
    path = filed(tmp_path, gzip.compress(gzip.compress(archive("zip", FILES))))
    assert layers(path, URL, 3) == ("gzip", "gzip", "zip") and layers(path, URL, 2) == ()


def test_only_what_is_wanted_is_unpacked(tmp_path: Path) -> None:
    """Other entries cost nothing, an archive in it stays one, and what is not there is not reported."""
    inner = archive("zip", FILES)
    path = filed(tmp_path, archive("zip", {"large": TEXT * 100, "inner.zip": inner}))
    found = picked(path, ("zip",), "inner.zip", "none", volume=Volume(max_bytes=len(inner)))
    assert list(found) == ["inner.zip"] and found["inner.zip"].digest == hashlib.sha256(inner).hexdigest()


def test_of_several_entries_of_a_name_the_first_counts(tmp_path: Path) -> None:
    """A name stands for one thing for ever."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as packed, pytest.warns(UserWarning, match="Duplicate"):
        packed.writestr("a", b"1")
        packed.writestr("a", b"2")
    assert picked(filed(tmp_path, out.getvalue()), ("zip",), "a")["a"].digest == hashlib.sha256(b"1").hexdigest()


def test_an_entry_with_a_password_is_reported(tmp_path: Path) -> None:
    """The reason of each says that it is encrypted."""
    body = archive("zip", FILES, "encryption=traditional", passphrase="secret")
    found = picked(filed(tmp_path, body), ("zip",), *FILES)
    assert [item.path for item in found.values()] == [None, None]
    assert all("encrypted" in (item.reason or "") for item in found.values())


def test_limits_end_it(tmp_path: Path) -> None:
    """Bytes, entries, and the kind that was said."""
    path = filed(tmp_path, archive("zip", FILES))
    with pytest.raises(TooLarge, match="max_bytes"):
        picked(path, ("zip",), "a.nt", volume=Volume(max_bytes=1000))
    with pytest.raises(TooLarge, match="max_entries"):
        list(names(path, URL, Volume(max_entries=1), tmp_path))
    with pytest.raises(WashError, match="cannot be read as tar in gzip: it is zip"):
        picked(path, ("gzip", "tar"), "a.nt")
    with pytest.raises(WashError, match="cannot be read as zip: it is no archive"):
        picked(filed(tmp_path, TEXT), ("zip",), "a.nt")


def test_a_compressed_zip_that_was_cut_off_gives_what_it_has(tmp_path: Path) -> None:
    """A zip is copied for its directory, which is lost; the entries before it are not, and the rest is reported."""
    body = archive("zip", {"a.nt": TEXT, "b.nt": TEXT, "c.nt": TEXT}, "compression=store")
    packed = gzip.compress(body, compresslevel=0)
    path = filed(tmp_path, packed[: len(packed) * 5 // 6])
    found: list[str] = []
    with pytest.raises(WashError, match="damaged or cut off, says gzip"):
        found.extend(names(path, URL, Volume(), tmp_path))
    assert found == ["a.nt", "b.nt", "c.nt"]
    items = picked(path, ("gzip", "zip"), "a.nt", "b.nt")
    assert {name: item.size for name, item in items.items()} == {"a.nt": len(TEXT), "b.nt": len(TEXT)}


def test_without_libarchive_zip_and_tar_are_picked_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others say what to install."""
    monkeypatch.setattr(archives, "is_installed", lambda: False)
    for kind in ("zip", "pax"):
        assert list(names(filed(tmp_path, archive(kind, FILES)), URL, Volume(), tmp_path)) == list(FILES)
    with pytest.raises(WashError, match="libarchive13"):
        list(names(filed(tmp_path, archive("7z", FILES)), URL, Volume(), tmp_path))
