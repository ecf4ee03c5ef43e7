"""The front: queries by the endpoint, everything else by Flask."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from flask import Flask, Response, json, render_template, request
from werkzeug.exceptions import HTTPException, MethodNotAllowed, NotFound, ServiceUnavailable
from werkzeug.routing import BaseConverter, IntegerConverter

from sparql.cache.cache import Cache
from sparql.cache.edition import Editions
from sparql.cache.recall import Recall
from sparql.errors import DamagedData
from sparql.protocol.results import quality
from sparql.query.federation import Pools
from sparql.reports import iso
from sparql.web.address import Addresses
from sparql.web.api import api
from sparql.web.asking import asking
from sparql.web.catalog import Catalog, Site
from sparql.web.client import Message, Receive, Send
from sparql.web.connections import Connections, most
from sparql.web.documents import Hash, documents
from sparql.web.downloads import downloads
from sparql.web.endpoint import PATH, Endpoint
from sparql.web.entities import Entities, entities
from sparql.web.figures import ago, counted, day, duration, first_sentence, moment, number, prose, size
from sparql.web.following import following
from sparql.web.gateway import Gateway
from sparql.web.graphs import Graphs
from sparql.web.headers import OPEN, PAGE, PREFLIGHT
from sparql.web.latest import latest
from sparql.web.ldes import ldes
from sparql.web.pages import pages
from sparql.web.questions import Questions
from sparql.web.resourcesync import resourcesync
from sparql.web.runs import runs, step_name
from sparql.web.site import HTML, JSON, Context, put_context
from sparql.web.updating import Updating
from sparql.web.versions import versions
from sparql.worker.limits import QueryLimits

__all__ = ["Application", "QueryLimits", "create_app"]

THREADS: Final = 16
"""Pages and chunks of downloads that are made at once."""


class Name(BaseConverter):
    """A provider's name, as the registry allows it."""

    regex = "[a-zA-Z0-9]{1,100}"


class Number(IntegerConverter):
    """The number of a version or run; in ASCII, and of no more digits than a file name may have."""

    regex = "[0-9]{1,9}"


class Routes:
    """Has each request answered by what its address belongs to."""

    def __init__(self, endpoint: Endpoint, graphs: Graphs, entities: Entities, pages: Gateway) -> None:
        self._endpoint = endpoint
        self._graphs = graphs
        self._entities = entities
        self._pages = pages

    def start(self) -> None:
        """Begin what goes on beside requests; to be called on the event loop."""
        self._entities.start()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["path"] == PATH:
            await self._endpoint(scope, receive, send)
        elif self._entities.covers(scope["path"]):
            await self._entities(scope, receive, send)
        elif self._graphs.covers(scope["path"]):
            await self._graphs(scope, receive, send)
        else:
            await self._pages(scope, receive, send)


class Application:
    """The whole front as an ASGI application; its query workers live from start-up to shut-down."""

    def __init__(self, pool: Pools, routes: Routes, connections: Connections) -> None:
        self._pool = pool
        self._routes = routes
        self._connections = connections
        self._busy = connections.busy

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request, or start up and shut down."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        peer = scope["client"]
        self._busy.add(peer)
        try:
            await self._routes(scope, receive, send)
        finally:
            self._busy.discard(peer)

    async def _live(self, receive: Receive, send: Send) -> None:
        """Source: ASGI 3.0, "Lifespan Protocol"."""
        while (message := await receive())["type"] == "lifespan.startup":
            self._pool.start()
            self._routes.start()
            self._connections.start()
            await send({"type": f"{message['type']}.complete"})
        self._connections.stop()
        await self._pool.close()
        await send({"type": f"{message['type']}.complete"})


def create_app(
    catalog: Catalog, generations_root: Path, limits: QueryLimits, site: Site, cache: Path | None = None
) -> Application:
    """
    The front of an instance, to be run by an ASGI server with lifespan events, in one process.

    Args:
        catalog: What the pages say.
        generations_root: Folder with `current` and `generations/`.
        limits: What one query may use.
        site: Name and address of the instance.
        cache: Folder of its own for remembered results, or None to remember none.
    """
    pool = Pools(generations_root, limits, f"{site.base_url}{PATH}")
    editions = Editions(generations_root)
    kept = Cache(cache, limits.cache_bytes) if cache is not None and limits.cache_bytes else None
    recall = Recall(pool, limits, editions, kept)
    questions = Questions(recall, limits, THREADS // 2)
    flask = create_pages(Context(catalog, site, limits, pool.served, questions.ask))
    gateway = Gateway(flask, THREADS)
    addresses = Addresses(site.proxies)
    updating = Updating(site.operator, site.origin)
    endpoint = Endpoint(recall, editions, gateway, addresses, updating)
    taken = (rule.rule.split("/")[1] for rule in flask.url_map.iter_rules())
    graphs = Graphs(endpoint, updating, site, taken)
    routes = Routes(endpoint, graphs, Entities(endpoint, questions, gateway, graphs, site), gateway)
    return Application(pool, routes, Connections(addresses, most()))


def create_pages(context: Context) -> Flask:
    """All but the answers to queries, as a Flask application."""
    app = Flask("sparql.web", static_url_path="/static")
    app.url_map.converters["name"] = Name
    app.url_map.converters["hash"] = Hash
    app.url_map.converters["int"] = Number
    put_context(app.extensions, context)
    app.jinja_env.globals.update(site=context.site, limits=context.limits)
    app.jinja_env.filters.update(number=number, size=size, iso=iso, day=day, moment=moment, prose=prose)
    app.jinja_env.filters.update(
        ago=ago, counted=counted, duration=duration, first_sentence=first_sentence, step_name=step_name
    )
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    app.register_blueprint(pages)
    app.register_blueprint(runs)
    app.register_blueprint(asking)
    app.register_blueprint(downloads)
    app.register_blueprint(documents)
    app.register_blueprint(entities)
    app.register_blueprint(versions)
    app.register_blueprint(resourcesync)
    app.register_blueprint(ldes)
    app.register_blueprint(latest)
    app.register_blueprint(following)
    app.register_blueprint(api)
    app.register_error_handler(HTTPException, refuse)
    app.register_error_handler(DamagedData, lambda error: refuse(ServiceUnavailable(error.message)))
    app.after_request(add_headers)
    return app


def refuse(error: HTTPException) -> Response:
    """Say what is wrong, as the client likes it best: a page, JSON or text."""
    status, reason = error.code or 500, error.description or error.name
    if isinstance(error, NotFound) and reason == NotFound.description:
        reason = f"There is nothing at {request.path[:200]}. Start at /, /providers/, /sparql or /exports/."
    own = [(name, value) for name, value in error.get_headers() if name in ("Content-Range", "Retry-After", "Link")]
    accept = request.headers.get("Accept")
    if quality(HTML, accept) > max(quality(JSON, accept), quality("text/plain", accept)):
        response = Response(render_template("error.html", status=status, name=error.name, reason=reason), status)
    elif "json" in (accept or ""):
        answer = {
            "error": error.name,
            "message": reason,
            "status": status,
            "retriable": any(name == "Retry-After" for name, _ in own),
        }
        response = Response(json.dumps(answer), status, content_type=JSON)
    else:
        response = Response(f"{reason}\n", status, content_type="text/plain; charset=utf-8")
    response.vary.add("Accept")
    response.headers["Cache-Control"] = "no-store"
    response.headers.extend(own)
    if isinstance(error, MethodNotAllowed) and error.valid_methods:
        response.allow.update(error.valid_methods)
    return response


def add_headers(response: Response) -> Response:
    """Protect pages, open data to all sites; lead nobody elsewhere, whatever host the request names."""
    if response.location:
        response.location = response.location.removeprefix(request.host_url.rstrip("/"))
    if request.method == "OPTIONS" and response.allow:
        response.headers["Access-Control-Allow-Methods"] = response.headers["Allow"]
    shared = PAGE if response.mimetype == HTML else OPEN
    for name, value in (*shared, *(PREFLIGHT if request.method == "OPTIONS" else ())):
        response.headers.setdefault(name, value)
    return response
