"""The archive as it may be read beside the process that writes it: an instance's, or any folder in Preston's layout."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from pyoxigraph import NamedNode, Quad, RdfFormat, serialize

from harvest.archive.copying import Copied, copy
from harvest.archive.history import Archive, LoggedVersion, nothing_of
from harvest.archive.layout import HashName, digest_of, name_of, named
from harvest.archive.verify import Check, verify
from harvest.config.settings import Settings
from harvest.errors import StorageError, UnknownName
from harvest.fetch.wire import without_userinfo
from harvest.ledger import Database, Ledger
from harvest.ledger.downloads import DownloadRecord

_CHUNK: Final = 1 << 18


@dataclass(frozen=True, slots=True)
class ArchivedAnswer:
    """
    What a URL gave, as commands print it.

    Attributes:
        url: As it was asked for, without name and password.
        at: When (aware, UTC); None where the log has no time.
        hash: Hash URI of the bytes, or None where there are none.
        bytes: How many; None where the log does not say.
        media_type: As its server declared it, or None.
        final_url: After redirects, or None.
        reason: Why there are no bytes, or None.
        activity: IRI of the download, or None.
        log: Hash URI of the log that holds it, or None where none does yet.
    """

    url: str
    at: datetime | None
    hash: str | None
    bytes: int | None
    media_type: str | None
    final_url: str | None
    reason: str | None
    activity: str | None
    log: str | None


class Archived:
    """
    An archive, read only.

    Attributes:
        archive: Its folder.
        ledger: Of the instance that it belongs to; it answers what a URL gave without reading logs. None for a folder.
    """

    def __init__(self, archive: Archive, ledger: Ledger | None = None) -> None:
        self.archive = archive
        self.ledger = ledger

    def statements(self) -> Iterator[Quad]:
        """The statements of all logs, the newest log first."""
        return self.archive.statements()

    def history(self) -> Iterator[Quad]:
        """The logs, newest first, each derived from the one before."""
        return self.archive.history()

    def lines(self, quads: Iterable[Quad]) -> Iterator[bytes]:
        """Statements as lines of N-Quads."""
        return (serialize([quad], format=RdfFormat.N_QUADS) or b"" for quad in quads)

    def objects(self, quads: Iterable[Quad]) -> Iterator[dict[str, str | None]]:
        """Statements as JSON objects; terms as N-Quads has them."""
        for quad in quads:
            graph = str(quad.graph_name) if isinstance(quad.graph_name, NamedNode) else None
            yield {
                "subject": str(quad.subject),
                "predicate": str(quad.predicate),
                "object": str(quad.object),
                "graph": graph,
            }

    def versions(self, url: str) -> list[ArchivedAnswer]:
        """
        What a URL gave, newest first.

        Raises:
            UnknownName: It was never asked for.
        """
        url = without_userinfo(url)
        if self.ledger is not None:
            found = [_of_record(record) for record in self.ledger.downloads.history(url)]
        else:
            found = [_of_version(version) for version in self.archive.versions(url)]
        if not found:
            raise UnknownName(f"the archive knows nothing of {url}")
        return found

    def at(self, url: str, time: datetime | None) -> str:
        """
        The name of the bytes that a URL last gave, up to a time.

        Raises:
            UnknownName: It gave none.
        """
        if self.ledger is None or named(url) is not None:
            return self.archive.at(url, time).uri
        download = self.ledger.downloads.at(without_userinfo(url), time)
        if download is None or download.capture is None or download.capture.digest is None:
            raise UnknownName(nothing_of(url, time))
        return HashName(download.capture.digest).uri

    def bytes(self, text: str, *, verified: bool = False) -> Iterator[bytes]:
        """
        The bytes of a hash, bare or as a hash URI, in chunks; also of an index entry.

        Raises:
            UnknownName: It is no hash, or nothing is filed under it.
            StorageError: Asked to verify, before the first chunk: they have another hash.
        """
        name = name_of(text)
        path = self.archive.path(name)
        if verified and (digest := digest_of(path, name.algorithm)[0]) != name.digest:
            raise StorageError(f"{path} is damaged, or an index entry: it has {HashName(digest).uri}", url=str(path))
        return _chunks(path)

    def verify(self, *, hashing: bool = True) -> Iterator[Check]:
        """Check every log and all bytes that logs name."""
        return verify(self.archive, hashing=hashing)

    def copy(self, target: Path) -> Iterator[Copied]:
        """Copy everything to a folder."""
        return copy(self.archive.root, target)


def of_instance(settings: Settings) -> Archived:
    """
    The archive of an instance.

    Raises:
        LedgerError: There is no ledger yet, or it cannot be opened.
    """
    ledger = Ledger(Database(settings.layout.ledger, read_only=True))
    return Archived(Archive(settings.layout.content), ledger)


def of_folder(folder: Path, log: str | None = None) -> Archived:
    """
    The archive in a folder; `log` is the hash of the newest log of one without an index.

    Raises:
        UnknownName: There is no such folder, or it is no hash.
    """
    return Archived(Archive(folder, name_of(log) if log else None))


def _of_record(record: DownloadRecord) -> ArchivedAnswer:
    download = record.download
    capture = download.capture
    return ArchivedAnswer(
        url=download.url,
        at=download.ended,
        hash=HashName(capture.digest).uri if capture and capture.digest else None,
        bytes=capture.length if capture else None,
        media_type=capture.media_type if capture else None,
        final_url=capture.final_url if capture else None,
        reason=download.reason,
        activity=download.activity,
        log=HashName(record.log).uri if record.log else None,
    )


def _of_version(version: LoggedVersion) -> ArchivedAnswer:
    return ArchivedAnswer(
        url=version.url,
        at=version.at,
        hash=version.name.uri if version.name else None,
        bytes=None,
        media_type=version.media_type,
        final_url=version.final_url,
        reason=version.reason,
        activity=version.activity,
        log=version.log.uri if version.log else None,
    )


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            yield chunk
