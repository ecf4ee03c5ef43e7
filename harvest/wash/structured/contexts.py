"""Remote JSON-LD contexts, from files that were fetched before: nothing here ever opens a connection."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pyld.context_resolver import ContextResolver  # type: ignore[import-untyped]  # it ships no types

from harvest.errors import ContextWanted

CONTEXT_BYTES: Final = 16 << 20
"""Bytes that a context may have; the largest in wide use (schema.org's) has 0.2 MB."""

IMPORT: Final = b"@import"
"""The keyword that makes PyLD change a context."""

REMEMBERED: Final = 1000
"""Contexts that are remembered at most."""


class NoContext(Exception):
    """A context that cannot be had, or is none."""


class Contexts:
    """
    PyLD's loader of documents.

    PyLD wraps what a loader raises in errors of its own, so that it is remembered here.

    Attributes:
        forgetful: Whether no context is remembered: PyLD changes one that is imported (`@import`) for all later uses.
        fault: Why a context was not handed out since `resolver` was asked for, or None.

    Source: JSON-LD 1.1 Processing Algorithms and API, section 9.4 (LoadDocumentCallback).
    """

    def __init__(self, files: Mapping[str, Path | None]) -> None:
        self._files = files
        self._resolver = ContextResolver({}, self)
        self.forgetful = False
        self.fault: ContextWanted | NoContext | None = None

    def resolver(self) -> ContextResolver:
        """
        PyLD's memory of contexts: shared by the documents of one text, where working one out takes 30 ms.

        PyLD's own would hand out what it worked out for other texts. Contexts within documents are remembered too,
        and so it is emptied now and then.
        """
        if self.forgetful or len(self._resolver.per_op_cache) > REMEMBERED:
            self._resolver = ContextResolver({}, self)
        self.fault = None
        return self._resolver

    def __call__(self, url: str, options: Mapping[str, Any]) -> dict[str, Any]:
        """
        The context at an address, parsed.

        Raises:
            ContextWanted: Nobody tried to fetch it yet.
            NoContext: It could not be had, or is no JSON.
        """
        try:
            document = self._read(url)
        except (ContextWanted, NoContext) as error:
            self.fault = error
            raise
        return {"contentType": "application/ld+json", "contextUrl": None, "documentUrl": url, "document": document}

    def _read(self, url: str) -> object:
        if url not in self._files:
            raise ContextWanted(f"the JSON-LD context {url} has to be fetched first", url=url)
        path = self._files[url]
        if path is None:
            raise NoContext(f"the JSON-LD context {url} could not be had")
        if (size := path.stat().st_size) > CONTEXT_BYTES:
            raise NoContext(f"the JSON-LD context {url} has {size:,} bytes, more than {CONTEXT_BYTES:,}")
        data = path.read_bytes()
        self.forgetful |= IMPORT in data
        try:
            return json.loads(data)
        except (ValueError, RecursionError) as error:
            raise NoContext(f"the JSON-LD context {url} is not JSON: {error or 'it is nested too deeply'}") from error
