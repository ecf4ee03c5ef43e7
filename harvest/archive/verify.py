"""
Verifying: whether an archive holds everything that its logs name, unchanged.

Source: Preston, `HashVerifier`, for what is printed and what the states are called.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from pyoxigraph import NamedNode, Quad

from harvest.archive.history import DERIVED, Archive
from harvest.archive.index import HAS_VERSION, PREVIOUS_VERSION
from harvest.archive.layout import HashName, digest_of, find, named, place
from harvest.archive.objects import Objects, objects_of
from harvest.archive.provenance import INVALIDATED, USED_BY
from harvest.archive.statements import predecessors, statements
from sparql.rdf import GENID


class FileState(StrEnum):
    """What was found of something that a log names; the last two are ours."""

    VALID = "CONTENT_PRESENT_VALID_HASH"
    PRESENT = "CONTENT_PRESENT_HASH_NOT_VERIFIED"
    INVALID = "CONTENT_PRESENT_INVALID_HASH"
    MISSING = "MISSING"
    UNSUPPORTED = "UNSUPPORTED_CONTENT_HASH"
    PRUNED = "PRUNED"
    UNCHAINED = "PREDECESSOR_NOT_NAMED"


VERDICTS: Final = {
    FileState.VALID: "OK",
    FileState.PRESENT: "OK",
    FileState.UNSUPPORTED: "SKIP",
    FileState.PRUNED: "SKIP",
    FileState.INVALID: "FAIL",
    FileState.MISSING: "FAIL",
    FileState.UNCHAINED: "FAIL",
}


@dataclass(frozen=True, slots=True)
class Check:
    """
    What was found of one thing.

    Attributes:
        iri: As the log names it.
        state: What was found.
        path: Where it is, or None.
        bytes: How many it has, or None.
        computed: The name that its bytes have now, or None where they were not read.
    """

    iri: str
    state: FileState
    path: Path | None = None
    bytes: int | None = None
    computed: str | None = None

    @property
    def verdict(self) -> str:
        """OK, SKIP or FAIL."""
        return VERDICTS[self.state]

    def columns(self) -> tuple[str, str, str, str, str, str]:
        """Hash, path, verdict, state, bytes, computed hash, as Preston prints them."""
        where = self.path.absolute().as_uri() if self.path else self.iri
        size = "" if self.bytes is None else str(self.bytes)
        return self.iri, where, self.verdict, self.state.value, size, self.computed or ""

    def json(self) -> dict[str, str | int | None]:
        """The columns as a JSON object."""
        return {
            "hash": self.iri,
            "path": str(self.path) if self.path else None,
            "verdict": self.verdict,
            "state": self.state.value,
            "bytes": self.bytes,
            "computed": self.computed,
        }


def verify(archive: Archive, *, hashing: bool = True) -> Iterator[Check]:
    """
    Check every log and all bytes that logs name, each once, the newest log first.

    A log that is missing is reported, and so is one that does not name the log that the index has before it.
    """
    chain = archive.index.chain()
    indexed = dict(zip(chain[1:], chain, strict=False))
    seen: set[str] = set()
    for log in archive.logs():
        path = find(archive.root, log)
        named_in: dict[str, bool] = {log.uri: False}
        if path is not None:
            for quad in statements(path):
                _mention(quad, named_in)
            if log in indexed and indexed[log] not in predecessors(path):
                yield Check(log.uri, FileState.UNCHAINED, path)
        yield from _checks(archive, {iri: gone for iri, gone in named_in.items() if iri not in seen}, hashing)
        seen.update(named_in)


def _checks(archive: Archive, mentioned: dict[str, bool], hashing: bool) -> Iterator[Check]:
    for iri, pruned in mentioned.items():
        name = named(iri)
        yield Check(iri, FileState.UNSUPPORTED) if name is None else _check(archive.root, name, pruned, hashing)


def _check(root: Path, name: HashName, pruned: bool, hashing: bool) -> Check:
    if (objects := objects_of(root)) is not None:
        return _check_object(objects, place(root, name), name, pruned, hashing)
    path = find(root, name)
    if path is None:
        return Check(name.uri, FileState.PRUNED if pruned else FileState.MISSING)
    if not hashing:
        return Check(name.uri, FileState.PRESENT, path, path.stat().st_size)
    digest, size = digest_of(path, name.algorithm)
    state = FileState.VALID if digest == name.digest else FileState.INVALID
    return Check(name.uri, state, path, size, HashName(digest).uri)


def _check_object(objects: Objects, copied: Path, name: HashName, pruned: bool, hashing: bool) -> Check:
    """What object storage has counts, whatever copy is here."""
    path = copied if copied.is_file() else None
    found = objects.digest_of(name.digest, name.algorithm) if hashing else (None, objects.size(name.digest))
    if found is None or found[1] is None:
        return Check(name.uri, FileState.PRUNED if pruned else FileState.MISSING)
    digest, size = found
    if digest is None:
        return Check(name.uri, FileState.PRESENT, path, size)
    state = FileState.VALID if digest == name.digest else FileState.INVALID
    return Check(name.uri, state, path, size, HashName(digest).uri)


def _mention(quad: Quad, mentioned: dict[str, bool]) -> None:
    """What a statement says is or was there; the last word on it counts."""
    predicate, subject, value = quad.predicate.value, quad.subject, quad.object
    if predicate == HAS_VERSION and isinstance(value, NamedNode) and GENID not in value.value:
        mentioned[value.value] = False
    elif predicate in (USED_BY, DERIVED, PREVIOUS_VERSION) and isinstance(subject, NamedNode):
        if named(subject.value):
            mentioned[subject.value] = False
    elif predicate == INVALIDATED and isinstance(subject, NamedNode):
        mentioned[subject.value] = True
