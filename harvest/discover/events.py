"""
Linked Data Event Streams: the pages of a stream, and the newest version of each object in them.

A member is what stands in the graph that it names; without one its own statements, with those of what they lead to on
the same page. Links between pages may lead back: each page counts once.

Source: TREE hypermedia specification, sections 3 (relations) and 4 (members); Linked Data Event Streams, sections on
`ldes:timestampPath`, `ldes:versionOfPath` and `ldes:versionDeleteObject`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Final
from urllib.parse import urldefrag, urlsplit

import pyoxigraph
from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad, RdfFormat, Triple

from harvest.discover.dates import read_date
from harvest.discover.inlined import inlined
from harvest.errors import DescriptionError
from sparql.rdf import RDF, by_extension, by_media_type

LDES: Final = "https://w3id.org/ldes#"
TREE: Final = "https://w3id.org/tree#"
DELETE: Final = "https://www.w3.org/ns/activitystreams#Delete"

MOST_MEMBERS: Final = 1_000_000
"""Objects of a stream; their newest versions are held in memory."""

MOST_STATEMENTS: Final = 100_000
"""Statements of one member."""

_FIRST: Final = datetime.min.replace(tzinfo=UTC)
Node = NamedNode | BlankNode
Contexts = Mapping[str, Path | None]
Place = tuple[Path, str, str | None, Contexts]
"""A page on disk, its final URL, its media type, and the remote JSON-LD contexts that it needs, by URL."""


@dataclass(frozen=True, slots=True)
class EventPage:
    """
    Where a page leads.

    Attributes:
        stream: IRI of the stream, or None where the page does not say.
        views: Addresses of its views.
        nodes: Addresses of the pages that its relations lead to.
        members: How many it has.
    """

    stream: str | None
    views: tuple[str, ...]
    nodes: tuple[str, ...]
    members: int


@dataclass(slots=True)
class _Page:
    """A page as statements: those of the default graph by subject, those of named graphs by graph."""

    url: str
    said: dict[Node, list[tuple[str, Node | Literal]]] = field(default_factory=dict)
    graphs: dict[Node, list[Triple]] = field(default_factory=dict)

    def objects(self, predicate: str) -> list[Node | Literal]:
        """What any subject says by a predicate, each once."""
        found = (term for pairs in self.said.values() for name, term in pairs if name == predicate)
        return list(dict.fromkeys(found))

    def of(self, node: Node, predicate: str) -> list[Node | Literal]:
        """What one subject says by a predicate."""
        return [term for name, term in self.said.get(node, ()) if name == predicate]


@dataclass(frozen=True, slots=True)
class _Version:
    """A version of an object: its time, its place among all versions, and its statements; none where it is deleted."""

    at: datetime
    number: int
    lines: tuple[str, ...]


def read_page(path: Path, url: str, media_type: str | None, contexts: Contexts = MappingProxyType({})) -> EventPage:
    """
    Where a filed page leads.

    Raises:
        ContextWanted: A JSON-LD context has to be fetched first.
        DescriptionError: It is no RDF that can be read, or nothing of an event stream.
    """
    page = _read(path, url, media_type, contexts)
    streams = [node for node, pairs in page.said.items() if (RDF + "type", NamedNode(LDES + "EventStream")) in pairs]
    views, nodes = _addresses(page.objects(TREE + "view")), _addresses(page.objects(TREE + "node"))
    members = len(page.objects(TREE + "member"))
    if not (streams or views or nodes or members):
        message = f"{url} is no page of an event stream: it has neither a view nor a relation nor a member"
        raise DescriptionError(message, url=url)
    named = next((node.value for node in streams if isinstance(node, NamedNode)), None)
    return EventPage(named, views, nodes, members)


def newest(pages: Sequence[Place], target: Path) -> tuple[str, int]:
    """
    Write the newest version of each object of a stream to `target`, as N-Quads; returns its SHA-256 and how many.

    Of versions at the same time the one that comes later in `pages` counts. The same pages give the same bytes.

    Raises:
        DescriptionError: A page cannot be read, a member has no usable time or object, or there are too many.
    """
    versions: dict[str, _Version] = {}
    read = [_read(*page) for page in pages]
    terms = _Terms(read)
    number = 0
    for page in read:
        for member in page.objects(TREE + "member"):
            if isinstance(member, Literal):
                continue
            number += 1
            entity, version = terms.version(page, member, number)
            before = versions.get(entity.value)
            if before is None or (before.at, before.number) < (version.at, version.number):
                versions[entity.value] = version
            if len(versions) > MOST_MEMBERS:
                raise DescriptionError(f"the stream of {pages[0][1]} has more than {MOST_MEMBERS:,} objects")
    digest = hashlib.sha256()
    with target.open("wb") as out:
        for name in sorted(versions):
            for line in versions[name].lines:
                digest.update(line.encode())
                out.write(line.encode())
    return digest.hexdigest(), sum(1 for version in versions.values() if version.lines)


class _Terms:
    """What the pages of a stream say of its members."""

    def __init__(self, pages: Sequence[_Page]) -> None:
        self._time = self._path(pages, "timestampPath")
        self._object = self._path(pages, "versionOfPath")
        deleted = self._path(pages, "versionDeleteObject")
        self._deleted = (RDF + "type", NamedNode(deleted or DELETE))

    def version(self, page: _Page, member: Node, number: int) -> tuple[Node, _Version]:
        """The object that a member is a version of, and the version."""
        entity: Node = member
        if self._object is not None:
            named = [term for term in page.of(member, self._object) if isinstance(term, NamedNode)]
            if len(named) != 1:
                raise self._wrong(page, member, f"{len(named)} objects that it is a version of, <{self._object}>")
            entity = named[0]
        at = _FIRST
        if self._time is not None:
            times = [term for term in page.of(member, self._time) if isinstance(term, Literal)]
            read = read_date(times[0].value) if times else None
            if read is None:
                raise self._wrong(page, member, f"no time that can be read, <{self._time}>")
            at = read
        if self._deleted in page.said.get(member, ()):
            return entity, _Version(at, number, ())
        return entity, _Version(at, number, tuple(_lines(self._statements(page, member, entity))))

    def _statements(self, page: _Page, member: Node, entity: Node) -> Iterator[Triple]:
        if member in page.graphs:
            yield from page.graphs[member]
            return
        others = {node for node in page.objects(TREE + "member") if node != member}
        # A page may describe the object under its own IRI, and of the member only when it was.
        waiting = [member, entity] if entity != member and entity not in others else [member]
        seen, count = set(waiting), 0
        while waiting:
            node = waiting.pop()
            for predicate, term in page.said.get(node, ()):
                if node == member and predicate == self._object:
                    continue
                count += 1
                if count > MOST_STATEMENTS:
                    raise self._wrong(page, member, f"more than {MOST_STATEMENTS:,} statements")
                replaced = entity if term == member else term
                yield Triple(entity if node == member else node, NamedNode(predicate), replaced)
                if not isinstance(term, Literal) and term not in seen and term not in others and term != entity:
                    seen.add(term)
                    waiting.append(term)

    @staticmethod
    def _path(pages: Sequence[_Page], name: str) -> str | None:
        found = (term for page in pages for term in page.objects(LDES + name))
        return next((term.value for term in found if isinstance(term, NamedNode)), None)

    @staticmethod
    def _wrong(page: _Page, member: Node, what: str) -> DescriptionError:
        message = f"the member {member} on {page.url} has {what}; nothing of the stream was applied"
        return DescriptionError(message, url=page.url)


def _lines(triples: Iterator[Triple]) -> Iterator[str]:
    yield from dict.fromkeys(f"{triple} .\n" for triple in triples)


def _read(path: Path, url: str, media_type: str | None, contexts: Contexts) -> _Page:
    """
    A page; its blank nodes are named in the order in which they come, under the page.

    Raises:
        DescriptionError: It is no RDF that can be read.
    """
    form = by_media_type(media_type) or by_extension(urlsplit(url).path)
    if form is None or form.parser is None:
        raise DescriptionError(f"{url} is no RDF that a page of an event stream may be: {media_type}", url=url)
    page = _Page(url)
    rename = _renaming(url)
    try:
        whole = inlined(path, url, contexts) if form.parser == RdfFormat.JSON_LD else None
        at = None if whole else str(path)
        for quad in pyoxigraph.parse(whole, path=at, format=form.parser, base_iri=url):
            _put(page, quad, rename)
    except (SyntaxError, ValueError) as error:
        line, column = getattr(error, "lineno", None), getattr(error, "offset", None)
        message = f"{url} cannot be read as {form.name}: {getattr(error, 'msg', None) or error}; nothing was applied"
        raise DescriptionError(message, url=url, line=line, column=column) from error
    return page


def _put(page: _Page, quad: Quad, rename: Callable[[BlankNode], BlankNode]) -> None:
    subject, term, graph = quad.subject, quad.object, quad.graph_name
    if isinstance(subject, Triple) or isinstance(term, Triple):
        return  # RDF 1.2 statements about statements
    one = rename(subject) if isinstance(subject, BlankNode) else subject
    two = rename(term) if isinstance(term, BlankNode) else term
    if isinstance(graph, DefaultGraph):
        page.said.setdefault(one, []).append((quad.predicate.value, two))
    else:
        name = rename(graph) if isinstance(graph, BlankNode) else graph
        page.graphs.setdefault(name, []).append(Triple(one, quad.predicate, two))


def _renaming(url: str) -> Callable[[BlankNode], BlankNode]:
    known: dict[BlankNode, BlankNode] = {}
    prefix = "p" + hashlib.sha256(url.encode()).hexdigest()[:16]
    return lambda node: known.setdefault(node, BlankNode(f"{prefix}n{len(known)}"))


def _addresses(terms: Sequence[Node | Literal]) -> tuple[str, ...]:
    found = (urldefrag(term.value).url for term in terms if isinstance(term, NamedNode))
    return tuple(dict.fromkeys(url for url in found if urlsplit(url).scheme in ("http", "https")))
