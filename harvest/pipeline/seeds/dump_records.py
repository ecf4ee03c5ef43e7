"""
The records of a registry provider's dumps: each goes through the states of a seed, and has a page like one.

A dump's URL is registered with its provider's name, and is never stale: its provider's description says when it is
asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from harvest.errors import FetchError, HarvestError
from harvest.ledger import Ledger
from harvest.model import Capture, Document, Hop, Part, Problem, Status
from harvest.model.seeds import seed_hash
from harvest.pipeline.instance import Instance
from harvest.pipeline.seeds import seed_metadata
from harvest.wash.leaves import Progress

_BEFORE: Final = {Status.GUESSING: Status.UNARCHIVED, Status.PARSING: Status.GUESSED}
"""States that are passed without anything being done in them; washing reports only what it does."""


class DownloadProgress:
    """
    One download.

    Attributes:
        status: What it came to so far.
    """

    def __init__(self, ledger: Ledger, download: str) -> None:
        self.status = Status.FILED
        self._ledger = ledger
        self._download = download

    def advance(self, progress: Progress) -> None:
        """File the states that it passes; entries of archives are filed with the state that they come to."""
        if progress.names or progress.status is self.status:
            return
        self.status = progress.status
        for status in (_BEFORE.get(progress.status), progress.status):
            if status is not None:
                self._ledger.documents.advance(self._download, status)


class DumpRecords:
    """
    The records of one provider's dumps.

    Attributes:
        instance: The tools.
        provider: Its name.
    """

    def __init__(self, instance: Instance, provider: str) -> None:
        self.instance = instance
        self.provider = provider

    @contextmanager
    def downloading(self, urls: Sequence[str]) -> Iterator[Callable[[str, Capture, Sequence[Hop]], None]]:
        """File that dumps are downloaded; yields what files one of them. A failure is filed with its reason."""
        ledger, began = self.instance.ledger, self.instance.clock()
        interval = self.instance.settings.seeds.interval
        added = ledger.seeds.add_all(urls, began, interval, listed=False, provider=self.provider)
        begun = {url: ledger.documents.downloading(hash, began) for url, (hash, _) in zip(urls, added, strict=True)}

        def filed(url: str, capture: Capture, http: Sequence[Hop]) -> None:
            now = self.instance.clock()
            ledger.documents.filed(begun[url], capture, http, now)
            ledger.seeds.processed(seed_hash(url), now)

        try:
            yield filed
        except HarvestError as error:
            self._failed(begun, error)
            raise

    def _failed(self, begun: dict[str, str], error: HarvestError) -> None:
        """File why a dump failed, and of the others that they were given up for it."""
        at = error.asked if isinstance(error, FetchError) else None
        http = error.http if isinstance(error, FetchError) else ()
        now = self.instance.clock()
        for url, download in begun.items():
            said = error.message if url == at else f"given up with the other dumps of the dataset: {error.message}"
            exchanges = http if url == at else ()
            self.instance.ledger.documents.failed(download, exchanges, Problem("download", said), now)

    def on_washing(self, documents: Sequence[Document], urls: Sequence[str]) -> Callable[[Progress], None]:
        """A callback that files how far the washing of dumps is; `urls` are those of the documents as asked for."""
        begun = ((document, self._download(url)) for document, url in zip(documents, urls, strict=True))
        ways = {
            document.url: DownloadProgress(self.instance.ledger, download) for document, download in begun if download
        }

        def advanced(progress: Progress) -> None:
            if progress.url in ways:
                ways[progress.url].advance(progress)

        return advanced

    def washed(
        self, urls: Sequence[str], parts: Sequence[Sequence[Part]], reused: Collection[int] = frozenset()
    ) -> None:
        """
        File what became of dumps, and write it to the metadata graph; the caller publishes it.

        Of those at `reused` places nothing new is known: they are passed over where it is filed already.
        """
        for place, (url, its) in enumerate(zip(urls, parts, strict=True)):
            download = self._download(url)
            if download and not (place in reused and self._is_recorded(download)):
                self.instance.ledger.documents.record(download, its)
                seed_metadata.write_seed(self.instance, seed_hash(url))

    def _is_recorded(self, download: str) -> bool:
        record = self.instance.ledger.documents.get(download)
        return record is not None and record.whole is not None

    def _download(self, url: str) -> str | None:
        """The hash of the latest download of a URL; None for one that was harvested before there were records."""
        seed = self.instance.ledger.seeds.get(seed_hash(url))
        return None if seed is None else seed.download
