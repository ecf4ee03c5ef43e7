"""Exports hold what is committed, are written only for what changed, and never by halves."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyoxigraph
import pytest

from harvest.errors import StorageError, UnknownName
from harvest.model import About, Statistics
from harvest.publish.description import MOST, ExportedGraph
from harvest.publish.exports import export, read_index
from sparql.rdf import DCTERMS, VOID
from tests.unprivileged import ROOT, python

BASE = "http://localhost:8080"
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
NAMES = [f"p{n}" for n in range(10)]
DESCRIPTION = {"void.ttl", "void.ttl.sha256"}
LIST = {"index.json", "index.json.sha256"}


class Graphs:
    """Ten providers with snapshots, and what exporting them did."""

    def __init__(self, root: Path) -> None:
        self.folder = root / "exports"
        self.snapshots = root / "snapshots"
        self.snapshots.mkdir()
        self.asked: list[str] = []
        self.now = NOW
        self.subjects: dict[str, ExportedGraph] = {}
        for name in NAMES:
            self.commit(name, 1)

    def text(self, name: str, version: int) -> bytes:
        line = f"<http://example.org/{{}}> <http://example.org/p> <http://example.org/o> <{BASE}/graph/{name}> .\n"
        return "".join(line.format(f"{n:05d}") for n in range(100 + version)).encode()

    def commit(self, name: str, version: int, modified: str | None = "2026-11-01T00:00:00+00:00") -> None:
        """A new version of a provider."""
        path = self.snapshots / f"{name}.nq"
        path.write_bytes(self.text(name, version))

        def snapshot() -> Path:
            self.asked.append(name)
            return path

        counts = version, 100 + version
        digest = hashlib.sha256(self.text(name, version)).hexdigest()
        self.subjects[name] = ExportedGraph(name, f"{BASE}/graph/{name}", *counts, modified, snapshot, None, digest)

    def export(self, base_url: str = BASE) -> list[str]:
        """Export, a minute later than before, and see to it that all is as it must be."""
        self.now += timedelta(minutes=1)
        self.asked.clear()
        changed = export(self.folder, base_url, list(self.subjects.values()), self.now).files
        self.check()
        return changed

    def check(self) -> None:
        """The files are those of the providers, hold their graphs, and are described rightly."""
        whole = b"".join(self.text(name, subject.version) for name, subject in self.subjects.items())
        wanted = {f"{name}.nq.gz": self.text(name, s.version) for name, s in self.subjects.items()} | {
            "all.nq.gz": whole
        }
        sums = {f"{name}.sha256" for name in (*wanted, "index.json", "void.ttl")}
        assert {path.name for path in self.folder.iterdir()} == {*wanted, *sums, "index.json", "void.ttl"}
        index = read_index(self.folder)
        assert {entry.file for entry in index.values()} == set(wanted)
        for entry in index.values():
            packed = (self.folder / entry.file).read_bytes()
            assert gzip.decompress(packed) == wanted[entry.file]
            assert (entry.bytes, entry.sha256) == (len(packed), hashlib.sha256(packed).hexdigest())
            assert entry.triples == wanted[entry.file].count(b"\n")
        subprocess.run(["sha256sum", "--check", "--strict", "--quiet", *sorted(sums)], cwd=self.folder, check=True)

    def state(self) -> dict[str, tuple[int, int]]:
        """The inode and the time of each file, which change when it is written."""
        return {path.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in self.folder.iterdir()}

    def rewritten(self, before: dict[str, tuple[int, int]]) -> set[str]:
        return {name for name, state in self.state().items() if before.get(name) != state}


@pytest.fixture
def graphs(tmp_path: Path) -> Graphs:
    return Graphs(tmp_path)


def test_the_first_export_writes_everything(graphs: Graphs) -> None:
    """Each provider's graph, all together, digests and descriptions."""
    assert sorted(graphs.export()) == sorted([*(f"{name}.nq.gz" for name in NAMES), "all.nq.gz"])
    assert graphs.asked == NAMES


def test_nothing_new_writes_nothing(graphs: Graphs) -> None:
    """Not one file, and no snapshot is asked for: folding changes into one is work."""
    graphs.export()
    before = graphs.state()
    assert graphs.export() == []
    assert graphs.rewritten(before) == set()
    assert graphs.asked == []


def test_one_changed_provider_rewrites_its_file_and_the_whole(graphs: Graphs) -> None:
    """The other nine keep file, inode and time, so their downloads stay cached and resumable."""
    graphs.export()
    before = graphs.state()
    graphs.commit("p3", 2)
    assert graphs.export() == ["p3.nq.gz", "all.nq.gz"]
    data = {"p3.nq.gz", "p3.nq.gz.sha256", "all.nq.gz", "all.nq.gz.sha256"}
    assert graphs.rewritten(before) == data | DESCRIPTION | LIST
    assert graphs.asked == ["p3"]


@pytest.mark.parametrize("file", ["p3.nq.gz", "all.nq.gz", "index.json", "void.ttl"])
def test_a_lost_digest_is_written_without_the_data(graphs: Graphs, file: str) -> None:
    """Exports of before digests of the list were made have none, and need no new data."""
    graphs.export()
    before = graphs.state()
    (graphs.folder / f"{file}.sha256").unlink()
    assert graphs.export() == []
    assert graphs.rewritten(before) == {f"{file}.sha256"}


def test_a_damaged_list_is_not_believed(graphs: Graphs) -> None:
    """A digest in it may be wrong, so everything is written again with its own."""
    graphs.export()
    index = graphs.folder / "index.json"
    index.write_text(index.read_text().replace(read_index(graphs.folder)["p3"].sha256, "0" * 64))
    assert len(graphs.export()) == len(NAMES) + 1


def test_a_damaged_description_is_written_again(graphs: Graphs) -> None:
    """It costs nothing to make it, so nobody need call for it."""
    graphs.export()
    before = graphs.state()
    (graphs.folder / "void.ttl").write_text("@prefix")
    assert graphs.export() == []
    assert graphs.rewritten(before) == DESCRIPTION


def test_the_same_graph_gives_the_same_bytes(graphs: Graphs) -> None:
    """No time and no name inside, so that digests compare between instances."""
    graphs.export()
    first = {path.name: path.read_bytes() for path in graphs.folder.glob("*.gz*")}
    shutil.rmtree(graphs.folder)
    graphs.export()
    assert {path.name: path.read_bytes() for path in graphs.folder.glob("*.gz*")} == first


def test_the_whole_is_the_members_of_all_one_after_another(graphs: Graphs) -> None:
    """So it costs no compressing; any gzip reader takes it for one file."""
    graphs.export()
    members = b"".join((graphs.folder / f"{name}.nq.gz").read_bytes() for name in NAMES)
    assert (graphs.folder / "all.nq.gz").read_bytes() == members
    unpacked = subprocess.run(
        ["gzip", "--decompress", "--stdout", "all.nq.gz"], cwd=graphs.folder, capture_output=True, check=True
    )
    assert unpacked.stdout == b"".join(graphs.text(name, 1) for name in NAMES)


def test_no_provider_gives_an_empty_whole(graphs: Graphs) -> None:
    """A new instance has something to download, and it is valid gzip."""
    graphs.subjects.clear()
    assert graphs.export() == ["all.nq.gz"]
    assert graphs.export() == []


def test_an_empty_graph_is_a_file_too(graphs: Graphs) -> None:
    """A provider may end up without a statement."""
    empty = graphs.snapshots / "empty.nq"
    empty.touch()
    made = export(graphs.folder, BASE, [ExportedGraph("e", f"{BASE}/graph/e", 1, 0, None, lambda: empty)], NOW)
    assert made.files == ["e.nq.gz", "all.nq.gz"]
    assert gzip.decompress((graphs.folder / "e.nq.gz").read_bytes()) == b""


def test_a_provider_that_is_gone_takes_its_files_along(graphs: Graphs) -> None:
    """Forgotten is forgotten, in the whole and in the descriptions too."""
    graphs.export()
    before = graphs.state()
    del graphs.subjects["p3"]
    assert graphs.export() == ["all.nq.gz"]
    assert graphs.rewritten(before) == {"all.nq.gz", "all.nq.gz.sha256"} | DESCRIPTION | LIST
    assert b"p3" not in (graphs.folder / "void.ttl").read_bytes()


def test_a_provider_that_comes_back_with_the_same_version_number_is_exported_anew(graphs: Graphs) -> None:
    """After `harvest forget` versions begin at 1 again; so they do in a new data directory beside old exports."""
    graphs.commit("p3", 1)
    graphs.export()
    path = graphs.snapshots / "p3.nq"
    other = graphs.text("p3", 1).replace(b"/o>", b"/x>")
    path.write_bytes(other)
    graphs.subjects["p3"] = replace(graphs.subjects["p3"], digest=hashlib.sha256(other).hexdigest())
    done = export(graphs.folder, BASE, list(graphs.subjects.values()), NOW)
    assert done.files == ["p3.nq.gz", "all.nq.gz"]
    assert gzip.decompress((graphs.folder / "p3.nq.gz").read_bytes()) == other


@pytest.mark.parametrize("exported", [True, False])
def test_a_damaged_snapshot_is_not_exported_and_keeps_nobody_waiting(graphs: Graphs, exported: bool) -> None:
    """Its provider keeps the last export, if it has one; the others are brought to their versions."""
    if exported:
        graphs.export()
        before = (graphs.folder / "p3.nq.gz").read_bytes()
    for name in ("p3", "p4"):
        graphs.commit(name, 2)
    (graphs.snapshots / "p3.nq").write_bytes(graphs.text("p3", 2)[:-100])
    done = export(graphs.folder, BASE, list(graphs.subjects.values()), NOW)
    assert list(done.damaged) == ["p3"] and "version 2 of p3 is damaged" in done.damaged["p3"].message
    assert gzip.decompress((graphs.folder / "p4.nq.gz").read_bytes()) == graphs.text("p4", 2)
    if exported:
        assert (graphs.folder / "p3.nq.gz").read_bytes() == before
    else:
        assert not (graphs.folder / "p3.nq.gz").exists()


@pytest.mark.parametrize("file", ["p3.nq.gz", "all.nq.gz"])
@pytest.mark.parametrize("harm", ["gone", "cut"])
def test_a_data_file_that_was_harmed_is_written_again(graphs: Graphs, file: str, harm: str) -> None:
    """People clean up folders, and disks fill up."""
    graphs.export()
    path = graphs.folder / file
    if harm == "gone":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:-5])
    assert file in graphs.export()


@pytest.mark.parametrize("index", [None, b"", b"{", b"[]", b'{"p1": {"file": "p1.nq.gz"}}', b'{"p1": 3}', b"\xff"])
def test_an_index_that_cannot_be_used_is_written_again(graphs: Graphs, index: bytes | None) -> None:
    """It may be gone, cut off, or of another version of the platform."""
    graphs.export()
    path = graphs.folder / "index.json"
    path.unlink()
    if index is not None:
        path.write_bytes(index)
    assert len(graphs.export()) == 11


def test_a_reader_keeps_the_whole_old_file(graphs: Graphs) -> None:
    """A download of hours runs on while the export is replaced."""
    graphs.export()
    old = (graphs.folder / "all.nq.gz").read_bytes()
    with (graphs.folder / "all.nq.gz").open("rb") as reader:
        begun = reader.read(100)
        graphs.commit("p3", 2)
        graphs.export()
        assert begun + reader.read() == old
    assert (graphs.folder / "all.nq.gz").read_bytes() != old


def test_the_description_is_void_and_names_the_files(graphs: Graphs) -> None:
    """Its dumps are the files that are there, each with its size, digest, count and date."""
    graphs.export()
    quads = list(pyoxigraph.parse(path=graphs.folder / "void.ttl"))
    dumps = {q.object.value: q.subject.value for q in quads if q.predicate.value == VOID + "dataDump"}
    assert dumps == {f"{BASE}/exports/{name}.nq.gz": f"{BASE}/graph/{name}" for name in NAMES} | {
        f"{BASE}/exports/all.nq.gz": f"{BASE}/.well-known/void#all"
    }
    for url in dumps:
        said = {q.predicate.value.rpartition("#")[2]: q.object.value for q in quads if q.subject.value == url}
        packed = (graphs.folder / url.rpartition("/")[2]).read_bytes()
        assert int(said["byteSize"]) == len(packed)
        assert said["checksumValue"] == hashlib.sha256(packed).hexdigest()
    subsets = {q.object.value for q in quads if q.predicate.value == VOID + "subset"}
    assert subsets == {f"{BASE}/graph/{name}" for name in NAMES}
    counts = {q.subject.value: q.object.value for q in quads if q.predicate.value == VOID + "triples"}
    assert counts[f"{BASE}/graph/p1"] == "101"
    assert counts[f"{BASE}/.well-known/void#all"] == "1010"


def test_a_date_that_moves_without_the_data_moves_in_the_description_alone(graphs: Graphs) -> None:
    """An unchanged harvest says that the graph is still right; no download must be repeated for that."""
    graphs.export()
    before = graphs.state()
    graphs.subjects["p3"] = replace(graphs.subjects["p3"], modified="2026-11-19T00:00:00+00:00")
    assert graphs.export() == []
    assert graphs.rewritten(before) == DESCRIPTION
    dates = [
        q.object.value
        for q in pyoxigraph.parse(path=graphs.folder / "void.ttl")
        if q.predicate.value == DCTERMS + "modified"
    ]
    assert sorted(set(dates)) == ["2026-11-01T00:00:00Z", "2026-11-19T00:00:00Z"]


def test_a_new_public_address_is_in_the_description_alone(graphs: Graphs) -> None:
    """The data name graphs, and those never change."""
    graphs.export()
    before = graphs.state()
    assert graphs.export("https://data.example.org") == []
    assert graphs.rewritten(before) == DESCRIPTION


def test_a_snapshot_that_cannot_be_made_leaves_the_old_files(graphs: Graphs) -> None:
    """The error goes to who asked, and the next try starts clean."""
    graphs.export()
    before = graphs.state()

    def missing() -> Path:
        raise UnknownName("there is no version 2")

    good = graphs.subjects["p3"]
    graphs.subjects["p3"] = replace(good, version=2, snapshot=missing)
    with pytest.raises(UnknownName):
        graphs.export()
    graphs.subjects["p3"] = replace(good, version=2, snapshot=lambda: graphs.snapshots / "gone")
    with pytest.raises(StorageError, match="gone"):
        graphs.export()
    assert graphs.state() == before
    graphs.commit("p3", 2)
    assert graphs.export() == ["p3.nq.gz", "all.nq.gz"]


EXPORT = """
    import resource, sys
    from datetime import UTC, datetime
    from pathlib import Path
    from harvest.errors import StorageError
    from harvest.publish.description import ExportedGraph
    from harvest.publish.exports import export
    folder, snapshot, limit = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    if limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    subject = ExportedGraph("p1", "http://localhost:8080/graph/p1", 2, 102, None, lambda: snapshot)
    try:
        export(folder, "http://localhost:8080", [subject], datetime.now(UTC))
    except StorageError as error:
        print(error.retriable, error)
"""


def whole(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_description_names_title_licence_and_publisher_of_each_dataset(tmp_path: Path) -> None:
    """Who finds the data by the description has to know what they are, and what may be done with them."""
    snapshot = tmp_path / "s.nq"
    snapshot.write_bytes(b"")
    free, g = "http://creativecommons.org/publicdomain/zero/1.0/", f"{BASE}/graph/"
    one = About("http://d/v#one", "One", "All of it.", free, "The Institute: ships", "http://d/")
    two = About("http://d/v#two", "Two", licence="free for all", publisher="http://d/me")
    given = {"a": (one,), "b": (one, two), "c": (About("no iri", "Nothing", homepage="javascript alert"),)}
    subjects = [ExportedGraph(n, g + n, 1, 0, None, lambda: snapshot, about=about) for n, about in given.items()]
    export(tmp_path / "exports", BASE, subjects, NOW)
    description = list(pyoxigraph.parse(path=tmp_path / "exports" / "void.ttl"))

    def said(subject: str) -> set[tuple[str, str]]:
        quads = (quad for quad in description if str(quad.subject) == f"<{subject}>")
        return {(re.split("[/#]", q.predicate.value)[-1], str(getattr(q.object, "value", ""))) for q in quads}

    what = {("title", "One"), ("license", free), ("publisher", "The Institute: ships"), ("homepage", "http://d/")}
    assert what < said("http://d/v#one") and what < said(f"{g}a")
    assert said("http://d/v#two") == {("title", "Two"), ("license", "free for all"), ("publisher", "http://d/me")}
    assert not {key for key, _ in said(f"{g}b")} & {"title", "license", "publisher"}
    assert {o for p, o in said(f"{g}b") if p == "wasDerivedFrom"} == {"http://d/v#one", "http://d/v#two"}
    assert ("title", "Nothing") in said(f"{g}c") and not any(p == "homepage" for p, _ in said(f"{g}c"))


def test_a_folder_that_cannot_be_written_leaves_the_old_files(graphs: Graphs) -> None:
    """Served on until somebody gives the rights back."""
    graphs.export()
    before = whole(graphs.folder)
    graphs.folder.chmod(0o555)
    try:
        printed = python(EXPORT, graphs.folder, graphs.snapshots / "p1.nq", 0)
    finally:
        graphs.folder.chmod(0o755)
    assert printed.startswith(f"True the exports in {graphs.folder} cannot be written: ")
    assert whole(graphs.folder) == before


@pytest.mark.parametrize("limit", [10, 200, 100_000])
def test_a_full_disk_leaves_the_old_files_and_nothing_else(graphs: Graphs, limit: int) -> None:
    """Half a file would take the room that is left, and hidden ones nobody would find."""
    graphs.export()
    before = whole(graphs.folder)
    digits = [hashlib.sha256(str(n).encode()).hexdigest() for n in range(20_000)]
    snapshot = graphs.snapshots / "large.nq"
    snapshot.write_text(
        "".join(f"<http://example.org/{digest}> <http://e/p> <http://e/o> <http://e/g> .\n" for digest in digits)
    )
    printed = python(EXPORT, graphs.folder, snapshot, limit)
    assert printed.startswith(f"True the exports in {graphs.folder} cannot be written: ")
    assert whole(graphs.folder) == before


def test_an_export_that_was_killed_is_made_good_by_the_next(graphs: Graphs) -> None:
    """At whatever write it dies: the index comes last, and what it does not name is written again."""
    graphs.export()
    graphs.commit("p3", 2)
    del graphs.subjects["p5"]
    script = """
        import hashlib, os, signal, sys
        from datetime import UTC, datetime
        from pathlib import Path
        from harvest.publish.description import ExportedGraph
        from harvest.publish.exports import export
        folder, snapshots, calls = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
        def count(event, args):
            global calls
            if event in ("os.rename", "os.remove") and str(folder) in str(args[0]):
                calls -= 1
                if calls == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
        sys.addaudithook(count)
        names = [f"p{n}" for n in range(10) if n != 5]
        subjects = [
            ExportedGraph(n, f"http://localhost:8080/graph/{n}", 1 + (n == "p3"), 101 + (n == "p3"), None,
                    lambda n=n: snapshots / f"{n}.nq", None,
                    hashlib.sha256((snapshots / f"{n}.nq").read_bytes()).hexdigest())
            for n in names
        ]
        export(folder, "http://localhost:8080", subjects, datetime.now(UTC))
        print("done")
    """
    start = whole(graphs.folder)
    for calls in range(1, 30):
        shutil.rmtree(graphs.folder)
        graphs.folder.mkdir()
        for name, data in start.items():
            (graphs.folder / name).write_bytes(data)
        done = _run(script, graphs.folder, graphs.snapshots, calls)
        json.loads((graphs.folder / "index.json").read_bytes())
        for path in graphs.folder.glob("*.gz"):
            gzip.decompress(path.read_bytes())
        graphs.export()
        if done:
            break
    assert 8 < calls < 29


def _run(script: str, *arguments: object) -> bool:
    """Whether a script came to its end; else it was killed."""
    command = [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)]
    done = subprocess.run(command, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, check=False)
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode == 0


def test_the_description_has_the_figures_of_each_graph(graphs: Graphs) -> None:
    """The most frequent properties and classes, the numbers of all; and nothing of a graph that was not counted."""
    properties = {f"http://example.org/p{n}": 1 + n // 2 for n in range(MOST + 50)}
    counted = Statistics(101, 77, properties, {"http://example.org/C": 5})
    graphs.subjects["p0"] = replace(graphs.subjects["p0"], statistics=counted)
    graphs.export()
    store = pyoxigraph.Store()
    store.load(path=str(graphs.folder / "void.ttl"))
    ask = f"PREFIX void: <{VOID}> ASK "
    node = f"<{BASE}/graph/p0>"
    assert store.query(ask + f"{{ {node} void:distinctSubjects 77 ; void:properties {MOST + 50} ; void:classes 1 }}")
    assert store.query(
        ask + f"{{ {node} void:classPartition [ void:class <http://example.org/C> ; void:entities 5 ] }}"
    )
    parts = {
        row.subject: row.object
        for row in store.quads_for_pattern(None, pyoxigraph.NamedNode(VOID + "property"), None, None)
    }
    assert len(parts) == MOST
    assert pyoxigraph.NamedNode("http://example.org/p49") not in parts.values()
    assert not store.query(ask + f"{{ <{BASE}/graph/p1> void:properties ?n }}")
    before = (graphs.folder / "void.ttl").stat().st_mtime_ns
    graphs.export()
    assert (graphs.folder / "void.ttl").stat().st_mtime_ns == before
