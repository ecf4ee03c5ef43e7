"""
`/entity`: any IRI in the store, as a page or as data, and the way there from IRIs of the instance's own.

Source: "Cool URIs for the Semantic Web", section 4.2 (303 URIs).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NoReturn
from urllib.parse import parse_qsl, urlencode

from flask import Blueprint, Response, abort, request
from pyoxigraph import NamedNode
from werkzeug.exceptions import default_exceptions

from sparql.errors import ClientGone, MethodRefused, SparqlError
from sparql.protocol.request import QueryRequest
from sparql.protocol.results import GRAPHS, Choice, ResultFormat, prefer, quality
from sparql.reports import ProviderReport, SeedPage, SeedReport, VersionReport
from sparql.web.catalog import Catalog, Site
from sparql.web.client import Message, Receive, Send, WebClient, encode, header
from sparql.web.endpoint import Endpoint
from sparql.web.entity import LINKS, STATEMENTS, description, known, labels, languages, look
from sparql.web.gateway import Gateway
from sparql.web.graphs import METHODS, READABLE, Graphs, iri_at
from sparql.web.headers import OPEN
from sparql.web.opening import opening_query
from sparql.web.questions import Budget, Questions, is_true
from sparql.web.refusal import RETRY_S, refuse
from sparql.web.site import HTML, Context, context, is_page, page, page_number
from sparql.web.terms import address, outside, shorten, valid

PATH: Final = "/entity"
LAST_PAGE: Final = 100_000
SEEDS: Final = 10
"""Graphs of one page whose seeds are looked up."""

entities = Blueprint("entities", __name__)

_SEED: Final = re.compile(r"/seed-([0-9a-f]{32})")


@entities.get(PATH)
def entity() -> Response:
    """What is known of an IRI; without one, a form to look one up. As data it is answered by `Entities`."""
    text = request.args.get("iri", "").strip()
    shown_page, links_page = page_number("page", LAST_PAGE), page_number("links", LAST_PAGE)
    _check_format(request.args.get("format"))
    if not text and "iri" not in request.args:
        return _shown("lookup.html")
    iri = valid(text)
    if iri is None:
        abort(400, f"{text[:200]!r} is not an absolute IRI; it should look like http://example.org/thing.")
    here = context()
    tags = languages(request.accept_languages.values())
    try:
        store = Budget(here.ask, here.limits.timeout_s)
        found = look(iri, shown_page, links_page, store)
        named = labels(found.iris(), tags, store)
    except SparqlError as error:
        refused(error)
    if not found.known and shown_page == links_page == 1:
        abort(404, f"No statement here has <{iri.value}>: not as subject, predicate or object, nor as a graph.")
    known_sources = sources(here.catalog, (*found.graphs, found.iri))
    return _shown(
        "entity.html",
        entity=found,
        query=_query(here, found.iri, known_sources) if found.is_graph else "",
        labels=named,
        page=shown_page,
        links_page=links_page,
        sources=known_sources,
        statements_a_page=STATEMENTS,
        links_a_page=LINKS,
    )


@dataclass(frozen=True, slots=True)
class GraphOwner:
    """
    Whose graph it is: a provider's or a seed's.

    Attributes:
        provider: Or None.
        latest: Its newest version, or None.
        seed: Or None.
    """

    provider: ProviderReport | None = None
    latest: VersionReport | None = None
    seed: SeedReport | None = None


def _query(here: Context, graph: str, known: dict[str, GraphOwner]) -> str:
    """What to begin with in a graph."""
    provider = known.get(graph, GraphOwner()).provider
    return opening_query(graph, here.catalog.statistics(provider.name) if provider else None, here.ask)


def sources(catalog: Catalog, graphs: Iterable[str]) -> dict[str, GraphOwner]:
    """Whose graphs they are; those of nobody that is known are left out."""
    wanted = set(graphs)
    found = {
        provider.graph: GraphOwner(provider, next(iter(reversed(catalog.versions(provider.name))), None))
        for provider in catalog.providers()
        if provider.graph in wanted
    }
    seeds = ((graph, _SEED.search(graph)) for graph in sorted(wanted - found.keys()))
    for graph, name in itertools.islice((pair for pair in seeds if pair[1]), SEEDS):
        seed = catalog.document(name[1], 1) if name else None
        if isinstance(seed, SeedPage):
            found[graph] = GraphOwner(seed=seed.seed)
    return found


def refused(error: SparqlError) -> NoReturn:
    """Answer that a query of the page failed, and why."""
    status = error.status if error.status in default_exceptions else 500
    if error.retriable:
        abort(status, error.message, retry_after=RETRY_S)
    abort(status, error.message)


def _check_format(name: str | None) -> None:
    if name and name != "html" and _format(name, None) is None:
        abort(400, f"There is no format {name[:40]!r}; take html, ttl, nt, rdf, jsonld, nq, trig or n3.")


def _shown(template: str, **values: object) -> Response:
    response = page(template, address=address, outside=outside, shorten=shorten, **values)
    response.vary.add("Accept-Language")
    return response


class Entities:
    """Answers who wants data about an IRI, and who opens one below the graphs; `covers` says which requests."""

    def __init__(self, endpoint: Endpoint, questions: Questions, pages: Gateway, graphs: Graphs, site: Site) -> None:
        self._endpoint = endpoint
        self._questions = questions
        self._pages = pages
        self._graphs = graphs
        self._site = site

    def start(self) -> None:
        """Begin to answer; to be called on the event loop."""
        self._questions.start()

    def covers(self, path: str) -> bool:
        """Whether a path is that of the page, or of a thing below a graph: graphs have names without slashes."""
        if path == PATH:
            return True
        below = path.removeprefix(self._site.graph_base.removeprefix(self._site.base_url))
        return self._graphs.covers(path) and below != path and "/" in below.rstrip("/")

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["path"] == PATH:
            await self._describe(scope, receive, send)
            return
        client = WebClient(receive, send)
        if scope["method"] == "OPTIONS":
            await client.reply(204, READABLE, b"")
        elif scope["method"] in METHODS:
            await self._lead(scope, client)
        else:
            error = MethodRefused(f"{scope['method']} is refused: what stands here is harvested, and read by GET.")
            await refuse(error, METHODS, scope, client)

    async def _lead(self, scope: Message, client: WebClient) -> None:
        iri = iri_at(self._site, scope["path"])
        headers = [("Location", f"{PATH}?{urlencode({'iri': iri})}"), ("Content-Length", "0"), *OPEN]
        await client.reply(303, encode(headers), b"")

    async def _describe(self, scope: Message, receive: Receive, send: Send) -> None:
        """Send data; all that has no data goes to the pages, which say so."""
        wanted = _wanted(scope)
        if wanted is None:
            await self._pages(scope, receive, send)
            return
        iri, form = wanted
        client = WebClient(receive, send)
        try:
            if is_true(await self._questions.answer(known(iri))):
                asked = QueryRequest(description(iri), Choice(None, form), head=scope["method"] == "HEAD")
                await self._endpoint.answer(asked, scope, client)
            else:
                await self._pages(scope, receive, send)
        except ClientGone:
            return
        except SparqlError as error:
            await refuse(error, METHODS, scope, client)
        finally:
            client.unwatch()


def _wanted(scope: Message) -> tuple[NamedNode, ResultFormat] | None:
    """The IRI and the format, if data are wanted of a valid IRI."""
    if scope["method"] not in ("GET", "HEAD"):
        return None
    pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True, errors="replace")
    parameters = dict(reversed(pairs))  # the first of several, as the page has it
    if not all(is_page(parameters.get(name, "1"), LAST_PAGE) for name in ("page", "links")):
        return None
    iri = valid(parameters.get("iri", "").strip())
    form = _format(parameters.get("format"), header(scope, b"accept"))
    return None if iri is None or form is None else (iri, form)


def _format(name: str | None, accept: str | None) -> ResultFormat | None:
    """The format of data that a request asks for, or None for a page."""
    if name:
        return next((form for form in GRAPHS if name in (*form.names, form.media_type)), None)
    form = prefer(accept, GRAPHS)
    return None if form is None or quality(HTML, accept) > quality(form.media_type, accept) else form
