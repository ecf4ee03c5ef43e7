"""Damage in every kind of file: it is found, named with the command that mends it, and mended; nobody else waits."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from harvest.catalog.instance import InstanceCatalog
from harvest.errors import LedgerDamage
from harvest.pipeline import Harvester, opened
from harvest.pipeline.rebuild.prove import Proof
from harvest.publish import exports
from harvest.publish.description import ExportEntry
from harvest.service.orders import execute
from sparql.reports import to_json
from sparql.web.app import create_pages
from sparql.web.catalog import Site
from sparql.web.site import Context
from sparql.worker.limits import QueryLimits
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_crash import published
from tests.pipeline.test_semantics import release
from tests.provider import ProviderServer, serving

Place = Callable[[Path, dict[str, str]], Path]
HOW = ("flipped", "cut", "gone")
GRAPH = {f'<http://x/{i}> <http://p> "{i}"' for i in range(30)} | {'<http://x/late> <http://p> "1"'}


def harm(path: Path, how: str) -> None:
    """Damage a file in place, as a disk does: what is linked to it is damaged, too."""
    if how == "gone":
        path.unlink()
        return
    with path.open("r+b") as file:
        data = file.read()
        if how == "cut":
            file.truncate(len(data) // 2)
        else:
            file.seek(len(data) // 2)
            file.write(bytes([data[len(data) // 2] ^ 1]))


@pytest.fixture(scope="module")
def server() -> Iterator[ProviderServer]:
    with serving() as running:
        yield running


@pytest.fixture(scope="module")
def prepared(server: ProviderServer, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """An instance with two providers, logs, exports and a loaded seed; and the digests of some of its files."""
    instance = TemporaryInstance(tmp_path_factory.mktemp("prepared"))
    instance.register(f"p:\n  void: {server.url}/void.ttl\nq:\n  dump: {server.url}/q.nt\n")
    server.put("/q.nt", '<http://x/q> <http://p> "1" .\n')
    server.put("/seed.nt", '<http://x/seed> <http://p> "1" .\n')
    release(server, 1, *[f'<http://x/{i}> <http://p> "{i}"' for i in range(30)])
    for name in ("p", "q"):
        instance.tick(name)
    instance.harvester.export()
    release(server, 2, '<http://x/late> <http://p> "1"', partial=True)
    instance.tick("p")
    ledger = instance.harvester.instance.ledger
    ledger.seeds.add(f"{server.url}/seed.nt", instance.clock(), 86400)
    [seed] = to_json(instance.harvester.seeding.run([]))
    [graph] = instance.harvester.seeding.load(seed["hash"])
    [clean] = [document.hash for document in ledger.documents.loaded() if document.graph == graph]
    instance.harvester.export()
    assert instance.harvester.maintenance.prove_all() and all(
        proof.holds for proof in instance.harvester.maintenance.prove_all()
    )
    [dump] = ledger.runs("q")[0].dumps
    logs = [record.digest for record in reversed(ledger.downloads.logs())]
    found = {"capture": dump.sha256, "clean": clean, "first log": logs[0], "last log": logs[-1]}
    instance.close()
    return instance.folder, found


@pytest.fixture
def copy(prepared: tuple[Path, dict[str, str]], tmp_path: Path) -> TemporaryInstance:
    """A copy of the instance to do harm to; hard links stay hard links."""
    subprocess.run(["cp", "-a", f"{prepared[0]}/.", str(tmp_path)], check=True)
    return TemporaryInstance(tmp_path)


def content(name: str) -> Place:
    return lambda folder, known: folder / "var/content" / known[name][:2] / known[name][2:4] / known[name]


def at(path: str) -> Place:
    return lambda folder, known: folder / path


def of_store(which: str, pattern: str) -> Place:
    """
    The largest file of the working store, or of the current generation; one that both have before any other.

    What RocksDB wrote meanwhile of a few rows is properties for the most part, which nothing reads, or is not used.
    """

    def rank(path: Path) -> tuple[int, int]:
        return path.stat().st_nlink, path.stat().st_size

    def place(folder: Path, known: dict[str, str]) -> Path:
        return max((folder / "var/store" / which).resolve().glob(pattern), key=rank)

    return place


def entry(folder: Path, known: dict[str, str]) -> Path:
    """The index entry that names the last log."""
    wanted = f"hash://sha256/{known['last log']}"
    return next(p for p in (folder / "var/content").rglob("*") if p.is_file() and p.read_bytes() == wanted.encode())


FILED: dict[str, tuple[str | None, Place]] = {
    "change": ("p", at("var/providers/p/changes/000001.nqud.gz")),
    "snapshot": ("p", lambda folder, known: (folder / "var/providers/p/snapshot.nq").resolve()),
    "capture": ("q", content("capture")),
    "export": ("q", at("exports/q.nq.gz")),
    "first log": (None, content("first log")),
    "last log": (None, content("last log")),
    "index entry": (None, entry),
    "clean document": (None, content("clean")),
    "export of all": (None, at("exports/all.nq.gz")),
    "digest of an export": ("p", at("exports/p.nq.gz.sha256")),
    "digest of the export of all": (None, at("exports/all.nq.gz.sha256")),
    "dataset of a feed": ("q", at("var/resourcesync/q/dataset.nq")),
    "list of changes": ("p", at("var/resourcesync/p/changelist.xml")),
    "list of resources": ("q", at("var/resourcesync/q/resourcelist.xml")),
    "digests of a feed": ("p", at("var/resourcesync/p/feed.json")),
    "list of exports": (None, at("exports/index.json")),
    "digest of the list": (None, at("exports/index.json.sha256")),
    "description of exports": (None, at("exports/void.ttl")),
    "digest of the description": (None, at("exports/void.ttl.sha256")),
}
"""What is filed, by kind: whose it is, and where."""

STORED: dict[str, Place] = {
    "working SST": of_store("working", "*.sst"),
    "working MANIFEST": of_store("working", "MANIFEST-*"),
    "working CURRENT": of_store("working", "CURRENT"),
    "generation SST": of_store("current", "*.sst"),
    "generation MANIFEST": of_store("current", "MANIFEST-*"),
    "generation CURRENT": of_store("current", "CURRENT"),
}
"""What the store is made of, by kind."""


@contextmanager
def harvester(instance: TemporaryInstance, *, renew: bool = False) -> Iterator[Harvester]:
    with opened(instance.settings, instance.clock, renew=renew) as running:
        yield Harvester(running)


def verified(instance: TemporaryInstance) -> list[dict[str, Any]]:
    """What `harvest verify` finds wrong."""
    with harvester(instance) as at:
        answer = execute(at, "verify", [])
    wrong = [item for item in answer["results"] if not item["holds"]]
    assert answer["ok"] == (not wrong)
    return wrong


def rebuilt(instance: TemporaryInstance) -> dict[str, Any]:
    """What `harvest rebuild` says."""
    with harvester(instance, renew=True) as at:
        return execute(at, "rebuild", [])


def is_whole(instance: TemporaryInstance) -> None:
    """All is proven, and readers see what they saw."""
    assert verified(instance) == []
    assert published(instance) == GRAPH
    assert published(instance, "q") == {'<http://x/q> <http://p> "1"'}


@pytest.mark.parametrize("how", HOW)
def test_all_filed_damage_is_found_and_mended(
    how: str, copy: TemporaryInstance, prepared: tuple[Path, dict[str, str]]
) -> None:
    """One kind keeps none of the others from being found: provider, file and command are reported of each."""
    damaged_and_mended(copy, prepared[1], how, [kind for kind in FILED if "digest" not in kind])


@pytest.mark.parametrize("how", HOW)
def test_damaged_digests_of_exports_are_found_and_mended(
    how: str, copy: TemporaryInstance, prepared: tuple[Path, dict[str, str]]
) -> None:
    """What downloaders check with is checked as well; the data stay as they are."""
    before = {path: path.stat().st_ino for path in copy.settings.exports_dir.glob("*.nq.gz")}
    damaged_and_mended(copy, prepared[1], how, [kind for kind in FILED if "digest" in kind])
    if how == "gone":
        assert {path: path.stat().st_ino for path in before} == before


def damaged_and_mended(copy: TemporaryInstance, known: dict[str, str], how: str, kinds: Sequence[str]) -> None:
    """Do harm to files of some kinds: each is reported, `harvest rebuild` mends all."""
    places = {kind: (FILED[kind][0], FILED[kind][1](copy.folder, known)) for kind in kinds}
    for _, path in places.values():
        harm(path, how)
    wrong = verified(copy)
    for kind, (name, path) in places.items():
        reported = [item for item in wrong if item["provider"] == name and _names(item, path)]
        assert reported, f"{kind} {path} is not reported in {wrong}"
        assert reported[0]["mend"] == (f"harvest rebuild {name}" if name else "harvest rebuild")
        assert reported[0]["mend"] in reported[0]["detail"]
    answer = rebuilt(copy)
    assert answer["ok"], answer
    is_whole(copy)


def _names(item: dict[str, Any], path: Path) -> bool:
    """Whether a file is named, or the link that leads to it, or a file and its digest of which one is damaged."""
    file = str(item["file"])
    linked = path.name.startswith("snapshot") and "snapshot" in file
    return linked or Path(file) == path or f"or its digest {path} is" in item["detail"]


@pytest.mark.long
@pytest.mark.parametrize("kind", FILED)
@pytest.mark.parametrize("how", HOW)
def test_each_filed_damage_alone_is_found_and_mended(
    how: str, kind: str, copy: TemporaryInstance, prepared: tuple[Path, dict[str, str]]
) -> None:
    """As all together; of others nothing is said to be wrong."""
    name, place = FILED[kind]
    path = place(copy.folder, prepared[1])
    harm(path, how)
    wrong = verified(copy)
    assert {item["provider"] for item in wrong} == {name}
    assert any(_names(item, path) for item in wrong)
    command, *words = wrong[0]["mend"].removeprefix("harvest ").split()
    with harvester(copy) as at:
        assert execute(at, command, words)["ok"]
    is_whole(copy)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("kind", "how"),
    [
        ("working SST", "flipped"),
        ("working SST", "gone"),
        ("working MANIFEST", "cut"),
        ("working CURRENT", "gone"),
        ("generation SST", "cut"),
        ("generation MANIFEST", "flipped"),
        ("generation CURRENT", "gone"),
    ],
)
def test_a_damaged_store_is_found_and_made_again(
    kind: str, how: str, copy: TemporaryInstance, prepared: tuple[Path, dict[str, str]]
) -> None:
    """The instance starts whatever became of the store, says so, and the store is made of what is filed."""
    harm(STORED[kind](copy.folder, prepared[1]), how)
    wrong = verified(copy)
    assert wrong and {item["what"] for item in wrong} <= {"store", "generation"}
    assert all("harvest rebuild" in item["mend"] and item["file"] for item in wrong)
    assert rebuilt(copy)["ok"]
    is_whole(copy)


@pytest.mark.long
@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("kind", STORED)
def test_any_file_of_the_store_may_be_damaged(
    kind: str, how: str, copy: TemporaryInstance, prepared: tuple[Path, dict[str, str]]
) -> None:
    """As above, for all files and all damage."""
    test_a_damaged_store_is_found_and_made_again(kind, how, copy, prepared)


def datasets(at: Harvester, name: str) -> dict[str, Any]:
    """What was last harvested of each dataset, without the times of answers, of which a log holds the milliseconds."""
    found = at.instance.ledger.datasets(name)
    return {d.iri: (d.modified, d.coverage, [(c.url, c.digest, c.validators) for c in d.captures]) for d in found}


@pytest.mark.parametrize("how", [*HOW, "empty"])
def test_a_damaged_ledger_is_reported_and_made_again(
    how: str, copy: TemporaryInstance, prepared: tuple[Path, dict[str, str]]
) -> None:
    """Versions, datasets and dates come from the logs; the seed list is read as far as it goes."""
    ledger = copy.settings.data_dir / "ledger.sqlite"
    with harvester(copy) as at:
        before = [(v.n, v.added, v.removed, v.modified) for v in at.instance.ledger.versions("p")]
        before_datasets = datasets(at, "p")
    if how == "empty":
        os.truncate(ledger, 0)
    else:
        harm(ledger, how)
    with pytest.raises(LedgerDamage, match=r"ledger\.sqlite.*`harvest rebuild` makes it again") as caught:
        verified(copy)
    assert caught.value.url == str(ledger)
    answer = rebuilt(copy)
    assert answer["ok"] and [(item["what"], item["mended"]) for item in answer["results"]] == [("ledger", True)]
    is_whole(copy)
    with harvester(copy) as at:
        assert [(v.n, v.added, v.removed, v.modified) for v in at.instance.ledger.versions("p")] == before
        assert datasets(at, "p") == before_datasets
        at.look("p")
        assert [result.outcome.value for result in at.work("p")] in ([], ["unchanged"])


def test_an_export_that_is_behind_is_no_failure(copy: TemporaryInstance, server: ProviderServer) -> None:
    """The export job brings it to the version; nothing is damaged."""
    copy.tick("q")
    server.put("/q.nt", '<http://x/q> <http://p> "2" .\n')
    copy.clock.forward(days=2)
    copy.tick("q", forced=True)
    [proof] = [proof for proof in copy.harvester.prove("q") if proof.what == "export"]
    copy.close()
    server.put("/q.nt", '<http://x/q> <http://p> "1" .\n')
    assert proof.holds and proof.detail.startswith("behind: ")


def test_proving_waits_for_an_export_that_is_being_written(
    copy: TemporaryInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Data files are replaced before the list of them; nobody compares the two in between."""
    proofs: list[Proof] = []
    proving = threading.Thread(target=lambda: proofs.extend(copy.harvester.maintenance.prove_all()))

    def prove_meanwhile(folder: Path, entries: Sequence[ExportEntry], now: datetime) -> ExportEntry:
        proving.start()
        proving.join(0.5)
        assert not proofs
        return write_all(folder, entries, now)

    copy.settings.exports_dir.joinpath("q.nq.gz").unlink()
    copy.clock.forward(days=1)
    write_all = exports._write_all
    monkeypatch.setattr(exports, "_write_all", prove_meanwhile)
    assert copy.harvester.export() == ["q.nq.gz", "all.nq.gz"]
    proving.join()
    assert proofs and [proof for proof in proofs if not proof.holds] == []


def test_bytes_that_nobody_has_any_more_are_named_with_what_to_do(
    copy: TemporaryInstance, prepared: tuple[Path, dict[str, str]], server: ProviderServer
) -> None:
    """Where the provider gives other bytes now, only a backup helps, and the file is named."""
    path = FILED["capture"][1](copy.folder, prepared[1])
    harm(path, "flipped")
    server.put("/q.nt", '<http://x/q> <http://p> "3" .\n')
    try:
        answer = rebuilt(copy)
    finally:
        server.put("/q.nt", '<http://x/q> <http://p> "1" .\n')
    assert not answer["ok"]
    [item] = answer["results"]
    assert not item["mended"] and f"copy {path} from a backup" in item["detail"]


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize(
    ("kind", "paths"), [("change", ["changes/1.nqud", "versions/1.nq"]), ("snapshot", ["versions/2.nq"])]
)
def test_a_damaged_version_is_answered_with_the_reason(
    kind: str, paths: list[str], how: str, copy: TemporaryInstance, prepared: tuple[Path, dict[str, str]]
) -> None:
    """503 and what mends it, never a part of a version or of a change; all else is answered as ever."""
    harm(FILED[kind][1](copy.folder, prepared[1]), how)
    pages = create_pages(Context(InstanceCatalog(copy.settings), Site("http://h.example"), QueryLimits(), lambda: 0))
    client = pages.test_client()
    for path in paths:
        answer = client.get(f"/providers/p/{path}", headers={"Accept-Encoding": "gzip"})
        if kind == "snapshot" and how == "gone":  # the changes make the version
            assert answer.status_code == 200
        else:
            assert answer.status_code == 503 and "`harvest rebuild p` mends it" in answer.text
    for path in ("q/versions/1.nq", "q/changes/1.nqud", "p/changes/2.nqud"):
        assert client.get(f"/providers/{path}").status_code == 200
