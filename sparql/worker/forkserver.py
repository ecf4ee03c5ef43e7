"""
A process that has the current generation open, and becomes a query worker in a child whenever it is asked.

To start Python, import all that a worker needs and open the store takes 100 ms of processor time, and a fork 2. The
front starts this as `python -m sparql.worker.forkserver`, and has one for each kind of worker. Not multiprocessing's
fork server: its children run the main module of the front again.

The threads of a store do not come along into a child. A store that is opened for reading only has none that do
anything: they wait for flushes and compactions, which never come, and hold no lock. They are waited for when a process
ends in the ordinary way, so a child ends by `os._exit`.

Source: fork(2), unix(7); RocksDB, DB::OpenForReadOnly.
"""

from __future__ import annotations

import contextlib
import gc
import json
import logging
import os
import signal
import socket
import struct
import sys
from pathlib import Path
from typing import Final

from sparql.errors import StoreError
from sparql.log import log_to_stderr
from sparql.worker import sandbox
from sparql.worker.limits import QueryLimits
from sparql.worker.reader import GenerationReader
from sparql.worker.worker import run

log = logging.getLogger(__name__)

ORDER: Final = struct.Struct("=q")
"""What the front sends, and gets back: the id of a process."""
START: Final = 0
"""Sent with a descriptor: start a worker that talks there. Its id comes back, or minus the number of the error."""
MOVE: Final = -1
"""Sent when there is a new generation."""


def serve(connection: socket.socket, reader: GenerationReader) -> socket.socket | None:
    """
    Obey a front, until it goes: then None. In each worker, its end of the socket pair.

    A worker that has ended keeps its id until the front says that it knows, by sending it: until then nobody else can
    get that id, and the front can signal it without danger.
    """
    while True:
        try:
            order, descriptors, *_ = socket.recv_fds(connection, ORDER.size, 1)
        except ConnectionResetError:  # The front is gone, and had not read all.
            return None
        if not order:
            return None
        (number,) = ORDER.unpack(order)
        if number > START:
            os.waitpid(number, 0)
            continue
        with contextlib.suppress(StoreError):  # Whoever asks a worker gets the error.
            reader.store()
        for descriptor in descriptors:
            pid = _fork()
            if pid == 0:
                connection.close()
                return socket.socket(fileno=descriptor)
            os.close(descriptor)
            with contextlib.suppress(ConnectionError):  # The front is gone: that shows where the next order is read.
                connection.sendall(ORDER.pack(pid))


def _fork() -> int:
    try:
        return os.fork()
    except OSError as error:
        return -(error.errno or 1)


def main(descriptor: int, parent: int, root: Path, base_iri: str, limits: QueryLimits) -> None:
    """Serve the front, by its process id and a descriptor; the rest is as `sparql.query.crew.Crew` has it."""
    log_to_stderr()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sandbox.die_with_parent(parent)
    reader = GenerationReader(root, limits.own_graphs, limits.listed_graphs)
    gc.collect()
    gc.freeze()  # The collector would write to what all workers share.
    here = os.getpid()
    connection = serve(socket.socket(fileno=descriptor), reader)
    if connection is not None:
        try:
            sandbox.die_with_parent(here)
            run(connection, base_iri, limits, reader)
        finally:
            if sys.exc_info()[0] is not None:  # Nobody else says it.
                log.critical("A query worker ended", exc_info=True)
            os._exit(0)


if __name__ == "__main__":
    _, ours, front, folder, base, given = sys.argv
    main(int(ours), int(front), Path(folder), base, QueryLimits(**json.loads(given)))
