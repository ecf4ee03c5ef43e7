"""The registry as it is now: read again when the file changes, and the last good one kept when an edit breaks it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import structlog

from harvest.config.registry import load_registry
from harvest.config.writeback import write_modified
from harvest.errors import RegistryError
from harvest.model import Provider

log = structlog.get_logger()

Members = Mapping[str, Mapping[str, str]]
"""Names and addresses of the providers for which an entry stands, by entry."""


class Roster:
    """The providers of an instance, by name; safe to use from several threads."""

    def __init__(self, path: Path) -> None:
        """
        Read the registry.

        Raises:
            RegistryError: It cannot be used; at the start there is no last good one.
        """
        self.path = path
        self.problem: RegistryError | None = None
        self._lock = threading.Lock()
        self._seen = self._mark()
        self._registered = {provider.name: provider for provider in load_registry(path).providers}
        self._members: Callable[[], Members] = dict
        self._found: Members = {}
        self._providers = self._registered

    def take_members(self, members: Callable[[], Members]) -> None:
        """Have entries that take all providers of a source stand for those that `members` gives, by entry."""
        self._members = members
        self.refresh()

    def refresh(self) -> None:
        """Read the file again if it changed. A file that cannot be used is reported once, and changes nothing."""
        with self._lock:
            mark, found = self._mark(), self._members() if self._takes_members() else {}
            if mark != self._seen:
                self._seen = mark
                self._read()
            elif found == self._found:
                return
            self._found = found
            listed = dict(self._listed())
            self._providers = self._registered | listed if listed else self._registered

    def _takes_members(self) -> bool:
        return any(provider.prefix is not None for provider in self._registered.values())

    def _read(self) -> None:
        try:
            self._registered = {provider.name: provider for provider in load_registry(self.path).providers}
        except RegistryError as error:
            self.problem = error
            log.error("the registry cannot be used; the last good one stays in force", reason=error.message)
        else:
            self.problem = None
            log.info("registry read", file=str(self.path), providers=len(self._registered))

    def _listed(self) -> Iterator[tuple[str, Provider]]:
        """The providers for which entries stand, but for those whose name is taken since they were found."""
        taken = {name.lower() for name in self._registered}
        for entry in self._registered.values():
            for name, url in self._found.get(entry.name, {}).items() if entry.prefix is not None else ():
                if name.lower() not in taken:
                    taken.add(name.lower())
                    yield name, replace(entry, name=name, url=url, prefix=None, modified=None)

    def registered(self) -> Collection[str]:
        """The names that stand in the file."""
        return self._registered.keys()

    def get(self, name: str) -> Provider | None:
        """A provider, or None."""
        return self._providers.get(name)

    def all(self) -> dict[str, Provider]:
        """All providers by name."""
        return self._providers

    def write_back(self, name: str, modified: datetime) -> bool:
        """
        Write `modified` to a provider's entry if the file still says what was read; returns whether it was written.

        Whatever else changed in the file meanwhile is seen at the next refresh.

        Raises:
            RegistryError: The entry is laid out so that its date cannot be replaced alone.
            StorageError: The file cannot be read or replaced.
        """
        with self._lock:
            provider = self._registered.get(name)
            if provider is None or not write_modified(self.path, name, modified, provider.modified):
                return False
            self._registered = self._registered | {name: replace(provider, modified=modified)}
            self._providers = self._providers | {name: self._registered[name]}
            return True

    def _mark(self) -> tuple[int, int, int]:
        """What shows that the file changed. A file that is gone is a change too."""
        try:
            found = os.stat(self.path)
        except OSError:
            return 0, 0, 0
        return found.st_ino, found.st_size, found.st_mtime_ns
