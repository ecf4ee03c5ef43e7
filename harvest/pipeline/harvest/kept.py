"""What was read of documents, kept in memory, so that an unchanged one is not read at each look."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class Kept(Generic[T]):
    """The last values that were put, by what they depend on; may be used by any number of threads."""

    def __init__(self, most: int) -> None:
        self._values: OrderedDict[tuple[str, ...], T] = OrderedDict()
        self._most = most
        self._lock = Lock()

    def get(self, *key: str) -> T | None:
        """The value of a key, or None."""
        with self._lock:
            return self._values.get(key)

    def put(self, value: T, *key: str) -> T:
        """Keep a value, and give it."""
        with self._lock:
            self._values[key] = value
            while len(self._values) > self._most:
                self._values.popitem(last=False)
        return value
