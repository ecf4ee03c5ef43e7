"""
The crawl: every request of the pipeline goes through it, so that the archive can say what each URL gave and when.

Bytes are filed first and the download then, in one row. An answer that says nothing new (304, or the bytes that the URL
gave last) writes nothing. `hash://sha256/...` is answered from the archive, without network and without a row.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Final

import structlog
from pyoxigraph import Triple

from harvest.archive.provenance import facts_of, new_activity
from harvest.archive.syncing import sync_file
from harvest.errors import FetchError, HarvestError, RobotsError, StatusError, StorageError
from harvest.fetch.client import Client, Fetched
from harvest.fetch.download import NOTHING_KNOWN, download_all
from harvest.fetch.exchange import OnBytes, ignored
from harvest.fetch.order import NO_LIMITS, NO_VALIDATORS
from harvest.fetch.robots import Robots
from harvest.fetch.wire import without_userinfo
from harvest.ledger import Ledger
from harvest.model import Capture, Download, Limits, Note, Validators
from harvest.pipeline.filed import filed
from harvest.pipeline.seal import Seal
from sparql.rdf import HASH_URI

log = structlog.get_logger()

PATIENCE_S: Final = 60.0
"""Seconds after which what was recorded is sealed although other work still runs."""


class Crawl:
    """Requests that are recorded; may be used by any number of threads."""

    def __init__(
        self, ledger: Ledger, client: Client, seal: Seal, clock: Callable[[], datetime], stopping: threading.Event
    ) -> None:
        self.ledger = ledger
        self.client = client
        self.content = seal.content
        self._seal = seal
        self._clock = clock
        self._stopping = stopping
        self._robots = Robots(client)
        self._guard = threading.Lock()
        self._working = 0
        self._recorded_at: float | None = None

    def get(
        self,
        url: str,
        validators: Validators = NO_VALIDATORS,
        limits: Limits = NO_LIMITS,
        *,
        accept: str | None = None,
        informed: str | None = None,
    ) -> Fetched:
        """
        The answer to one GET, its body filed: `path` is where, and None when there is nothing new (304).

        `informed` is the IRI of the activity that led to the request.

        Raises:
            FetchError: As `Client.get`; a hash URI whose bytes are not filed gives a StatusError of 404.
            StorageError: The body cannot be filed.
        """
        if HASH_URI.fullmatch(url):
            return self._filed(url, validators, limits)
        began = self.clock()
        try:
            self._obey("all", url)
            fetched = self.client.get(url, validators, limits, accept=accept, into=self.content.incoming)
        except FetchError as error:
            self._record_failure((url,), error, began, informed)
            raise
        with _emptied([fetched]):
            return self._record(url, fetched, began, informed)

    def download_all(
        self,
        urls: Sequence[str],
        limits: Limits = NO_LIMITS,
        known: Mapping[str, Validators] = NOTHING_KNOWN,
        informed: str | None = None,
        on_bytes: OnBytes = ignored,
    ) -> list[Fetched]:
        """
        The answers, in the order of `urls`, once all are there and filed; as `get` otherwise.

        `on_bytes` is called with bytes as they come, in several threads.

        Raises:
            FetchError: As `harvest.fetch.download.download_all`; then none is recorded but the one that failed.
            StorageError: A body cannot be filed.
        """
        filed = {
            url: self._filed(url, known.get(url, NO_VALIDATORS), limits) for url in urls if HASH_URI.fullmatch(url)
        }
        asked = [url for url in urls if url not in filed]
        began = self.clock()
        try:
            for url in asked:
                self._obey("all", url)
            client = self.client.reporting(on_bytes)
            answers = download_all(client, asked, self.content.incoming, limits, known) if asked else []
        except FetchError as error:
            self._record_failure(asked, error, began, informed)
            raise
        with _emptied(answers):
            for url, fetched in zip(asked, answers, strict=True):
                filed[url] = self._record(url, fetched, began, informed)
        return [filed[url] for url in urls]

    def admit(self, url: str, informed: str | None = None) -> None:
        """
        Return when robots.txt lets a page or seed be asked for; the setting `http.robots` says whether it is obeyed.

        Raises:
            RobotsError: It does not, which is recorded as `get` does.
        """
        try:
            self._obey("pages", url)
        except FetchError as error:
            self._record_failure((url,), error, self.clock(), informed)
            raise

    def _obey(self, where: str, url: str) -> None:
        if self.client.means.settings.robots == where:
            self._robots.admit(url, self.content.incoming, self._stopping)

    def activity(self, url: str) -> str | None:
        """The IRI of the download that gave a URL's last bytes, for `informed`; None when there is none."""
        last = self.ledger.downloads.at(without_userinfo(url), None)
        return last.activity if last else None

    def clock(self) -> datetime:
        """The time now, in milliseconds as logs have it, so that ledger and log say the same."""
        now = self._clock()
        return now.replace(microsecond=now.microsecond // 1000 * 1000)

    def note(self, activity: str, facts: list[Triple]) -> None:
        """
        Have the next log hold facts of the pipeline's own, in the graph `activity` (`new_activity` makes one).

        Raises:
            ValueError: They use prov:usedBy, pav:hasVersion or pav:previousVersion.
        """
        self.ledger.downloads.note(Note(activity, self.clock(), facts_of(facts)))
        self.noted()

    def noted(self) -> None:
        """Have the next log written when the work in hand ends: the ledger has something to log."""
        self._recorded()

    @contextmanager
    def working(self) -> Iterator[None]:
        """Work that records; when the last of it that runs at once ends, what was recorded is sealed."""
        with self._guard:
            self._working += 1
        try:
            yield
        finally:
            if self._is_due():
                self._try_to_seal(self.ledger.downloads.waits)

    def _is_due(self) -> bool:
        with self._guard:
            self._working -= 1
            since = self._recorded_at
            due = self._working == 0 or (since is not None and time.monotonic() - since > PATIENCE_S)
            if due:
                self._recorded_at = None
            return due

    def seal_leftovers(self) -> None:
        """Seal what an earlier process recorded and did not seal, and adopt the logs that the ledger lacks."""
        self._try_to_seal(lambda: True)

    def seal_again(self) -> None:
        """Seal downloads that could not be sealed when their work ended, unless work goes on that will seal them."""
        with self.working():
            pass

    def seal(self) -> list[str]:
        """
        Write the provenance log of what was recorded; returns the SHA-256 of each that was written, mostly one or none.

        Raises:
            StorageError: It cannot be written; what was recorded waits for the next time.
        """
        return self._seal.seal()

    @property
    def logs(self) -> Seal:
        """What writes the logs."""
        return self._seal

    def _try_to_seal(self, due: Callable[[], bool]) -> None:
        try:
            if due():
                self.seal()
        except HarvestError as error:
            # The rows are safe, and harvesting does not need the log.
            log.error("provenance log not written; it is tried again", reason=error.message)

    def _record(self, url: str, fetched: Fetched, began: datetime, informed: str | None) -> Fetched:
        """File the body of an answer, and record it if it is new."""
        capture = fetched.capture
        if fetched.path is None or capture.digest is None:
            return fetched
        bare = without_userinfo(url)
        if not self.content.holds(capture.digest):
            sync_file(fetched.path)  # a large one takes seconds, and others wait for the guard
        with self.content.guard:
            place = self.content.file(fetched.path, capture.digest)
            last = self.ledger.downloads.last(bare)
            if last is None or last.capture is None or _essence(last.capture) != _essence(capture):
                self.add(Download(new_activity(), bare, began, self.clock(), capture, capture.status, None, informed))
        return Fetched(capture, place, fetched.tries, fetched.wall_s, fetched.notes, fetched.http)

    def _record_failure(self, urls: Sequence[str], error: FetchError, began: datetime, informed: str | None) -> None:
        if self._stopping.is_set():
            return  # the failure is ours
        url = without_userinfo(error.asked or error.url or urls[0])
        if isinstance(error, RobotsError):
            last = self.ledger.downloads.last(url)
            if last is not None and last.reason == error.message:
                return  # nothing was asked, and why is recorded
        status = error.status if isinstance(error, StatusError) else None
        self.add(Download(new_activity(), url, began, self.clock(), None, status, error.message, informed))

    def add(self, download: Download) -> None:
        """File a download that the next log is to hold."""
        self.ledger.downloads.add(download)
        self._recorded()

    def _recorded(self) -> None:
        with self._guard:
            if self._recorded_at is None:
                self._recorded_at = time.monotonic()

    def _filed(self, url: str, validators: Validators, limits: Limits) -> Fetched:
        return filed(self.content, url, self.clock(), self.ledger, (validators, limits))


@contextmanager
def _emptied(answers: Sequence[Fetched]) -> Iterator[None]:
    """
    The temporary files of answers are gone when the block ends, also where not all could be filed.

    Raises:
        StorageError: In place of an OSError.
    """
    try:
        yield
    except OSError as error:
        raise StorageError(f"what was downloaded cannot be filed: {error}") from error
    finally:
        for answer in answers:
            if answer.path is not None:
                answer.path.unlink(missing_ok=True)


def _essence(capture: Capture) -> tuple[object, ...]:
    """
    What makes an answer another one.

    Validators do not, and neither does the query of the address after redirects: some servers change them each time.
    """
    return capture.digest, capture.final_url.split("?")[0], capture.media_type, capture.status
