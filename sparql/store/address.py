"""Where an engine is that is the store, and which one it is."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from sparql.errors import StoreError

FILE: Final = "engine.json"
"""Holds an address; in the store's folder, and in each generation that is one of an engine."""


class Dialect(StrEnum):
    """Engines whose ways are known."""

    AUTO = "auto"
    OXIGRAPH = "oxigraph"
    FUSEKI = "fuseki"
    VIRTUOSO = "virtuoso"
    RDF4J = "rdf4j"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class EngineAddress:
    """
    Where an engine is.

    Attributes:
        query: URL that takes queries.
        update: URL that takes updates.
        graph_store: URL of the Graph Store HTTP Protocol, to which `?graph=` is appended; empty where there is none.
        user: Who asks; empty for nobody.
        password: Name of the environment variable with the password.
        scheme: `basic` or `digest`.
        dialect: Which engine it is; `auto` until it is asked.
    """

    query: str
    update: str
    graph_store: str = ""
    user: str = ""
    password: str = ""
    scheme: str = "basic"
    dialect: Dialect = Dialect.AUTO

    def write(self, folder: Path) -> None:
        """Write the address, which holds no secret, to a folder."""
        (folder / FILE).write_text(json.dumps(asdict(self), indent=1) + "\n")


def address_in(folder: Path) -> EngineAddress | None:
    """The address that was written to a folder, or None where there is none."""
    try:
        found = json.loads((folder / FILE).read_text())
        return EngineAddress(**{**found, "dialect": Dialect(found["dialect"])})
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise StoreError(f"{folder / FILE} is damaged: {error}.") from error
