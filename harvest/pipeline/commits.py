"""
What a committed version was made of, as statements in the provenance log, so that it can be made again from there.

    <providers/NAME/versions/3.nq>  harvest:provider, harvest:version, harvest:graph, harvest:coverage, harvest:dataset,
                                    harvest:replacement, harvest:rules, harvest:inherits, dcterms:modified,
                                    void:triples, harvest:added, harvest:removed, harvest:snapshotDigest or
                                    harvest:changeDigest
    <...3.nq#dump-1>                harvest:content <hash://sha256/...>, harvest:finalUrl, dcterms:format,
                                    harvest:dataset
    <...3.nq#context-1>             harvest:content, harvest:url: a remote JSON-LD context that the dumps use
    <providers/NAME>                harvest:provider, harvest:forgottenAtTime: nothing of before is made again
    <providers/NAME>                harvest:provider, harvest:baseline, harvest:compactedAtTime: none before is kept
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pyoxigraph import Literal, NamedNode, Triple

from harvest.archive.layout import HashName, name_of
from harvest.model import Coverage, Delta, Document
from sparql.rdf import DCTERMS, HARVEST, PROV, VOID, XSD

_DATE_TIME = NamedNode(XSD + "dateTime")

Node = NamedNode | Literal


@dataclass(frozen=True, slots=True)
class Used:
    """
    Bytes that a version was made of.

    Attributes:
        digest: SHA-256 of the filed bytes.
        url: The final URL of a dump, or the URL of a context.
        media_type: As received, or None.
        dataset: IRI of the dataset that names of its blank nodes hold, or None.
    """

    digest: str
    url: str
    media_type: str | None = None
    dataset: str | None = None


@dataclass(frozen=True, slots=True)
class Commit:
    """
    A version and what it was made of.

    Attributes:
        provider: Provider name.
        n: The version.
        graph: Graph IRI.
        at: When it was filed (aware, UTC).
        coverage: Full or partial.
        mirrored: Whether the graph became exactly the input.
        dataset: IRI of the dataset that changed.
        modified: Its dcterms:modified, or None.
        triples: In the graph afterwards.
        added: Triples.
        removed: Triples.
        snapshot: SHA-256 of the snapshot, or None for a partial harvest.
        change: SHA-256 of the change's lines where there is no snapshot, else None.
        dumps: What was washed, in order.
        contexts: Remote JSON-LD contexts.
        rules: By which rules it was named and revised (`harvest.model.RULES`); 1 where a log says nothing.
        inherits: Whether blank nodes whose names hold no dataset counted as of this one.
    """

    provider: str
    n: int
    graph: str
    at: datetime
    coverage: Coverage
    mirrored: bool
    dataset: str
    modified: datetime | None
    triples: int
    added: int
    removed: int
    snapshot: str | None
    change: str | None
    dumps: tuple[Used, ...]
    contexts: tuple[Used, ...]
    rules: int
    inherits: bool


def used(documents: Sequence[Document]) -> tuple[tuple[Used, ...], tuple[Used, ...]]:
    """The dumps of a harvest and their contexts; filed bytes are files named by their SHA-256."""
    dumps = tuple(Used(each.path.name, each.url, each.media_type, each.dataset) for each in documents)
    contexts = {url: path for document in documents for url, path in document.contexts.items() if path is not None}
    return dumps, tuple(Used(path.name, url) for url, path in sorted(contexts.items()))


def change_digest(delta: Delta) -> str:
    """SHA-256 of the lines that go and of those that come, each with its sign."""
    digest = hashlib.sha256()
    for sign, path in ((b"-", delta.removed), (b"+", delta.added)):
        with path.open("rb") as lines:
            for line in lines:
                digest.update(sign + line)
    return digest.hexdigest()


def statements(commit: Commit, base_url: str) -> list[Triple]:
    """The commit as RDF."""
    node = NamedNode(f"{base_url}/providers/{commit.provider}/versions/{commit.n}.nq")
    return [Triple(s, NamedNode(p), o) for s, p, o in _facts(node, commit)]


def forgotten(name: str, base_url: str, at: datetime) -> list[Triple]:
    """The statements that a provider was forgotten."""
    node = NamedNode(f"{base_url}/providers/{name}")
    return [
        Triple(node, NamedNode(HARVEST + "provider"), Literal(name)),
        Triple(node, NamedNode(HARVEST + "forgottenAtTime"), _time(at)),
    ]


@dataclass(frozen=True, slots=True)
class Compaction:
    """
    That versions were dropped.

    Attributes:
        provider: Provider name.
        baseline: The first version that was kept.
    """

    provider: str
    baseline: int


def compacted(name: str, baseline: int, base_url: str, at: datetime) -> list[Triple]:
    """The statements that the versions of a provider before its baseline were dropped."""
    node = NamedNode(f"{base_url}/providers/{name}")
    return [
        Triple(node, NamedNode(HARVEST + "provider"), Literal(name)),
        Triple(node, NamedNode(HARVEST + "baseline"), Literal(baseline)),
        Triple(node, NamedNode(HARVEST + "compactedAtTime"), _time(at)),
    ]


def _facts(node: NamedNode, commit: Commit) -> Iterator[tuple[NamedNode, str, Node]]:
    yield node, HARVEST + "provider", Literal(commit.provider)
    yield node, HARVEST + "version", Literal(commit.n)
    yield node, HARVEST + "graph", NamedNode(commit.graph)
    yield node, PROV + "generatedAtTime", _time(commit.at)
    yield node, HARVEST + "coverage", Literal(commit.coverage.value)
    yield node, HARVEST + "replacement", Literal("mirror" if commit.mirrored else "subjects")
    yield node, HARVEST + "rules", Literal(commit.rules)
    yield node, HARVEST + "inherits", Literal(commit.inherits)
    yield node, HARVEST + "dataset", Literal(commit.dataset, datatype=NamedNode(XSD + "anyURI"))
    if commit.modified is not None:
        yield node, DCTERMS + "modified", _time(commit.modified)
    yield node, VOID + "triples", Literal(commit.triples)
    yield node, HARVEST + "added", Literal(commit.added)
    yield node, HARVEST + "removed", Literal(commit.removed)
    if commit.snapshot is not None:
        yield node, HARVEST + "snapshotDigest", Literal(commit.snapshot)
    if commit.change is not None:
        yield node, HARVEST + "changeDigest", Literal(commit.change)
    for kind, items in (("dump", commit.dumps), ("context", commit.contexts)):
        for number, item in enumerate(items, 1):
            yield from _used(node, kind, number, item)


def _used(version: NamedNode, kind: str, number: int, item: Used) -> Iterator[tuple[NamedNode, str, Node]]:
    node = NamedNode(f"{version.value}#{kind}-{number}")
    yield version, HARVEST + kind, node
    yield node, HARVEST + "position", Literal(number)
    yield node, HARVEST + "content", NamedNode(HashName(item.digest).uri)
    yield node, HARVEST + "finalUrl", Literal(item.url, datatype=NamedNode(XSD + "anyURI"))
    if item.media_type is not None:
        yield node, DCTERMS + "format", Literal(item.media_type)
    if item.dataset is not None:
        yield node, HARVEST + "dataset", Literal(item.dataset, datatype=NamedNode(XSD + "anyURI"))


def commits(statements: Iterable[Triple]) -> Iterator[Commit | Compaction | str]:
    """The commits that the statements of one note hold, what was compacted, and the names of forgotten providers."""
    facts: dict[str, dict[str, list[str]]] = {}
    for triple in statements:
        value = triple.object.value if isinstance(triple.object, NamedNode | Literal) else ""
        facts.setdefault(str(triple.subject), {}).setdefault(triple.predicate.value, []).append(value)
    for known in facts.values():
        if HARVEST + "provider" in known and HARVEST + "replacement" in known:
            yield _commit(known, facts)
        elif HARVEST + "provider" in known and HARVEST + "forgottenAtTime" in known:
            yield known[HARVEST + "provider"][0]
        elif HARVEST + "provider" in known and HARVEST + "compactedAtTime" in known:
            yield Compaction(known[HARVEST + "provider"][0], int(known[HARVEST + "baseline"][0]))


def _commit(known: Mapping[str, list[str]], facts: Mapping[str, Mapping[str, list[str]]]) -> Commit:
    def one(term: str) -> str | None:
        return known.get(term, [None])[0]

    def need(term: str) -> str:
        return known[term][0]

    modified = one(DCTERMS + "modified")
    return Commit(
        provider=need(HARVEST + "provider"),
        n=int(need(HARVEST + "version")),
        graph=need(HARVEST + "graph"),
        at=datetime.fromisoformat(need(PROV + "generatedAtTime")),
        coverage=Coverage(need(HARVEST + "coverage")),
        mirrored=need(HARVEST + "replacement") == "mirror",
        dataset=need(HARVEST + "dataset"),
        modified=datetime.fromisoformat(modified) if modified else None,
        triples=int(need(VOID + "triples")),
        added=int(need(HARVEST + "added")),
        removed=int(need(HARVEST + "removed")),
        snapshot=one(HARVEST + "snapshotDigest"),
        change=one(HARVEST + "changeDigest"),
        dumps=_items(known.get(HARVEST + "dump", []), facts),
        contexts=_items(known.get(HARVEST + "context", []), facts),
        rules=int(one(HARVEST + "rules") or 1),
        inherits=one(HARVEST + "inherits") != "false",
    )


def _items(nodes: Iterable[str], facts: Mapping[str, Mapping[str, list[str]]]) -> tuple[Used, ...]:
    items = [facts[f"<{node}>"] for node in nodes]
    items.sort(key=lambda item: int(item[HARVEST + "position"][0]))
    return tuple(
        Used(
            name_of(item[HARVEST + "content"][0]).digest,
            item[HARVEST + "finalUrl"][0],
            item.get(DCTERMS + "format", [None])[0],
            item.get(HARVEST + "dataset", [None])[0],
        )
        for item in items
    )


def documents(commit: Commit, place: Mapping[str, Path]) -> list[Document]:
    """The documents that are washed again; `place` says where the bytes of a digest are."""
    contexts = {item.url: place[item.digest] for item in commit.contexts}
    steady = commit.coverage is Coverage.FULL
    return [
        Document(
            place[item.digest], item.url, item.media_type, contexts, item.dataset, steady and item.dataset is not None
        )
        for item in commit.dumps
    ]


def _time(at: datetime) -> Literal:
    return Literal(at.isoformat().replace("+00:00", "Z"), datatype=_DATE_TIME)
