"""The pages, and the same as data: dashboard, providers, state."""

from __future__ import annotations

import json
import math
from typing import Any, Final

from flask import Blueprint, Response, abort, redirect, render_template
from werkzeug.wrappers import Response as AnyResponse

from sparql.reports import ProviderSummary, to_json
from sparql.web import plots
from sparql.web.catalog import Record
from sparql.web.listing import LONG_AGO, ProviderListing, listing
from sparql.web.opening import opening_query
from sparql.web.runs import took
from sparql.web.site import HTML, JSON, TURTLE, context, data, found, json_data, page, page_number, preferred

pages = Blueprint("pages", __name__)

RECENT: Final = 30
"""Versions that the small plots of lists show."""
TROUBLED: Final = 12
"""Providers in trouble that the dashboard shows, the latest; the list has all."""
VERSIONS: Final = 25
"""Versions of one page of a provider, and in its JSON."""
DATASETS: Final = 20
"""Datasets of the page of a provider, those first that need somebody."""
RUNS: Final = 15
"""Runs that the page of a provider lists."""


@pages.get("/")
def dashboard() -> str:
    """The state of all providers at a glance."""
    catalog = context().catalog
    providers = catalog.summaries()
    troubled = [provider for provider in providers if _is_troubled(provider)]
    troubled.sort(key=lambda provider: provider.tried or LONG_AGO, reverse=True)
    first = [provider.name for provider in troubled[:TROUBLED]]
    runs = [provider.last_run for provider in providers if provider.last_run]
    return render_template(
        "dashboard.html",
        **_list(providers),
        troubled=len(troubled),
        urgent=sorted(catalog.several(first), key=lambda provider: first.index(provider.name)),
        queue=catalog.queue(),
        triples=sum(provider.triples for provider in providers),
        latest=max((run.ended or run.started for run in runs), default=None),
    )


def _is_troubled(provider: ProviderSummary) -> bool:
    """Whether somebody should look at it; one that is tried again just now is in trouble until that went well."""
    if provider.state == "harvesting":
        return provider.tried is not None
    return provider.state in ("failing", "held")


def _list(providers: list[ProviderSummary]) -> dict[str, Any]:
    """What a table of providers needs."""
    listed: ProviderListing = listing(providers)
    sizes = context().catalog.sizes([provider.name for provider in listed.rows], RECENT)
    return {"listed": listed, "sizes": sizes, "plots": plots}


@pages.get("/providers/")
def providers() -> Response | str:
    """All providers."""
    if preferred(JSON, HTML) == JSON:
        return providers_json()
    return page("providers.html", **_list(context().catalog.summaries()))


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
    versions = catalog.versions(name)
    last = max(1, math.ceil(len(versions) / VERSIONS))
    at = page_number("page", last)
    newest = list(reversed(versions))
    return page(
        "provider.html",
        provider=record,
        versions=versions,
        shown=newest[(at - 1) * VERSIONS : at * VERSIONS],
        page=at,
        pages=last,
        runs=catalog.runs(name)[:RUNS],
        DATASETS=DATASETS,
        plots=plots,
        took=took,
        query=opening_query(record.graph, catalog.statistics(name), context().ask),
    )


@pages.get("/providers/<name:name>/")
def provider_slash(name: str) -> AnyResponse:
    """The address without the slash."""
    return redirect(f"/providers/{name}", code=308)


@pages.get("/providers/<name:name>.json")
def provider_json(name: str) -> Response:
    """One provider as JSON, with its latest versions and the address of all."""
    catalog = context().catalog
    record = found(catalog.provider(name), name)
    newest = catalog.versions(name)[: -VERSIONS - 1 : -1]
    return json_data(to_json(record) | {"versions": newest, "versions_url": f"/providers/{name}/versions.json"})


@pages.get("/providers/<name:name>/statistics.json")
def statistics(name: str) -> Response:
    """What a provider's graph is made of, in numbers."""
    catalog = context().catalog
    found(catalog.provider(name), name)
    figures = catalog.statistics(name)
    if figures is None:
        abort(404, f"There are no statistics of {name} yet; they come with its next version or the next export.")
    return json_data(to_json(figures))


@pages.get("/providers/<name:name>.ttl")
def provider_turtle(name: str) -> Response:
    """The receipt of one provider."""
    receipt = context().catalog.receipt(name)
    if receipt is None:
        abort(404, f"There is no receipt for {name!r}: it is no provider here, or was never harvested.")
    return data(receipt, f"{TURTLE}; charset=utf-8")


@pages.get("/providers/<name:name>/receipts/<hash:sha256>")
def dump_receipt(name: str, sha256: str) -> Response:
    """The receipt of one dump of a provider, by its SHA-256."""
    receipt = context().catalog.dump_receipt(name, sha256)
    if receipt is None:
        abort(404, f"No dump of {name!r} has this SHA-256, or its run was let go.")
    return data(receipt, f"{TURTLE}; charset=utf-8")


@pages.get("/status")
def status() -> Response:
    """The state of the instance as JSON."""
    return json_data(to_json(context().catalog.status()) | {"generation": context().served()})


@pages.get("/ingests.jsonl")
def ingests() -> Response:
    """What came of the landing pages of repositories, one object a line."""
    found = (json.dumps(to_json(each), ensure_ascii=False) + "\n" for each in context().catalog.ingests())
    return data("".join(found), "application/jsonl; charset=utf-8")


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
