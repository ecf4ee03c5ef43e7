"""Asking an origin: its documents for those that follow it, and the files that they name."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from harvest.config.registry import NAME
from harvest.config.settings import Settings
from harvest.errors import DescriptionError, MismatchError
from harvest.fetch.client import Client
from harvest.fetch.order import NO_LIMITS, NO_VALIDATORS

FORMAT = 1


@dataclass(frozen=True, slots=True)
class OriginProvider:
    """
    A provider of the origin.

    Attributes:
        name: Its name.
        graph: Its graph IRI.
        version: Its current version, from 1.
        baseline: The first that is kept; 0 where none was dropped.
        at: When the current version was filed there (aware, UTC).
    """

    name: str
    graph: str
    version: int
    baseline: int
    at: datetime


@dataclass(frozen=True, slots=True)
class OriginVersion:
    """
    A version at the origin.

    Attributes:
        n: Its number.
        at: When it was filed there (aware, UTC).
        coverage: full or partial.
        dataset: IRI of the dataset that changed.
        modified: Its dcterms:modified, or None.
        added: Triples.
        removed: Triples.
        triples: In the graph afterwards.
        sha256: Of the snapshot, where the origin made one.
        file_sha256: Of the compressed file of the change, or of the baseline.
    """

    n: int
    at: datetime
    coverage: str
    dataset: str
    modified: datetime | None
    added: int
    removed: int
    triples: int
    sha256: str | None
    file_sha256: str


@dataclass(frozen=True, slots=True)
class OriginState:
    """
    What an origin has.

    Attributes:
        graph_base: What the IRIs of its graphs begin with.
        providers: Those with a version, by name.
    """

    graph_base: str
    providers: tuple[OriginProvider, ...]


class Asking:
    """
    The documents of an origin; each method may raise.

    Raises:
        FetchError: The origin does not answer.
        DescriptionError: It answers something else than expected.
    """

    def __init__(self, client: Client, url: str, folder: Path) -> None:
        self.url = url
        self._client = client
        self._folder = folder

    def state(self) -> OriginState:
        """What the origin has now."""
        url = f"{self.url}/follow.json"
        known = self._json(url)
        try:
            if known["format"] != FORMAT:
                raise DescriptionError(f"{url} has format {known['format']}, and {FORMAT} is known here", url=url)
            providers = tuple(
                OriginProvider(
                    each["name"], each["graph"], each["version"], each["baseline"], datetime.fromisoformat(each["at"])
                )
                for each in known["providers"]
            )
            for each in providers:
                if not NAME.fullmatch(each.name) or each.graph != known["graph_base"] + each.name:
                    raise ValueError(f"no provider has the name {each.name!r} and the graph {each.graph!r}")
            return OriginState(known["graph_base"], providers)
        except (KeyError, TypeError, ValueError) as error:
            raise _strange(url, error) from error

    def versions(self, name: str, after: int) -> Iterator[OriginVersion]:
        """Yield the versions of a provider after `after`, oldest first."""
        while True:
            url = f"{self.url}/follow/{name}.json?after={after}"
            known = self._json(url)
            try:
                found = [_version(each) for each in known["versions"]]
            except (KeyError, TypeError, ValueError) as error:
                raise _strange(url, error) from error
            if not found:
                return
            yield from found
            after = found[-1].n

    def file(self, name: str, version: OriginVersion) -> Path:
        """
        The compressed file of a change or baseline, on disk durably.

        Raises:
            MismatchError: It is another one than its origin says.
        """
        url = f"{self.url}/follow/{name}/{version.n}.nqud.gz"
        path = self._get(url)
        with path.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
            os.fsync(stream.fileno())
        if digest != version.file_sha256:
            path.unlink()
            message = f"{url} has SHA-256 {digest}, and its origin says {version.file_sha256}; it is asked for again"
            raise MismatchError(message, url=url)
        return path

    def _json(self, url: str) -> Any:
        path = self._get(url)
        try:
            return json.loads(path.read_bytes())
        except ValueError as error:
            raise _strange(url, error) from error
        finally:
            path.unlink()

    def _get(self, url: str) -> Path:
        fetched = self._client.get(url, NO_VALIDATORS, NO_LIMITS, into=self._folder)
        if fetched.path is None:
            raise DescriptionError(f"{url} answered without a body", url=url)
        return fetched.path


def graph_base_of_origin(settings: Settings) -> str:
    """
    What the IRIs of graphs begin with at the instance that is to be followed.

    Raises:
        FetchError: It does not answer.
        DescriptionError: It is no instance that can be followed.
    """
    client = Client(settings.http, settings.base_url)
    try:
        with TemporaryDirectory() as folder:
            return Asking(client, settings.follow, Path(folder)).state().graph_base
    finally:
        client.close()


def _version(said: Any) -> OriginVersion:
    modified = said["modified"]
    return OriginVersion(
        n=said["n"],
        at=datetime.fromisoformat(said["at"]),
        coverage=said["coverage"],
        dataset=said["dataset"],
        modified=datetime.fromisoformat(modified) if modified else None,
        added=said["added"],
        removed=said["removed"],
        triples=said["triples"],
        sha256=said["sha256"],
        file_sha256=said["file_sha256"],
    )


def _strange(url: str, error: Exception) -> DescriptionError:
    message = f"{url} is no document of an instance that can be followed ({type(error).__name__}: {error})"
    return DescriptionError(message, url=url)
