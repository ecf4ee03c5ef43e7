"""Documents that are read apart, and one that is read in pieces, give what they give when they are read whole."""

from __future__ import annotations

import gzip
import io
import zipfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from harvest.model import Document, Part
from harvest.wash import tasks
from harvest.wash.apart import read_apart, unite
from harvest.wash.canonical import Washed
from harvest.wash.leaves import Terms
from harvest.wash.pieces import Piece, cut, join, read_piece
from harvest.wash.unpacking.volume import Volume

NEVER = datetime(2026, 1, 1, tzinfo=UTC)
GRAPH = "http://h.example/graph/p"
LINES = (
    '<http://x/a> <http://x/p> "1" .',
    '<http://x/a> <http://x/p> "\u00e9\\n_:d0-x \U0001f600"@DE .',
    "<http://x/b> <http://x/p> <http://x/a> . # a comment",
    "<http://x/b> <http://x/p> _:b .",
    '_:b <http://x/q> "of b" .',
    "_:b <http://x/p> _:c .",
    '_:c <http://x/q> "of c" .',
    "<http://x/b> <http://x/p> _:d .",
    "# nothing but a comment",
    "",
    "this is no statement .",
    '<http://x/c> <http://x/p> "not closed .',
    "<http://x/a b> <http://x/p> <http://x/c> .",
    '<http://x/c> <http://x/p> "x"@not_a_tag .',
    '<http://x/d> <http://x/p> "2" . <http://x/d> <http://x/p> "3" .',
    "<http://x/d> <http://x/p>",
)
"""Good lines and bad ones."""


def whole(document: Document, folder: Path) -> Washed:
    folder.mkdir()
    return tasks.union([document], Terms(Volume(), folder), graph=GRAPH)


def in_pieces(document: Document, folder: Path, count: int) -> Washed | None:
    """The document, read in so many pieces."""
    folder.mkdir()
    of = cut([document], Terms(Volume(), folder))
    if of is None:  # what is more like another format is read as that
        return None
    step, found = max(1, of.examined.size // count), list[Piece]()
    for n in range(count):
        (folder / str(n)).mkdir()
        end = (n + 1) * step if n + 1 < count else None
        found.append(read_piece([document], Terms(Volume(), folder / str(n)), of=of, begin=n * step, end=end))
    return join([document], Terms(Volume(), folder), graph=GRAPH, of=of, pieces=found)


def without_times_and_places(washed: Washed) -> tuple[str, int, int, list[Part]]:
    """All that washing gives, but for times and places."""
    parts = [replace(part, began=NEVER, ended=NEVER) for parts in washed.documents for part in parts]
    return washed.snapshot.digest, washed.snapshot.triples, washed.blank_nodes, parts


def both(document: Document, count: int) -> tuple[object, object]:
    with TemporaryDirectory() as made:
        found = in_pieces(document, Path(made) / "pieces", count)
        expected = whole(document, Path(made) / "whole")
        return without_times_and_places(expected), found and without_times_and_places(found)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    lines=st.lists(st.sampled_from(LINES), max_size=40),
    newline=st.sampled_from(["\n", "\r\n", "\r"]),
    ended=st.booleans(),
    count=st.integers(1, 9),
    packed=st.booleans(),
    mark=st.booleans(),
)
def test_pieces_give_what_the_whole_gives(
    lines: list[str], newline: str, ended: bool, count: int, packed: bool, mark: bool
) -> None:
    """Snapshot, names of blank nodes, counts, and each problem with its place and excerpt, wherever the cuts are."""
    # Of a document that breaks off in its last statement the place depends on how it is read, whole too.
    text = newline.join([LINES[0], *lines, LINES[0]]) + (newline if ended else "")
    data = ("\ufeff" if mark else "").encode() + text.encode()
    with TemporaryDirectory() as made:
        path = Path(made) / "document"
        path.write_bytes(gzip.compress(data) if packed else data)
        document = Document(path, "http://x.example/dump", "application/n-triples", dataset="http://x/d", steady=True)
        expected, found = both(document, count)
    assume(found is not None)
    assert found == expected


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.lists(st.sampled_from(LINES), max_size=9), st.integers(0, 3)), min_size=2, max_size=5))
def test_documents_apart_give_what_all_in_a_row_give(documents: list[tuple[list[str], int]]) -> None:
    """Blank nodes of two documents of one dataset stay two, whatever their labels; archives count as many parts."""
    with TemporaryDirectory() as made:
        folder = Path(made)
        given = [_document(folder / f"{n}", *each) for n, each in enumerate(documents)]
        (folder / "whole").mkdir()
        expected = tasks.union(given, Terms(Volume(), folder / "whole"), graph=GRAPH)
        found = []
        for n, document in enumerate(given):
            (folder / f"apart-{n}").mkdir()
            found.append(read_apart([document], Terms(Volume(), folder / f"apart-{n}")))
        (folder / "united").mkdir()
        united = unite(given, Terms(Volume(), folder / "united"), graph=GRAPH, found=found)
        assert without_times_and_places(united) == without_times_and_places(expected)


def _document(path: Path, lines: list[str], kind: int) -> Document:
    """A document of these lines: as they are, as Turtle that says more, and twice in an archive."""
    text = "".join(f"{line}\n" for line in lines)
    data = text.encode()
    if kind == 2:
        data = b"@prefix x: <http://x/> . x:s x:p [ x:q _:b ] .\n"
    elif kind == 3:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("a.nt", text)
            archive.writestr("b.nt", text)
        data = packed.getvalue()
    path.write_bytes(data)
    return Document(path, f"http://x.example/{path.name}", dataset=f"http://x/{kind % 2}", steady=True)


@pytest.mark.parametrize("what", ["problems", "quads"])
def test_more_of_it_in_pieces(tmp_path: Path, what: str) -> None:
    """Of more problems than are kept the first of all are; of quads the triples are taken."""
    path, good = tmp_path / "document", b'<http://x/a> <http://x/p> "%d" .\n'
    lines = [b"bad %d .\n" % n if n % 7 and what == "problems" else good % n for n in range(900)]
    path.write_bytes(b"".join(lines).replace(b'" .', b'" <http://x/g> .' if what == "quads" else b'" .'))
    expected, found = both(Document(path, "http://x.example/dump.nq"), 5)
    assert found == expected


def test_a_damaged_document_is_not_cut(tmp_path: Path) -> None:
    """Nor is one beyond a limit: whoever reads it whole says what is wrong with it."""
    path = tmp_path / "document"
    good = b"".join(b'<http://x/%d> <http://x/p> "%d" .\n' % (n, n) for n in range(3000))
    document = Document(path, "http://x.example/dump.nt")
    path.write_bytes(gzip.compress(good)[:-2000])
    assert cut([document], Terms(Volume(), tmp_path)) is None
    path.write_bytes(gzip.compress(good))
    assert cut([document], Terms(Volume(50_000, 200, 10, 8), tmp_path)) is None
    assert cut([document], Terms(Volume(), tmp_path)) is not None


def test_a_document_that_is_not_of_lines_is_not_cut(tmp_path: Path) -> None:
    """Nor is one that has to be recoded, nor what is in an archive."""
    path = tmp_path / "document"
    for data in (b"@prefix x: <http://x/> . x:a x:b x:c .", '<http://x/a> <http://x/p> "\u00e9" .\n'.encode("latin-1")):
        path.write_bytes(data)
        assert cut([Document(path, "http://x.example/dump.nt")], Terms(Volume(), tmp_path)) is None
