"""What may be read of an instance beside the process that writes it: the web front's catalog, and commands."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from harvest.errors import HarvestError, RegistryError, StorageError, UnknownName
from harvest.ledger import Database, Ledger
from harvest.outline import outlines
from harvest.pipeline.files import GraphFiles
from harvest.pipeline.instance import LEDGER
from harvest.pipeline.shelf import Shelf
from harvest.publish.exports import read_index
from harvest.publish.receipt import receipt
from harvest.roster import Roster
from harvest.settings import Settings
from harvest.status import provider_object, provider_objects, run_object, statistics_object, version_object

_CHUNK = 1 << 18


class Reading:
    """
    An instance, read only; fulfils `sparql.web.catalog.Catalog`.

    Raises:
        LedgerError: There is no ledger yet, or it cannot be opened.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.exports_dir = settings.exports_dir
        self._ledger = Ledger(Database(settings.data_dir / LEDGER, read_only=True))
        self._roster: Roster | None = None
        self._shelf = Shelf(self._ledger, settings.base_url)

    def providers(self) -> list[dict[str, Any]]:
        """The JSON objects of all providers, by name."""
        registered = self._registered()
        return provider_objects(self._ledger, self.settings, registered.all() if registered else {}, _now())

    def outlines(self) -> list[dict[str, Any]]:
        """The little of all providers that lists show, by name."""
        registered = self._registered()
        return outlines(self._ledger, registered.all() if registered else {}, _now())

    def several(self, names: Sequence[str]) -> list[dict[str, Any]]:
        """The JSON objects of these providers, by name."""
        registered = self._registered()
        return provider_objects(self._ledger, self.settings, registered.all() if registered else {}, _now(), names)

    def provider(self, name: str) -> dict[str, Any] | None:
        """The JSON object of a provider, or None."""
        registered = self._registered()
        entry = registered.get(name) if registered else None
        return provider_object(self._ledger, self.settings, name, entry, _now())

    def receipt(self, name: str) -> bytes | None:
        """What a provider is told of its dump, as Turtle, or None."""
        provider = self.provider(name)
        return None if provider is None else receipt(self.settings.base_url, provider)

    def statistics(self, name: str) -> dict[str, Any] | None:
        """The statistics of a provider's current version, or None where there are none."""
        record = self._ledger.provider(name)
        found = self._ledger.figures.get(name, record.version) if record else None
        return statistics_object(record, found) if record and found else None

    def runs(self, name: str) -> list[dict[str, Any]]:
        """The latest runs of a provider, newest first."""
        return [run_object(run) for run in self._ledger.runs(name)]

    def run(self, name: str, id: int) -> dict[str, Any] | None:
        """One run of a provider, or None."""
        found = self._ledger.run(id)
        return None if found is None or found.provider != name else run_object(found)

    def sizes(self, names: Sequence[str], most: int) -> dict[str, list[dict[str, Any]]]:
        """The last versions of these providers, at most so many of each, oldest first."""
        return self._ledger.overview.sizes(names, most)

    def versions(self, name: str) -> list[dict[str, Any]]:
        """The committed versions of a provider, oldest first."""
        return [version_object(v) for v in self._ledger.versions(name) if v.state == "committed"]

    def change(self, name: str, n: int) -> Path | None:
        """The filed change of a version, compressed, or None."""
        path = self._files(name).change(n)
        committed = any(version["n"] == n for version in self.versions(name))
        return path if committed and path.is_file() else None

    def version(self, name: str, n: int) -> Iterator[bytes] | None:
        """A version as canonical N-Quads in chunks, or None. It is made whole before the first chunk."""
        record = self._ledger.provider(name)
        if record is None or not 0 < n <= record.version:
            return None
        room = Path(mkdtemp(prefix="read-", dir=self.settings.data_dir / "scratch"))
        try:
            path = self._at(name, n, room)
        except HarvestError:
            shutil.rmtree(room, ignore_errors=True)
            raise
        return _chunks(path, room)

    def _at(self, name: str, n: int, room: Path) -> Path:
        """The file of a version. A harvest may replace the snapshot that it is made from: then once more."""
        for attempt in (1, 2, 3):
            record = self._ledger.provider(name)
            assert record is not None
            here = room / str(attempt)
            here.mkdir()
            try:
                return self._files(name).at(n, record.version, here)
            except (StorageError, FileNotFoundError) as error:
                failure = error
        raise StorageError(f"version {n} of {name} cannot be made: {failure}") from failure

    def difference(self, name: str, a: int, b: int) -> Iterator[bytes]:
        """
        What takes version `a` of a provider to version `b`, as the lines of an N-Quads unified diff.

        Raises:
            UnknownName: There is no such provider or version; version 0 is empty.
        """
        record = self._ledger.provider(name)
        if record is None:
            raise UnknownName(f"no provider {name} was ever harvested here")
        room = Path(mkdtemp(prefix="read-", dir=self.settings.data_dir / "scratch"))
        try:
            yield from self._files(name).between(a, b, record.version, room)
        finally:
            shutil.rmtree(room, ignore_errors=True)

    def status(self) -> dict[str, Any]:
        """The state of the instance."""
        providers = self.providers()
        problem = self._roster.problem if self._roster else None
        return {
            "providers": providers,
            "triples": sum(provider["triples"] for provider in providers),
            "states": _counted(provider["state"] for provider in providers),
            "registry_problem": None if problem is None else problem.message,
            "exports": len(read_index(self.settings.exports_dir)),
        }

    def content(self, digest: str) -> Path | None:
        """Filed bytes, or None."""
        path = self.settings.data_dir / "content" / digest[:2] / digest[2:4] / digest
        return path if len(digest) == 64 and digest.isalnum() and path.is_file() else None

    def documents(self, state: str | None, page: int) -> dict[str, Any]:
        """A page of the seeds."""
        return self._shelf.seeds(state, page)

    def document(self, hash: str, page: int) -> dict[str, Any] | None:
        """A seed or document, or None."""
        return self._shelf.get(hash, page)

    def document_turtle(self, hash: str) -> bytes | None:
        """A seed or document as Turtle, or None."""
        return self._shelf.turtle(hash)

    def _files(self, name: str) -> GraphFiles:
        return GraphFiles(self.settings.data_dir / "providers" / name)

    def _registered(self) -> Roster | None:
        """The registry, once it could be read."""
        if self._roster is None:
            try:
                self._roster = Roster(self.settings.registry)
            except RegistryError:
                return None
        self._roster.refresh()
        return self._roster


def _chunks(path: Path, room: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as stream:
            while chunk := stream.read(_CHUNK):
                yield chunk
    finally:
        shutil.rmtree(room, ignore_errors=True)


def _counted(states: Iterator[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for state in states:
        counts[state] = counts.get(state, 0) + 1
    return counts


def _now() -> datetime:
    return datetime.now(UTC)
