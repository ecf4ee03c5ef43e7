"""Lines told apart: ground, with blank nodes, and those that only RDF 1.2 has."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harvest.wash.problems import Problems
from harvest.wash.splitter import BATCH, Splitter

GROUND = b'<http://a> <http://b> "_:c <<( " .\n'
BLANK = b"_:x <http://b> _:y .\n"
TRIPLE_TERM = b"<http://a> <http://b> <<( <http://a> <http://b> _:c )>> .\n"
DIRECTED = b'<http://a> <http://b> "c"@en--ltr .\n'


def split(*chunks: bytes) -> tuple[bytes, bytes, Splitter, Problems]:
    ground, blank, problems = io.BytesIO(), io.BytesIO(), Problems()
    splitter = Splitter(7, ground, blank, problems)
    for chunk in chunks:
        splitter.write(chunk)
    splitter.finish()
    return ground.getvalue(), blank.getvalue(), splitter, problems


def test_blank_nodes_get_the_mark_of_their_document() -> None:
    """Two dumps of a dataset can both speak of _:x without meaning the same node."""
    ground, blank, splitter, problems = split(GROUND + BLANK)
    assert (ground, blank) == (GROUND, b"_:d7-x <http://b> _:d7-y .\n")
    assert splitter.statements == 2
    assert not problems.first


@pytest.mark.parametrize(("line", "what"), [(TRIPLE_TERM, "triple term"), (DIRECTED, "base direction")])
def test_what_only_rdf_1_2_has_is_dropped_and_reported(line: bytes, what: str) -> None:
    """Most RDF software cannot read it, so it must not reach the snapshot, nor be lost in silence."""
    ground, blank, splitter, problems = split(GROUND + line + BLANK)
    assert ground == GROUND
    assert blank.count(b"\n") == 1
    assert splitter.statements == 2
    assert problems.dropped == 1
    assert problems.first[0].kind == "rdf-1.2"
    assert what in problems.first[0].message
    assert problems.first[0].excerpt == line.decode().rstrip()


@given(st.lists(st.sampled_from([GROUND, BLANK, DIRECTED, TRIPLE_TERM]), max_size=30), st.integers(1, 90))
def test_where_a_chunk_ends_makes_no_difference(lines: list[bytes], size: int) -> None:
    """The parser writes in pieces that end anywhere."""
    data = b"".join(lines)
    chunks = [data[i : i + size] for i in range(0, len(data), size)]
    assert split(*chunks)[:2] == split(data)[:2]


def test_a_blank_node_whose_label_ends_like_a_direction_stays() -> None:
    """Labels may hold hyphens, and a direction follows a language."""
    _, blank, splitter, problems = split(b"<http://a> <http://b> _:x--ltr .\n")
    assert blank == b"<http://a> <http://b> _:d7-x--ltr .\n"
    assert splitter.statements == 1
    assert not problems.first


def test_a_literal_larger_than_a_batch_passes_whole() -> None:
    """A line is handed on only once it has ended, however long it is."""
    line = b'<http://a> <http://b> "' + b"x" * (2 * BATCH) + b'" .\n'
    ground, _, splitter, _ = split(*[line[i : i + 8192] for i in range(0, len(line), 8192)])
    assert ground == line
    assert splitter.statements == 1
