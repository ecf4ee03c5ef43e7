"""The archive in object storage: what is put there, what is read, and what errors say."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harvest.archive.content import ContentStore
from harvest.archive.copying import copy
from harvest.archive.index import HAS_VERSION, ROOT, Index
from harvest.archive.layout import HashName, place
from harvest.archive.objects import PIECE, at, key
from harvest.errors import StorageError
from tests.objects import SECRET, ObjectFolder, ObjectServer, serving

HERE = Path(__file__).resolve().parents[2]
Storage = ObjectServer | ObjectFolder


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ObjectServer]:
    with serving(monkeypatch) as running:
        yield running


@pytest.fixture(params=["bucket", "folder"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Storage:
    """Both kinds of object storage."""
    if request.param == "bucket":
        server: ObjectServer = request.getfixturevalue("server")
        return server
    folder = ObjectFolder(tmp_path / "a share")
    folder.start()
    return folder


VICTIM = """
import os, signal, sys
from pathlib import Path
import obstore
from harvest.archive import content, storage
from tests.archive.test_objects import filed, located


def counted(call):
    def dying(*args, **names):
        global left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*args, **names)
    return dying


folder, url, left = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
archive = located(folder, url)
for module, name in ((obstore, "put"), (obstore, "rename"), (storage, "sync_file"), (storage, "sync_folder"),
                     (content, "sync_file"), (content, "sync_folder"), (Path, "replace")):
    setattr(module, name, counted(getattr(module, name)))
filed(archive, b"x" * 100)
"""


def located(folder: Path, url: str) -> ContentStore:
    content = ContentStore(folder)
    content.prepare()
    content.locate(url)
    return content


def filed(content: ContentStore, data: bytes) -> str:
    digest = hashlib.sha256(data).hexdigest()
    source = content.incoming / "new"
    source.write_bytes(data)
    content.file(source, digest)
    return digest


@pytest.mark.parametrize("size", [0, 1000, PIECE, PIECE + 1, 2 * PIECE + 7])
def test_what_is_filed_is_read_in_another_folder(tmp_path: Path, storage: Storage, size: int) -> None:
    """Small objects go in one request, large ones in parts, and both come back in ranges."""
    digest = filed(located(tmp_path / "a", storage.url), b"x" * size)
    other = located(tmp_path / "b", storage.url)
    assert other.holds(digest) and not other.place(digest).exists()
    assert other.verify(digest)
    assert other.path(digest).read_bytes() == b"x" * size
    assert list(other.incoming.iterdir()) == []


def test_an_archive_moves_there_and_back(tmp_path: Path, storage: Storage) -> None:
    """The setting may come and go: what is not where it is to be is copied first."""
    content = located(tmp_path / "a", "")
    digest = filed(content, b"before")
    content.locate(storage.url)
    later = filed(content, b"after")
    assert list(at(storage.url).names()) == sorted([digest, later])
    for each in (digest, later):
        content.place(each).unlink()
    content.locate("")
    storage.stop()
    assert [content.path(each).read_bytes() for each in (digest, later)] == [b"before", b"after"]


def test_damaged_objects_are_noticed_and_mended(tmp_path: Path, storage: Storage) -> None:
    """The copy in the folder does not hide what has become of the object, and can be put in its place."""
    content = located(tmp_path / "a", storage.url)
    digest = filed(content, b"right")
    for wrong in (b"wrong", None):
        if wrong is None:
            at(storage.url).remove(digest)
        else:
            (tmp_path / "wrong").write_bytes(wrong)
            at(storage.url).put(digest, tmp_path / "wrong", anew=True)
            assert not content.verify(digest)
        assert at(storage.url).size(digest) == (None if wrong is None else len(wrong))
        assert content.mend(digest)
        assert content.verify(digest)
    content.place(digest).write_bytes(b"wrong")
    assert content.mend(digest)
    assert content.path(digest).read_bytes() == b"right"


def test_removed_bytes_are_gone_from_both(tmp_path: Path, storage: Storage) -> None:
    """Pruning leaves nothing behind."""
    content = located(tmp_path / "a", storage.url)
    digest = filed(content, b"old")
    assert content.remove(digest) == 3
    assert not content.holds(digest)
    assert list(at(storage.url).names()) == []


def test_two_instances_cannot_write_one_index(tmp_path: Path, storage: Storage) -> None:
    """An entry is created once, whoever asks first; the other one is an error, and nothing is overwritten."""
    first, second = (Index(located(tmp_path / name, storage.url).root) for name in "ab")
    first.put(ROOT, HAS_VERSION, HashName("1" * 64))
    with pytest.raises(StorageError, match="another instance writes there"):
        second.put(ROOT, HAS_VERSION, HashName("2" * 64))
    assert second.first() == HashName("1" * 64)


def test_a_copy_has_what_no_folder_has(tmp_path: Path, storage: Storage) -> None:
    """Copying an archive reads the object storage."""
    digest = filed(located(tmp_path / "a", storage.url), b"one")
    outcomes = [each.outcome for each in copy(located(tmp_path / "b", storage.url).root, tmp_path / "copy")]
    assert outcomes == ["copied"]
    assert place(tmp_path / "copy", HashName(digest)).read_bytes() == b"one"


def test_a_missing_bucket_is_named(tmp_path: Path, server: ObjectServer) -> None:
    """The operator learns which bucket, and the folder stays as it was."""
    with pytest.raises(StorageError, match="s3://nowhere-at-all/x is in a bucket that does not exist"):
        located(tmp_path / "a", "s3://nowhere-at-all/x")
    located(tmp_path / "a", "")


def test_refused_credentials_are_not_shown(tmp_path: Path, server: ObjectServer) -> None:
    """The message names the variables and never their values."""
    server.refuse(all_keys=True)
    try:
        with pytest.raises(StorageError, match=r"refuses the credentials .*AWS_ACCESS_KEY_ID") as error:
            located(tmp_path / "a", server.url)
    finally:
        server.refuse(all_keys=False)
    assert SECRET not in str(error.value) and "harvester" not in str(error.value)


def test_without_credentials_nobody_is_asked(
    tmp_path: Path, server: ObjectServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the library looks for a cloud's own service, and waits."""
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    with pytest.raises(StorageError, match=r"no credentials for s3://.*: set AWS_ACCESS_KEY_ID"):
        located(tmp_path / "a", server.url)


def test_a_folder_that_is_missing_is_not_made(tmp_path: Path) -> None:
    """It may be a share that is not mounted; the data directory is no place for objects either."""
    with pytest.raises(StorageError, match=r"file:///.*/none is not there: make the folder, or mount it"):
        located(tmp_path / "a", f"file://{tmp_path}/none")
    assert not (tmp_path / "none").exists()
    for inside in (tmp_path / "a", tmp_path / "a" / "objects", tmp_path):
        inside.mkdir(exist_ok=True)
        with pytest.raises(StorageError, match="has to be apart from"):
            located(tmp_path / "a", f"file://{inside}")


def test_a_share_that_is_no_longer_mounted_is_not_filled(tmp_path: Path) -> None:
    """Neither by bytes that are filed, nor are those that cannot be read taken for missing."""
    share = ObjectFolder(tmp_path / "share")
    share.start()
    content = located(tmp_path / "a", share.url)
    digest = filed(content, b"one")
    content.place(digest).unlink()
    share.stop()
    for failing in (lambda: filed(content, b"two"), lambda: content.path(digest), lambda: content.holds(digest)):
        with pytest.raises(StorageError, match="the share is not mounted"):
            failing()
    assert list(share.folder.iterdir()) == []
    share.start()
    assert content.path(digest).read_bytes() == b"one"


def test_a_kill_between_bucket_and_folder_loses_nothing(tmp_path: Path, storage: Storage) -> None:
    """Before each write, sync and rename: what is there is whole, and the next start files what is missing."""
    digest, cuts = hashlib.sha256(b"x" * 100).hexdigest(), 0
    while True:
        folder = tmp_path / str(cuts)
        done = subprocess.run(
            [sys.executable, "-c", VICTIM, folder, storage.url, str(cuts)],
            env=os.environ | {"PYTHONPATH": str(HERE)},
            check=False,
            timeout=240,
        )
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL
        content = located(folder, storage.url)
        assert storage.listed() in ([], [key(digest)]) and list(content.incoming.iterdir()) == []
        assert content.holds(digest) == bool(storage.listed())
        assert filed(content, b"x" * 100) == digest and content.verify(digest)
        assert content.path(digest).read_bytes() == b"x" * 100
        at(storage.url).remove(digest)
        cuts += 1
    assert cuts == (12 if storage.url.startswith("file:") else 7)
