"""The reader of N-Quads unified diffs, against texts of many hands and against GNU diff."""

from __future__ import annotations

import gzip
import io
import subprocess
import tracemalloc
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harvest.errors import WashError
from harvest.model import Delta
from harvest.revise import delta as deltas
from harvest.revise.nqud import Change, SignedLine, read_changes, signed_lines
from tests.revise.model import got, graphs, put

A = b'<http://a.example/s> <http://a.example/p> "A" <http://a.example/g> .\n'


def changes(text: bytes) -> list[tuple[bool, bytes]]:
    return [(change.added, change.line) for change in read_changes(io.BytesIO(text))]


def test_only_lines_with_a_single_sign_count() -> None:
    """Headers, hunks, context and remarks of `diff -u` are passed over, as the Timbuctoo document demands."""
    text = (
        b"--- old.nq\t2017-08-18\n+++ new.nq\t2017-08-18\n@@ -1 +1 @@\n <http://a> <http://b> <http://c> .\n"
        b'+<http://a> <http://b> "x" .\n-<http://a> <http://b> "y" .\n\\ No newline at end of file\n'
        b"diff -u0 a b\n++ twice\n-- twice\n+\n-\n+ # a remark\n\n"
    )
    assert list(signed_lines(io.BytesIO(text)))[:2] == [
        SignedLine(5, True, b'<http://a> <http://b> "x" .\n'),
        SignedLine(6, False, b'<http://a> <http://b> "y" .\n'),
    ]
    assert list(read_changes(io.BytesIO(text))) == [
        Change(True, b'<http://a> <http://b> "x" .\n', 5),
        Change(False, b'<http://a> <http://b> "y" .\n', 6),
    ]


@pytest.mark.parametrize(
    "spelled",
    [
        b'<http://a.example/s> <http://a.example/p> "\\u0041"^^<http://www.w3.org/2001/XMLSchema#string> '
        b"<http://a.example/g> .",
        b' <http://a.example/s> <http://a.example/p> "A" <http://a.example/g> .',
        b'\t<http://a.example/s>\t<http://a.example/p>"A"<http://a.example/g>.',
        b'<http://a.example/s>  <http://a.example/p>  "\\U00000041"  <http://a.example/g>  . # a remark\r',
        b'<http://a.ex\\u0061mple/s> <http://a.example/p> "A" <http://a.example/g> .',
    ],
)
def test_terms_are_compared_not_bytes(spelled: bytes) -> None:
    """However a generator writes a statement, it is the same line."""
    for sign in b"+", b"-":
        assert changes(sign + spelled + b"\n") == changes(sign + spelled) == [(sign == b"+", A)]


def test_gzip_is_sniffed_and_a_stream_stays_open() -> None:
    """A server that forgets Content-Encoding, several members in a row, and a byte order mark."""
    text = b"\xef\xbb\xbf+" + A + b"-" + A
    packed = gzip.compress(text[:20]) + gzip.compress(text[20:])
    stream = io.BytesIO(packed)
    assert [change.added for change in read_changes(stream)] == [True, False]
    assert not stream.closed
    assert changes(text) == changes(packed)
    assert changes(b"") == []


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b'+<http://a> <http://b> "x .\n', "line 3 of the change is no statement"),
        (b"-<http://a> <http://b> .\n", "line 3 of the change is no statement"),
        (b"+<a> <http://b> <http://c> .\n", "No scheme found"),
        (b"+<http://a> <http://b> <http://c> . <http://a> <http://b> <http://d> .\n", "Only a single"),
        (b'+<http://a> <http://b> "\xff" .\n', "UTF-8"),
        (b'+<http://a> <http://b> <<( <http://a> <http://b> "x" )>> .\n', "triple term"),
        (b'+<http://a> <http://b> "x"@en--ltr .\n', "base direction"),
        (b"+-" + A, "line 3 of the change is no statement"),
    ],
)
def test_a_broken_line_is_an_error_with_its_place(line: bytes, said: str) -> None:
    """A statement that does not parse is never passed over in silence."""
    text = b"@@ -0,0 +1,3 @@\n+" + A + line + b"-" + A
    with pytest.raises(WashError, match=said) as caught:
        changes(text)
    assert caught.value.line == 3 and caught.value.column is not None
    assert caught.value.excerpt is not None and caught.value.excerpt[:5] in line.decode("utf-8", "replace")


@pytest.mark.parametrize("damage", ["cut", "flipped", "no gzip behind"])
def test_a_damaged_stream_is_an_error(damage: str) -> None:
    """Half a change is another change."""
    whole = gzip.compress(b"".join(b"+" + A.replace(b'"A"', b'"%d"' % i) for i in range(999)))
    half = len(whole) // 2
    broken = {
        "cut": whole[:half],
        "flipped": whole[:half] + bytes([whole[half] ^ 1]) + whole[half + 1 :],
        "no gzip behind": b"\x1f\x8b+" + A,
    }
    with pytest.raises(WashError, match="cut off or damaged"):
        changes(broken[damage])


def test_a_text_beyond_its_limit_is_an_error() -> None:
    """A few bytes of gzip may be many of text."""
    packed = gzip.compress((b"+" + A) * 10_000)
    assert len(list(read_changes(io.BytesIO(packed), 10_000 * (len(A) + 1)))) == 10_000
    with pytest.raises(WashError, match="more than 10000 bytes"):
        list(read_changes(io.BytesIO(packed), 10_000))


class Endless(io.RawIOBase):
    """A diff as long as one likes, made while it is read."""

    def __init__(self, lines: int) -> None:
        self._left = lines

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]  # the buffer that BufferedReader gives
        line = b"+" + A
        count = min(self._left, len(buffer) // len(line))
        self._left -= count
        buffer[: count * len(line)] = line * count
        return count * len(line)


def test_memory_does_not_grow_with_the_diff() -> None:
    """Ten times as many lines take as much memory."""

    def peak(lines: int) -> int:
        tracemalloc.start()
        assert sum(1 for _ in read_changes(cast(BinaryIO, Endless(lines)))) == lines
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(10)
    assert peak(80_000) < 2 * peak(8_000)


@given(graphs, graphs, st.booleans())
def test_a_written_delta_is_read_as_what_it_was(a: frozenset[bytes], b: frozenset[bytes], packed: bool) -> None:
    """The change files of a provider are such diffs, compressed and not."""
    with TemporaryDirectory() as name:
        root = Path(name)
        delta = deltas.compare(put(root / "a", a), put(root / "b", b), root)
        deltas.write(delta, root / "1.nqud.gz")
        text = (root / "1.nqud.gz").read_bytes()
        found = changes(text if packed else gzip.decompress(text))
        assert _sets(found) == (a - b, b - a)
        assert isinstance(delta, Delta) and got(delta.added) == b - a


@settings(max_examples=30)
@given(graphs, graphs, st.sampled_from(["--unified=0", "--unified=3"]))
def test_gnu_diff_is_read_as_it_is(a: frozenset[bytes], b: frozenset[bytes], option: str) -> None:
    """`diff --unified=0` of two sorted files, the recipe of the document, is what `compare` finds."""
    with TemporaryDirectory() as name:
        put(Path(name) / "a", a)
        put(Path(name) / "b", b)
        done = subprocess.run(["diff", option, "a", "b"], cwd=name, capture_output=True, check=False)
        assert _sets(changes(done.stdout)) == (a - b, b - a)


def _sets(found: list[tuple[bool, bytes]]) -> tuple[frozenset[bytes], frozenset[bytes]]:
    removed = frozenset(line for added, line in found if not added)
    return removed, frozenset(line for added, line in found if added)
