"""`harvest query`: a query over the current generation, in this process, without the limits of the endpoint."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO

import pyoxigraph

from harvest.settings import Settings
from sparql.errors import RequestError, StoreError
from sparql.query.results import choose
from sparql.query.syntax import Grammar
from sparql.store.generations import Generations


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
    Grammar(settings.base_url).refuse_service(text)
    with generations.hold(current):
        store = pyoxigraph.Store.read_only(str(current.path))
        yield _written(store, settings, text, form)


def _written(store: pyoxigraph.Store, settings: Settings, text: str, form: str | None) -> bytes:
    try:
        found = store.query(
            text, base_iri=settings.base_url, use_default_graph_as_union=settings.query.union_default_graph
        )
    except SyntaxError as error:
        raise RequestError(f"this is no SPARQL query: {error.msg}") from error
    choice = choose("text/tab-separated-values, text/turtle", form)
    graph = isinstance(found, pyoxigraph.QueryTriples)
    chosen = choice.graph if graph else choice.solutions
    if chosen is None:
        raise RequestError(f"a {'graph' if graph else 'table'} cannot be written as {form}")
    out = BytesIO()
    found.serialize(out, format=chosen.writer)
    return out.getvalue()
