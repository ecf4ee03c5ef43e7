"""Opening the data directory for writing: one process at a time, recovered from whatever ended the last one."""

from __future__ import annotations

import resource
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Final

from harvest.archive.content import ContentStore
from harvest.archive.warc.files import WarcFiles
from harvest.config.engine import EngineSettings
from harvest.config.following import check_founded
from harvest.config.roster import Roster
from harvest.config.settings import METADATA, Settings
from harvest.errors import BusyError, LedgerDamage, StorageError
from harvest.fetch.client import Client, user_agent
from harvest.ledger import Database, Ledger, wholeness
from harvest.ledger.members import members
from harvest.model import Layout, WireExchange
from harvest.pipeline.crawl import Crawl
from harvest.pipeline.harvest.load import restore
from harvest.pipeline.harvest.recovery import recover_all, sweep
from harvest.pipeline.harvest.writing_back import write_back_owed
from harvest.pipeline.instance import Instance, now_utc
from harvest.pipeline.metadata import describe
from harvest.pipeline.publishing import Publishing
from harvest.pipeline.rebuild.refile import refile
from harvest.pipeline.rebuild.righting import right_graphs
from harvest.pipeline.seal import Seal
from harvest.pipeline.seeds import graphs as seedgraphs
from harvest.pipeline.seeds import seed_metadata
from harvest.pipeline.workers.cluster import Cluster
from harvest.pipeline.workers.local import LocalWorkers, Workers
from sparql.errors import StoreError, StoreTaken
from sparql.store.address import Dialect, EngineAddress
from sparql.store.base import Store
from sparql.store.embedded import EmbeddedStore
from sparql.store.engine import Engine
from sparql.store.generations import Generations
from sparql.store.layout import StoreLayout
from sparql.store.remote import RemoteStore

MARGIN: Final = timedelta(days=1)
"""A download may be washed, and described, so much later."""


@contextmanager
def opened(
    settings: Settings,
    clock: Callable[[], datetime] = now_utc,
    on_step: Callable[[str, str], None] = lambda provider, step: None,
    *,
    renew: bool = False,
) -> Iterator[Instance]:
    """
    The instance, recovered; `renew` has a damaged ledger made again.

    Raises:
        BusyError: Another process has it.
        StorageError: The data directory cannot be written, or too few files may be open at once.
        LedgerError: The ledger is damaged and not to be made again, or it is of another version.
        RegistryError: The registry cannot be used.
        SettingsError: It is to be a replica, and `harvest serve` has not made it one.
    """
    check_founded(settings)
    allow_files()
    roster = Roster(settings.registry)
    with ExitStack() as stack:
        instance, damaged = _instance(settings, roster, stack, (clock, on_step), renew=renew)
        roster.take_members(partial(members, instance.ledger.database))
        if damaged is not None:
            refile(instance, damaged)
        _settle(instance)
        recover_all(instance)
        sweep(instance)
        instance.crawl.seal_leftovers()
        instance.ledger.documents.abandon(instance.clock())
        seedgraphs.recover(instance)
        instance.ledger.requests.requeue(instance.clock())
        write_back_owed(instance)
        published = instance.generations.current()
        if published is None or not instance.store.is_published(published.path):
            instance.publish()
        yield instance


def _settle(instance: Instance) -> None:
    """Undo the change in which the last process ended, and write again what that takes away."""
    instance.publishing.rewrite_seed = partial(seed_metadata.write_seed, instance)
    instance.publishing.right_graphs = partial(right_graphs, instance)
    current = instance.generations.current()
    if instance.store.trouble is not None or instance.store.torn:
        instance.publishing.tear()
    try:
        reverted = instance.publishing.settle()
    except StoreError:  # the generation is damaged, too
        instance.store.revert(None)
        instance.publishing.renewed()
        reverted = True
    if restore(instance):
        for record in instance.ledger.providers():
            describe(instance, record.name)
        if instance.store.trouble is not None:
            instance.publish()
    if reverted and current is not None:
        since = datetime.fromtimestamp(current.path.stat().st_mtime, UTC) - MARGIN
        for seed in instance.ledger.seeds.processed_since(since):
            seed_metadata.write_seed(instance, seed)


def _instance(
    settings: Settings,
    roster: Roster,
    stack: ExitStack,
    hooks: tuple[Callable[[], datetime], Callable[[str, str], None]],
    *,
    renew: bool,
) -> tuple[Instance, Path | None]:
    data = settings.layout
    try:
        data.providers.mkdir(parents=True, exist_ok=True)
        store = _store(settings)
        stack.callback(store.close)
        shutil.rmtree(data.scratch, ignore_errors=True)
        data.scratch.mkdir()
        content = ContentStore(data.content)
        content.prepare()
        content.locate(settings.content)
    except StoreTaken as error:
        raise BusyError(error.message, url=str(data.data)) from error
    except StoreError as error:
        raise StorageError(error.message, url=str(data.data)) from error
    except OSError as error:
        raise StorageError(f"the data directory {data.data} cannot be written: {error}", url=str(data.data)) from error
    database, damaged = _ledger(data, renew=renew)
    stack.callback(wholeness.closed, database.path)
    stack.callback(database.close)
    client = Client(settings.http, settings.base_url, recorder=_recorder(settings, stack))
    stack.callback(client.close)
    generations = Generations(data.store)
    generations.recover()
    publishing = Publishing(store, generations, StoreLayout(data.store))
    ledger = Ledger(database)
    stopping, clock = threading.Event(), hooks[0]
    crawl = Crawl(ledger, client, Seal(ledger.downloads, content, settings.base_url), clock, stopping)
    workers = _workers(settings, content)
    stack.callback(workers.close)
    tools = (settings, ledger, content, client, crawl, store, generations, roster, publishing, workers)
    return Instance(*tools, *hooks, stopping), damaged


def _store(settings: Settings) -> Store:
    """
    The store that the settings name, open for writing.

    Raises:
        StoreError: It cannot be opened, or its engine does not answer.
    """
    folder, found = settings.layout.store, settings.store
    if found is None:
        if (layout := StoreLayout(folder)).engine.exists():  # what was embedded before that is old
            for path in (layout.working, layout.unsettled, layout.engine):
                path.unlink(missing_ok=True)
        return EmbeddedStore(folder)
    return RemoteStore(engine_of(found), folder, settings.graph(METADATA), settings.graph_base)


def _workers(settings: Settings, content: ContentStore) -> Workers:
    """
    Who washes; a cluster is asked when there is something to wash.

    Raises:
        SettingsError: The library for it is not installed.
    """
    return LocalWorkers() if settings.workers == "local" else Cluster(settings.workers, content)


def engine_of(found: EngineSettings) -> Engine:
    """
    The engine that the settings name, which answers.

    Raises:
        StoreError: It does not, or with an error.
    """
    address = EngineAddress(**{**asdict(found), "dialect": Dialect(found.dialect)})
    return Engine(replace(address, dialect=Engine(address).identify()))


def _recorder(settings: Settings, stack: ExitStack) -> Callable[[WireExchange], None] | None:
    """
    What writes each exchange to WARC files, where the settings say so.

    Raises:
        StorageError: The folder cannot be written.
    """
    if not settings.warc:
        return None
    files = WarcFiles(settings.layout.warc, user_agent(settings.http.contact or settings.base_url), now_utc)
    stack.callback(files.close)
    return files.add


def _ledger(layout: Layout, *, renew: bool) -> tuple[Database, Path | None]:
    """
    The ledger; where that is damaged, and asked for, a new one, and where the damaged one is now.

    Raises:
        LedgerDamage: It is damaged.
    """
    path = layout.ledger
    try:
        wholeness.check(path, layout.providers)
        database = Database(path)
        if renew:
            with closing(database):
                database.check()
    except LedgerDamage:
        if not renew:
            raise
        damaged = wholeness.set_aside(path)
        database = Database(path)
        database.damaged = damaged
        return database, damaged
    return database, None


FEWEST: Final = 512
"""With fewer an instance cannot be relied on: the store takes up to 100, looks and downloads at once far more."""

WANTED: Final = 8192
"""As many are asked for as the system grants, up to this."""


def allow_files() -> None:
    """
    Raise the limit of open files as far as it may be, and is of use.

    Raises:
        StorageError: It is too low, and cannot be raised.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = WANTED if hard == resource.RLIM_INFINITY else min(hard, WANTED)
    if soft != resource.RLIM_INFINITY and soft < most:
        with suppress(ValueError, OSError):  # not allowed: what there is must do
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < FEWEST:
        raise StorageError(
            f"only {soft} files may be open at once, and {FEWEST} are needed; raise the limit "
            f"(`ulimit -n {FEWEST}`, or LimitNOFILE of the service) and start again"
        )
