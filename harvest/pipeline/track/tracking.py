"""
Tracking: URLs are downloaded, handlers are given what each gave, and what they ask for is downloaded in turn.

    <url> pav:hasVersion _:blank     a question: a URL of the command, or what a handler asks for
    <url> pav:hasVersion <hash>      its answer, which every handler is given

Questions are answered level by level, each URL once, all by the crawl: guarded, filed and recorded. A log holds the
answers alone, as Preston's does; which handler asked for something is a note.

Source: Preston, "content handlers"; its `Archiver` and `VersionProcessor`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import structlog
from pyoxigraph import Literal, NamedNode, Triple

from harvest.archive import history
from harvest.archive.entries import entry_named
from harvest.archive.handling import HandlerEntry, Version
from harvest.archive.history import Archive, versions_in
from harvest.archive.layout import HashName, name_of
from harvest.archive.provenance import new_activity
from harvest.errors import UnknownName
from harvest.fetch.wire import without_userinfo
from harvest.model import Finding
from harvest.pipeline.instance import Instance
from harvest.pipeline.track import handlers
from harvest.pipeline.track.answering import Answering, Question, TrackedAnswer
from harvest.pipeline.track.asking import HANDLER_S, HandlerBounds, HandlerJob, Wish, ask
from sparql.rdf import HARVEST, PROV

log = structlog.get_logger()

INFORMED: Final = NamedNode(PROV + "wasInformedBy")
ASKED_BY: Final = NamedNode(HARVEST + "askedBy")


@dataclass(frozen=True, slots=True)
class Plan:
    """
    What is to be tracked.

    Attributes:
        urls: What is asked for first.
        replay: A provenance log, as a hash, all of whose versions the handlers are given first; None for none.
        handlers: Names of those that are asked; all where none is named.
        depth: How far from the first ones; 0 asks no handler.
        most: Resources that are asked for in all.
        handler_s: Seconds that a handler may take over one version.
    """

    urls: tuple[str, ...] = ()
    replay: str | None = None
    handlers: tuple[str, ...] = ()
    depth: int = 3
    most: int = 1000
    handler_s: float = HANDLER_S


@dataclass(frozen=True, slots=True)
class Tracked:
    """
    What came of tracking.

    Attributes:
        answers: What each URL gave, level by level.
        findings: What was wrong with handlers; fatal where one failed, or cannot be loaded though it was named.
        left: How often something was not asked for any more, for it was too much.
        log: SHA-256 of the provenance log that holds it; None where nothing was new, or it is not written yet.
    """

    answers: tuple[TrackedAnswer, ...]
    findings: tuple[Finding, ...]
    left: int
    log: str | None


def track(instance: Instance, plan: Plan) -> Tracked:
    """
    Ask for URLs, and for what handlers want in turn.

    What fails is reported, and stops nothing else.

    Raises:
        UnknownName: There is no such handler or log.
        StorageError: The disk is full.
        StoppedError: The instance is shutting down.
    """
    tracking = _Tracking(instance, plan)
    with instance.crawl.working():
        tracking.run()
    new = next((answer.url for answer in tracking.answers if answer.is_new), None)
    last = instance.ledger.downloads.history(new, 1) if new is not None else []
    return Tracked(tuple(tracking.answers), tuple(tracking.findings), tracking.left, last[0].log if last else None)


def as_json(tracked: Tracked) -> dict[str, Any]:
    """As commands print it."""
    answers = tracked.answers
    return {
        "ok": not any(finding.fatal for finding in tracked.findings) and all(answer.version for answer in answers),
        "results": [_object(answer) for answer in answers],
        "findings": [asdict(finding) for finding in tracked.findings],
        "left": tracked.left,
        "log": HashName(tracked.log).uri if tracked.log else None,
    }


def _object(answer: TrackedAnswer) -> dict[str, Any]:
    question, version = answer.question, answer.version
    return {
        "url": answer.url,
        "hash": HashName(version.digest).uri if version else None,
        "media_type": version.media_type if version else None,
        "reason": answer.reason,
        "new": answer.is_new,
        "depth": question.depth,
        "handler": question.handler,
        "asked_from": question.source,
        "activity": answer.activity,
    }


class _Tracking:
    """
    One run.

    Attributes:
        answers: So far.
        findings: So far.
        left: Questions that were given up.
    """

    def __init__(self, instance: Instance, plan: Plan) -> None:
        self.answers: list[TrackedAnswer] = []
        self.left = 0
        self._instance = instance
        self._plan = plan
        self._handlers, self.findings = handlers.chosen(plan.handlers)
        self._answering = Answering(instance)
        self._bounds = HandlerBounds(plan.handler_s, plan.most)
        self._seen: set[str] = set()
        self._asked = 0
        for finding in self.findings:
            log.warning("handler not used", reason=finding.message)

    def run(self) -> None:
        """Answer level by level."""
        level = list(self._replayed()) + self._answered([Question(url) for url in self._plan.urls])
        self.answers += level
        for _ in range(self._plan.depth):
            level = self._answered(self._questions(level))
            if not level:
                return
            self._note(level)
            self.answers += level

    def _replayed(self) -> Iterable[TrackedAnswer]:
        """The versions in a log; the last one of each URL."""
        if self._plan.replay is None:
            return ()
        name = name_of(self._plan.replay)
        found: dict[str, TrackedAnswer] = {}
        for logged in versions_in(Archive(self._instance.content.root).path(name), name):
            self._seen.add(logged.url)
            if logged.name is not None and logged.name.algorithm == "sha256":
                found[logged.url] = self._again(logged, logged.name)
        if not self._seen:
            raise UnknownName(f"{name.uri} is no log with versions; `harvest archive history` lists the logs")
        return found.values()

    def _again(self, logged: history.LoggedVersion, name: HashName) -> TrackedAnswer:
        """The answer that a log holds."""
        question, activity, content = Question(logged.url), logged.activity, self._instance.content
        if activity is not None and not activity.startswith("urn:uuid:"):
            activity = None  # logs of old programs have no IRI for it
        if not content.holds(name.digest):
            return TrackedAnswer(question, None, f"{name.uri} is no longer filed", activity)
        path, at = content.path(name.digest), logged.at or self._instance.clock()
        version = Version(logged.url, name.digest, path, logged.media_type, logged.final_url or logged.url, at)
        return TrackedAnswer(question, version, None, activity)

    def _answered(self, questions: Iterable[Question]) -> list[TrackedAnswer]:
        """The answers to those questions that were not asked before, as long as there may be more."""
        asked: list[Question] = []
        for question in questions:
            question = replace(question, url=_canonical(question.url))
            bare = without_userinfo(question.url)
            if bare in self._seen:
                continue
            if self._asked < self._plan.most:
                self._seen.add(bare)
                self._asked += 1
                asked.append(question)
            else:  # not kept: a site may name millions
                self.left += 1
        return self._answering.answers(asked)

    def _questions(self, level: Sequence[TrackedAnswer]) -> Iterator[Question]:
        """Yield what the handlers ask for of these answers."""
        self._instance.check_stopping()
        jobs = [
            (a, HandlerJob(handler, a.version)) for a in level if a.version is not None for handler in self._handlers
        ]
        if jobs:
            self._instance.on_step(jobs[0][0].url, "handlers")
        wishes = ask([job for _, job in jobs], self._instance.stopping, self._bounds)
        for (answer, job), wish in zip(jobs, wishes, strict=True):
            self._keep_finding(job.handler, job.version.url, wish)
            self.left += wish.beyond
            for url in (*wish.urls, *(dump.url for dump in wish.dumps)):
                yield Question(url, answer.question.depth + 1, job.handler.name, answer.url, answer.activity)

    def _keep_finding(self, handler: HandlerEntry, url: str, wish: Wish) -> None:
        """Keep what went wrong with a handler; one that cannot be loaded is reported once, and asked no more."""
        if wish.trouble is None or (wish.is_broken and handler not in self._handlers):
            return
        log.warning("handler failed", handler=handler.name, package=handler.package, reason=wish.trouble)
        if wish.is_broken:
            self._handlers = [other for other in self._handlers if other is not handler]
            self.findings.append(Finding("handler-broken", wish.trouble, fatal=handler.name in self._plan.handlers))
        else:
            self.findings.append(Finding("handler-failed", wish.trouble, url, fatal=True))

    def _note(self, level: Sequence[TrackedAnswer]) -> None:
        """Have the log say which handler asked for what is new."""
        groups: dict[tuple[str | None, str | None], list[str]] = {}
        for answer in level:
            if answer.is_new and answer.activity:
                groups.setdefault((answer.question.informed, answer.question.handler), []).append(answer.activity)
        for (informed, handler), activities in groups.items():
            note = NamedNode(new_activity())
            facts = [Triple(note, INFORMED, NamedNode(informed))] if informed else []
            facts.append(Triple(note, ASKED_BY, Literal(handler or "")))
            facts += [Triple(NamedNode(activity), INFORMED, note) for activity in activities]
            self._instance.crawl.note(note.value, facts)


def _canonical(url: str) -> str:
    """The one spelling of an entry's name, and a URL without its fragment, which no server gets."""
    entry = entry_named(url)
    return entry.iri if entry else url.split("#")[0]
