"""
Graphs at `/graphs` by name and at their own addresses: read by anybody, and changed by operators.

Source: SPARQL 1.1 Graph Store HTTP Protocol, sections 4 (indirect and direct identification) and 5.2 (GET), 5.5 (POST),
5.8 (HEAD).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final
from urllib.parse import quote, urlsplit

from sparql.errors import MethodRefused, NotAcceptable, RequestError, SparqlError
from sparql.protocol.request import QueryRequest, absolute, decode
from sparql.protocol.results import Choice, choose
from sparql.web.catalog import Site
from sparql.web.client import Message, Receive, Send, WebClient, encode, header
from sparql.web.endpoint import Endpoint
from sparql.web.headers import OPEN, PREFLIGHT
from sparql.web.refusal import refuse
from sparql.web.updating import Updating

PATH: Final = "/graphs"
METHODS: Final = ("GET", "HEAD", "OPTIONS")
DEFAULT: Final = "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }"
WRITTEN: Final = ("GET", "HEAD", "POST", "OPTIONS")
"""Methods of graphs; those of all else that is read stand in `METHODS`."""


def _allowed(methods: Sequence[str]) -> list[tuple[bytes, bytes]]:
    """The answer to OPTIONS; pages of other sites may read alone."""
    allow = {"Allow": ", ".join(methods), "Access-Control-Allow-Methods": ", ".join(METHODS)}
    return encode({**dict(OPEN), **dict(PREFLIGHT), **allow}.items())


READABLE: Final = _allowed(METHODS)
"""The answer to OPTIONS where things are read alone."""
_WRITABLE: Final = _allowed(WRITTEN)

_SAFE: Final = "/:@!$&'()*+,;=-._~"
"""What stands as it is in a path. Source: RFC 3986, section 3.3."""


class Graphs:
    """Answers who reads or changes a graph; `covers` says which requests those are."""

    def __init__(self, endpoint: Endpoint, updating: Updating, site: Site, taken: Iterable[str]) -> None:
        """
        Make the graphs of a site readable.

        Args:
            endpoint: What answers who reads.
            updating: What answers who changes.
            site: Its addresses.
            taken: The first steps of the paths that pages have; graphs below one of them are read at `/graphs` only.
        """
        self._endpoint = endpoint
        self._updating = updating
        self._site = site
        self._prefix = _prefix(site, set(taken))

    def covers(self, path: str) -> bool:
        """Whether a path is that of a graph, or of all of them."""
        return path == PATH or (self._prefix is not None and path.startswith(self._prefix) and path != self._prefix)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request."""
        client = WebClient(receive, send)
        try:
            if scope["method"] == "OPTIONS":
                await client.reply(204, _WRITABLE, b"")
                return
            if scope["method"] == "POST":
                await self._updating.change(self._changed(scope), scope, client)
                return
            await self._endpoint.answer(self._request(scope), scope, client)
        except SparqlError as error:
            await refuse(error, WRITTEN, scope, client)
        finally:
            client.unwatch()

    def _request(self, scope: Message) -> QueryRequest:
        if scope["method"] not in METHODS:
            raise MethodRefused(
                f"{scope['method']} is refused: graphs are read here, and changed by POST of an N-Quads unified diff."
            )
        parameters = decode(scope["query_string"].decode("latin-1"))
        form = next((value for key, value in parameters if key == "format" and value), None)
        formats = choose(header(scope, b"accept"), form)
        if formats.graph is None and form is not None:
            raise NotAcceptable(f"A graph is not written as {form[:40]!r}; take ttl, nt, rdf, jsonld, nq or trig.")
        name = self._name(scope, parameters)
        only_graph, head = Choice(None, formats.graph), scope["method"] == "HEAD"
        if name is None:
            return QueryRequest(DEFAULT, only_graph, head=head)
        return QueryRequest("", only_graph, graph_name=name, head=head)

    def _changed(self, scope: Message) -> str:
        """The graph that a request changes."""
        name = self._name(scope, decode(scope["query_string"].decode("latin-1")))
        if name is None:
            raise RequestError(f"The default graph is a union, and takes no changes: name one, {PATH}?graph=IRI.")
        return name

    def _name(self, scope: Message, parameters: list[tuple[str, str]]) -> str | None:
        """The graph that a request names; None for the default graph."""
        if scope["path"] != PATH:
            return absolute(iri_at(self._site, scope["path"]), "graph")
        names = [value for key, value in parameters if key == "graph"]
        default = any(key == "default" for key, _ in parameters)
        if len(names) + default != 1:
            raise RequestError(f"Name one graph: {PATH}?graph=IRI, or {PATH}?default for the default graph.")
        return absolute(names[0], "graph") if names else None


def iri_at(site: Site, path: str) -> str:
    """The IRI that is dereferenced at a path of the instance."""
    return site.base_url + quote(path, _SAFE)


def _prefix(site: Site, taken: set[str]) -> str | None:
    """What the paths of graphs begin with, or None when they are elsewhere, or the path is taken."""
    if not site.graph_base.startswith(f"{site.base_url}/") or not site.graph_base.endswith("/"):
        return None
    prefix = site.graph_base.removeprefix(site.base_url)
    first = prefix.split("/")[1]
    return None if not first or first in taken or urlsplit(site.base_url).path else prefix
