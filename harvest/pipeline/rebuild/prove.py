"""
Proving: filed bytes have their digests, and replay(changes) == snapshot == store == export, for each provider.

Each check goes on when another one fails, and names the file that is damaged and the command that mends it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from harvest.archive.layout import digest_of
from harvest.errors import DamageError, HarvestError
from harvest.ledger import ProviderRecord
from harvest.model import Snapshot
from harvest.pipeline.instance import Instance
from harvest.pipeline.rebuild import righting
from harvest.publish import checksums
from harvest.publish.exports import trusted_index
from harvest.publish.resourcesync.feed import damages as feed_damages
from harvest.revise import delta as deltas
from harvest.revise.versions import GraphFiles
from sparql.errors import SparqlError
from sparql.rdf import HASH_URI


@dataclass(frozen=True, slots=True)
class Proof:
    """
    One thing that was checked.

    Attributes:
        provider: Provider name; None for what belongs to the instance.
        what: content, changes, snapshot, store, export or feed; of the instance ledger, logs, index, generation or
            exports.
        holds: Whether it is as it should be.
        detail: What was compared, or what is wrong.
        file: What is damaged or gone, or None.
        mend: The command that mends it, or None.
    """

    provider: str | None
    what: str
    holds: bool
    detail: str
    file: str | None = None
    mend: str | None = None


def proof(provider: str | None, what: str, check: Callable[[], str]) -> Proof:
    """What a check says: its sentence, or the error that it raises, with the command that mends that."""
    try:
        return Proof(provider, what, True, check())
    except (HarvestError, SparqlError, OSError) as error:
        return failing(provider, what, error)


def failing(provider: str | None, what: str, error: HarvestError | SparqlError | OSError) -> Proof:
    """A proof that does not hold: the error, and the command that mends it."""
    mend = f"harvest rebuild {provider}" if provider else "harvest rebuild"
    reason = error.message if isinstance(error, HarvestError | SparqlError) else str(error)
    file = error.url if isinstance(error, HarvestError) else None
    return Proof(provider, what, False, f"{reason}; `{mend}` mends it", file, mend)


def prove(instance: Instance, record: ProviderRecord) -> list[Proof]:
    """Check one provider; nothing may harvest it meanwhile."""
    proofs = content(instance, record.name, digests(instance, record))
    if record.version:
        with instance.room() as room:
            proofs += _of_graph(instance, record, room)
        proofs += _feed(instance, record)
    return proofs


def digests(instance: Instance, record: ProviderRecord) -> set[str]:
    """The SHA-256 of the filed bytes that a provider's versions and datasets are made of."""
    ledger, name = instance.ledger, record.name
    runs = [run for run in ledger.runs(name, 1_000_000) if run.outcome in ("committed", "unchanged")]
    found: set[str | None] = {dump.sha256 for run in runs for dump in run.dumps}
    found |= {capture.digest for dataset in ledger.datasets(name) for capture in dataset.captures}
    found |= {digest for version in ledger.versions(name) for digest in HASH_URI.findall(version.facts or "")}
    found |= ledger.downloads.named_by_versions(name)
    return {digest for digest in (*found, record.description) if digest}


def content(instance: Instance, name: str | None, wanted: set[str]) -> list[Proof]:
    """Whether filed bytes are there and have their digests: a proof each for those that do not, else one for all."""
    found = (proof(name, "content", partial(_filed, instance, digest)) for digest in sorted(wanted))
    bad = [each for each in found if not each.holds]
    return bad or [Proof(name, "content", True, f"{len(wanted)} filed dumps have their digests")]


def _filed(instance: Instance, digest: str) -> str:
    path = instance.content.place(digest)
    if not instance.content.holds(digest):
        raise DamageError(f"the filed bytes {path} are gone", url=str(path))
    if digest_of(instance.content.path(digest))[0] != digest or not instance.content.verify(digest):
        raise DamageError(f"the filed bytes {path} are damaged", url=str(path))
    return ""


def _of_graph(instance: Instance, record: ProviderRecord, room: Path) -> Iterator[Proof]:
    files = instance.files(record.name)
    replayed: list[Snapshot] = []

    def changes() -> str:
        replayed.append(deltas.replay(files.changes(record.version), room / "replayed.nq", room))
        return _changes(instance, record, replayed[0])

    found = proof(record.name, "changes", changes)
    each = [] if found.holds else _each_change(record, files)
    yield from each or [found]
    snapshot = proof(record.name, "snapshot", lambda: _snapshot(instance, record, files, room))
    yield snapshot
    source = room / "replayed.nq" if found.holds else files.snapshot_file(record.version)
    if found.holds or (snapshot.holds and files.base() == record.version):
        yield proof(record.name, "store", lambda: _store(instance, record, room, source))
    digest = replayed[0].digest if found.holds else instance.ledger.digest(record.name, record.version)
    yield from _exports(instance, record, digest)


def _each_change(record: ProviderRecord, files: GraphFiles) -> list[Proof]:
    """The change files that are damaged or gone, each by itself."""
    found = (proof(record.name, "changes", partial(_read, path)) for path in files.changes(record.version))
    return [each for each in found if not each.holds]


def _read(path: Path) -> str:
    deque(deltas.filed(path), 0)
    return ""


def _changes(instance: Instance, record: ProviderRecord, replayed: Snapshot) -> str:
    """The changes, replayed from empty, end in the version of the ledger."""
    where = str(instance.files(record.name).change(record.version).parent)
    if replayed.triples != record.triples:
        said = f"the ledger says {record.triples} triples, the changes give {replayed.triples}"
        raise DamageError(f"{where}: {said}", url=where)
    digest = instance.ledger.digest(record.name, record.version)
    if digest is not None:
        _same(replayed.digest, digest, _replayed(record), where)
    return f"{_replayed(record)} give the {replayed.triples} triples of the ledger"


def _replayed(record: ProviderRecord) -> str:
    if not record.baseline:
        return f"{record.version} changes replayed from empty"
    return f"version {record.baseline}, the baseline, and {record.version - record.baseline} changes after it replayed"


def _snapshot(instance: Instance, record: ProviderRecord, files: GraphFiles, room: Path) -> str:
    """The snapshot is there, where one was made, and is what the changes give."""
    made = {version.n: version.digest for version in instance.ledger.versions(record.name) if version.digest}
    base = files.base()
    if base < max(made, default=0) or (not base and files.link.is_symlink()):
        raise DamageError(f"the snapshot {files.link} is gone or leads nowhere", url=str(files.link))
    if not base:
        return "there is none yet"
    path = files.snapshot_file(base)
    due = made.get(base) or deltas.replay(files.changes(base), room / "base.nq", room).digest
    if digest_of(path)[0] != due:
        raise DamageError(f"the snapshot {path} is damaged", url=str(path))
    return f"{path.name} has its digest"


def _store(instance: Instance, record: ProviderRecord, room: Path, snapshot: Path) -> str:
    """The graph in the working store is the snapshot, as the store spells its values."""
    held, due = righting.held(instance, record.graph, room), righting.due(snapshot, room)
    _same(
        held.digest,
        due.digest,
        f"the store's graph of {held.triples} triples",
        str(instance.settings.layout.store),
    )
    return f"the store holds the {held.triples} triples of the snapshot"


def _exports(instance: Instance, record: ProviderRecord, digest: str | None) -> list[Proof]:
    """The exported file is what was written, and holds the version; one that waits for its job is no fault."""
    folder = instance.settings.exports_dir
    entry = trusted_index(folder).get(record.name)
    path = folder / f"{record.name}.nq.gz"
    if entry is None and not path.exists() and not checksums.beside(path).exists():
        detail = "not exported yet; the export job or `harvest export` does it"
    elif bad := [
        failing(record.name, "export", error) for error in checksums.damages(path, entry.sha256 if entry else None)
    ]:
        return bad
    elif entry is None:
        detail = f"{path.name} has its digest"
    elif entry.version != record.version or digest not in (None, entry.content_sha256):
        detail = f"behind: {entry.file} holds version {entry.version}; the export job or `harvest export` does it"
    else:
        detail = f"{entry.file} holds version {entry.version}"
    return [Proof(record.name, "export", True, detail)]


def _feed(instance: Instance, record: ProviderRecord) -> list[Proof]:
    """The documents of the feed are what was written; one that waits for the export job is no fault."""
    folder = instance.settings.layout.feed(record.name)
    if not folder.is_dir():
        detail = "not written yet; the export job or `harvest export` does it"
        return [Proof(record.name, "feed", True, detail)]
    bad = [failing(record.name, "feed", error) for error in feed_damages(folder)]
    return bad or [Proof(record.name, "feed", True, "its documents and its dataset have their digests")]


def _same(found: str, expected: str, what: str, where: str) -> None:
    if found != expected:
        raise DamageError(f"{what} (SHA-256 {found}) are not what was filed (SHA-256 {expected}): {where}", url=where)
