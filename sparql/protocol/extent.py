"""
How deep a query nests and how long it is, measured before it is parsed, and threads with room for what is let through.

The store's parser and its optimiser call themselves for each group within a group, and for each pattern, branch or
operator that follows another one; where their stack ends, the process does. Measured with pyoxigraph 0.5.13: up to
11 kB for a level of brackets (EXISTS, IF), up to 0.9 kB for a token in a row (`!`, `+`, UNION, lists, triple patterns).
Rows of VALUES, arguments, and the triples of INSERT DATA take no stack.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Final, TypeVar

from sparql.errors import RequestError
from sparql.protocol.syntax import OPAQUE, place

T = TypeVar("T")

DEPTH: Final = 1_000
"""Brackets within each other."""
TOKENS: Final = 250_000
"""Tokens of a query, blocks of VALUES, INSERT DATA and DELETE DATA not counted."""
STACK_BYTES: Final = 512 << 20
"""Stack of a thread that evaluates queries: twice what the two bounds let a query take. Unused, it takes no memory."""
SMALLER_BYTES: Final = 64 << 20
"""The same on a system that does not grant so much."""

_OPENING: Final = frozenset("{([")
_BRACKET: Final = re.compile(rf"(?:{OPAQUE}|\\.)|([{{(\[\])}}])", re.DOTALL)
_GROUP: Final = rf"""(?:{OPAQUE}|[^{{}}<"'\#]|<)*+"""
_TOKEN: Final = re.compile(
    rf"""(?<![\w:?$.-])VALUES\s*(?:[?$]\w+|\([^()]*\))\s*\{{(?:{OPAQUE}|[^}}<"'\#]|<)*+\}}
    |(?<![\w:?$.-])(?:INSERT|DELETE)\s*DATA\s*\{{{_GROUP}(?:\{{{_GROUP}\}}{_GROUP})*+\}}
    |{OPAQUE}|[\w:%.-]+|\S""",
    re.DOTALL | re.IGNORECASE | re.VERBOSE,
)


def refuse_nesting(text: str, what: str = "query") -> None:
    """
    Return if the brackets of a query or update are not nested too deep.

    Raises:
        RequestError: They are; the message says where the bound is met.
    """
    if len(text) <= DEPTH or sum(map(text.count, _OPENING)) <= DEPTH:
        return
    depth = 0
    for found in _BRACKET.finditer(text):
        if found[1]:
            depth += 1 if found[1] in _OPENING else -1
            if depth > DEPTH:
                at = place(found.start(), text, "")
                raise RequestError(
                    f"The {what} is nested more than {DEPTH:,} deep at line {at.line}, column {at.column}; more "
                    "than that is not read."
                )


def refuse_length(text: str, what: str = "query") -> None:
    """
    Return if a query or an update has no more tokens than can be parsed.

    Raises:
        RequestError: It has.
    """
    if len(text) <= TOKENS:
        return
    tokens = sum(1 for _ in _TOKEN.finditer(text))
    if tokens > TOKENS:
        raise RequestError(
            f"The {what} is made of {tokens:,} tokens, VALUES not counted, and {TOKENS:,} is the most that is read; "
            "put what is listed into VALUES, or ask several times."
        )


@contextmanager
def deep_stack() -> Iterator[None]:
    """Give threads that are started within the block `STACK_BYTES` of stack, or less if the system refuses so much."""
    usual = threading.stack_size(STACK_BYTES)
    try:
        try:
            threading.Thread(target=_nothing).start()
        except RuntimeError:  # Limits of the process, or a system that does not overcommit.
            threading.stack_size(SMALLER_BYTES)
        yield
    finally:
        threading.stack_size(usual)


def deep(function: Callable[[], T]) -> T:
    """What a function returns or raises, called where a query finds the stack that it may take."""
    with deep_stack(), ThreadPoolExecutor(1, "query") as executor:
        return executor.submit(function).result()


def _nothing() -> None:
    """Do nothing."""
