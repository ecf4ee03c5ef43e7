"""A misspelt word is answered with the known word that is most like it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harvest.config.nearest import nearest, unknown

KNOWN = ("modified", "void", "resourcesync", "sitemap", "dataset", "dump", "interval", "removals", "limits")


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("modifed", "modified"),
        ("VOID", "void"),
        ("viod", "void"),
        ("data-set", "dataset"),
        ("intervall", "interval"),
        ("resource_sync", "resourcesync"),
        ("dumps", "dump"),
        ("limit", "limits"),
    ],
)
def test_a_slip_leads_to_what_was_meant(word: str, meant: str) -> None:
    """Letters swapped, doubled or left out, capitals and plurals."""
    assert nearest(word, KNOWN) == meant
    assert unknown("key", word, KNOWN) == f"unknown key {word!r}; the nearest known key is {meant!r}"


@given(st.text(max_size=20))
def test_any_word_has_a_nearest(word: str) -> None:
    """A word that is like none still gets an answer, and a known one itself."""
    assert nearest(word, KNOWN) in KNOWN
    assert all(nearest(known, KNOWN) == known for known in KNOWN)


def test_without_known_words_there_is_none() -> None:
    """An empty list of keys is a mistake of the program, not of the person."""
    with pytest.raises(ValueError, match="no known word"):
        nearest("x", ())
