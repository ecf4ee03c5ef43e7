"""
The records of a registry provider's dumps: each goes through the states of a seed, and is told of like one.

A dump's URL is registered with its provider's name, and is never stale: its provider's description says when it is
asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from harvest.errors import FetchError, HarvestError
from harvest.model import Capture, Document, Hop, Part, Problem
from harvest.pipeline import seedfacts
from harvest.pipeline.way import Way
from harvest.pipeline.workshop import Workshop
from harvest.seeds import seed_hash
from harvest.wash.leaves import Progress


class Register:
    """
    The records of one provider's dumps.

    Attributes:
        workshop: The tools.
        provider: Its name.
    """

    def __init__(self, workshop: Workshop, provider: str) -> None:
        self.workshop = workshop
        self.provider = provider

    @contextmanager
    def downloading(self, urls: Sequence[str]) -> Iterator[Callable[[str, Capture, Sequence[Hop]], None]]:
        """File that dumps are downloaded; yields what files that one was. The one that fails is told why."""
        ledger, began = self.workshop.ledger, self.workshop.clock()
        interval = self.workshop.settings.seeds.interval
        added = ledger.seeds.add_all(urls, began, interval, listed=False, provider=self.provider)
        begun = {url: ledger.documents.downloading(hash, began) for url, (hash, _) in zip(urls, added, strict=True)}

        def filed(url: str, capture: Capture, http: Sequence[Hop]) -> None:
            now = self.workshop.clock()
            ledger.documents.filed(begun[url], capture, http, now)
            ledger.seeds.processed(seed_hash(url), now)

        try:
            yield filed
        except HarvestError as error:
            self._failed(begun, error)
            raise

    def _failed(self, begun: dict[str, str], error: HarvestError) -> None:
        """Tell the dump that failed why, and the others that they were given up for it."""
        at = error.asked if isinstance(error, FetchError) else None
        http = error.http if isinstance(error, FetchError) else ()
        now = self.workshop.clock()
        for url, download in begun.items():
            said = error.message if url == at else f"given up with the other dumps of the dataset: {error.message}"
            told = http if url == at else ()
            self.workshop.ledger.documents.failed(download, told, Problem("download", said), now)

    def hearing(self, documents: Sequence[Document], urls: Sequence[str]) -> Callable[[Progress], None]:
        """What files how far the washing of dumps is; `urls` are what the documents were asked for as."""
        begun = ((document, self._download(url)) for document, url in zip(documents, urls, strict=True))
        ways = {document.url: Way(self.workshop.ledger, download) for document, download in begun if download}

        def heard(progress: Progress) -> None:
            if progress.url in ways:
                ways[progress.url].hear(progress)

        return heard

    def washed(self, urls: Sequence[str], parts: Sequence[Sequence[Part]]) -> None:
        """File what became of dumps, and write it to the metadata graph; the caller publishes it."""
        for url, its in zip(urls, parts, strict=True):
            if download := self._download(url):
                self.workshop.ledger.documents.record(download, its)
                seedfacts.tell(self.workshop, seed_hash(url))

    def _download(self, url: str) -> str | None:
        """The hash of the latest download of a URL; None for one that was harvested before there were records."""
        seed = self.workshop.ledger.seeds.get(seed_hash(url))
        return None if seed is None else seed.download
