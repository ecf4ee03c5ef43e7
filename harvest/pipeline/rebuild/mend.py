"""
Mending what is damaged, each kind from what it was made of.

    filed bytes            the URL that gave them, where it still gives the same; of clean documents, washing
    logs, index            the ledger
    change files           the archive (`harvest.pipeline.rebuild.rebuild`)
    snapshots              the change files
    store, generation      the snapshots
    exports, feeds, site   the snapshots
    the ledger             the logs, when the instance is opened (`harvest.pipeline.rebuild.refile`)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import structlog

from harvest.errors import HarvestError, StorageError
from harvest.fetch.order import NO_LIMITS, NO_VALIDATORS
from harvest.ledger import ProviderRecord
from harvest.model import Status
from harvest.pipeline import exporting
from harvest.pipeline.exporting import Alone
from harvest.pipeline.harvest.load import renewal
from harvest.pipeline.instance import Instance
from harvest.pipeline.metadata import write_run
from harvest.pipeline.rebuild.prove import Proof, content, digests
from harvest.pipeline.rebuild.rebuild import rebuild
from harvest.pipeline.rebuild.righting import put_right
from harvest.pipeline.seeds import washing as seedwash
from sparql.errors import SparqlError, StoreError

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Mended:
    """
    Something that was damaged.

    Attributes:
        provider: Provider name; None for what belongs to the instance.
        what: As of a `Proof`.
        file: What was damaged or gone.
        mended: Whether it is whole now.
        detail: What was wrong; or what still is.
    """

    provider: str | None
    what: str
    file: str | None
    mended: bool
    detail: str


def mend(instance: Instance, alone: Alone, prove_all: Callable[[], list[Proof]]) -> list[Mended]:
    """Mend all that is damaged, as far as it goes; one thing's trouble stops no other."""
    before = [proof for proof in prove_all() if not proof.holds]
    reasons: dict[tuple[str | None, str], str] = {}
    for key in sorted({(proof.provider, proof.what) for proof in before}, key=_rank):
        files = [Path(proof.file) for proof in before if (proof.provider, proof.what) == key and proof.file]
        try:
            _mend(instance, alone, key, files)
        except (HarvestError, SparqlError) as error:
            reasons[key] = error.message
            log.error("not mended", provider=key[0], what=key[1], reason=error.message)
    if before:
        exporting.export(instance, alone)
    after = (
        {(proof.provider, proof.what, proof.file): proof for proof in prove_all() if not proof.holds} if before else {}
    )
    return [*_renewed(instance), *(_mended(proof, after, reasons) for proof in before)]


def _renewed(instance: Instance) -> Iterator[Mended]:
    """That the ledger was made again when the instance was opened."""
    database = instance.ledger.database
    if database.damaged is not None:
        detail = f"{database.path} was made again from the logs; what was left of it is {database.damaged}"
        yield Mended(None, "ledger", str(database.path), True, detail)


_ORDER = (
    "ledger",
    "logs",
    "index",
    "content",
    "changes",
    "snapshot",
    "generation",
    "store",
    "export",
    "exports",
    "feed",
    "site",
)


def _rank(key: tuple[str | None, str]) -> tuple[int, str]:
    return _ORDER.index(key[1]), key[0] or ""


def _mended(
    before: Proof, after: dict[tuple[str | None, str, str | None], Proof], reasons: dict[tuple[str | None, str], str]
) -> Mended:
    left = after.get((before.provider, before.what, before.file))
    detail = reasons.get((before.provider, before.what), left.detail) if left else before.detail
    return Mended(before.provider, before.what, before.file, left is None, detail)


def _mend(instance: Instance, alone: Alone, key: tuple[str | None, str], files: list[Path]) -> None:
    name, what = key
    if what == "ledger":
        raise StorageError("end the process that has the instance open, then call `harvest rebuild` again")
    if what == "logs":
        for path in files:
            instance.crawl.logs.remake(path.name)
    elif what == "index":
        instance.crawl.logs.reindex()
    elif what == "content":
        for path in files:
            recapture(instance, path.name)
    elif what in ("export", "exports", "feed", "site"):
        with instance.exporting:
            for path in files:
                path.unlink(missing_ok=True)
    elif name is None:
        _renew(instance)
    else:
        with alone(name):
            record = instance.ledger.provider(name)
            assert record is not None
            _mend_graph(instance, record, what)


def _mend_graph(instance: Instance, record: ProviderRecord, what: str) -> None:
    files = instance.files(record.name)
    if what == "changes":
        differing = [version.n for version in rebuild(instance, record.name) if not version.same]
        if differing:
            raise StorageError(f"version {differing[0]} of {record.name} comes out otherwise; nothing was put in place")
    elif what == "snapshot":
        files.link.unlink(missing_ok=True)
        with instance.room() as room:
            instance.whole(record, room)
    else:
        put_right(instance, record)


def _renew(instance: Instance) -> None:
    """Make a new store of the snapshots, and publish it; the metadata graph stays where it can be read."""
    with instance.room() as room, instance.changing():
        made = renewal(instance, room)
        try:
            instance.store.rebuild(made.files, keep=[instance.metadata_graph, *made.damaged])
        except StoreError:
            instance.store.rebuild(made.files)
        instance.store.trouble = None
        instance.publish()
    for record in instance.ledger.providers():
        write_run(instance, record.name)


def recapture_all(instance: Instance, name: str) -> None:
    """Mend the filed bytes that a provider's versions are made of."""
    record = instance.ledger.provider(name)
    wanted = digests(instance, record) if record else set()
    for proof in content(instance, name, wanted):
        if not proof.holds and proof.file:
            try:
                recapture(instance, Path(proof.file).name)
            except HarvestError as error:  # whoever needs these bytes says so
                log.warning("not mended", provider=name, file=proof.file, reason=error.message)


def recapture(instance: Instance, digest: str) -> None:
    """
    Put filed bytes back that are damaged or gone: from the URL that gave them, or by washing.

    Raises:
        StorageError: The URL gives other bytes now, or there is none.
        FetchError: It gives none.
    """
    if instance.content.mend(digest):
        return
    place, document = instance.content.place(digest), instance.ledger.documents.get(digest)
    if document is not None and document.status == Status.CLEANED:
        download = instance.ledger.documents.get(document.download)
        assert download is not None
        instance.content.discard(digest)
        seedwash.wash(instance, download)
        return
    download_ = instance.ledger.downloads.of_digest(digest)
    if download_ is None or not download_.url.startswith(("http://", "https://")):
        raise StorageError(f"no URL gave {place}; copy it from a backup", url=str(place))
    fetched = instance.client.get(download_.url, NO_VALIDATORS, NO_LIMITS, into=instance.content.incoming)
    if fetched.path is None or fetched.capture.digest != digest:
        if fetched.path is not None:
            fetched.path.unlink()
        raise StorageError(f"{download_.url} gives other bytes now; copy {place} from a backup", url=str(place))
    place.unlink(missing_ok=True)
    instance.content.file(fetched.path, digest)
