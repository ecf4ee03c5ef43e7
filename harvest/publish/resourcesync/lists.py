"""
What the documents of a provider's feed say.

Source: ResourceSync 1.1, sections 9 (capability list), 10.1 (resource list), 12.1 (change list), 14.4 (patches);
Timbuctoo exchange protocol, "Data model" and "Valid resources".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, serialize

from harvest.model import About
from harvest.model.resourcesync import MEDIA_TYPE, Capability, ChangeKind, Relation
from harvest.publish.description import moment, origin
from harvest.publish.resourcesync.dataset import DATASET, DatasetFile
from harvest.publish.resourcesync.writing import ListHead, ListItem, ListLink, instant, write_list
from sparql.rdf import DCTERMS, NQUD, PREFIXES, RDF, VOID

CAPABILITIES: Final = "capabilitylist.xml"
RESOURCES: Final = "resourcelist.xml"
CHANGES: Final = "changelist.xml"
DUMP: Final = "resourcedump.xml"
DESCRIPTION: Final = "description.xml"
SOURCE: Final = "sourceDescription.xml"
N_QUADS: Final = "application/n-quads"
RDF_XML: Final = "application/rdf+xml"


@dataclass(frozen=True, slots=True)
class FeedAddresses:
    """
    Where the documents of a feed are found.

    Attributes:
        base_url: The address of the instance.
        name: Provider name.
    """

    base_url: str
    name: str

    def __call__(self, file: str) -> str:
        """The address of a document."""
        return f"{self.base_url}/resourcesync/{self.name}/{file}"

    def change(self, n: int) -> str:
        """The address of the change that made version `n`, from 1."""
        return f"{self.base_url}/providers/{self.name}/changes/{n}.nqud"

    def baseline(self, n: int) -> str:
        """The address of version `n` as a change from nothing, where those before it were dropped."""
        return f"{self.base_url}/providers/{self.name}/versions/{n}.nqud"

    @property
    def source(self) -> str:
        """The address of the source description."""
        return f"{self.base_url}/resourcesync/{SOURCE}"


@dataclass(frozen=True, slots=True)
class ListedChange:
    """
    A change as it is listed.

    Attributes:
        n: Number of the version that it made.
        at: When it was listed, ISO 8601; later than the one before.
        file: Size and time of last modification in ns of the compressed file.
        sha256: Of the diff itself.
        length: Of the diff itself, in bytes.
        baseline: Whether it makes the version from nothing, in the place of all changes up to it.
    """

    n: int
    at: str
    file: tuple[int, int]
    sha256: str
    length: int
    baseline: bool = False


def described_by(addresses: FeedAddresses) -> ListLink:
    """The link from a list of capabilities, or to it, to what describes the dataset."""
    return ListLink(Relation.DESCRIBED_BY, addresses(DESCRIPTION), {"type": RDF_XML})


def write_capabilities(folder: Path, addresses: FeedAddresses, *, has_dump: bool) -> list[Path]:
    """Write the list of capabilities."""
    kinds = [(RESOURCES, Capability.RESOURCE_LIST), (CHANGES, Capability.CHANGE_LIST)]
    kinds += [(DUMP, Capability.RESOURCE_DUMP)] if has_dump else []
    items = (ListItem(addresses(file), md={"capability": kind, "type": MEDIA_TYPE}) for file, kind in kinds)
    links = described_by(addresses), ListLink(Relation.UP, addresses.source)
    head = ListHead(Capability.CAPABILITY_LIST, links=links)
    return write_list(folder / CAPABILITIES, addresses(CAPABILITIES), head, items)


def write_resources(folder: Path, addresses: FeedAddresses, dataset: DatasetFile, at: datetime) -> list[Path]:
    """Write the list of resources: the dataset."""
    head = ListHead(Capability.RESOURCE_LIST, {"at": instant(at), "completed": instant(at)}, _up(addresses))
    item = ListItem(addresses(DATASET), at, _md(dataset))
    return write_list(folder / RESOURCES, addresses(RESOURCES), head, [item])


def write_changes(
    folder: Path,
    addresses: FeedAddresses,
    dataset: DatasetFile,
    changes: Sequence[ListedChange],
    *,
    begins: bool,
) -> list[Path]:
    """
    Write the list of changes; `begins` says whether the first of them makes its version from nothing.

    Only of the last one the dataset is still there, with a digest of it.
    """
    since = instant(datetime.fromisoformat(changes[0].at))
    head = ListHead(Capability.CHANGE_LIST, {"from": since}, _up(addresses))
    items = _changes(addresses, dataset, changes, begins=begins)
    return write_list(folder / CHANGES, addresses(CHANGES), head, items)


def _changes(
    addresses: FeedAddresses, dataset: DatasetFile, changes: Sequence[ListedChange], *, begins: bool
) -> Iterator[ListItem]:
    for number, change in enumerate(changes):
        at = datetime.fromisoformat(change.at)
        kind = ChangeKind.CREATED if begins and number == 0 else ChangeKind.UPDATED
        md = {"change": str(kind), "datetime": instant(at)}
        if number == len(changes) - 1:
            md |= _md(dataset)
        facts = {"type": NQUD, "hash": f"sha-256:{change.sha256}", "length": str(change.length)}
        address = addresses.baseline(change.n) if change.baseline else addresses.change(change.n)
        patch = ListLink(Relation.PATCH, address, facts)
        yield ListItem(addresses(DATASET), at, md, (patch,))


def _md(dataset: DatasetFile) -> dict[str, str]:
    return {"hash": f"sha-256:{dataset.sha256}", "length": str(dataset.bytes), "type": N_QUADS}


def _up(addresses: FeedAddresses) -> tuple[ListLink, ...]:
    return (ListLink(Relation.UP, addresses(CAPABILITIES)),)


def description(
    addresses: FeedAddresses, graph: str, triples: int, modified: datetime | None, about: tuple[About, ...]
) -> bytes:
    """What the dataset is, as RDF/XML: VoID, with what its provider says of it."""
    node = NamedNode(graph)
    quads = [
        Quad(node, NamedNode(RDF + "type"), NamedNode(VOID + "Dataset")),
        Quad(node, NamedNode(DCTERMS + "identifier"), Literal(addresses.name)),
        Quad(node, NamedNode(VOID + "triples"), Literal(triples)),
        Quad(node, NamedNode(VOID + "dataDump"), NamedNode(addresses(DATASET))),
        Quad(node, NamedNode(VOID + "sparqlEndpoint"), NamedNode(f"{addresses.base_url}/sparql")),
        *origin(node, about),
    ]
    if modified is not None:
        quads.append(Quad(node, NamedNode(DCTERMS + "modified"), moment(modified.isoformat())))
    return serialize(quads, format=RdfFormat.RDF_XML, prefixes=PREFIXES) or b""
