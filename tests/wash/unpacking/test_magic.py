"""What a file is packed with is recognised by its bytes, and a text is never taken for an archive."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harvest.wash.unpacking.magic import HEAD, archive_of, compression_of
from tests.realdata import realdata
from tests.wash.packed import PACK, TEXT, WRITERS, archive

KIND = {"ustar": "tar", "pax": "tar", "gnutar": "tar", "v7tar": "tar", "newc": "cpio", "odc": "cpio", "ar_bsd": "ar"}


@pytest.mark.parametrize("kind", WRITERS)
def test_every_kind_of_archive_is_known(kind: str) -> None:
    """An archive that is not known would be handed to a parser of RDF."""
    data = archive(kind, {"a.nt": TEXT})
    assert archive_of(data[:HEAD]) == KIND.get(kind, kind)
    assert compression_of(data[:16]) is None


@pytest.mark.parametrize("name", PACK)
@pytest.mark.parametrize("data", [b"", TEXT], ids=["empty", "text"])
def test_every_compression_is_known(name: str, data: bytes) -> None:
    """The empty file has a head of its own in bzip2."""
    packed = PACK[name](data)
    assert compression_of(packed[:16]) == name
    assert archive_of(packed[:HEAD]) is None


@pytest.mark.parametrize(
    ("kind", "head"),
    [
        ("rar", b"Rar!\x1a\x07\x00\xcf\x90\x73\x00\x00\x0d"),
        ("rar", b"Rar!\x1a\x07\x01\x00"),
        ("cab", b"MSCF\x00\x00\x00\x00\x2c\x01"),
        ("lha", b"\x19\x3b-lh5-" + bytes(13) + b"\x00\x04a.nt"),
        ("cpio", b"\xc7\x71" + bytes(18) + b"\x05\x00" + bytes(4) + b"a.nt\x00"),
        ("cpio", b"\x71\xc7" + bytes(18) + b"\x00\x05" + bytes(4) + b"a.nt\x00"),
        ("zip", b"PK\x05\x06" + bytes(18)),
    ],
)
def test_kinds_that_cannot_be_written_here_are_known(kind: str, head: bytes) -> None:
    """libarchive reads them, but does not write them."""
    assert archive_of(head) == kind


def test_no_real_document_is_an_archive() -> None:
    """libarchive's own guess takes Turtle for mtree; every document in the real data is tried, at its start."""
    folders = ("formats", "void", "messy", "rdfa", "series", "sitemaps", "resourcesync", "w3c")
    packed = {".zip", ".gz", ".bz2", ".tgz"}
    paths = [
        path
        for folder in folders
        for path in (realdata() / folder).rglob("*")
        if path.is_file() and path.suffix not in packed
    ]
    assert len(paths) > 500
    for path in paths:
        with path.open("rb") as stream:
            head = stream.read(HEAD)
        assert (archive_of(head), compression_of(head)) == (None, None), path


texts = st.text(alphabet=string.printable + "éÇ焇\u0394", min_size=10, max_size=700)
marks = st.sampled_from(
    [
        "PK",
        "BZh9",
        "070701",
        "070707",
        "!<arch>\n",
        "7z",
        "Rar!",
        "MSCF",
        "xar!",
        "ab-lh5-",
        "q\u00c7",
        "\u00c7q",
        "#mtree",
    ]
)


@given(marks, texts, st.sampled_from(["utf-8", "latin-1", "utf-16"]))
def test_no_text_is_an_archive(mark: str, text: str, encoding: str) -> None:
    """Not even one that begins with the letters of a mark, or has the mark of tar at its place."""
    for whole in (mark + text, (mark + text).ljust(257)[:257] + "ustar  " + text):
        data = whole.encode(encoding, "replace")
        assert archive_of(data) is None
        assert compression_of(data) is None


def test_the_mark_of_an_image_in_a_text_makes_no_image() -> None:
    """At its place it needs bytes around it that no text has."""
    assert archive_of(b"a" * 32769 + b"CD001 is a catalogue number") is None


def test_a_text_with_a_bzip2_like_start_is_no_compression() -> None:
    """A prefix or a name may begin so."""
    assert compression_of(b"BZh9 is a name") is None
    assert compression_of(b"BZhang <http://example.org/p> 1 .") is None


@pytest.mark.parametrize("size", [0, 1, 2, 3, 66, 67, 257, 511, 512])
def test_short_files_are_no_trouble(size: int) -> None:
    """Files of a few bytes are documents, too."""
    assert archive_of(b"\x00" * size) is None
    assert archive_of(b"a" * size) is None
    assert compression_of(b"a" * size) is None
