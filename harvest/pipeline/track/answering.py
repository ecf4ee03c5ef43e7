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
from harvest.archive.layout import HashName, name_of
from harvest.archive.provenance import new_activity
from harvest.errors import FetchError, StorageError, UnknownName, WashError
from harvest.fetch.wire import without_userinfo
from harvest.model import Capture, Download
from harvest.pipeline.harvest.washing import terms
from harvest.pipeline.instance import Instance
from harvest.wash import process
from harvest.wash.unpacking.pick import Picked, WantedEntries, pick
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
        source: URL of the version that the handler was given, or None.
        informed: IRI of the activity that gave that version, or None.
    """

    url: str
    depth: int = 0
    handler: str | None = None
    source: str | None = None
    informed: str | None = None


@dataclass(frozen=True, slots=True)
class TrackedAnswer:
    """
    What a question gave.

    Attributes:
        question: The question.
        version: What the URL gave; None when it failed.
        reason: Why it failed, or None.
        activity: IRI of the download that first gave this, or None.
        is_new: Whether the archive has it now for the first time.
    """

    question: Question
    version: Version | None = None
    reason: str | None = None
    activity: str | None = None
    is_new: bool = False

    @property
    def url(self) -> str:
        """As logs have it: without user and password."""
        return without_userinfo(self.question.url)


class Answering:
    """Answers questions, and records what is new in the archive."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._downloads = instance.ledger.downloads

    def answers(self, questions: Sequence[Question]) -> list[TrackedAnswer]:
        """
        The answers, in the order of the questions; as many downloads at once as the settings allow.

        Raises:
            StorageError: The disk is full.
            StoppedError: The instance is shutting down.
        """
        found: dict[str, TrackedAnswer] = {}
        packed: dict[tuple[str, tuple[str, ...]], list[tuple[Question, EntryName]]] = {}
        urls: list[Question] = []
        for question in questions:
            entry = entry_named(question.url)
            if entry is None:
                urls.append(question)
            else:
                packed.setdefault((entry.digest, entry.layers), []).append((question, entry))
        with ThreadPoolExecutor(self._instance.settings.http.parallel, "track") as threads:
            found |= {answer.question.url: answer for answer in threads.map(self._downloaded, urls)}
        for entries in packed.values():
            found |= {answer.question.url: answer for answer in self._unpacked(entries)}
        return [found[question.url] for question in questions]

    def _downloaded(self, question: Question) -> TrackedAnswer:
        instance, url = self._instance, question.url
        instance.check_stopping()
        instance.on_step(without_userinfo(url), "fetch")
        bare = without_userinfo(url)
        before = self._downloads.last(bare)
        held = self._held(bare)
        known = {url: held.capture.validators} if held and held.capture else {}
        try:
            [fetched] = instance.crawl.download_all([url], known=known, informed=question.informed)
        except FetchError as error:
            instance.check_stopping()
            after = self._downloads.last(bare)
            is_new = after is not None and after != before
            return TrackedAnswer(question, None, error.message, after.activity if after and is_new else None, is_new)
        if HASH_URI.fullmatch(url):
            return self._of(question, self._downloads.of_digest(name_of(url).digest), fetched.capture)
        after = self._downloads.at(bare, None)
        return self._of(question, after, fetched.capture, is_new=after != before and after != held)

    def _held(self, url: str) -> Download | None:
        """The last download of a URL whose bytes are still filed."""
        last = self._downloads.at(url, None)
        digest = last.capture.digest if last and last.capture else None
        return last if digest and self._instance.content.holds(digest) else None

    def _of(
        self, question: Question, known: Download | None, capture: Capture, *, is_new: bool = False
    ) -> TrackedAnswer:
        """The answer that a capture gives, `known` is the first download of its bytes."""
        first = known.capture if known and known.capture else capture
        digest = capture.digest or first.digest
        assert digest is not None
        at = known.ended if known else capture.at
        path = self._instance.content.path(digest)
        url = without_userinfo(question.url)
        version = Version(url, digest, path, first.media_type, first.final_url, at)
        return TrackedAnswer(question, version, None, known.activity if known else None, is_new)

    def _unpacked(self, entries: Sequence[tuple[Question, EntryName]]) -> Iterator[TrackedAnswer]:
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
            yield from _EntryUnpacking(self._instance, name, missing).answers()


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


class _EntryUnpacking:
    """Some entries of one archive on their way."""

    def __init__(self, instance: Instance, name: EntryName, wanted: dict[str, Question]) -> None:
        self._instance = instance
        self._name = name
        self._wanted = wanted
        self._began = instance.crawl.clock()
        self._found: list[TrackedAnswer] = []

    def answers(self) -> list[TrackedAnswer]:
        """The answer for each of them."""
        instance, uri = self._instance, HashName(self._name.digest).uri
        instance.check_stopping()
        instance.on_step(uri, "unpack")
        reason = f"{uri} has no such entry"
        try:
            with instance.room() as room:
                self._unpack(uri, room)
        except UnknownName:
            reason = f"{uri} is not filed in this archive"
        except WashError as error:
            reason = error.message
        except StorageError:
            trouble = _unreadable(instance.content, self._name.digest)
            if trouble is None:
                raise  # the disk is full, and so it is for the others
            reason = (
                f"{uri} is filed, but cannot be read: {trouble}; `harvest archive verify` says what else is damaged"
            )
        return self._found + [self._failed(name, reason) for name in list(self._wanted)]

    def _unpack(self, uri: str, room: Path) -> None:
        instance, settings = self._instance, self._instance.settings.wash
        path = instance.content.path(self._name.digest)
        wanted = WantedEntries(path, uri, self._name.layers, tuple(self._wanted))
        bounds = process.Bounds(
            settings.timeout_s, uri, instance.stopping, lambda picked: self._found.append(self._answer(picked))
        )
        process.call(pick, bounds, wanted, terms(settings, room).volume, room)

    def _answer(self, picked: Picked) -> TrackedAnswer:
        """File an entry, and record it."""
        if picked.path is None:
            return self._failed(picked.name, f"{picked.name}: {picked.reason}")
        question = self._wanted.pop(picked.name)
        instance, url = self._instance, question.url
        with instance.content.guard:
            path = instance.content.file(picked.path, picked.digest)
            now = instance.crawl.clock()
            capture = Capture(url, url, now, _UNPACKED, picked.digest, picked.size)
            download = Download(new_activity(), url, self._began, now, capture, informed=question.informed)
            instance.crawl.add(download)
        version = Version(url, picked.digest, path, None, url, now)
        return TrackedAnswer(question, version, None, download.activity, True)

    def _failed(self, name: str, reason: str) -> TrackedAnswer:
        """Report that an entry could not be had."""
        question = self._wanted.pop(name)
        now, informed = self._instance.crawl.clock(), question.informed
        download = Download(new_activity(), question.url, self._began, now, reason=reason, informed=informed)
        self._instance.crawl.add(download)
        return TrackedAnswer(question, None, reason, download.activity, True)
