"""
Subject replacement as the GeoLink document has it: SPARQL UPDATE, subject by subject.

It works on any SPARQL 1.1 store and asks nothing of what was there before, so it is the oracle of the delta.

Source: SPARQL 1.1 Update, sections 3.1.1 (INSERT DATA) and 3.1.3 (DELETE/INSERT).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path
from typing import Final

SUBJECTS: Final = 1_000
"""Subjects of one deletion: 25 k subjects of 8 triples take 3.2 s so, and a request stays under 100 kB."""
TRIPLES: Final = 5_000
"""Triples of one insertion."""


def replace_subjects(update: Callable[[str], None], graph: str, subjects: Iterable[str], added: Path) -> None:
    """
    Delete all triples of the subjects, then insert the lines of `added`.

    Args:
        update: Runs one SPARQL update request.
        graph: IRI of the graph; the fourth term of every line of `added`.
        subjects: IRIs.
        added: Canonical N-Quads.
    """
    waiting = iter(subjects)
    while batch := list(islice(waiting, SUBJECTS)):
        update(deletion(graph, batch))
    with added.open("rb") as lines:
        while batch_lines := list(islice(lines, TRIPLES)):
            update(insertion(graph, batch_lines))


def deletion(graph: str, subjects: Iterable[str]) -> str:
    """The update that deletes all triples of the subjects."""
    values = " ".join(f"<{subject}>" for subject in subjects)
    pattern = f"GRAPH <{graph}> {{ ?s ?p ?o }}"
    return f"DELETE {{ {pattern} }} WHERE {{ VALUES ?s {{ {values} }} {pattern} }}"


def insertion(graph: str, lines: Iterable[bytes]) -> str:
    """The update that inserts the lines; their fourth term must be the graph."""
    ending = f" <{graph}> .\n".encode()
    triples = b" .\n".join(line.removesuffix(ending) for line in lines)
    return f"INSERT DATA {{ GRAPH <{graph}> {{\n{triples.decode()} .\n}} }}"
