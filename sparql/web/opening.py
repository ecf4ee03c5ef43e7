"""
The query that a page offers for a graph: things of its commonest class, their labels and what is mostly said of them.

The classes come from the statistics that are counted while importing; what is said of things of a class is
asked of a few of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from pyoxigraph import Literal

from sparql.errors import SparqlError
from sparql.rdf import RDF
from sparql.reports import ClassCount, StatisticsReport
from sparql.web.entity import NAMING
from sparql.web.questions import Ask, Budget
from sparql.web.terms import NAMESPACES, shorten, valid

CLASSES: Final = 5
"""Of the commonest classes, those that are looked at for labels."""
SAMPLE: Final = 100
"""Things of a class that are looked at."""
COLUMNS: Final = 4
"""Properties that are asked for beside type and label."""
LOOK_S: Final = 1.0
"""Seconds that looking may take: the page is of use without it."""
OFTEN: Final = 0.5
"""Share of the things of a class that a label has to name."""

_TYPE: Final = f"{RDF}type"
_NAME: Final = re.compile(r"[A-Za-z][\w-]*", re.ASCII)
_PREFIXED: Final = re.compile(r"([a-z][\w-]*):[A-Za-z_][\w-]*", re.ASCII)


class Usual(NamedTuple):
    """
    What is usually said of things.

    Attributes:
        of: IRI of their class, or None for all things of a graph.
        naming: The property that names them, if there is one.
        named: Whether it names each of them.
        properties: Others, the most usual first.
    """

    of: str | None
    naming: str | None
    named: bool
    properties: tuple[str, ...]


def opening_query(graph: str, statistics: StatisticsReport | None, ask: Ask) -> str:
    """
    The query for a graph; where nothing is known of it, for any of its statements.

    Args:
        graph: Its IRI.
        statistics: What it is made of, or None.
        ask: What answers queries.
    """
    usual = _usual(graph, statistics, ask) if statistics else None
    if usual is None:
        return f"SELECT ?s ?p ?o WHERE {{\n  GRAPH <{graph}> {{ ?s ?p ?o }}\n}}\nLIMIT 100\n"
    return _written(graph, usual, statistics.classes if statistics else ())


def _usual(graph: str, statistics: StatisticsReport, ask: Ask) -> Usual | None:
    """The commonest class whose things have labels, else the commonest, else what there is."""
    store = Budget(ask, LOOK_S)
    classes = [found.class_ for found in statistics.classes[:CLASSES] if valid(found.class_)]
    properties = [found.property for found in statistics.properties if valid(found.property)]
    first = None
    try:
        for of in classes:
            usual = _said(graph, of, store)
            first = first or usual
            if usual.naming:
                return usual
    except SparqlError:  # The figures of the whole graph say something, too.
        pass
    if first:
        return first
    naming = next((name for name in NAMING if name in properties), None)
    return Usual(classes[0] if classes else None, naming, False, _others(properties)) if properties else None


def _said(graph: str, of: str, store: Budget) -> Usual:
    """What is said of a few things of a class."""
    rows = store.rows(
        "SELECT ?p (COUNT(DISTINCT ?s) AS ?n) (COUNT(*) AS ?m) "
        f"WHERE {{ {{ SELECT DISTINCT ?s WHERE {{ GRAPH <{graph}> {{ ?s a <{of}> }} }} LIMIT {SAMPLE} }} "
        f"LATERAL {{ GRAPH <{graph}> {{ ?s ?p ?o }} }} }} "
        "GROUP BY ?p ORDER BY DESC(?n) ?m ?p LIMIT 200"
    )
    things = {row["p"].value: _count(row["n"]) for row in rows if row["p"] is not None}
    all_of_them = things.get(_TYPE, 0)
    naming = next((name for name in NAMING if things.get(name, 0) >= OFTEN * max(1, all_of_them)), None)
    return Usual(of, naming, naming is not None and things[naming] == all_of_them, _others(things))


def _count(term: object) -> int:
    return int(term.value) if isinstance(term, Literal) else 0


def _others(properties: Iterable[str]) -> tuple[str, ...]:
    """Those that neither name nor classify, as many as there are columns for."""
    others = (iri for iri in properties if iri != _TYPE and iri not in NAMING and valid(iri))
    return tuple(iri for _, iri in zip(range(COLUMNS), others, strict=False))


def _written(graph: str, usual: Usual, classes: Iterable[ClassCount]) -> str:
    """The query, as people would write it."""
    columns = dict(_columns(usual))
    used = sorted({found[1] for iri in (usual.of, *columns) if iri and (found := _PREFIXED.fullmatch(shorten(iri)))})
    head = "".join(f"PREFIX {prefix}: <{NAMESPACES[prefix]}>\n" for prefix in used)
    others = [f"{shorten(found.class_)} ({found.entities:,})" for found in classes if found.class_ != usual.of]
    lines = [f"GRAPH <{graph}> {{"]
    if usual.of:
        lines += [f"  VALUES ?type {{ {_term(usual.of)} }}" + (f"  # also: {', '.join(others[:3])}" if others else "")]
        lines += ["  ?item a ?type ."]
    for number, (iri, name) in enumerate(columns.items()):
        pattern = f"?item {_term(iri)} ?{name}"
        must = usual.named if usual.of else number == 0
        lines += [f"  {pattern} ." if must and number == 0 else f"  OPTIONAL {{ {pattern} }}"]
    shown = " ".join(("?item", *(["?type"] if usual.of else []), *(f"?{name}" for name in columns.values())))
    body = "\n".join(f"  {line}" for line in (*lines, "}"))
    return f"{head}SELECT {shown} WHERE {{\n{body}\n}}\nLIMIT 100\n"


def _columns(usual: Usual) -> Iterator[tuple[str, str]]:
    """Yield property and variable of each column, the label first; no variable twice."""
    taken = {"item", "type"}
    for iri in (*([usual.naming] if usual.naming else []), *usual.properties):
        found = _NAME.findall(iri)
        name = "label" if iri == usual.naming else found[-1].replace("-", "_") if found else "value"
        while name in taken:
            name += "_"
        taken.add(name)
        yield iri, name


def _term(iri: str) -> str:
    short = shorten(iri)
    return short if _PREFIXED.fullmatch(short) else f"<{iri}>"
