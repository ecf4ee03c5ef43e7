"""
JSON-LD whose remote contexts stand in it, so that a parser that fetches nothing can read it.

Source: JSON-LD 1.1, section 3.1 (The Context); JSON-LD 1.1 Processing Algorithms and API, section 5.1.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import urljoin

from harvest.errors import ContextWanted, DescriptionError

DEEPEST: Final = 16
"""Contexts that refer to one another."""


def inlined(path: Path, url: str, contexts: Mapping[str, Path | None]) -> bytes:
    """
    A document with its contexts in place of their addresses.

    Args:
        path: JSON-LD.
        url: Where it was.
        contexts: Where the bytes of contexts are, by URL; None for one that cannot be had.

    Raises:
        ContextWanted: A context is not among these.
        DescriptionError: It is no JSON, or a context cannot be had or is none.
    """
    return json.dumps(_inlined(_json(path, url), url, contexts), ensure_ascii=False).encode()


def _inlined(node: Any, url: str, contexts: Mapping[str, Path | None]) -> Any:
    if isinstance(node, list):
        return [_inlined(each, url, contexts) for each in node]
    if not isinstance(node, dict):
        return node
    return {
        key: _context(value, url, contexts, 0) if key == "@context" else _inlined(value, url, contexts)
        for key, value in node.items()
    }


def _context(said: Any, url: str, contexts: Mapping[str, Path | None], depth: int) -> Any:
    """A context without addresses; inside it those of terms stay as they are, which a parser refuses by itself."""
    if isinstance(said, list):
        return [_context(each, url, contexts, depth) for each in said]
    if not isinstance(said, str):
        return said
    at = urljoin(url, said)
    if at not in contexts:
        raise ContextWanted(f"the JSON-LD context {at} has to be fetched first", url=at)
    path = contexts[at]
    if path is None:
        raise DescriptionError(f"the JSON-LD context {at} of {url} cannot be had; nothing was applied", url=url)
    found = _json(path, at)
    if not isinstance(found, dict) or "@context" not in found or depth >= DEEPEST:
        raise DescriptionError(f"{at} is no JSON-LD context; {url} refers to it, and nothing was applied", url=at)
    return _context(found["@context"], at, contexts, depth + 1)


def _json(path: Path, url: str) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise DescriptionError(f"{url} cannot be read as JSON: {error}; nothing was applied", url=url) from error
