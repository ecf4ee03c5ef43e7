"""Why a description has no dataset that can be harvested, in words that lead to the mistake."""

from __future__ import annotations

import re

from harvest.discover.parsing import Node
from harvest.discover.reading import DATASET_TYPES, DUMP, DescriptionReading, shown
from harvest.discover.text import DescriptionText
from sparql.rdf import VOID

_COMMENT_TRAP = re.compile(r"^[^#\"'<\n]*?(?<!\S)(?P<name>(?:[A-Za-z][\w.-]*)?:#\S+)", re.MULTILINE)


def report_absence(reading: DescriptionReading, datasets: list[Node]) -> None:
    """Report that none of `datasets`, nor anything else, has a dump that can be harvested, and why."""
    reasons = [_undeclared_message(node) for node in _undeclared(reading)[:3]]
    reasons += [_trap_message(name) for name in _traps(reading.text)]
    if not reading.parsed.total:
        reasons.append(f"it holds no statement at all (read as {reading.parsed.format.name})")
    if datasets:
        count = "1 dataset has" if len(datasets) == 1 else f"{len(datasets)} datasets have"
        reasons.append(f"{count} no dump that can be harvested, such as {shown(datasets[0])}")
    reasons += _similar(reading)
    message = "no dataset with a dump was found" + (": " + "; ".join(reasons) if reasons else "")
    reading.report("no-dataset", message, *_traps(reading.text), fatal=True)


def report_undeclared(reading: DescriptionReading) -> None:
    """Report which nodes have dumps and are not said to be datasets."""
    for node in _undeclared(reading):
        reading.report("dump-without-dataset", _undeclared_message(node), f"<{node.value}>", *_traps(reading.text))


def _undeclared(reading: DescriptionReading) -> list[Node]:
    return [node for node in reading.said if reading.objects(node, DUMP) and not reading.is_dataset(node)]


def _undeclared_message(node: Node) -> str:
    return f"{shown(node)} has a void:dataDump but is no dataset, say `a void:Dataset` of it"


def _traps(text: DescriptionText) -> tuple[str, ...]:
    """
    The first prefixed name that ends up as a comment; where there is one, a dataset lost its name or its type.

    Source: the examples of the shared GeoLink document, which begin with `:#d1lodfull a void:Dataset ;`.
    """
    match = _COMMENT_TRAP.search(text.body)
    return (match["name"],) if match else ()


def _trap_message(name: str) -> str:
    prefix, local = name.split("#", 1)
    return f"`{name}` is read as `{prefix}`, because `#` begins a comment, write <#{local}> in its place"


def _similar(reading: DescriptionReading) -> list[str]:
    """What looks like a dataset or a dump and is none."""
    types = {iri for node in reading.said for iri in reading.types(node)}
    predicates = {predicate for predicates in reading.said.values() for predicate in predicates}
    other = sorted(iri for iri in types - DATASET_TYPES if iri.endswith("Dataset"))
    misspelt = sorted(iri for iri in predicates - {DUMP} if iri.lower().endswith("datadump"))
    return [f"<{iri}> is not void:Dataset, <{VOID}Dataset>" for iri in other] + [
        f"<{iri}> is not void:dataDump, <{DUMP}>" for iri in misspelt
    ]
