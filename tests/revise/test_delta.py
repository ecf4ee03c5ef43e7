"""The algebra of deltas, against sets."""

from __future__ import annotations

import gzip
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harvest.errors import DamageError, StorageError
from harvest.model import Delta
from harvest.revise import delta as deltas
from tests.revise.model import got, graphs, put


def folder_of(root: Path, name: str) -> Path:
    folder = root / name
    folder.mkdir()
    return folder


def content(delta: Delta) -> tuple[frozenset[bytes], frozenset[bytes]]:
    removed, added = got(delta.removed), got(delta.added)
    assert (len(removed), len(added)) == (delta.removed_triples, delta.added_triples)
    return removed, added


@given(graphs, graphs)
def test_applying_what_differs_gives_the_new_graph(a: frozenset[bytes], b: frozenset[bytes]) -> None:
    """apply(a, compare(a, b)) is b, and the delta holds nothing that does not differ."""
    with TemporaryDirectory() as name:
        root = Path(name)
        delta = deltas.compare(put(root / "a", a), put(root / "b", b), root)
        assert content(delta) == (a - b, b - a)
        snapshot = deltas.apply(root / "a", delta, root / "c")
        assert got(snapshot.path) == b
        assert snapshot.triples == len(b)


@given(graphs, graphs, graphs)
def test_the_changed_subjects_afterwards_are_those_of_the_new_graph(
    a: frozenset[bytes], b: frozenset[bytes], c: frozenset[bytes]
) -> None:
    """Those that the delta names, whole; a delta of another graph is recognised."""
    with TemporaryDirectory() as name:
        root = Path(name)
        delta = deltas.compare(put(root / "a", a), put(root / "b", b), root)
        assert deltas.apply_to_subjects(root / "a", delta, root / "after") == len(b) - len(a)
        changed = {line.split(b" ")[0] for line in a ^ b}
        expected = sorted(line for line in b if line.split(b" ")[0] in changed)
        assert (root / "after").read_bytes() == b"".join(expected)
        more = deltas.apply_to_subjects(put(root / "c", c), delta, root / "other")
        fits = a - b <= c and not (b - a) & c
        assert more == (len(b) - len(a) if fits else None)


@given(graphs, graphs)
def test_the_inverse_goes_back(a: frozenset[bytes], b: frozenset[bytes]) -> None:
    """apply(b, invert(compare(a, b))) is a."""
    with TemporaryDirectory() as name:
        root = Path(name)
        delta = deltas.compare(put(root / "a", a), put(root / "b", b), root)
        assert got(deltas.apply(root / "b", deltas.invert(delta), root / "c").path) == a


@given(graphs, graphs, graphs)
def test_two_deltas_compose_to_what_truly_differs(
    a: frozenset[bytes], b: frozenset[bytes], c: frozenset[bytes]
) -> None:
    """compose(compare(a, b), compare(b, c)) is compare(a, c): what came and went again drops out."""
    with TemporaryDirectory() as name:
        root = Path(name)
        files = [put(root / key, lines) for key, lines in zip("abc", (a, b, c), strict=True)]
        first = deltas.compare(files[0], files[1], folder_of(root, "1"))
        second = deltas.compare(files[1], files[2], folder_of(root, "2"))
        assert content(deltas.compose(first, second, folder_of(root, "3"))) == (a - c, c - a)


@given(graphs, graphs)
def test_a_filed_delta_reads_back(a: frozenset[bytes], b: frozenset[bytes]) -> None:
    """write and read are inverse, and the same delta gives the same bytes."""
    with TemporaryDirectory() as name:
        root = Path(name)
        delta = deltas.compare(put(root / "a", a), put(root / "b", b), folder_of(root, "1"))
        deltas.write(delta, root / "1.nqud.gz")
        deltas.write(delta, root / "2.nqud.gz")
        assert (root / "1.nqud.gz").read_bytes() == (root / "2.nqud.gz").read_bytes()
        assert content(deltas.read(root / "1.nqud.gz", folder_of(root, "2"))) == (a - b, b - a)


@given(st.lists(graphs, max_size=6))
def test_replaying_all_changes_from_empty_gives_the_last_version(versions: list[frozenset[bytes]]) -> None:
    """Version n is what changes 1 to n end in, however often a statement came and went."""
    with TemporaryDirectory() as name:
        root = Path(name)
        before = put(root / "0", frozenset())
        changes = []
        for n, lines in enumerate(versions, 1):
            after = put(root / str(n), lines)
            changes.append(root / f"{n}.nqud.gz")
            deltas.write(deltas.compare(before, after, folder_of(root, f"d{n}")), changes[-1])
            before = after
        snapshot = deltas.replay(changes, root / "end", root)
        assert got(snapshot.path) == (versions[-1] if versions else frozenset())


def test_replaying_changes_that_contradict_each_other_is_an_error(tmp_path: Path) -> None:
    """A statement that is added twice shows that a change is missing."""
    for n in (1, 2):
        (tmp_path / f"{n}.nqud").write_bytes(gzip.compress(b"+<http://a> <http://b> <http://c> <http://g> .\n"))
    with pytest.raises(StorageError, match="change 2 adds a statement that is there"):
        deltas.replay([tmp_path / "1.nqud", tmp_path / "2.nqud"], tmp_path / "end", tmp_path)


@pytest.mark.parametrize("damage", ["flipped", "first byte", "cut", "empty", "gone", "another file"])
def test_a_damaged_change_file_is_reported_by_name(damage: str, tmp_path: Path) -> None:
    """A change that reads as a smaller one, or as none, would be committed as what the provider did."""
    path = tmp_path / "1.nqud.gz"
    whole = gzip.compress(b"".join(b'+<http://a> <http://b> "%d" <http://g> .\n' % i for i in range(99)))
    place = 0 if damage == "first byte" else len(whole) // 2
    flipped = whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :]
    broken = {"cut": whole[: len(whole) // 2], "empty": b"", "another file": gzip.compress(b"# something else\n")}
    path.write_bytes(broken.get(damage, flipped))
    if damage == "gone":
        path.unlink()
    with pytest.raises(DamageError, match=str(path)):
        deltas.read(path, tmp_path)
