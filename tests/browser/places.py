"""The pages that the browser tests visit, and which route each belongs to."""

from __future__ import annotations

from typing import Any, Final, cast
from urllib.parse import quote

import requests
from werkzeug.routing import Map

from sparql.web.app import create_pages
from sparql.web.catalog import Catalog, Site
from sparql.web.site import Context
from sparql.worker.limits import QueryLimits
from tests.browser.instance import HARVESTED, SHIP

QUERY: Final = "SELECT ?ship ?name ?built WHERE { ?ship a <http://fleet.example/terms#Ship> ; "
ASKED: Final = quote(
    QUERY
    + "<http://www.w3.org/2000/01/rdf-schema#label> ?name ; <http://fleet.example/terms#built> ?built } ORDER BY ?built"
)

PAGES: Final = {
    "dashboard": "/",
    "providers": "/providers/",
    "provider": "/providers/fleet",
    "provider held": "/providers/tides",
    "provider failing": "/providers/cruises",
    "provider never harvested": "/providers/buoys",
    "provider disabled": "/providers/moored",
    "version": "/providers/fleet/versions/5",
    "first version": "/providers/fleet/versions/1",
    "run": "/providers/fleet/runs/{run}",
    "run held": "/providers/tides/runs/{run_held}",
    "run failed": "/providers/cruises/runs/{run_failed}",
    "run going on": "/providers/floats/runs/{run_on}",
    "query": "/sparql",
    "query given": f"/sparql?query={ASKED}",
    "look-up": "/entity",
    "entity": f"/entity?iri={quote(SHIP)}",
    "entity predicate": f"/entity?iri={quote('http://fleet.example/terms#homePort', safe='')}",
    "graph": "/entity?iri={graph}fleet",
    "documents": "/documents/",
    "documents of a state": "/documents/?state=parsed",
    "seed": "/documents/{seed}",
    "seed archive": "/documents/{archive}",
    "seed missing": "/documents/{missing}",
    "seed relative": "/documents/{relative}",
    "download": "/documents/{download}",
    "clean document": "/documents/{clean}",
    "exports": "/exports/",
    "api": "/api",
    "not found": "/nowhere",
    "not an IRI": "/entity?iri=ship",
}
"""By name; what stands in braces differs from instance to instance."""

ERRORS: Final = {"not found": 404, "not an IRI": 400}
"""The pages that are answers to a mistake."""

KINDS: Final = (
    "dashboard",
    "providers",
    "provider failing",
    "version",
    "run going on",
    "query given",
    "look-up",
    "entity",
    "documents",
    "seed",
    "exports",
    "api",
    "not found",
)
"""A page of each kind."""

EXAMPLES: Final = {
    "name": "fleet",
    "n": "2",
    "id": "{run}",
    "file": "fleet.nq.gz",
    "hash": "{clean}",
    "sha256": "{sha256}",
    "filename": "style.css",
    "document": "changelist.xml",
    "number": "0",
    "part": "2",
    "page": "1",
}
"""A value for each variable of a route."""

OF_RULES: Final = {"/resourcesync/<document>": {"document": "sourceDescription.xml"}}
"""Other values, by the rule of a route."""


def routes() -> Map:
    """The routes of the front, as Flask has them."""
    unused = cast(Catalog, None)  # no page is asked for
    return create_pages(Context(unused, Site("http://localhost"), QueryLimits(), lambda: 0)).url_map


def found(base: str) -> dict[str, str]:
    """What stands for the braces at an instance."""
    seeds = {seed["uri"].rpartition("/")[2]: seed for seed in _read(base, "/documents.json")["seeds"]}
    download = _read(base, f"/documents/{seeds['sizes.nt']['hash']}.json")["downloads"][0]["hash"]
    record = _read(base, f"/documents/{download}.json")
    runs = {name: _read(base, f"/providers/{name}.json")["last_run"] for name in (*HARVESTED, "floats")}
    return {
        "graph": quote(f"{base}/graph/", safe=""),
        "seed": next(s["hash"] for s in seeds.values() if s["status"] == "parsed" and s["uri"].endswith("/sizes.nt")),
        "archive": seeds["all.zip"]["hash"],
        "missing": seeds["missing.ttl"]["hash"],
        "relative": next(s["hash"] for s in seeds.values() if s["relative"]),
        "download": download,
        "clean": record["clean"],
        "sha256": runs["fleet"]["dumps"][0]["sha256"],
        "run": str(runs["fleet"]["id"]),
        "run_held": str(runs["tides"]["id"]),
        "run_failed": str(runs["cruises"]["id"]),
        "run_on": str(runs["floats"]["id"]),
    }


def _read(base: str, path: str) -> Any:
    answer = requests.get(base + path, headers={"Accept": "application/json"}, timeout=240)
    answer.raise_for_status()
    return answer.json()
