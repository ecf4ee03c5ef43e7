"""Rows of the ledger as frozen values, and the JSON forms of the model's types in it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from harvest.model import About, Capture, Coverage, Dataset, Finding, ListedFile, Listing, Validators


@dataclass(frozen=True, slots=True)
class ProviderRecord:
    """
    What is known of a provider.

    Attributes:
        name: Its registry name.
        graph: Its graph IRI.
        url: Where its description was last read; of a lone dump its URL.
        validators: For the next conditional request for the description.
        description: SHA-256 of the description last read, or None.
        written: `modified` as it was last written to the registry.
        modified: Latest dcterms:modified committed.
        version: Number of the last committed version; 0 before the first.
        triples: In that version.
        retry_at: When a description that failed may be asked for again.
        failures: Failed looks at the description in a row.
        about: What its description says of each of its datasets.
        base: Where its description was in the end, after redirects and without the query; None for a lone dump.
        baseline: The first version that is kept; 0 where none was dropped.
    """

    name: str
    graph: str
    url: str | None
    validators: Validators
    description: str | None
    written: datetime | None
    modified: datetime | None
    version: int
    triples: int
    retry_at: datetime | None
    failures: int
    about: tuple[About, ...] = ()
    base: str | None = None
    baseline: int = 0


@dataclass(frozen=True, slots=True)
class DatasetRecord:
    """
    The last committed harvest of a dataset.

    Attributes:
        iri: The dataset.
        modified: The dcterms:modified it had, or None.
        coverage: Full or partial.
        committed: When (aware, UTC).
        captures: The dumps that were taken.
        rules: By which its blank nodes were named (`harvest.model.RULES`).
        version: Of the graph after that; None where it is not known.
        mirrored: Whether the graph became exactly the input.
        sync_token: The state of it at its source, where that names it.
    """

    iri: str
    modified: datetime | None
    coverage: Coverage
    committed: datetime
    captures: tuple[Capture, ...]
    rules: int
    version: int | None = None
    mirrored: bool = False
    sync_token: str | None = None


@dataclass(frozen=True, slots=True)
class VersionRecord:
    """
    One version of a provider's graph.

    Attributes:
        provider: Provider name.
        n: From 1, without gaps.
        run: The run that made it.
        state: `loading` or `committed`.
        at: When it was filed (aware, UTC).
        coverage: full or partial.
        dataset: The dataset that changed.
        modified: Its dcterms:modified, or None.
        added: Triples added to the version before.
        removed: Triples removed from it.
        triples: In this version.
        digest: SHA-256 of the canonical snapshot; None until one was written.
        facts: What the provenance log is to say of it, N-Triples, until it is committed: then a note has it.
    """

    provider: str
    n: int
    run: int
    state: str
    at: datetime
    coverage: str
    dataset: str | None
    modified: datetime | None
    added: int
    removed: int
    triples: int
    digest: str | None
    facts: str | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """
    What a command asks of the process that holds the data directory.

    Attributes:
        id: Ascending.
        command: run, approve, forget, export or verify.
        names: Provider names; empty means all.
    """

    id: int
    command: str
    names: tuple[str, ...]


def stamp(moment: datetime | None) -> str | None:
    """ISO 8601 in UTC, or None."""
    return None if moment is None else moment.astimezone(UTC).isoformat()


def moment(text: str | None) -> datetime | None:
    """The time that `stamp` wrote."""
    return None if text is None else datetime.fromisoformat(text)


def dump_captures(captures: tuple[Capture, ...]) -> str:
    """Captures as JSON."""
    return json.dumps([asdict(capture) | {"at": stamp(capture.at)} for capture in captures])


def load_captures(text: str) -> tuple[Capture, ...]:
    """The captures that `dump_captures` wrote."""
    return tuple(_capture(item) for item in json.loads(text))


def _capture(item: dict[str, Any]) -> Capture:
    at = datetime.fromisoformat(item.pop("at"))
    validators = Validators(**item.pop("validators"))
    return Capture(**item | {"at": at, "validators": validators, "redirects": tuple(item["redirects"])})


def dump_about(about: tuple[About, ...]) -> str:
    """What a description says for people, as JSON."""
    return json.dumps([asdict(each) for each in about], ensure_ascii=False)


def load_about(text: str) -> tuple[About, ...]:
    """What `dump_about` wrote."""
    lists = ("examples", "creators")
    return tuple(
        About(**item | {name: tuple(item[name]) for name in lists if name in item}) for item in json.loads(text)
    )


def dump_dataset(dataset: Dataset) -> str:
    """A dataset as JSON."""
    lastmods = [stamp(lastmod) for lastmod in dataset.lastmods]
    return json.dumps(asdict(dataset) | {"modified": stamp(dataset.modified), "lastmods": lastmods})


def load_dataset(text: str) -> Dataset:
    """The dataset that `dump_dataset` wrote."""
    item = json.loads(text)
    listing = _listing(item["listing"]) if item.get("listing") else None
    coverage, modified = Coverage(item["coverage"]), moment(item["modified"])
    lastmods = tuple(moment(lastmod) for lastmod in item.get("lastmods", ()))
    return Dataset(item["iri"], tuple(item["dumps"]), coverage, modified, item["title"], listing, lastmods)


def _listing(item: dict[str, Any]) -> Listing:
    dumps, others = (tuple(_listed(each) for each in item[name]) for name in ("dumps", "others"))
    return Listing(**item | {"dumps": dumps, "others": others})


def _listed(item: dict[str, Any]) -> ListedFile:
    return ListedFile(**item | {"hashes": tuple((name, digest) for name, digest in item["hashes"])})


def dump_findings(findings: tuple[Finding, ...]) -> str:
    """Findings as JSON."""
    return json.dumps([asdict(finding) for finding in findings])


def load_findings(text: str) -> tuple[Finding, ...]:
    """The findings that `dump_findings` wrote."""
    return tuple(Finding(**item) for item in json.loads(text))
