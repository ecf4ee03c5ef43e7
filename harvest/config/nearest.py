"""The nearest known word to one that is not known."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(word: str, known: Iterable[str]) -> str:
    """
    The known word that is most like `word`, letter case aside.

    A word that is like none still gets the least unlike: what is known is short enough to guess from it.

    Raises:
        ValueError: Nothing is known.
    """
    by_fold = {k.casefold(): k for k in sorted(known)}
    if not by_fold:
        raise ValueError("there is no known word to be near to")
    return by_fold[difflib.get_close_matches(word.casefold(), by_fold, n=1, cutoff=0)[0]]


def unknown(what: str, word: str, known: Iterable[str]) -> str:
    """The sentence that says `word` is no known `what`, and which one may have been meant."""
    return f"unknown {what} {word!r}; the nearest known {what} is {nearest(word, known)!r}"
