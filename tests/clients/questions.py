"""The questions that the JavaScript clients ask, and what their answers must be."""

from __future__ import annotations

import json
from typing import Any, Final

from pyoxigraph import BlankNode, Literal, NamedNode

from tests.clients.instance import ALL_KINDS, COUNT, ENDLESS, KINDS, LARGE, LONG, PREFIXES
from tests.query.stores import BASE

QUERIES: Final = json.dumps(
    {
        "kinds": ALL_KINDS,
        "count": COUNT,
        "federated": f"{PREFIXES} SELECT ?name ?distance {{ ?star star:distance ?distance . ?star rdfs:label ?name }}",
        "long": LONG,
        "yes": f"{PREFIXES} ASK {{ star:vega star:magnitude ?m }}",
        "no": f"{PREFIXES} ASK {{ star:vega star:magnitude 99 }}",
        "construct": f"{PREFIXES} CONSTRUCT {{ ?s :is ?o }} WHERE {{ ?s star:magnitude ?o }}",
        "describe": f"DESCRIBE <{BASE}thing>",
        "large": LARGE,
        "all": "SELECT * { ?s ?p ?o }",
        "slow": ENDLESS,
    }
)


def printed(term: NamedNode | Literal | BlankNode) -> dict[str, Any]:
    """A term as the scripts print those of RDF/JS; a blank node has no name that counts."""
    if isinstance(term, Literal):
        form = {"type": "Literal", "value": term.value, "language": term.language or ""}
        return form | {"datatype": term.datatype.value}
    return {"type": "NamedNode", "value": term.value} if isinstance(term, NamedNode) else {"type": "BlankNode"}


def kinds() -> dict[str, dict[str, Any]]:
    """What the scripts must print for ALL_KINDS, by predicate."""
    return {BASE + step: printed(term) for step, term in KINDS.items()}


def by_predicate(rows: list[dict[str, dict[str, Any]]]) -> dict[str, dict[str, Any]]:
    """The rows of ALL_KINDS as `kinds` gives them."""
    found = {row["p"]["value"]: dict(row["o"]) for row in rows}
    assert len(found) == len(rows), "a row came twice"
    for term in found.values():
        if term["type"] == "BlankNode":
            assert term.pop("value")
    return found
