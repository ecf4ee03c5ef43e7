"""
Proving: filed bytes have their digests, and replay(changes) == snapshot == store == export, for each provider.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from isal import igzip

from harvest.archive.layout import digest_of
from harvest.errors import HarvestError
from harvest.ledger import ProviderRecord
from harvest.model import Snapshot
from harvest.pipeline.files import GraphFiles
from harvest.pipeline.workshop import Workshop
from harvest.publish.exports import read_index
from harvest.revise import delta as deltas
from harvest.revise import lines
from sparql.store.spelling import stored

_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Proof:
    """
    One thing that was checked.

    Attributes:
        provider: Provider name.
        what: content, changes, store or export.
        holds: Whether it is as it should be.
        detail: What was compared, or what is wrong.
    """

    provider: str
    what: str
    holds: bool
    detail: str


def prove(workshop: Workshop, record: ProviderRecord) -> list[Proof]:
    """Check one provider; nothing may harvest it meanwhile."""
    proofs = [_proof(record, "content", lambda: _content(workshop, record))]
    if record.version == 0:
        return proofs
    with workshop.room() as room:
        snapshot = workshop.whole(record, room)
        digest = digest_of(snapshot)[0]
        proofs.append(_proof(record, "changes", lambda: _changes(workshop, record, room, digest)))
        proofs.append(_proof(record, "store", lambda: _store(workshop, record, room, snapshot)))
        proofs.append(_proof(record, "export", lambda: _export(workshop, record, digest)))
    return proofs


def _proof(record: ProviderRecord, what: str, check: Callable[[], str]) -> Proof:
    try:
        return Proof(record.name, what, True, check())
    except HarvestError as error:
        return Proof(record.name, what, False, error.message)


def _content(workshop: Workshop, record: ProviderRecord) -> str:
    """Every filed dump of every run that has one still has its digest."""
    digests = {dump["sha256"] for run in workshop.ledger.runs(record.name, 1_000_000) for dump in run.dumps}
    digests |= {c.digest for dataset in workshop.ledger.datasets(record.name) for c in dataset.captures}
    for digest in sorted(filter(None, digests)):
        if not workshop.content.verify(digest):
            raise HarvestError(f"the filed bytes of {digest} are damaged: restore {workshop.content.path(digest)}")
    return f"{len(digests)} filed dumps have their digests"


def _changes(workshop: Workshop, record: ProviderRecord, room: Path, digest: str) -> str:
    """The changes, replayed from empty, end in the snapshot."""
    files = GraphFiles(workshop.folder(record.name))
    replayed = deltas.replay(files.changes(record.version), room / "replayed.nq", room)
    _same(replayed.digest, digest, f"{record.version} changes replayed from empty", "the snapshot")
    if replayed.triples != record.triples:
        raise HarvestError(f"the ledger says {record.triples} triples, the snapshot has {replayed.triples}")
    return f"{record.version} changes replayed from empty give the snapshot of {replayed.triples} triples"


def _store(workshop: Workshop, record: ProviderRecord, room: Path, snapshot: Path) -> str:
    """The graph in the working store is the snapshot, as the store spells its values."""
    held = _sorted(workshop.store.dump(record.graph), room / "store.nq")
    with snapshot.open("rb") as stream:
        due = _sorted(stored(stream), room / "due.nq")
    _same(held.digest, due.digest, f"the store's graph of {held.triples} triples", "the snapshot as a store spells it")
    return f"the store holds the {held.triples} triples of the snapshot"


def _sorted(found: Iterable[bytes], target: Path) -> Snapshot:
    with lines.sorted_(found, "-u", f"--temporary-directory={target.parent}", "--buffer-size=64M") as out:
        return lines.write(target, iter(lambda: out.read(_CHUNK), b""))


def _export(workshop: Workshop, record: ProviderRecord, digest: str) -> str:
    """The exported file, unpacked, is the snapshot; an export that waits for its job is no fault."""
    entry = read_index(workshop.settings.exports_dir).get(record.name)
    if entry is None or entry.version != record.version:
        return "not exported yet; the export job or `harvest export` does it"
    found = hashlib.sha256()
    with igzip.open(workshop.settings.exports_dir / entry.file, "rb") as stream:
        while chunk := stream.read(_CHUNK):
            found.update(chunk)
    _same(found.hexdigest(), digest, f"the export {entry.file}", "the snapshot")
    return f"{entry.file} unpacks to the snapshot"


def _same(found: str, expected: str, what: str, other: str) -> None:
    if found != expected:
        raise HarvestError(f"{what} (SHA-256 {found}) is not {other} (SHA-256 {expected})")
