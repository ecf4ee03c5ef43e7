"""
The web front, made of the settings; and `harvest web`: the front alone, beside `harvest schedule` in another process.

A front reads the ledger, the snapshots and the generations, and moves to a new generation by itself. What it writes,
temporary files and remembered results, is below `Layout.reading` and `Layout.cache`, which `scratch_dir` takes out of
the data directory; so the data directory may be mounted read-only.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import threading
from contextlib import closing, suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import Final, NoReturn

import structlog

from harvest.catalog.instance import InstanceCatalog
from harvest.config.loader import load_settings
from harvest.config.settings import METADATA, Settings
from harvest.errors import BusyError, LedgerDamage, LedgerError, SettingsError, StorageError, unusable
from harvest.ledger import Database
from harvest.service.log import log_to_stderr
from sparql.errors import ForbiddenError
from sparql.store import files
from sparql.web import server
from sparql.web.app import Application, QueryLimits, create_app
from sparql.web.catalog import Operator, Site

log = structlog.get_logger()

LEDGER_S: Final = 1.0
"""Seconds after which a ledger that was not there is looked for again."""

CONFIG: Final = "HARVEST_CONFIG"


def web(settings: Settings, *, shared: bool = False) -> None:
    """
    Answer for the instance that another process harvests, until SIGTERM or SIGINT.

    Args:
        settings: Of the instance, from a file.
        shared: Whether other fronts may listen on the same address; each connection goes to one of them.

    Raises:
        BusyError: The port is taken.
        SettingsError: The settings have no file.
        StorageError: The folder for temporary files cannot be written.
        LedgerDamage: The ledger is damaged.
    """
    log_to_stderr()
    if settings.file is None:
        raise SettingsError("the web front reads its settings from a file; name one with --config")
    check_port(settings.bind, shared=shared)
    own_room(settings.layout.reading).rmdir()
    stop = threading.Event()
    before = {number: signal.signal(number, lambda *_: stop.set()) for number in (signal.SIGTERM, signal.SIGINT)}
    if not _is_harvested(settings, stop):
        return
    for number, handler in before.items():
        signal.signal(number, handler)
    os.environ[CONFIG] = str(settings.file)
    log.info("answering", address=settings.base_url, bind=settings.bind, data=str(settings.data_dir))
    server.run("harvest.service.web:application", *address(settings.bind), shared=shared)


def _is_harvested(settings: Settings, stop: threading.Event) -> bool:
    """Wait until there is a ledger that can be read; False where `stop` was set before."""
    said = ""
    while not stop.is_set():
        try:
            with closing(Database(settings.layout.ledger, read_only=True)):
                return True
        except LedgerDamage:
            raise
        except LedgerError as error:
            if error.message != said:
                log.warning("waiting for the ledger", reason=error.message)
            said = error.message
            stop.wait(LEDGER_S)
    return False


def application() -> Application:
    """The front of `harvest web`, which writes nothing of the instance HARVEST_CONFIG names; the ASGI entry."""
    settings = configured()
    token = settings.query.operator_token
    return front_of(settings, Operator(token, _refuse, _refuse) if token else None, apart=True)


def configured() -> Settings:
    """The settings of a process that has its settings file from HARVEST_CONFIG, and logs."""
    log_to_stderr()
    return load_settings(Path(os.environ[CONFIG]), os.environ)


def front_of(settings: Settings, operator: Operator | None, *, apart: bool = False) -> Application:
    """The front of an instance, `apart` or of the process that harvests; `operator` is who may send updates."""
    query = settings.query
    limits = QueryLimits(
        timeout_s=query.timeout_s,
        memory_bytes=query.memory,
        workers=query.workers,
        max_rows=query.max_rows,
        max_bytes=query.max_bytes,
        union_default_graph=query.union_default_graph,
        own_graphs=settings.own_graphs,
        listed_graphs=query.listed_graphs,
        cache_bytes=query.cache,
        service=query.service,
    )
    site = Site(
        settings.base_url,
        graph_base=settings.graph_base,
        account=settings.graph(METADATA),
        queries=settings.file.parent / "queries" if settings.file else None,
        proxies=settings.proxies,
        operator=operator,
        origin=settings.follow,
    )
    layout = settings.layout
    catalog = InstanceCatalog(settings, room=own_room(layout.reading), apart=apart)
    return create_app(catalog, layout.store, limits, site, layout.cache)


def _refuse(*_: object) -> NoReturn:
    raise ForbiddenError(
        "This web front only reads its instance: have `harvest update` carry the update out where that is harvested."
    )


def own_room(folder: Path) -> Path:
    """
    A new folder in `folder` for the temporary files of this process; those of processes that ended are removed.

    Raises:
        StorageError: It cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for left in folder.iterdir():
            if (descriptor := _taken(left)) is not None:
                shutil.rmtree(left, ignore_errors=True)
                os.close(descriptor)
        while True:
            room = Path(mkdtemp(prefix="front-", dir=folder))
            if _taken(room) is not None and room.is_dir():  # its lock ends with this process
                return room
    except OSError as error:
        raise StorageError(f"{unusable(error, folder)}; or name another folder by the setting `scratch_dir`") from error


def _taken(folder: Path) -> int | None:
    """A descriptor that holds the lock of a folder, or None where another process holds it, or it is gone."""
    with suppress(FileNotFoundError, NotADirectoryError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        if files.locked(descriptor, fcntl.LOCK_EX):
            return descriptor
        os.close(descriptor)
    return None


def address(bind: str) -> tuple[str, int]:
    """Host and port of `bind`; an IPv6 host may stand in brackets."""
    host, _, port = bind.rpartition(":")
    return host.strip("[]"), int(port)


def check_port(bind: str, *, shared: bool = False) -> None:
    """
    Return when an address can be listened on, beside others who share it where it is to be `shared`.

    Raises:
        BusyError: It cannot.
    """
    host, port = address(bind)
    try:
        server.reserve(host, port, shared=shared).close()
    except OSError as error:
        mend = "all that listen there are to be `harvest web --shared` of one user, or " if shared else ""
        raise BusyError(f"{bind} cannot be listened on: {error.strerror}; {mend}change the setting `bind`") from error
