"""
Updates at `/sparql`, and changes of a graph at its address: who may send them, and in what form.

Source: SPARQL 1.1 Protocol, section 2.2 (update operation); SPARQL 1.1 Graph Store HTTP Protocol,
section 5.5 (POST); RFC 6750, section 2.1 (bearer tokens).
"""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final

from werkzeug.http import parse_options_header

from sparql.errors import ForbiddenError, UnsupportedMedia
from sparql.protocol.request import NO_UPDATES, UpdateRequest
from sparql.rdf import NQUD
from sparql.web.catalog import Operator, Record
from sparql.web.client import Message, WebClient, encode, header
from sparql.web.headers import OPEN

THREADS: Final = 8
"""Updates that wait for their answers at once; they are carried out one after the other anyway."""

_VAGUE: Final = ("", "application/octet-stream", "text/plain", "application/gzip", "application/x-www-form-urlencoded")
"""Types that clients send for files that they know nothing of."""

_HEADERS: Final = encode([("Content-Type", "application/json"), ("Cache-Control", "no-store"), *OPEN])


class Updating:
    """Passes on the updates of an operator, and refuses all others."""

    def __init__(self, operator: Operator | None, origin: str = "") -> None:
        self._operator = operator
        self._origin = origin
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="update")

    async def answer(self, request: UpdateRequest, scope: Message, client: WebClient) -> None:
        """
        Carry out an update and send what became of it; it goes on if the client goes away.

        Raises:
            SparqlError: It is refused, or failed.
        """
        operator = self._authorised(scope)
        await self._reply(client, partial(operator.update, request.text()))

    async def change(self, graph: str, scope: Message, client: WebClient) -> None:
        """
        Apply the N-Quads unified diff in a request's body to a graph, and send what became of it.

        Raises:
            SparqlError: It is refused, is no such diff, does not fit, or failed.
        """
        operator = self._authorised(scope)
        _is_change(scope)
        await self._reply(client, partial(operator.change, graph, await client.body()))

    def _authorised(self, scope: Message) -> Operator:
        if self._origin:
            raise ForbiddenError(
                f"This instance is a read-only replica of {self._origin}: send updates to {self._origin}/sparql"
            )
        if self._operator is None:
            raise ForbiddenError(NO_UPDATES)
        _authorise(self._operator, header(scope, b"authorization"))
        return self._operator

    async def _reply(self, client: WebClient, write: Callable[[], Record]) -> None:
        """Send the record of what was written; 202 where it waits for approval."""
        record = await asyncio.get_running_loop().run_in_executor(self._threads, write)
        status = 202 if record.get("outcome") == "held" else 200
        body = json.dumps(record).encode() + b"\n"
        await client.reply(status, [*_HEADERS, (b"content-length", str(len(body)).encode())], body)


def _authorise(operator: Operator, header: str | None) -> None:
    """Return if the request bears the operator's token."""
    scheme, _, token = (header or "").strip().partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise ForbiddenError("Updates are for operators: send the operator token as `Authorization: Bearer TOKEN`.")
    if not hmac.compare_digest(token.strip().encode("latin-1"), operator.token.encode()):
        raise ForbiddenError("The token is not the operator token of this instance (setting query.operator_token).")


def _is_change(scope: Message) -> None:
    """Return if the body is an N-Quads unified diff, by its type or, where that says nothing, by its file's name."""
    media_type = (header(scope, b"content-type") or "").partition(";")[0].strip().lower()
    coding = (header(scope, b"content-encoding") or "identity").strip().lower()
    _, parameters = parse_options_header(header(scope, b"content-disposition"))
    name = parameters.get("filename", "").lower().removesuffix(".gz")
    if media_type != NQUD and not (media_type in _VAGUE and name.endswith(".nqud")):
        raise UnsupportedMedia(
            f"A body of type {media_type[:200]!r} is not applied to a graph; send an N-Quads unified diff as {NQUD}, "
            "or a SPARQL update to /sparql."
        )
    if coding not in ("identity", "gzip", "x-gzip"):
        raise UnsupportedMedia(f"The body is encoded as {coding[:40]!r}; send it plain or as gzip.")
