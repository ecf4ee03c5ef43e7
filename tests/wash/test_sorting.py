"""Lines in order: few of them here, many by the sorter."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harvest.errors import StorageError
from harvest.wash import sorting
from harvest.wash.sorting import Sorting

# As in N-Triples, where " ." ends a line, no line is the beginning of another one.
LINES = st.lists(st.binary(max_size=5).map(lambda text: text.translate(None, b".\n\r") + b" .\n"), max_size=50)


def in_order(lines: list[bytes], scratch: Path) -> bytes:
    sorter = Sorting(scratch, 1 << 20)
    try:
        for line in lines:
            sorter.write(line)
        return b"".join(sorter.chunks())
    finally:
        sorter.close()


@given(lines=LINES, few=st.sampled_from([0, 20, 1 << 20]))
def test_both_ways_to_sort_agree(lines: list[bytes], few: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A snapshot must not depend on which of the two sorted it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorting, "FEW", few)
        assert in_order(lines, tmp_path_factory.getbasetemp()) == b"".join(sorted(set(lines)))


def test_a_sorter_that_dies_is_trouble_of_storage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk ends `sort`; the harvest must fail, not file half a snapshot."""
    monkeypatch.setattr(sorting, "FEW", 0)
    sorter = Sorting(tmp_path, 1 << 20)
    sorter.write(b"a\n")
    process = sorter._sorter
    assert isinstance(process, subprocess.Popen)
    process.kill()
    process.wait()
    with pytest.raises(StorageError):
        list(sorter.chunks())
    sorter.close()
