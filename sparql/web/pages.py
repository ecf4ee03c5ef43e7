"""The pages, and the same as data: dashboard, providers, the query page, state."""

from __future__ import annotations

from typing import Final

import pyoxigraph
from flask import Blueprint, Response, abort, make_response, redirect, render_template, request
from pyoxigraph import RdfFormat
from werkzeug.wrappers import Response as AnyResponse

from sparql.query.description import PREFIXES, Graph, describe
from sparql.query.results import GRAPHS, SOLUTIONS, prefer, quality
from sparql.web.catalog import Record
from sparql.web.site import HTML, JSON, TURTLE, context, data, found, json_data, preferred

pages = Blueprint("pages", __name__)

EXAMPLE: Final = """\
SELECT ?class (COUNT(*) AS ?entities)
WHERE { ?entity a ?class }
GROUP BY ?class
ORDER BY DESC(?entities)
LIMIT 100
"""


@pages.get("/")
def dashboard() -> str:
    """The state of all providers at a glance."""
    providers = context().catalog.providers()
    troubled = [provider for provider in providers if provider["state"] in ("failing", "held")]
    runs = [provider["last_run"]["started"] for provider in providers if provider.get("last_run")]
    return render_template(
        "dashboard.html",
        providers=providers,
        troubled=troubled,
        triples=sum(provider.get("triples") or 0 for provider in providers),
        latest=max(runs, default=None),
    )


@pages.get("/providers/")
def providers() -> Response | str:
    """All providers."""
    listed = context().catalog.providers()
    return json_data(listed) if preferred(JSON, HTML) == JSON else _page("providers.html", providers=listed)


@pages.get("/providers.json")
def providers_json() -> Response:
    """All providers as JSON."""
    return json_data(context().catalog.providers())


@pages.get("/providers/<name:name>")
def provider(name: str) -> AnyResponse | str:
    """One provider."""
    wanted = preferred(JSON, HTML, TURTLE)
    if wanted == JSON:
        return provider_json(name)
    if wanted == TURTLE:
        return provider_turtle(name)
    catalog = context().catalog
    record = found(catalog.provider(name), name)
    versions = list(reversed(catalog.versions(name)))
    return _page("provider.html", provider=record, versions=versions, runs=catalog.runs(name))


@pages.get("/providers/<name:name>/")
def provider_slash(name: str) -> AnyResponse:
    """The address without the slash."""
    return redirect(f"/providers/{name}", code=308)


@pages.get("/providers/<name:name>.json")
def provider_json(name: str) -> Response:
    """One provider as JSON."""
    return json_data(found(context().catalog.provider(name), name))


@pages.get("/providers/<name:name>/statistics.json")
def statistics(name: str) -> Response:
    """What a provider's graph is made of, in numbers."""
    catalog = context().catalog
    found(catalog.provider(name), name)
    figures = catalog.statistics(name)
    if figures is None:
        abort(404, f"There are no statistics of {name} yet; they come with its next version or the next export.")
    return json_data(figures)


@pages.get("/providers/<name:name>.ttl")
def provider_turtle(name: str) -> Response:
    """The receipt of one provider."""
    receipt = context().catalog.receipt(name)
    if receipt is None:
        abort(404, f"There is no receipt for {name!r}: it is no provider here, or was never harvested.")
    return data(receipt, f"{TURTLE}; charset=utf-8")


@pages.get("/sparql")
def sparql() -> Response | str:
    """The query page for people, the description of the endpoint for programs."""
    accept = request.headers.get("Accept")
    form = prefer(accept, GRAPHS)
    if form is None or quality(HTML, accept) > quality(form.media_type, accept):
        return _page(
            "sparql.html",
            query=request.args.get("query", EXAMPLE),
            graphs=_graphs(),
            solutions=SOLUTIONS,
            results=GRAPHS,
        )
    here = context()
    graphs = [
        Graph(graph["graph"], graph["triples"] or 0, here.catalog.statistics(graph["name"])) for graph in _graphs()
    ]
    triples = describe(f"{here.site.base_url}/sparql", graphs, here.limits.union_default_graph)
    assert isinstance(form.writer, RdfFormat)
    described = pyoxigraph.serialize(triples, format=form.writer, prefixes=PREFIXES)
    return data(described or b"", form.content_type)


@pages.get("/status")
def status() -> Response:
    """The state of the instance as JSON."""
    return json_data({**context().catalog.status(), "generation": context().served()})


@pages.get("/healthz")
def health() -> Response:
    """Whether queries can be answered."""
    generation = context().served()
    if generation == 0:
        body: Record = {"generation": None, "reason": "no query worker has a generation of the store open"}
    else:
        body = {"generation": generation}
    response = json_data(body)
    response.headers["Cache-Control"] = "no-store"
    response.status_code = 200 if generation else 503
    return response


def _graphs() -> list[Record]:
    """The providers that have a graph."""
    return [provider for provider in context().catalog.providers() if provider.get("version")]


def _page(template: str, **values: object) -> Response:
    response = make_response(render_template(template, **values))
    response.vary.add("Accept")
    return response
