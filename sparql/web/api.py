"""The API page, and the OpenAPI document that it is made from."""

from __future__ import annotations

from flask import Blueprint, Response

from sparql.web import openapi
from sparql.web.documents import clean_of
from sparql.web.site import context, json_data, page

api = Blueprint("api", __name__)


@api.get("/openapi.json")
def described() -> Response:
    """The HTTP interface as OpenAPI."""
    site = context().site
    return json_data(openapi.document(site.base_url, site.title))


@api.get("/api")
def overview() -> Response:
    """The same for people."""
    return page(
        "api.html",
        info=openapi.source()["info"],
        groups=openapi.groups(context().site.base_url, _examples()),
        schemas=openapi.schemas(),
        kind=openapi.kind,
        named=openapi.named,
    )


def _examples() -> dict[str, str]:
    """Of what this instance has, so that the lines of the page give something."""
    catalog = context().catalog
    found: dict[str, object] = {}
    provider = next((each for each in catalog.providers() if each.version), None)
    if provider is not None:
        run, graph = provider.last_run, provider.graph
        found = {"name": provider.name, "n": provider.version, "graph": graph, "iri": graph}
        if run is not None:
            found |= {"id": run.id, "sha256": next((dump.sha256 for dump in run.dumps), None)}
    seeds = catalog.documents(None, 1).seeds
    found["hash"] = next((_clean(seed.download) or seed.hash for seed in seeds if seed.download), None)
    return {name: str(value) for name, value in found.items() if value}


def _clean(download: str) -> str | None:
    """The hash of the clean document that a download gave itself, or None."""
    return clean_of(context().catalog.document(download, 1))
