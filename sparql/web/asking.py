"""The query page: the page for people, and what its script asks for as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Final
from urllib.parse import urlencode

import pyoxigraph
from flask import Blueprint, Response, request
from pyoxigraph import RdfFormat

from sparql.protocol.description import ALL, OTHERS, PREFIXES, Graph, describe
from sparql.protocol.results import GRAPHS, SOLUTIONS, prefer, quality
from sparql.reports import ProviderReport
from sparql.web.examples import Example, read_examples
from sparql.web.site import HTML, JSON, context, data, json_data, page

asking = Blueprint("asking", __name__)

FALLBACK: Final = """\
SELECT ?class (COUNT(*) AS ?entities)
WHERE { ?entity a ?class }
GROUP BY ?class
ORDER BY DESC(?entities)
LIMIT 100
"""
"""What an instance without examples begins with."""


@asking.get("/sparql")
def query_page() -> Response:
    """The query page for people, the description of the endpoint for programs."""
    accept = request.headers.get("Accept")
    form = prefer(accept, GRAPHS)
    if form is not None and quality(HTML, accept) <= quality(form.media_type, accept):
        assert isinstance(form.writer, RdfFormat)
        described = pyoxigraph.serialize(_description(), format=form.writer, prefixes=PREFIXES)
        return data(described or b"", form.content_type)
    examples = read_examples(context().site.queries)
    return page(
        "sparql.html",
        query=request.args.get("query") or (examples[0].query if examples else FALLBACK),
        asked=request.args,
        graphs=_graphs(),
        account=context().site.account,
        examples=[(example, _link(example)) for example in examples],
        solutions=SOLUTIONS,
        results=GRAPHS,
    )


@asking.get("/sparql/examples.json")
def examples() -> Response:
    """The example queries."""
    found = read_examples(context().site.queries)
    return json_data([{**asdict(example), "link": _link(example)} for example in found])


@asking.get("/sparql/terms.json")
def terms() -> Response:
    """Classes and properties of all graphs with their counts, and the prefixes that shorten them."""
    here = context()
    return data(here.vocabulary.document(here.catalog), JSON)


def _link(example: Example) -> str:
    return f"/sparql?{urlencode({'query': example.query})}"


def _graphs() -> list[ProviderReport]:
    """The providers that have a graph."""
    return [provider for provider in context().catalog.providers() if provider.version]


def _description() -> list[pyoxigraph.Triple]:
    here = context()
    graphs = [Graph(each.graph, each.triples, here.catalog.statistics(each.name)) for each in _graphs()]
    if here.site.account:
        graphs.append(Graph(here.site.account))
    lists = here.limits.own_graphs and len(graphs) - 1 <= here.limits.listed_graphs
    union = OTHERS if lists else ALL
    return list(describe(f"{here.site.base_url}/sparql", graphs, union if here.limits.union_default_graph else ""))
