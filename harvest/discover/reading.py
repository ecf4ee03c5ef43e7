"""A description while it is read: what it says, and the findings so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from pyoxigraph import Literal, NamedNode

from harvest.discover.parsing import Node, Parsed, Term
from harvest.discover.text import DescriptionText
from harvest.model import Finding
from sparql.rdf import DCAT, DCTERMS, FOAF, RDF, RDFS, VOID

TYPE: Final = RDF + "type"
DUMP: Final = VOID + "dataDump"
SUBSET: Final = VOID + "subset"
FEATURE: Final = VOID + "feature"
MODIFIED: Final = DCTERMS + "modified"
TITLES: Final = (DCTERMS + "title", RDFS + "label")
DESCRIPTIONS: Final = (DCTERMS + "description", RDFS + "comment", DCTERMS + "abstract")
LICENCES: Final = (DCTERMS + "license", DCTERMS + "rights", DCTERMS + "accessRights")
PUBLISHERS: Final = (DCTERMS + "publisher", DCTERMS + "creator")
HOMEPAGES: Final = (FOAF + "homepage", DCAT + "landingPage", FOAF + "page")
NAMES: Final = (FOAF + "name", RDFS + "label", DCTERMS + "title")
EXAMPLE: Final = VOID + "exampleResource"
DATASET_TYPES: Final = frozenset({VOID + "Dataset", VOID + "Linkset"})

_TOLD = (*TITLES, *DESCRIPTIONS, *LICENCES, *PUBLISHERS, *HOMEPAGES, *NAMES, EXAMPLE)
_READ = frozenset({TYPE, DUMP, SUBSET, FEATURE, MODIFIED, *_TOLD})
_LIKE_READ = ("datadump", "modified")


def is_read(predicate: str) -> bool:
    """Whether statements with this predicate are needed; those that look like a misspelling are, for the findings."""
    return predicate in _READ or predicate.lower().endswith(_LIKE_READ)


def shown(node: Node) -> str:
    """A node in a message."""
    return f"<{node.value}>" if isinstance(node, NamedNode) else "(a blank node)"


@dataclass(slots=True)
class DescriptionReading:
    """
    One description while it is read.

    Attributes:
        text: The document.
        parsed: Its triples.
        features: Further feature IRIs with `full` or `partial`, from the settings.
        now: The moment that dates must not be far ahead of.
        said: Objects by subject and predicate, in the order of the file.
        around: For each subset the datasets that name it.
        unstated: Datasets of which no feature says full or partial.
        findings: What was found so far.
    """

    text: DescriptionText
    parsed: Parsed
    features: Mapping[str, str]
    now: datetime
    said: dict[Node, dict[str, list[Term]]] = field(default_factory=dict)
    around: dict[Node, list[Node]] = field(default_factory=dict)
    unstated: list[Node] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.findings += [*self.text.findings, *self.parsed.findings]
        for triple in self.parsed.triples:
            self.said.setdefault(triple.subject, {}).setdefault(triple.predicate, []).append(triple.object)
            if triple.predicate == SUBSET and not isinstance(triple.object, Literal):
                self.around.setdefault(triple.object, []).append(triple.subject)

    def objects(self, subject: Node, predicate: str) -> list[Term]:
        """What is said of a subject by a predicate, in the order of the file."""
        return self.said.get(subject, {}).get(predicate, [])

    def types(self, node: Node) -> set[str]:
        """The IRIs of a node's types."""
        return {term.value for term in self.objects(node, TYPE) if isinstance(term, NamedNode)}

    def is_dataset(self, node: Node) -> bool:
        """Whether a node is typed as a dataset or is a subset of something."""
        return node in self.around or bool(self.types(node) & DATASET_TYPES)

    def surrounding(self, node: Node) -> list[Node]:
        """The datasets that a dataset is a subset of, directly or not, nearest first."""
        found = [node]
        for each in found:
            found += [outer for outer in dict.fromkeys(self.around.get(each, ())) if outer not in found]
        return found[1:]

    def report(self, kind: str, message: str, *needles: str, fatal: bool = False) -> None:
        """Add a finding about the first of `needles` that stands in the document."""
        self.findings.append(self.text.finding(kind, message, *needles, fatal=fatal))
