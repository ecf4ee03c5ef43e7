"""Files of N-Triples and N-Quads of many hands, as sets of canonical lines."""

from __future__ import annotations

import gzip
from pathlib import Path
from tempfile import TemporaryDirectory

import pyoxigraph
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harvest.errors import WashError
from harvest.revise.file_difference import difference
from harvest.revise.line_files import patched, signed, sorted_lines
from tests.revise.model import got, graphs

STRING = "^^<http://www.w3.org/2001/XMLSchema#string>"
terms = st.sampled_from(
    [
        "<http://x.example/a>",
        "<http://x.example/\\u0061>",
        "<http://x.example/\u00e9>",
        "<urn:x:%41,(b);=@!$&'*+#c>",
        "_:b1",
        "_:b-1.x",
    ]
)
values = st.one_of(
    terms,
    st.builds(
        lambda text, end: f'"{text}"{end}',
        st.sampled_from(
            [
                "A",
                "\\u0041",
                "a b",
                '\\t\\n\\r\\"\\\\',
                "\\b",
                "\t",
                "\u00e9",
                "\x7f",
                "\x80",
                "\uffff",
                "\U0001f600",
                "'",
                "\\'",
                "]^[",
                "",
            ]
        ),
        st.sampled_from(["", STRING, "@en", "@EN-us", "@en-us", "^^<http://x.example/int>", "^^<http://x.example/g>"]),
    ),
)
lines_of_somebody = st.lists(
    st.builds(
        lambda s, space, o, g, end: f"{s}{space}<http://x.example/p>{space}{o} {g}{end}",
        terms,
        st.sampled_from([" ", "\t", "  "]),
        values,
        st.sampled_from(["", "<http://x.example/g> ", "_:g "]),
        st.sampled_from([".\n", " .\r\n", ". # a remark\n", ".\n\n# another\n"]),
    ),
    max_size=8,
)


@settings(max_examples=25)
@given(lines_of_somebody, st.booleans())
def test_lines_are_those_of_the_parser_however_they_are_spelled(written: list[str], packed: bool) -> None:
    """What is not parsed, for it looks canonical, is what the parser would have written."""
    text = "".join(written).encode()
    quads = pyoxigraph.parse(text, format=pyoxigraph.RdfFormat.N_QUADS)
    expected = frozenset(f"{quad} .\n".encode() for quad in quads)
    with TemporaryDirectory() as name:
        source = Path(name) / "a.nq"
        source.write_bytes(gzip.compress(text) if packed else text)
        sorted_lines(source, Path(name) / "sorted.nq", Path(name))
        assert got(Path(name) / "sorted.nq") == expected


@settings(max_examples=25)
@given(graphs, graphs)
def test_patching_with_what_differs_gives_the_other_file(a: frozenset[bytes], b: frozenset[bytes]) -> None:
    """patched(a, difference(a, b)) is b, and again nothing but counts."""
    with TemporaryDirectory() as name:
        root = Path(name)
        files = []
        for letter, lines in (("a", a), ("b", b)):
            (root / f"{letter}.nq").write_bytes(b"".join(lines))
            sorted_lines(root / f"{letter}.nq", root / f"{letter}.sorted", root)
            files.append(root / f"{letter}.sorted")
        (root / "c.nqud").write_bytes(b"".join(signed(difference(files[0], files[1], root))))
        first = patched(files[0], root / "c.nqud", root)
        assert got(first.snapshot.path) == b
        assert (first.removed, first.added, first.absent, first.present) == (len(a - b), len(b - a), 0, 0)
        again = patched(files[1], root / "c.nqud", root)
        assert got(again.snapshot.path) == b
        assert (again.removed, again.added, again.absent, again.present) == (0, 0, len(a - b), len(b - a))


def statements(text: str) -> frozenset[bytes]:
    """What the parser reads of a file."""
    quads = pyoxigraph.parse(text.encode(), format=pyoxigraph.RdfFormat.N_QUADS)
    return frozenset(f"{quad} .\n".encode() for quad in quads)


@pytest.mark.long
@settings(max_examples=25)
@given(lines_of_somebody, lines_of_somebody, lines_of_somebody, st.booleans())
def test_what_differs_is_what_the_parser_finds_however_it_is_spelled(
    both: list[str], ones: list[str], others: list[str], marked: bool
) -> None:
    """A line that both files have may be another spelling of what only one of them seems to have."""
    texts = ["".join(both + ones), ("\ufeff" if marked else "") + "".join(others + both)]
    with TemporaryDirectory() as name:
        files = Path(name) / "a.nq", Path(name) / "b.nq"
        for file, text in zip(files, texts, strict=True):
            file.write_bytes(text.encode())
        delta = difference(*files, Path(name))
        old, new = (statements(text.removeprefix("\ufeff")) for text in texts)
        assert (got(delta.removed), got(delta.added)) == (old - new, new - old)
        assert (delta.removed_triples, delta.added_triples) == (len(old - new), len(new - old))


@pytest.mark.parametrize("first", [True, False])
def test_a_broken_line_of_two_files_has_its_place(tmp_path: Path, first: bool) -> None:
    """Also one that both have, and although they were sorted before."""
    good, bad = tmp_path / "good.nt", tmp_path / "bad.nt"
    good.write_bytes(b'<http://x/a> <http://x/p> "1" .\n')
    bad.write_bytes(b'<http://x/z> <http://x/p> "1" .\n<http://x/a> <http://x/p> "1 .\n')
    with pytest.raises(WashError) as caught:
        difference(*((bad, good) if first else (good, bad)), tmp_path)
    assert "bad.nt, line 2 is no statement" in caught.value.message


def test_a_broken_line_of_both_files_is_found(tmp_path: Path) -> None:
    """What they have in common is looked at, too."""
    bad = tmp_path / "bad.nt"
    bad.write_bytes(b'<http://x/z> <http://x/p> "1" .\n<http://x/a> <http://x/p> "1 .\n')
    with pytest.raises(WashError) as caught:
        difference(bad, bad, tmp_path)
    assert "bad.nt, line 2 is no statement" in caught.value.message


def test_a_broken_line_has_its_place(tmp_path: Path) -> None:
    """Whoever compares files must know that one of them is not what it seems."""
    (tmp_path / "a.nt").write_bytes(b'<http://x/a> <http://x/p> "1" .\n# remark\n<http://x/a> <http://x/p> "1 .\n')
    with pytest.raises(WashError) as caught:
        sorted_lines(tmp_path / "a.nt", tmp_path / "out", tmp_path)
    assert "a.nt, line 3 is no statement" in caught.value.message
    assert caught.value.line == 3 and caught.value.url == str(tmp_path / "a.nt")
