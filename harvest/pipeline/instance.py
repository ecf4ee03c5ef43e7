"""Opening the data directory for writing: one process at a time, recovered from whatever ended the last one."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime

from harvest.archive.content import ContentStore
from harvest.errors import BusyError, StorageError
from harvest.fetch.client import Client
from harvest.ledger import Database, Ledger
from harvest.pipeline import seedgraphs
from harvest.pipeline.commit import recover, sweep
from harvest.pipeline.crawl import Crawl
from harvest.pipeline.load import restore
from harvest.pipeline.seal import Seal
from harvest.pipeline.workshop import Workshop, now_utc
from harvest.roster import Roster
from harvest.settings import Settings
from sparql.errors import StoreError
from sparql.store.embedded import EmbeddedStore
from sparql.store.generations import Generations

LEDGER = "ledger.sqlite"


@contextmanager
def opened(
    settings: Settings,
    clock: Callable[[], datetime] = now_utc,
    on_step: Callable[[str, str], None] = lambda provider, step: None,
) -> Iterator[Workshop]:
    """
    The workshop of an instance, recovered.

    Raises:
        BusyError: Another process has it.
        StorageError: The data directory cannot be written.
        LedgerError: The ledger is damaged or of another version.
        RegistryError: The registry cannot be used.
    """
    roster = Roster(settings.registry)
    with ExitStack() as stack:
        workshop = _workshop(settings, roster, stack, clock, on_step)
        restore(workshop)
        recover(workshop)
        sweep(workshop)
        workshop.crawl.seal_leftovers()
        workshop.ledger.documents.abandon(workshop.clock())
        seedgraphs.recover(workshop)
        workshop.ledger.requests.requeue(workshop.clock())
        if workshop.generations.current() is None:
            workshop.publish()
        yield workshop


def _workshop(
    settings: Settings,
    roster: Roster,
    stack: ExitStack,
    clock: Callable[[], datetime],
    on_step: Callable[[str, str], None],
) -> Workshop:
    data = settings.data_dir
    try:
        (data / "providers").mkdir(parents=True, exist_ok=True)
        store = EmbeddedStore(data / "store")
        stack.callback(store.close)
        shutil.rmtree(data / "scratch", ignore_errors=True)
        (data / "scratch").mkdir()
        content = ContentStore(data / "content")
        content.prepare()
    except StoreError as error:
        raise BusyError(error.message, url=str(data)) from error
    except OSError as error:
        raise StorageError(f"the data directory {data} cannot be written: {error}", url=str(data)) from error
    database = Database(data / LEDGER)
    stack.callback(database.close)
    client = Client(settings.http, settings.base_url)
    stack.callback(client.close)
    generations = Generations(data / "store")
    generations.recover()
    ledger = Ledger(database)
    stopping = threading.Event()
    crawl = Crawl(ledger, client, Seal(ledger.downloads, content, settings.base_url), clock, stopping)
    return Workshop(settings, ledger, content, client, crawl, store, generations, roster, clock, on_step, stopping)
