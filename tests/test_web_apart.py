"""`harvest schedule` and `harvest web` as processes of their own over one data directory."""

from __future__ import annotations

import ctypes
import errno
import hashlib
import json
import os
import signal
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from harvest.errors import BusyError, StorageError
from harvest.model import ProviderLayout
from harvest.revise.versions import GraphFiles
from harvest.service.web import check_port, own_room
from sparql.web.server import reserve
from tests.pipeline.test_semantics import A1, A2, B1, C1, release
from tests.ports import free_port
from tests.provider import ProviderServer, serving
from tests.split import TOKEN, Split, entry, subjects
from tests.test_serve import WAIT_S
from tests.unprivileged import python, read_only, unprivileged


@pytest.fixture
def provider() -> Iterator[ProviderServer]:
    with serving() as server:
        yield server


@pytest.fixture
def split(tmp_path: Path, provider: ProviderServer) -> Iterator[Split]:
    made = Split(tmp_path, entry(provider.url))
    try:
        yield made
    finally:
        made.close()


def test_a_front_apart_shows_what_another_process_harvests(split: Split, provider: ProviderServer) -> None:
    """It waits for the first harvest, moves on by itself, and answers while the other is killed and started again."""
    release(provider, 1, A1)
    web = split.start("web")
    front = split.served(web)
    front.until(lambda: "waiting for the ledger" in split.log(), "the front that was started first")
    schedule = split.start("schedule")
    front.until(lambda: front.provider()["version"] == 1, "the first version")
    front.until(lambda: subjects(front) == ["http://x/a"], "the first generation")
    release(provider, 2, A2, B1)
    front.until(lambda: subjects(front) == ["http://x/a", "http://x/b"], "the second generation")
    front.until(lambda: front.provider()["version"] == 2, "the second version")
    split.end(schedule, signal.SIGKILL)
    release(provider, 3, C1)
    assert [front.provider()["version"], subjects(front)] == [2, ["http://x/a", "http://x/b"]]
    schedule = split.start("schedule")
    front.until(lambda: subjects(front) == ["http://x/c"], "the third generation")
    front.until(lambda: front.provider()["version"] == 3, "the third version")
    assert split.end(schedule, signal.SIGTERM) == 0, split.log()
    assert [front.provider()["version"], subjects(front)] == [3, ["http://x/c"]]
    assert split.end(web, signal.SIGTERM) == 0, split.log()


def test_a_signal_that_another_thread_gets_ends_a_part(split: Split, provider: ProviderServer) -> None:
    """The kernel may give it to any thread of a process, and the main thread then goes on waiting."""
    release(provider, 1, A1)
    schedule = split.start("schedule")
    web = split.start("web")
    front = split.served(web)
    front.until(lambda: subjects(front) == ["http://x/a"], "the first generation")
    for process in (web, schedule):
        thread = min({int(path.name) for path in Path(f"/proc/{process.pid}/task").iterdir()} - {process.pid})
        assert ctypes.CDLL(None).tgkill(process.pid, thread, signal.SIGTERM) == 0
        assert process.wait(WAIT_S) == 0, split.log()


def test_several_fronts_share_an_address(split: Split, provider: ProviderServer) -> None:
    """One that is killed takes its connections with it, the others take the next ones; each moves on by itself."""
    release(provider, 1, A1)
    split.start("schedule")
    fronts = [split.start("web", "--shared") for _ in range(2)]
    for each in map(split.served, fronts):
        each.until(lambda: split.listeners() == 2, "both fronts")
    first, second = map(split.served, fronts)
    second.until(lambda: subjects(second) == ["http://x/a"], "the first generation")
    assert split.end(first.process, signal.SIGKILL) == -signal.SIGKILL
    second.until(lambda: split.listeners() == 1, "its threads have let go of the socket")
    second.until(lambda: subjects(second) == ["http://x/a"], "the second front, which may just have begun")
    assert [subjects(second) for _ in range(20)] == [["http://x/a"]] * 20
    release(provider, 2, B1)
    third = split.served(split.start("web", "--shared"))
    third.until(lambda: split.listeners() == 2, "the third front")
    assert split.end(second.process, signal.SIGTERM) == 0, split.log()
    third.until(lambda: subjects(third) == ["http://x/b"], "the second generation")


def contents(folder: Path) -> dict[str, tuple[int, str]]:
    """Time and digest of each file below a folder; the time of each folder, which a new name changes."""
    found = {}
    for path in (folder, *folder.rglob("*")):
        digest = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        found[str(path)] = (path.lstat().st_mtime_ns, digest)
    return found


def test_a_front_writes_nothing_but_its_own_folder(split: Split, provider: ProviderServer) -> None:
    """Over a data directory of a killed harvester that it may not write, it answers all, and changes no byte."""
    release(provider, 1, A1)
    schedule = split.start("schedule")
    export = split.folder / "exports" / "p.nq.gz.sha256"
    other = split.served(schedule)
    other.until(export.exists, "the first export")
    first = export.read_bytes()
    release(provider, 2, A2, B1)
    other.until(lambda: export.read_bytes() != first, "the second export")
    split.end(schedule, signal.SIGKILL)
    (split.folder / "front").mkdir()
    with read_only(split.folder / "var"), read_only(split.folder / "exports"):
        before = contents(split.folder / "var") | contents(split.folder / "exports")
        front = split.served(split.start("web", before=tuple(unprivileged())))
        front.until(lambda: front.provider()["version"] == 2, "the front")
        assert subjects(front) == ["http://x/a", "http://x/b"]
        assert front.get("/providers/p/versions/1.nq").decode() == f"{A1} <http://h.example/graph/p> .\n"
        assert front.get("/providers/p/changes/2.nqud").count(b"\n") == 3
        for path in ("/", "/providers/p", "/providers/p/runs.json", "/exports/p.nq.gz", "/documents/", "/sparql"):
            assert front.get(path, "text/html"), path
        assert json.loads(front.get("/status"))["ledger_problem"] is None
        refused = urllib.request.Request(
            f"{split.url}/sparql",
            b"CLEAR GRAPH <http://h.example/graph/p>",
            {"Content-Type": "application/sparql-update", "Authorization": f"Bearer {TOKEN}"},
        )
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(refused, timeout=240)
        with caught.value as answer:
            assert (answer.code, b"only reads" in answer.read()) == (403, True)
        assert contents(split.folder / "var") | contents(split.folder / "exports") == before
    assert (split.folder / "front" / "reading").is_dir()


def test_temporary_files_of_a_front_that_died_are_removed(tmp_path: Path) -> None:
    """Those of one that runs stay: several share the folder."""
    script = "import sys; from pathlib import Path; from harvest.service.web import own_room\n"
    left = Path(python(f"{script}print(own_room(Path(sys.argv[1])))", tmp_path).strip())
    assert left.is_dir()
    first = own_room(tmp_path)
    second = own_room(tmp_path)
    assert set(tmp_path.iterdir()) == {first, second}


def test_a_folder_that_cannot_be_written_is_named_with_the_setting(tmp_path: Path) -> None:
    """The data directory is where temporary files go by default, and it may be mounted read-only."""
    place = tmp_path / "reading"
    place.write_text("in the way")
    with pytest.raises(StorageError, match=r"reading.*scratch_dir"):
        own_room(place)


def test_a_port_is_shared_with_those_that_share_it() -> None:
    """A front beside another program, or beside one that is alone, would take nothing, or the other's requests."""
    for shared in (True, False):
        with closing(reserve("127.0.0.1", free_port(), shared=shared)) as other:
            other.listen()
            address = "{}:{}".format(*other.getsockname())
            with pytest.raises(BusyError, match="cannot be listened on"):
                check_port(address)
            if shared:
                check_port(address, shared=True)
                continue
            with pytest.raises(BusyError, match="harvest web --shared"):
                check_port(address, shared=True)


def test_a_version_is_made_on_another_file_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no hard link between the data directory and a `scratch_dir` on a volume of its own."""
    layout = ProviderLayout(tmp_path / "p")
    layout.folder.mkdir()
    layout.snapshot_of(1).write_bytes(b"a line\n")
    layout.snapshot.symlink_to(layout.snapshot_of(1).name)

    def link(source: Path, target: Path) -> None:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), str(source), None, str(target))

    monkeypatch.setattr(os, "link", link)
    assert GraphFiles(layout).at(1, 1, tmp_path).read_bytes() == b"a line\n"
