"""
Reading an archive, ours or one of Preston: its logs, and what every URL gave and when.

Logs are found from the index, newest first; where there is none, or it leads elsewhere, from a log that is named.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from pyoxigraph import Literal, NamedNode, Quad

from harvest.archive.index import HAS_VERSION, ROOT, Index
from harvest.archive.layout import HashName, find, named
from harvest.archive.statements import predecessors, statements
from harvest.errors import StorageError, UnknownName
from sparql.rdf import DCTERMS, HARVEST, PROV, as_iri

DERIVED: Final = PROV + "wasDerivedFrom"

_PENDING: Final = 10_000
"""Downloads that are held until the statements about them have passed; ours and Preston's need one."""


@dataclass(frozen=True, slots=True)
class LoggedVersion:
    """
    What a URL gave.

    Attributes:
        url: As the log has it.
        at: When; None where the log has no time.
        name: The bytes; None when the download failed.
        log: The log that holds it, or None where none does yet.
        activity: IRI of the download, or None.
        media_type: As its server said, or None.
        final_url: After redirects, or None.
        reason: Why it failed, or None.
    """

    url: str
    at: datetime | None
    name: HashName | None
    log: HashName | None
    activity: str | None = None
    media_type: str | None = None
    final_url: str | None = None
    reason: str | None = None


class Archive:
    """
    The archive in a folder, read only.

    Attributes:
        root: The folder; where it holds nothing but a folder `data`, as Preston makes it, that one.
        index: Its index.
    """

    def __init__(self, folder: Path, log: HashName | None = None) -> None:
        """
        Open a folder; `log` is the newest log for one without an index.

        Raises:
            UnknownName: There is no such folder.
        """
        if not folder.is_dir():
            raise UnknownName(f"there is no folder {folder}")
        inner = folder / "data"
        self.root = inner if inner.is_dir() and not any(folder.glob("[0-9a-f][0-9a-f]")) else folder
        self.index = Index(self.root)
        self._log = log

    def path(self, name: HashName) -> Path:
        """
        Where bytes are.

        Raises:
            UnknownName: They are not here.
        """
        found = find(self.root, name)
        if found is None:
            raise UnknownName(f"{self.root} holds nothing named {name.uri}")
        return found

    def links(self) -> Iterator[tuple[HashName, HashName | None]]:
        """
        Every log and one that it followed, None for the first; newest first.

        Raises:
            StorageError: A log is not here, and nothing else says what it followed.
        """
        chain = self.index.chain()
        indexed = dict(zip(chain[1:], chain, strict=False))
        head = self._log or (chain[-1] if chain else None)
        waiting, seen = deque([head] if head else []), {head}
        while waiting:
            log = waiting.popleft()
            before = self._before(log, indexed.get(log))
            yield from ((log, other) for other in before)
            if not before:
                yield log, None
            waiting.extend(name for name in before if name not in seen)
            seen.update(before)

    def _before(self, log: HashName, indexed: HashName | None) -> list[HashName]:
        path = find(self.root, log)
        before = predecessors(path) if path else []
        if not before and indexed is not None:
            return [indexed]
        if path is None:
            raise StorageError(
                f"the log {log.uri} is not in {self.root}, and the history before it is not known", url=str(self.root)
            )
        return before

    def logs(self) -> list[HashName]:
        """All logs, newest first."""
        return list(dict.fromkeys(log for log, _ in self.links()))

    def history(self) -> Iterator[Quad]:
        """The history of the logs, as Preston prints it: newest first, each derived from the one before."""
        for log, before in self.links():
            if before is None:
                yield Quad(NamedNode(f"urn:uuid:{ROOT}"), NamedNode(HAS_VERSION), NamedNode(log.uri))
            else:
                yield Quad(NamedNode(log.uri), NamedNode(DERIVED), NamedNode(before.uri))

    def statements(self) -> Iterator[Quad]:
        """The statements of all logs, the newest log first."""
        for log in self.logs():
            yield from statements(self.path(log))

    def versions(self, url: str | None = None) -> Iterator[LoggedVersion]:
        """What a URL gave, or all did, newest first."""
        for log in self.logs():
            yield from reversed(list(versions_in(self.path(log), log, url)))

    def at(self, url: str, time: datetime | None = None) -> HashName:
        """
        The bytes that a URL last gave, up to a time.

        Raises:
            UnknownName: It gave none.
        """
        name = named(url)
        if name is not None:
            return name
        for version in self.versions(url):
            if version.name is not None and (time is None or (version.at is not None and version.at <= time)):
                return version.name
        raise UnknownName(nothing_of(url, time))


def nothing_of(url: str, time: datetime | None) -> str:
    """Message: no capture of this URL before a time."""
    until = f" up to {time.isoformat()}" if time else ""
    return f"the archive holds nothing that {url} gave{until}; `harvest archive history URL` lists what it gave"


def versions_in(path: Path, log: HashName, url: str | None = None) -> Iterator[LoggedVersion]:
    """What one URL gave by a log, or all did, in the order of the log."""
    for group in groups(path, url):
        for source, content in group.given:
            activity = group.activity(content)
            yield LoggedVersion(
                url=group.fact(activity, HARVEST + "url") or source,
                at=group.time(content),
                name=named(content),
                log=log,
                activity=activity or None,
                media_type=group.fact(activity, DCTERMS + "format"),
                final_url=group.fact(activity, HARVEST + "finalUrl"),
                reason=group.fact(activity, HARVEST + "reason"),
            )


def groups(path: Path, url: str | None = None) -> Iterator[LogGroup]:
    """The statements of a log, those of one graph together; `url` leaves out what other URLs gave."""
    wanted = None if url is None else {url, as_iri(url)}
    group = LogGroup()
    for quad in statements(path):
        graph = quad.graph_name.value if isinstance(quad.graph_name, NamedNode) else ""
        if graph != group.graph or len(group.given) >= _PENDING:
            yield group
            group = LogGroup(graph, group.started)
        group.add(quad, wanted)
    yield group


@dataclass(slots=True)
class LogGroup:
    """
    Statements that follow one another in one graph.

    Attributes:
        graph: Its IRI, empty for the default graph.
        started: When the crawl began, as written.
        given: URLs, and the IRIs of what they gave.
        facts: The last object of a subject and a predicate.
    """

    graph: str = ""
    started: str | None = None
    given: list[tuple[str, str]] = field(default_factory=list)
    facts: dict[tuple[str, str], str] = field(default_factory=dict)

    def fact(self, subject: str, predicate: str) -> str | None:
        """An object, as text."""
        return self.facts.get((subject, predicate))

    def activity(self, content: str) -> str:
        """The IRI of the download that gave something; empty where there is none."""
        return self.facts.get((content, PROV + "wasGeneratedBy"), self.graph)

    def time(self, content: str) -> datetime | None:
        """When it did."""
        generated = PROV + "generatedAtTime"
        return read_time(self.fact(self.activity(content), generated) or self.fact(content, generated) or self.started)

    def add(self, quad: Quad, wanted: set[str] | None) -> None:
        """Take a statement in."""
        if not isinstance(quad.subject, NamedNode) or not isinstance(quad.object, NamedNode | Literal):
            return
        subject, predicate, value = quad.subject.value, quad.predicate.value, quad.object.value
        if predicate == HAS_VERSION and isinstance(quad.object, NamedNode):
            if wanted is None or subject in wanted:
                self.given.append((subject, value))
            return
        if predicate == PROV + "startedAtTime" and self.started is None:
            self.started = value
        if len(self.facts) < 8 * _PENDING:
            self.facts[subject, predicate] = value


def read_time(text: str | None) -> datetime | None:
    """A time as logs write it; UTC where it does not say; None where it is none."""
    try:
        read = datetime.fromisoformat(text) if text else None
    except ValueError:
        return None
    return read.replace(tzinfo=UTC) if read is not None and read.tzinfo is None else read
