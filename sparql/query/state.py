"""The states of a query worker, as the front sees it, and which follows which."""

from __future__ import annotations

from enum import Enum, auto
from typing import Final


class WorkerState(Enum):
    """
    What a worker is doing.

    | state    | the worker                          | becomes                                                     |
    |----------|-------------------------------------|-------------------------------------------------------------|
    | STARTING | opens the store                     | IDLE when it says that it is ready                          |
    | IDLE     | waits for a query                   | SHORT when it is given one                                  |
    | SHORT    | answers it at its own priority, and | LOWERED after `lowered_s` of processor time; at once if the |
    |          | may be sent others behind it        | query is known as long, or when its client reads slowly     |
    | LOWERED  | answers it at the lowest priority   | LONG after `long_s` of processor time; at once likewise     |
    | LONG     | likewise, and counts: there is a    |                                                             |
    |          | bound on how many are LONG          |                                                             |
    | ENDED    | was killed, or died                 | nothing; another one is started                             |

    SHORT, LOWERED and LONG become IDLE when the query is answered, or SHORT if another one was sent behind it. All
    become ENDED when the process is killed, for a limit or a client that went away, or dies.
    """

    STARTING = auto()
    IDLE = auto()
    SHORT = auto()
    LOWERED = auto()
    LONG = auto()
    ENDED = auto()


BUSY: Final = frozenset({WorkerState.SHORT, WorkerState.LOWERED, WorkerState.LONG})
"""States of a worker that has a query."""
AFTER: Final = {
    WorkerState.STARTING: {WorkerState.IDLE, WorkerState.ENDED},
    WorkerState.IDLE: {WorkerState.SHORT, WorkerState.ENDED},
    WorkerState.SHORT: {WorkerState.SHORT, WorkerState.LOWERED, WorkerState.IDLE, WorkerState.ENDED},
    WorkerState.LOWERED: {WorkerState.SHORT, WorkerState.LONG, WorkerState.IDLE, WorkerState.ENDED},
    WorkerState.LONG: {WorkerState.SHORT, WorkerState.IDLE, WorkerState.ENDED},
    WorkerState.ENDED: set[WorkerState](),
}
"""What may follow each state."""
