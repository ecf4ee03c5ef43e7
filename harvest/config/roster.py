"""The registry as it is now: read again when the file changes, and the last good one kept when an edit breaks it."""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import structlog

from harvest.config.registry import load_registry
from harvest.config.writeback import write_modified
from harvest.errors import RegistryError
from harvest.model import Provider

log = structlog.get_logger()


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
        self._providers = {provider.name: provider for provider in load_registry(path).providers}

    def refresh(self) -> None:
        """Read the file again if it changed. A file that cannot be used is reported once, and changes nothing."""
        with self._lock:
            mark = self._mark()
            if mark == self._seen:
                return
            self._seen = mark
            try:
                self._providers = {provider.name: provider for provider in load_registry(self.path).providers}
            except RegistryError as error:
                self.problem = error
                log.error("the registry cannot be used; the last good one stays in force", reason=error.message)
            else:
                self.problem = None
                log.info("registry read", file=str(self.path), providers=len(self._providers))

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
            provider = self._providers.get(name)
            if provider is None or not write_modified(self.path, name, modified, provider.modified):
                return False
            self._providers = self._providers | {name: replace(provider, modified=modified)}
            return True

    def _mark(self) -> tuple[int, int, int]:
        """What shows that the file changed. A file that is gone is a change too."""
        try:
            found = os.stat(self.path)
        except OSError:
            return 0, 0, 0
        return found.st_ino, found.st_size, found.st_mtime_ns
