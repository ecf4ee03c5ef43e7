"""Answering questions of tracking: by a download, from the archive, or by unpacking an archive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harvest.archive.content import ContentStore
from harvest.archive.entries import EntryName, entry_named
from harvest.archive.handling import Version
from harvest.archive.layout import Name, name_of
from harvest.archive.provenance import new_activity
from harvest.errors import FetchError, StorageError, UnknownName, WashError
from harvest.fetch.wire import without_userinfo
from harvest.model import Capture, Download
from harvest.pipeline.washing import terms
from harvest.pipeline.workshop import Workshop
from harvest.wash import process
from harvest.wash.unpacking.pick import Picked, Wanted, pick
from sparql.rdf import HASH_URI

_CHUNK: Final = 1 << 20
_UNPACKED: Final = 200
"""The status of an entry, which no server gave: what is filed there was had."""


@dataclass(frozen=True, slots=True)
class Question:
    """
    What is asked for: `<url> pav:hasVersion _:blank`.

    Attributes:
        url: http, https, `hash://sha256/...`, or an entry of an archive.
        depth: How far it is from what was asked for first.
        handler: Name of the handler that asks; None for what was asked for first.
        source: URL of the version that the handler was told of, or None.
        informed: IRI of the activity that gave that version, or None.
    """

    url: str
    depth: int = 0
    handler: str | None = None
    source: str | None = None
    informed: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """
    What a question gave.

    Attributes:
        question: The question.
        version: What the URL gave; None when it failed.
        reason: Why it failed, or None.
        activity: IRI of the download that first gave this, or None.
        is_new: Whether the archive tells of it now for the first time.
    """

    question: Question
    version: Version | None = None
    reason: str | None = None
    activity: str | None = None
    is_new: bool = False

    @property
    def url(self) -> str:
        """As logs tell it: without user and password."""
        return without_userinfo(self.question.url)


class Answering:
    """Answers questions, and has the archive tell what is new."""

    def __init__(self, workshop: Workshop) -> None:
        self._workshop = workshop
        self._downloads = workshop.ledger.downloads

    def answers(self, questions: Sequence[Question]) -> list[Answer]:
        """
        The answers, in the order of the questions; as many downloads at once as the settings allow.

        Raises:
            StorageError: The disk is full.
            StoppedError: The instance is shutting down.
        """
        found: dict[str, Answer] = {}
        packed: dict[tuple[str, tuple[str, ...]], list[tuple[Question, EntryName]]] = {}
        urls: list[Question] = []
        for question in questions:
            entry = entry_named(question.url)
            if entry is None:
                urls.append(question)
            else:
                packed.setdefault((entry.digest, entry.layers), []).append((question, entry))
        with ThreadPoolExecutor(self._workshop.settings.http.parallel, "track") as threads:
            found |= {answer.question.url: answer for answer in threads.map(self._downloaded, urls)}
        for entries in packed.values():
            found |= {answer.question.url: answer for answer in self._unpacked(entries)}
        return [found[question.url] for question in questions]

    def _downloaded(self, question: Question) -> Answer:
        workshop, url = self._workshop, question.url
        workshop.check_stopping()
        workshop.on_step(without_userinfo(url), "fetch")
        bare = without_userinfo(url)
        before = self._downloads.last(bare)
        held = self._held(bare)
        known = {url: held.capture.validators} if held and held.capture else {}
        try:
            [fetched] = workshop.crawl.download_all([url], known=known, informed=question.informed)
        except FetchError as error:
            workshop.check_stopping()
            after = self._downloads.last(bare)
            is_new = after is not None and after != before
            return Answer(question, None, error.message, after.activity if after and is_new else None, is_new)
        if HASH_URI.fullmatch(url):
            return self._of(question, self._downloads.of_digest(name_of(url).digest), fetched.capture)
        after = self._downloads.at(bare, None)
        return self._of(question, after, fetched.capture, is_new=after != before and after != held)

    def _held(self, url: str) -> Download | None:
        """The last download of a URL whose bytes are still filed."""
        last = self._downloads.at(url, None)
        digest = last.capture.digest if last and last.capture else None
        return last if digest and self._workshop.content.holds(digest) else None

    def _of(self, question: Question, told: Download | None, capture: Capture, *, is_new: bool = False) -> Answer:
        """The answer that a capture gives, as the download `told` tells of its bytes."""
        first = told.capture if told and told.capture else capture
        digest = capture.digest or first.digest
        assert digest is not None
        at = told.ended if told else capture.at
        path = self._workshop.content.path(digest)
        url = without_userinfo(question.url)
        version = Version(url, digest, path, first.media_type, first.final_url, at)
        return Answer(question, version, None, told.activity if told else None, is_new)

    def _unpacked(self, entries: Sequence[tuple[Question, EntryName]]) -> Iterator[Answer]:
        """Answers from one archive, which is read once; what it gave before need not be unpacked again."""
        missing: dict[str, Question] = {}
        for question, entry in entries:
            held = self._held(question.url)
            if held and held.capture:
                yield self._of(question, held, held.capture)
            else:
                missing[entry.entry] = question
        if missing:
            name = entries[0][1]
            yield from _Unpacking(self._workshop, name, missing).answers()


def _unreadable(content: ContentStore, digest: str) -> str | None:
    """Why filed bytes cannot be read to their end; None when they can."""
    try:
        with content.path(digest).open("rb") as stream:
            while stream.read(_CHUNK):
                pass
    except UnknownName as error:
        return error.message
    except OSError as error:
        return error.strerror or str(error)
    return None


class _Unpacking:
    """Some entries of one archive on their way."""

    def __init__(self, workshop: Workshop, name: EntryName, wanted: dict[str, Question]) -> None:
        self._workshop = workshop
        self._name = name
        self._wanted = wanted
        self._began = workshop.crawl.clock()
        self._found: list[Answer] = []

    def answers(self) -> list[Answer]:
        """The answer for each of them."""
        workshop, uri = self._workshop, Name(self._name.digest).uri
        workshop.check_stopping()
        workshop.on_step(uri, "unpack")
        reason = f"{uri} has no such entry"
        try:
            with workshop.room() as room:
                self._unpack(uri, room)
        except UnknownName:
            reason = f"{uri} is not filed in this archive"
        except WashError as error:
            reason = error.message
        except StorageError:
            trouble = _unreadable(workshop.content, self._name.digest)
            if trouble is None:
                raise  # the disk is full, and so it is for the others
            reason = (
                f"{uri} is filed, but cannot be read: {trouble}; `harvest archive verify` tells what else is damaged"
            )
        return self._found + [self._failed(name, reason) for name in list(self._wanted)]

    def _unpack(self, uri: str, room: Path) -> None:
        workshop, settings = self._workshop, self._workshop.settings.wash
        path = workshop.content.path(self._name.digest)
        wanted = Wanted(path, uri, self._name.layers, tuple(self._wanted))
        bounds = process.Bounds(
            settings.timeout_s, uri, workshop.stopping, lambda picked: self._found.append(self._answer(picked))
        )
        process.call(pick, bounds, wanted, terms(settings, room).volume, room)

    def _answer(self, picked: Picked) -> Answer:
        """File an entry, and tell of it."""
        if picked.path is None:
            return self._failed(picked.name, f"{picked.name}: {picked.reason}")
        question = self._wanted.pop(picked.name)
        workshop, url = self._workshop, question.url
        with workshop.content.guard:
            path = workshop.content.file(picked.path, picked.digest)
            now = workshop.crawl.clock()
            capture = Capture(url, url, now, _UNPACKED, picked.digest, picked.size)
            download = Download(new_activity(), url, self._began, now, capture, informed=question.informed)
            workshop.crawl.add(download)
        version = Version(url, picked.digest, path, None, url, now)
        return Answer(question, version, None, download.activity, True)

    def _failed(self, name: str, reason: str) -> Answer:
        """Tell that an entry could not be had."""
        question = self._wanted.pop(name)
        now, informed = self._workshop.crawl.clock(), question.informed
        download = Download(new_activity(), question.url, self._began, now, reason=reason, informed=informed)
        self._workshop.crawl.add(download)
        return Answer(question, None, reason, download.activity, True)
