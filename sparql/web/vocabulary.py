"""The classes and properties that the query page offers while somebody types, kept until a graph changes."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Final

from sparql.reports import ProviderSummary, StatisticsReport
from sparql.web.catalog import Catalog, Record
from sparql.web.terms import NAMESPACES

MOST: Final = 5000
"""Classes and properties that are offered, the most frequent first; a browser holds no more with ease."""


class Vocabulary:
    """
    Makes the document of terms; the last one is kept in memory, 2 * MOST terms at most.

    It is known by the version and the last run of every graph, not by the generation: the figures of a version are
    there a moment after the generation that holds it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: tuple[Hashable, bytes] = (None, b"")

    def document(self, catalog: Catalog) -> bytes:
        """Classes and properties of all graphs with their counts, and the prefixes that shorten them, as JSON."""
        graphs = [provider for provider in catalog.summaries() if provider.version]
        edition = tuple(_edition(graph) for graph in graphs)
        # One thread counts, and the others find what it made.
        with self._lock:
            known, document = self._kept
            if known == edition:
                return document
            figures = [catalog.statistics(graph.name) for graph in graphs]
            document = json.dumps(_counted(figures), ensure_ascii=False, indent=1).encode() + b"\n"
            # What was not counted with its version is when it is exported, and no version says that.
            self._kept = (None, b"") if None in figures else (edition, document)
            return document


def _edition(graph: ProviderSummary) -> Hashable:
    """What no other state of a graph has, even if it was forgotten and harvested anew."""
    run = graph.last_run
    return graph.name, graph.version, graph.triples, graph.modified, run and run.id, run and run.ended


def _counted(figures: Sequence[StatisticsReport | None]) -> Record:
    classes: Counter[str] = Counter()
    properties: Counter[str] = Counter()
    for statistics in filter(None, figures):
        for kind in statistics.classes:
            classes[kind.class_] += kind.entities
        for of in statistics.properties:
            properties[of.property] += of.triples
    return {
        "prefixes": dict(sorted(NAMESPACES.items())),
        "classes": _offered(classes, "entities"),
        "properties": _offered(properties, "triples"),
        "left_out": max(0, len(classes) - MOST) + max(0, len(properties) - MOST),
    }


def _offered(counts: Counter[str], unit: str) -> list[Record]:
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [{"iri": iri, unit: count} for iri, count in ranked[:MOST]]
