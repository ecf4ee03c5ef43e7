"""What a graph is made of, in numbers. Source: VoID, sections 4.5 and 4.6."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PropertyCount:
    """A property, and the triples that have it."""

    property: str
    triples: int


@dataclass(frozen=True, slots=True)
class ClassCount:
    """A class, and the subjects that are of it."""

    class_: str
    entities: int


@dataclass(frozen=True, slots=True)
class StatisticsReport:
    """
    The statistics of a version of a provider's graph.

    Attributes:
        name: Provider name.
        graph: IRI of the graph.
        version: The version that was counted.
        triples: In it.
        subjects: Distinct subjects.
        properties: All of them, the most frequent first.
        classes: All of them, the one with the most subjects first.
    """

    name: str
    graph: str
    version: int
    triples: int
    subjects: int
    properties: tuple[PropertyCount, ...]
    classes: tuple[ClassCount, ...]
