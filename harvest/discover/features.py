"""
Full or partial: what the void:feature of a dataset says about its dumps.

Source: shared GeoLink document, "Full vs. Partial Datasets"; the IRIs are those met in the wild (shared NOTES.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from harvest.model import Coverage

KNOWN: Final[Mapping[str, Coverage]] = {
    "http://schema.geolink.org/dev/voc/harvester#FullDump": Coverage.FULL,
    "http://schema.geolink.org/dev/voc/harvester#PartialDump": Coverage.PARTIAL,
    "http://lod.dataone.org/glharvest#FullDump": Coverage.FULL,
    "http://lod.dataone.org/glharvest#PartialDump": Coverage.PARTIAL,
    "http://harvest.dataone.org/glharvest#FullDump": Coverage.FULL,
    "http://harvest.dataone.org/glharvest#PartialDump": Coverage.PARTIAL,
    "http://lod.dataone.org/fulldump": Coverage.FULL,
    "http://lod.dataone.org/partialdump": Coverage.PARTIAL,
    "http://dataone.org/fulldump": Coverage.FULL,
    "http://dataone.org/partialdump": Coverage.PARTIAL,
}

_LIKE_KNOWN = re.compile(r"(?:full|partial)[-_]?dump$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Stated:
    """
    What the features of one dataset say.

    Attributes:
        coverage: None when they say nothing. Partial when they say both: partial takes less away than full does, and
            partial dumps are never skipped.
        contradicting: Whether they say both.
        unknown: Features that are not known but look like full or partial.
    """

    coverage: Coverage | None
    contradicting: bool = False
    unknown: tuple[str, ...] = ()


def stated(features: Iterable[str], more: Mapping[str, str]) -> Stated:
    """What a dataset's features say; `more` are further IRIs with `full` or `partial`, and they win over the known."""
    known = {**KNOWN, **{iri: Coverage(word) for iri, word in more.items()}}
    listed = list(features)
    said = {known[feature] for feature in listed if feature in known}
    unknown = tuple(feature for feature in listed if feature not in known and _LIKE_KNOWN.search(feature))
    coverage = Coverage.PARTIAL if Coverage.PARTIAL in said else next(iter(said), None)
    return Stated(coverage, len(said) > 1, unknown)
