"""Lines in order: few of them here, many by the sorter."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harvest.errors import StorageError
from harvest.wash import sorting
from harvest.wash.sorting import Sorting

# As in N-Triples, where " ." ends a line, no line is the beginning of another one.
LINES = st.lists(st.binary(max_size=5).map(lambda text: text.translate(None, b".\n\r") + b" .\n"), max_size=50)


def in_order(pieces: Iterable[bytes], scratch: Path, files: Sequence[Path] = ()) -> bytes:
    sorter = Sorting(scratch, 0, files)
    try:
        for piece in pieces:
            sorter.write(piece)
        return b"".join(sorter.chunks())
    finally:
        sorter.close()


@given(lines=LINES, few=st.sampled_from([0, 20, 1 << 20]))
def test_both_ways_to_sort_agree(lines: list[bytes], few: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A snapshot must not depend on which of the two sorted it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorting, "FEW", few)
        assert in_order(lines, tmp_path_factory.getbasetemp()) == b"".join(sorted(set(lines)))


@given(
    lines=LINES,
    others=LINES,
    few=st.sampled_from([0, 20]),
    run=st.sampled_from([1, 30, 1 << 20]),
    piece=st.integers(1, 40),
)
@settings(max_examples=40)
def test_runs_and_files_are_merged_wherever_the_pieces_end(
    lines: list[bytes],
    others: list[bytes],
    few: int,
    run: int,
    piece: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """No line is cut where a run ends, and none comes twice."""
    scratch = tmp_path_factory.mktemp("runs")
    given_file = scratch / "given"
    given_file.write_bytes(b"".join(sorted(set(others))))
    text = b"".join(lines)
    pieces = [text[at : at + piece] for at in range(0, len(text), piece)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorting, "FEW", few)
        patch.setattr(sorting, "RUN", run)
        assert in_order(pieces, scratch, [given_file]) == b"".join(sorted({*lines, *others}))
        assert in_order(pieces, scratch) == b"".join(sorted(set(lines)))
    assert list(scratch.iterdir()) == [given_file]


@pytest.mark.parametrize("ended", [1, 2, 3], ids=["the first run", "the second run", "the merger"])
def test_a_sort_that_dies_is_trouble_of_storage(ended: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk ends `sort`; the harvest must fail, not file half a snapshot."""
    monkeypatch.setattr(sorting, "FEW", 0)
    monkeypatch.setattr(sorting, "RUN", 1)
    started: list[subprocess.Popen[bytes]] = []

    def start(command: list[str], **named: Any) -> subprocess.Popen[bytes]:
        dies = len(started) + 1 == ended
        started.append(subprocess.Popen(["sh", "-c", "kill -KILL $$"] if dies else command, **named))
        return started[-1]

    monkeypatch.setattr(sorting, "Popen", start)
    sorter = Sorting(tmp_path, 0)
    with pytest.raises(StorageError):
        sorter.write(b"a\n")
        sorter.write(b"b\n")
        list(sorter.chunks())
    sorter.close()
    assert len(started) >= ended and all(child.poll() is not None for child in started)
    assert list(tmp_path.iterdir()) == []
