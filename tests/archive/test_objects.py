"""The archive in object storage: what is put there, what is read, and what errors say."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from harvest.archive.content import ContentStore
from harvest.archive.copying import copy
from harvest.archive.index import HAS_VERSION, ROOT, Index
from harvest.archive.layout import HashName, place
from harvest.archive.objects import PIECE, at
from harvest.errors import StorageError
from tests.objects import SECRET, ObjectServer, serving


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ObjectServer]:
    with serving(monkeypatch) as running:
        yield running


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
def test_what_is_filed_is_read_in_another_folder(tmp_path: Path, server: ObjectServer, size: int) -> None:
    """Small objects go in one request, large ones in parts, and both come back in ranges."""
    digest = filed(located(tmp_path / "a", server.url), b"x" * size)
    other = located(tmp_path / "b", server.url)
    assert other.holds(digest) and not other.place(digest).exists()
    assert other.verify(digest)
    assert other.path(digest).read_bytes() == b"x" * size
    assert list(other.incoming.iterdir()) == []


def test_an_archive_moves_there_and_back(tmp_path: Path, server: ObjectServer) -> None:
    """The setting may come and go: what is not where it is to be is copied first."""
    content = located(tmp_path / "a", "")
    digest = filed(content, b"before")
    content.locate(server.url)
    later = filed(content, b"after")
    assert list(at(server.url).names()) == sorted([digest, later])
    for each in (digest, later):
        content.place(each).unlink()
    content.locate("")
    server.stop()
    assert [content.path(each).read_bytes() for each in (digest, later)] == [b"before", b"after"]


def test_damaged_objects_are_noticed_and_mended(tmp_path: Path, server: ObjectServer) -> None:
    """The copy in the folder does not hide what has become of the object, and can be put in its place."""
    content = located(tmp_path / "a", server.url)
    digest = filed(content, b"right")
    for wrong in (b"wrong", None):
        if wrong is None:
            at(server.url).remove(digest)
        else:
            (tmp_path / "wrong").write_bytes(wrong)
            at(server.url).put(digest, tmp_path / "wrong", anew=True)
            assert not content.verify(digest)
        assert at(server.url).size(digest) == (None if wrong is None else len(wrong))
        assert content.mend(digest)
        assert content.verify(digest)
    content.place(digest).write_bytes(b"wrong")
    assert content.mend(digest)
    assert content.path(digest).read_bytes() == b"right"


def test_removed_bytes_are_gone_from_both(tmp_path: Path, server: ObjectServer) -> None:
    """Pruning leaves nothing behind."""
    content = located(tmp_path / "a", server.url)
    digest = filed(content, b"old")
    assert content.remove(digest) == 3
    assert not content.holds(digest)
    assert list(at(server.url).names()) == []


def test_two_instances_cannot_write_one_index(tmp_path: Path, server: ObjectServer) -> None:
    """An entry is created once, whoever asks first; the other one is an error, and nothing is overwritten."""
    first, second = (Index(located(tmp_path / name, server.url).root) for name in "ab")
    first.put(ROOT, HAS_VERSION, HashName("1" * 64))
    with pytest.raises(StorageError, match="another instance writes there"):
        second.put(ROOT, HAS_VERSION, HashName("2" * 64))
    assert second.first() == HashName("1" * 64)


def test_a_copy_has_what_no_folder_has(tmp_path: Path, server: ObjectServer) -> None:
    """Copying an archive reads the object storage."""
    digest = filed(located(tmp_path / "a", server.url), b"one")
    outcomes = [each.outcome for each in copy(located(tmp_path / "b", server.url).root, tmp_path / "copy")]
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
