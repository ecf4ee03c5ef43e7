"""
Proving what belongs to no provider alone: ledger, logs, index, generation, documents of seeds, the export of all,
what leads to the feeds.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from pyoxigraph import Store

from harvest.archive.index import Index
from harvest.archive.layout import HashName
from harvest.errors import DamageError
from harvest.pipeline.instance import Instance
from harvest.pipeline.rebuild.prove import Proof, content, digests, failing, proof
from harvest.publish import checksums
from harvest.publish.description import ALL
from harvest.publish.exports import INDEX, trusted_index
from harvest.publish.resourcesync.site import site_damages
from harvest.wash import process
from sparql.store.address import address_in
from sparql.store.layout import StoreLayout


def prove_instance(instance: Instance) -> list[Proof]:
    """Check what belongs to the instance; nothing may write meanwhile."""
    proofs = [proof(None, "ledger", lambda: _ledger(instance))]
    logs = [record.digest for record in reversed(instance.ledger.downloads.logs())]
    proofs += [Proof(None, "logs", p.holds, p.detail, p.file, p.mend) for p in content(instance, None, set(logs))]
    proofs += _index(instance, logs)
    of_providers = {d for record in instance.ledger.providers() for d in digests(instance, record)}
    proofs += content(instance, None, instance.ledger.downloads.needed() - of_providers - set(logs))
    proofs += [proof(None, "generation", lambda: _generation(instance)), proof(None, "store", lambda: _store(instance))]
    return [*proofs, *_exports(instance), *_site(instance)]


def _ledger(instance: Instance) -> str:
    instance.ledger.database.check()
    return "its pages and indexes agree"


def _index(instance: Instance, logs: list[str]) -> Iterator[Proof]:
    """The index leads from each log to the next one."""
    index = Index(instance.content.root)

    def leads(before: HashName | None, log: HashName) -> str:
        path = index.path(before)
        if not path.is_file():
            raise DamageError(f"the index entry {path} is gone", url=str(path))
        found = index.after(before) if before else index.first()
        if found != log:
            raise DamageError(f"the index entry {path} is damaged: it does not name {log.uri}", url=str(path))
        return ""

    pairs = zip([None, *map(HashName, logs)], map(HashName, logs), strict=False)
    found = [proof(None, "index", partial(leads, before, log)) for before, log in pairs]
    yield from [each for each in found if not each.holds] or [
        Proof(None, "index", True, f"it leads to {len(logs)} {'log' if len(logs) == 1 else 'logs'}")
    ]


def _generation(instance: Instance) -> str:
    """The generation that readers are on is what was published."""
    current, layout = instance.generations.current(), StoreLayout(instance.settings.layout.store)
    if current is None:
        raise DamageError("there is no current generation", url=str(layout.current))
    damaged = instance.generations.damaged(current)
    if damaged:
        said = ", ".join(path.name for path in damaged)
        raise DamageError(f"generation {current.path} is damaged: {said}", url=str(damaged[0]))
    return f"the files of generation {current.number} have their digests"


def _store(instance: Instance) -> str:
    """The working store was whole when it was opened, and what no generation has of it can be read to its end."""
    if instance.store.trouble is not None:
        path = str(StoreLayout(instance.settings.layout.store).working)
        raise DamageError(f"{instance.store.trouble}; it was made again when it was opened", url=path)
    with instance.room() as room:
        instance.store.publish(room / "copy")
        if (address := address_in(room / "copy")) is not None:
            return f"{address.query} answers; each provider's graph is compared with its version"
        process.call(_read, process.Bounds(instance.settings.wash.timeout_s, "the working store"), room / "copy")
    return "all of it can be read"


def _read(copy: Path) -> None:
    """Read every block of a copy of the store; RocksDB checks each that it compacts."""
    try:
        Store(str(copy)).optimize()
    except (OSError, RuntimeError) as error:
        raise DamageError(f"the working store is damaged: {error}", url=str(copy)) from error


def _site(instance: Instance) -> list[Proof]:
    """What leads to the feeds is what was written."""
    errors = list(site_damages(instance.settings.layout.resourcesync))
    held = Proof(None, "site", True, "the source description, robots.txt and sitemap.xml have their digests")
    return [failing(None, "site", error) for error in errors] or [held]


def _exports(instance: Instance) -> list[Proof]:
    """The list of exports, their description and the export of all are what was written."""
    folder = instance.settings.exports_dir
    found = trusted_index(folder)
    if not any(folder.glob("*.nq.gz")) and not any(folder.glob("*.sha256")):
        return [Proof(None, "exports", True, "nothing is exported yet")]
    digests = {INDEX: None, "void.ttl": None, f"{ALL}.nq.gz": found[ALL].sha256 if ALL in found else None}
    errors = [error for file, digest in digests.items() for error in checksums.damages(folder / file, digest)]
    held = Proof(None, "exports", True, f"{', '.join(digests)} have their digests")
    return [failing(None, "exports", error) for error in errors] or [held]
