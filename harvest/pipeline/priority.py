"""Who gets the processor first: people who ask wait for an answer, a harvest has until the next minute."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Final, TypeVar

T = TypeVar("T")

NICE: Final = 15
"""The nice value of harvesting."""


def step_aside() -> None:
    """Give this thread, and all threads and processes that it starts, less of the processor than the front has."""
    if sys.platform == "linux":  # Where a thread has a priority of its own.
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)


@contextmanager
def aside(context: AbstractContextManager[T]) -> Iterator[T]:
    """
    What a context manager gives, entered in a thread that has stepped aside.

    So that what it starts has stepped aside as well: a store compacts its files in threads of its own.
    """
    with ThreadPoolExecutor(1, "aside", initializer=step_aside) as thread, ExitStack() as stack:
        entered = thread.submit(context.__enter__).result()
        stack.push(lambda *raised: thread.submit(context.__exit__, *raised).result())
        yield entered
