"""What a graph is made of, in numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Statistics:
    """
    The figures of one version of a graph, all exact.

    Distinct objects are not among them: whether another subject still has a value can only be told from an index by
    object or by sorting all values, and either costs what the graph holds, not what changed.

    Attributes:
        triples: In it.
        subjects: Distinct ones.
        properties: IRI of each property, and its triples.
        classes: IRI of each class (object of rdf:type), and its instances.

    Source: VoID, section 4.6 (statistics).
    """

    triples: int
    subjects: int
    properties: Mapping[str, int]
    classes: Mapping[str, int]
