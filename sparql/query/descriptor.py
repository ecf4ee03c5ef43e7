"""File descriptors that one thread works with while another lets go of them."""

from __future__ import annotations

import os
import threading
from types import TracebackType


class Descriptor:
    """
    A descriptor that is closed once, when it was let go of and nobody works with it any more.

    Closed at once, its number might stand for another file by the time the thread that works with it writes. Nobody
    waits for a disk to let go of one.

        with descriptor as number:  # None when it was let go of
    """

    def __init__(self, number: int) -> None:
        self._number = number
        self._lock = threading.Lock()
        self._held = True
        self._users = 0

    def __enter__(self) -> int | None:
        """Its number, which stays open until the block ends; None when it was let go of."""
        with self._lock:
            self._users += 1
            return self._number if self._held else None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with self._lock:
            self._users -= 1
            self._close()

    def let_go(self) -> bool:
        """Let go of it; whether that was not done before."""
        with self._lock:
            held, self._held = self._held, False
            self._close()
        return held

    def _close(self) -> None:
        if not self._held and not self._users and self._number >= 0:
            os.close(self._number)
            self._number = -1
