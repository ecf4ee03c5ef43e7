"""`harvest query`: a query over the current generation, in this process, without the limits of the endpoint."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import TypeVar

import pyoxigraph
from pyoxigraph import QueryResultsFormat, RdfFormat

from harvest.settings import Settings
from sparql.errors import RequestError, StoreError
from sparql.query.results import ResultFormat, choose
from sparql.query.syntax import Grammar
from sparql.store.generations import Generations

Writer = TypeVar("Writer", QueryResultsFormat, RdfFormat)


def answer(settings: Settings, text: str, form: str | None) -> Iterator[bytes]:
    """
    The result in a format (`tsv`, `json`, `ttl`, ...), by default a TSV table or Turtle.

    Raises:
        RequestError: It is no SPARQL query, or the format does not fit it.
        ForbiddenError: It asks another server.
        StoreError: There is no generation yet.
    """
    generations = Generations(settings.data_dir / "store")
    current = generations.current()
    if current is None:
        raise StoreError(f"nothing is harvested yet in {settings.data_dir}; `harvest run` does it")
    grammar = Grammar(settings.base_url)
    grammar.refuse_service(text)
    # The union would stand above a FROM clause.
    union = settings.query.union_default_graph and not grammar.names_dataset(text)
    with generations.hold(current):
        store = pyoxigraph.Store.read_only(str(current.path))
        yield _written(store, settings.base_url, union, text, form)


def _written(store: pyoxigraph.Store, base_iri: str, union: bool, text: str, form: str | None) -> bytes:
    try:
        found = store.query(text, base_iri=base_iri, use_default_graph_as_union=union)
    except SyntaxError as error:
        raise RequestError(f"this is no SPARQL query: {error.msg}") from error
    choice = choose("text/tab-separated-values, text/turtle", form)
    out = BytesIO()
    if isinstance(found, pyoxigraph.QueryTriples):
        found.serialize(out, format=_fitting(choice.graph, RdfFormat, form))
    else:
        found.serialize(out, format=_fitting(choice.solutions, QueryResultsFormat, form))
    return out.getvalue()


def _fitting(chosen: ResultFormat | None, kind: type[Writer], form: str | None) -> Writer:
    if chosen is None or not isinstance(chosen.writer, kind):
        raise RequestError(f"this result cannot be written as {form}")
    return chosen.writer
