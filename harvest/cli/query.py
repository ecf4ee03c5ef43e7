"""`harvest query`: a query over the current generation, in this process, without the limits of the endpoint."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import TypeVar

import pyoxigraph
from pyoxigraph import QueryResultsFormat, RdfFormat

from harvest.config.settings import Settings
from sparql.errors import RequestError, StoreError
from sparql.protocol.dataset import listed_graphs
from sparql.protocol.extent import deep, refuse_length, refuse_nesting
from sparql.protocol.results import ResultFormat, choose
from sparql.protocol.syntax import Grammar
from sparql.store.address import address_in
from sparql.store.generations import Generations
from sparql.store.view import EngineView

Readable = pyoxigraph.Store | EngineView
Writer = TypeVar("Writer", QueryResultsFormat, RdfFormat)


def answer(settings: Settings, text: str, form: str | None) -> Iterator[bytes]:
    """
    The result in a format (`tsv`, `json`, `ttl`, ...), by default a TSV table or Turtle.

    Raises:
        RequestError: It is no SPARQL query, or the format does not fit it.
        ForbiddenError: It asks another server.
        StoreError: There is no generation yet.
    """
    lease = Generations(settings.layout.store).hold_current()
    if lease is None:
        raise StoreError(f"nothing is harvested yet in {settings.data_dir}; `harvest run` does it")
    with lease:
        refuse_nesting(text)
        refuse_length(text)
        yield deep(partial(_answered, settings, lease.generation.path, text, form))


def _answered(settings: Settings, generation: Path, text: str, form: str | None) -> bytes:
    grammar = Grammar(settings.base_url)
    grammar.refuse_service(text)
    # The union would stand above a FROM clause.
    union = settings.query.union_default_graph and not grammar.names_dataset(text)
    address = address_in(generation)
    store = pyoxigraph.Store.read_only(str(generation)) if address is None else EngineView(address)
    return _written(store, settings, union, text, form)


def _written(store: Readable, settings: Settings, union: bool, text: str, form: str | None) -> bytes:
    query = settings.query
    listed = listed_graphs(store, settings.own_graphs, query.listed_graphs) if union else None
    try:
        if listed is not None:
            found = store.query(text, base_iri=settings.base_url, default_graph=listed)
        else:
            found = store.query(text, base_iri=settings.base_url, use_default_graph_as_union=union)
    except SyntaxError as error:
        raise RequestError(f"this is no SPARQL query: {error.msg}") from error
    choice = choose("text/tab-separated-values, text/turtle", form)
    out = BytesIO()
    if isinstance(found, (pyoxigraph.QuerySolutions, pyoxigraph.QueryBoolean)):
        found.serialize(out, format=_fitting(choice.solutions, QueryResultsFormat, form))
    else:
        pyoxigraph.serialize(found, out, _fitting(choice.graph, RdfFormat, form))
    return out.getvalue()


def _fitting(chosen: ResultFormat | None, kind: type[Writer], form: str | None) -> Writer:
    if chosen is None or not isinstance(chosen.writer, kind):
        raise RequestError(f"this result cannot be written as {form}")
    return chosen.writer
