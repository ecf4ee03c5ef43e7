"""The embedded store: the contract, one writer, whole replacements, and what a crash leaves."""

from __future__ import annotations

import io
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pyoxigraph
import pytest

from sparql.errors import StoreError
from sparql.store.cost import BULK_FROM
from sparql.store.embedded import EmbeddedStore
from tests.store import contract
from tests.store.graphs import change, filed, fresh_graph, many

GRAPH = "http://example.org/graph/embedded"
OTHER = "http://example.org/graph/other"
ROOT = Path(__file__).resolve().parents[2]
room = contract.room


class TestContract(contract.StoreContract):
    @pytest.fixture(scope="class")
    @classmethod
    def store(cls) -> Iterator[EmbeddedStore]:
        with tempfile.TemporaryDirectory() as folder:
            store = EmbeddedStore(Path(folder))
            yield store
            store.close()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EmbeddedStore]:
    store = EmbeddedStore(tmp_path / "store")
    yield store
    store.close()


def child(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run tests/store/victim.py, which works on the store and may die of it."""
    return subprocess.run(
        [sys.executable, "-m", "tests.store.victim", *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=240,
    )


def test_a_second_process_is_refused_with_who_writes(tmp_path: Path) -> None:
    """RocksDB's own message names neither the process nor what to do."""
    script = "import sys; from tests.store.victim import hold; hold(sys.argv[1])"
    writer = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert writer.stdin is not None and writer.stdout is not None
    with writer, writer.stdin:
        assert writer.stdout.readline() == b"open\n"
        with pytest.raises(StoreError, match=f"process {writer.pid};") as caught:
            EmbeddedStore(tmp_path)
        assert caught.value.retriable
    EmbeddedStore(tmp_path).close()


def test_what_was_written_is_there_after_reopening(tmp_path: Path) -> None:
    """A restart finds the store as it was left."""
    lines = set(many(GRAPH, 40))
    first = EmbeddedStore(tmp_path / "store")
    first.apply(GRAPH, change(tmp_path, set(), lines))
    first.close()
    second = EmbeddedStore(tmp_path / "store")
    assert set(second.dump(GRAPH)) == lines
    second.close()


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    """Closing twice is harmless, using a closed store is an error with a message."""
    store = EmbeddedStore(tmp_path)
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.count(GRAPH)


def test_a_change_of_many_lines_is_loaded_in_bulk(store: EmbeddedStore, tmp_path: Path) -> None:
    """The bulk way gives the same graph as transactions do, and again."""
    lines = set(many(GRAPH, BULK_FROM + 5))
    for _ in range(2):
        store.apply(GRAPH, change(tmp_path, set(), lines))
        assert (store.count(GRAPH), set(store.dump(GRAPH))) == (len(lines), lines)


@pytest.mark.parametrize("number", [8, BULK_FROM])
def test_lines_of_another_graph_are_refused(store: EmbeddedStore, tmp_path: Path, number: int) -> None:
    """A wrong file must not reach another provider's graph."""
    wrong = set(many(OTHER, number))
    with pytest.raises(StoreError, match="another graph"):
        store.apply(GRAPH, change(tmp_path, set(), wrong))
    with pytest.raises(StoreError, match="another graph"):
        store.apply(GRAPH, change(tmp_path, wrong, set()))
    with pytest.raises(StoreError, match="another graph"):
        store.replace_graph(GRAPH, wrong)
    assert store.graphs() == []


def test_a_line_that_is_cut_off_is_refused(store: EmbeddedStore, tmp_path: Path) -> None:
    """A truncated file is reported, and not loaded as far as it goes."""
    path = tmp_path / "cut.nq"
    path.write_bytes(b"".join(many(GRAPH, 8))[:-7])
    with path.open("rb") as stream, pytest.raises(StoreError, match="cut off"):
        store.load(GRAPH, stream)
    assert store.graphs() == []


def test_a_stream_is_loaded_while_it_grows(store: EmbeddedStore) -> None:
    """Loading may begin before the last line is made: a pipe is enough."""
    lines = many(GRAPH, 40_000)
    producer = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert producer.stdin is not None and producer.stdout is not None
    with producer, tempfile.TemporaryFile() as source:
        source.write(b"".join(lines))
        source.seek(0)
        feeder = subprocess.Popen(["cat"], stdin=source, stdout=producer.stdin)
        producer.stdin.close()
        assert store.load(GRAPH, producer.stdout) == len(lines)
        feeder.wait()
    assert store.count(GRAPH) == len(lines)


class ProducerError(Exception):
    """What the maker of a stream raises."""


class Broken(io.BytesIO):
    """A stream that fails after its lines."""

    def read(self, size: int | None = -1) -> bytes:
        if found := super().read(size):
            return found
        raise ProducerError("the producer failed")


def test_a_stream_that_fails_leaves_the_store_as_it_was(store: EmbeddedStore, tmp_path: Path) -> None:
    """The producer's own error arrives, nothing of its lines is there, and the load can be tried again at once."""
    before = set(many(GRAPH, 8, "before"))
    store.apply(GRAPH, change(tmp_path, set(), before))
    lines = many(GRAPH, 40)
    with pytest.raises(ProducerError, match="the producer failed") as caught:
        store.load(GRAPH, Broken(b"".join(lines)))
    assert set(store.dump(GRAPH)) == before
    assert store.load(GRAPH, io.BytesIO(b"".join(lines))) == 40
    assert set(store.dump(GRAPH)) == before | set(lines)
    del caught


def test_an_iterator_outlives_the_store_it_began_in(store: EmbeddedStore, tmp_path: Path) -> None:
    """`verify` may read while another provider is loaded for the first time."""
    lines = many(GRAPH, 12_000)
    store.apply(GRAPH, change(tmp_path, set(), set(lines)))
    dump = store.dump(GRAPH)
    seen = [next(dump)]
    store.load(OTHER, io.BytesIO(b"".join(many(OTHER, 40))))
    assert sorted([*seen, *dump]) == lines


def test_rebuilding_takes_the_snapshots_and_the_kept_graphs_and_no_others(store: EmbeddedStore, tmp_path: Path) -> None:
    """What is neither given nor kept was forgotten."""
    kept, gone, given = fresh_graph(), fresh_graph(), fresh_graph()
    for graph in (kept, gone, given):
        store.apply(graph, change(tmp_path / "old", set(), set(many(graph, 40, "old"))))
    snapshot = filed(tmp_path / "new.nq", many(given, 60, "new"))
    store.rebuild([snapshot, filed(tmp_path / "empty.nq", [])], keep=[kept, "http://example.org/graph/never"])
    assert store.graphs() == sorted([kept, given])
    assert sorted(store.dump(kept)) == many(kept, 40, "old")
    assert sorted(store.dump(given)) == many(given, 60, "new")


def test_a_rebuild_that_fails_leaves_the_old_store(store: EmbeddedStore, tmp_path: Path) -> None:
    """A damaged snapshot is reported, and readers and writer keep what they had."""
    before = set(many(GRAPH, 8))
    store.apply(GRAPH, change(tmp_path, set(), before))
    damaged = tmp_path / "damaged.nq"
    damaged.write_bytes(many(OTHER, 4)[0] + f"<a> nonsense <{OTHER}> .\n".encode())
    with pytest.raises(StoreError, match="could not be rebuilt"):
        store.rebuild([damaged])
    assert (store.graphs(), set(store.dump(GRAPH))) == ([GRAPH], before)


def test_a_published_copy_stays_as_it_was(store: EmbeddedStore, tmp_path: Path) -> None:
    """Readers of a copy see nothing of what is written later."""
    lines = set(many(GRAPH, 40))
    store.apply(GRAPH, change(tmp_path, set(), lines))
    store.publish(tmp_path / "copy")
    store.drop(GRAPH)
    copy = pyoxigraph.Store.read_only(str(tmp_path / "copy"))
    assert len(copy) == 40
    with pytest.raises(StoreError, match="could not be copied"):
        store.publish(tmp_path / "copy")


@pytest.mark.parametrize("batch", range(1, 9))
def test_a_change_killed_before_any_batch_is_made_good(tmp_path: Path, batch: int) -> None:
    """SIGKILL between two batches leaves a store that opens, and in which the change ends right."""
    before, after = set(many(GRAPH, 12, "before")), set(many(GRAPH, 12, "after"))
    work = change(tmp_path, before, after, after)
    store = EmbeddedStore(tmp_path / "store")
    store.apply(GRAPH, change(tmp_path / "fill", set(), before))
    store.close()
    ended = child("apply", tmp_path / "store", GRAPH, tmp_path, batch)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    store = EmbeddedStore(tmp_path / "store")
    assert set(store.dump(GRAPH)) != after
    store.apply(GRAPH, work)
    assert set(store.dump(GRAPH)) == after
    store.close()


@pytest.mark.parametrize("what", ["load", "rebuild"])
def test_a_replacement_that_is_killed_leaves_the_old_store_and_no_rubbish(tmp_path: Path, what: str) -> None:
    """SIGKILL while the new store grows: the next start uses the old one and removes the other."""
    before = set(many(GRAPH, 40))
    store = EmbeddedStore(tmp_path / "store")
    store.apply(GRAPH, change(tmp_path, set(), before))
    store.close()
    ended = child(what, tmp_path / "store", OTHER, tmp_path, 1)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    assert len(list((tmp_path / "store").glob("working-*"))) == 2
    store = EmbeddedStore(tmp_path / "store")
    assert len(list((tmp_path / "store").glob("working-*"))) == 1
    assert (store.graphs(), set(store.dump(GRAPH))) == ([GRAPH], before)
    store.close()


def test_a_full_disk_is_reported_and_the_change_can_be_applied_again(tmp_path: Path) -> None:
    """A limit on file size stands in for the full disk; after it is lifted nothing is lost or doubled."""
    lines = set(many(GRAPH, BULK_FROM))
    work = change(tmp_path, set(), lines)
    ended = child("apply", tmp_path / "store", GRAPH, tmp_path, 0, 100_000)
    assert ended.returncode == 3 and "could not be written" in ended.stdout, (ended.stdout, ended.stderr)
    store = EmbeddedStore(tmp_path / "store")
    store.apply(GRAPH, work)
    assert set(store.dump(GRAPH)) == lines
    store.close()


@pytest.mark.parametrize("number", [BULK_FROM - 1, BULK_FROM])
def test_a_store_that_stays_open_goes_on_after_a_full_disk(tmp_path: Path, number: int) -> None:
    """RocksDB refuses every write after one that failed; a platform that runs for months must not."""
    change(tmp_path, set(), set(many(GRAPH, number)))
    ended = child("again", tmp_path / "store", GRAPH, tmp_path, 0, 100_000)
    assert (ended.returncode, ended.stdout) == (0, f"{number}\n"), ended.stderr


def test_a_folder_that_cannot_be_one_is_reported(tmp_path: Path) -> None:
    """The message names the folder."""
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(StoreError, match=str(tmp_path / "file")):
        EmbeddedStore(tmp_path / "file")


def test_a_damaged_store_is_replaced_by_an_empty_one_and_reported(tmp_path: Path) -> None:
    """Whoever opened the store fills it again: what it held stands in generations and snapshots."""
    EmbeddedStore(tmp_path).close()
    (tmp_path / "working" / "CURRENT").write_bytes(b"MANIFEST-999999\n")
    store = EmbeddedStore(tmp_path)
    assert "the working store was damaged" in (store.trouble or "")
    assert store.graphs() == []
    store.close()
    store = EmbeddedStore(tmp_path)
    assert store.trouble is None
    store.close()


def test_a_store_that_cannot_be_opened_gives_its_lock_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opening may be tried again in the same process, once there is room."""

    def full(path: str) -> None:
        raise OSError(f"IO error: No space left on device: {path}")

    EmbeddedStore(tmp_path).close()
    with monkeypatch.context() as patched, pytest.raises(StoreError, match=r"cannot be opened.*No space left"):
        patched.setattr("sparql.store.handle.pyoxigraph.Store", full)
        EmbeddedStore(tmp_path)
    EmbeddedStore(tmp_path).close()
