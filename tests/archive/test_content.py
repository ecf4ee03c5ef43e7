"""Filed bytes stand under their digest, whole or not at all."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from harvest.archive.content import ContentStore
from harvest.errors import StorageError, UnknownName
from tests.unprivileged import ROOT, python

BYTES = b"<http://example.org/s> <http://example.org/p> <http://example.org/o> .\n" * 100
DIGEST = hashlib.sha256(BYTES).hexdigest()


@pytest.fixture
def store(tmp_path: Path) -> ContentStore:
    made = ContentStore(tmp_path / "content")
    made.prepare()
    return made


def incoming(store: ContentStore, data: bytes = BYTES, name: str = "body") -> Path:
    path = store.incoming / name
    path.write_bytes(data)
    return path


def files(store: ContentStore) -> dict[str, bytes]:
    """All files of the store, by their path in it."""
    return {str(p.relative_to(store.root)): p.read_bytes() for p in store.root.rglob("*") if p.is_file()}


def test_bytes_stand_under_their_digest(store: ContentStore) -> None:
    """Two levels of folders and the digest, as Preston has it."""
    assert not store.holds(DIGEST)
    place = store.file(incoming(store), DIGEST)
    assert place == store.path(DIGEST) == store.root / DIGEST[:2] / DIGEST[2:4] / DIGEST
    assert store.holds(DIGEST)
    assert files(store) == {f"{DIGEST[:2]}/{DIGEST[2:4]}/{DIGEST}": BYTES}
    assert store.verify(DIGEST)


def test_the_same_bytes_are_filed_once(store: ContentStore) -> None:
    """The file that is there stays, for somebody may be reading it; the new one goes."""
    first = store.file(incoming(store), DIGEST).stat()
    again = store.file(incoming(store, name="again"), DIGEST).stat()
    assert (again.st_ino, again.st_mtime_ns) == (first.st_ino, first.st_mtime_ns)
    assert len(files(store)) == 1


def test_a_filed_copy_of_another_size_is_replaced(store: ContentStore) -> None:
    """It was damaged; the good bytes have just come again."""
    place = store.file(incoming(store), DIGEST)
    place.write_bytes(BYTES[:-1])
    store.file(incoming(store), DIGEST)
    assert store.verify(DIGEST)


@pytest.mark.parametrize(
    "name",
    ["", "a", DIGEST[:-1], DIGEST + "0", DIGEST.upper(), DIGEST[:-1] + "g", "../" + DIGEST, DIGEST + "\n", "x" * 64],
)
def test_what_is_no_digest_is_refused(store: ContentStore, name: str) -> None:
    """A name comes from a URL; it must not lead out of the store."""
    source = incoming(store)
    for ask in (store.path, store.holds, store.verify, lambda digest: store.file(source, digest)):
        with pytest.raises(UnknownName, match="is not a SHA-256 in 64 lower-case hex digits"):
            ask(name)
    assert source.exists()


def test_bytes_that_are_not_filed_are_unknown(store: ContentStore) -> None:
    """The page answers 404 for that, and verifying does not call them sound."""
    for ask in (store.path, store.verify):
        with pytest.raises(UnknownName, match=DIGEST):
            ask(DIGEST)


def test_filing_what_is_filed_leaves_it(store: ContentStore) -> None:
    """Moving it onto itself must not remove it."""
    place = store.file(incoming(store), DIGEST)
    assert store.file(place, DIGEST) == place
    assert store.verify(DIGEST)


def test_removed_bytes_are_gone(store: ContentStore) -> None:
    """Removed bytes can be filed again."""
    store.file(incoming(store), DIGEST)
    assert store.remove(DIGEST) == len(BYTES)
    assert not store.holds(DIGEST)
    with pytest.raises(UnknownName):
        store.remove(DIGEST)
    store.file(incoming(store), DIGEST)
    assert store.verify(DIGEST)


@pytest.mark.parametrize(
    "damaged", [BYTES[:-1], BYTES + b"\n", b"x" + BYTES[1:], b""], ids=["cut", "longer", "other", "empty"]
)
def test_damage_is_found(store: ContentStore, damaged: bytes) -> None:
    """Disks rot."""
    store.file(incoming(store), DIGEST).write_bytes(damaged)
    assert not store.verify(DIGEST)


def test_what_a_crash_left_is_removed_at_the_start(store: ContentStore) -> None:
    """Half a download is nobody's; what is filed stays."""
    store.file(incoming(store), DIGEST)
    incoming(store, b"half", "one")
    incoming(store, b"", "two")
    ContentStore(store.root).prepare()
    assert list(files(store).values()) == [BYTES]


def test_a_kill_at_any_time_leaves_whole_bytes_or_none(tmp_path: Path) -> None:
    """Under its digest stands all of it; a leftover stands in `incoming` only."""
    script = """
        import hashlib, sys
        from pathlib import Path
        from harvest.archive.content import ContentStore
        store = ContentStore(Path(sys.argv[1]))
        store.prepare()
        print(flush=True)
        for n in range(10**6):
            data = str(n).encode() * 5000
            path = store.incoming / str(n)
            path.write_bytes(data)
            store.file(path, hashlib.sha256(data).hexdigest())
    """
    store = ContentStore(tmp_path / "content")
    for _ in range(3):
        process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(script), store.root],
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
        )
        assert process.stdout is not None
        assert process.stdout.readline()
        while len(list(store.root.glob("??/??/*"))) < 20:
            assert process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        filed = list(store.root.glob("??/??/*"))
        assert len(filed) >= 20
        assert all(store.verify(path.name) for path in filed)
        store.prepare()
        assert list(store.incoming.iterdir()) == []


def test_a_store_that_cannot_be_written_is_reported(store: ContentStore) -> None:
    """The bytes stay where they came in, and the error is retriable."""
    source = incoming(store)
    store.root.chmod(0o555)
    try:
        printed = python(
            """
            import sys
            from pathlib import Path
            from harvest.archive.content import ContentStore
            from harvest.errors import StorageError
            try:
                ContentStore(Path(sys.argv[1])).file(Path(sys.argv[2]), sys.argv[3])
            except StorageError as error:
                print(error.retriable, error)
            """,
            store.root,
            source,
            DIGEST,
        )
    finally:
        store.root.chmod(0o755)
    assert printed.startswith(f"True {source} cannot be filed as ")
    assert source.read_bytes() == BYTES


def test_a_file_that_is_gone_is_reported(store: ContentStore) -> None:
    """The error is a StorageError, not an OSError that nobody catches."""
    with pytest.raises(StorageError, match="cannot be filed"):
        store.file(store.incoming / "gone", DIGEST)


def test_what_a_crash_left_on_its_way_is_removed(store: ContentStore) -> None:
    """Files, and the folders into which bundles are opened."""
    incoming(store)
    (store.incoming / "bundle" / "data").mkdir(parents=True)
    (store.incoming / "bundle" / "data" / "a.nt").write_bytes(BYTES)
    store.prepare()
    assert list(store.incoming.iterdir()) == []
