"""
Updates at `/sparql`: who may send them, and in what form.

Source: SPARQL 1.1 Protocol, section 2.2 (update operation); RFC 6750, section 2.1 (bearer tokens).
"""

from __future__ import annotations

import asyncio
import hmac
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from sparql.errors import ForbiddenError
from sparql.protocol.request import NO_UPDATES, UpdateRequest
from sparql.web.catalog import Operator
from sparql.web.client import Message, WebClient, encode, header
from sparql.web.headers import OPEN

THREADS: Final = 8
"""Updates that wait for their answers at once; they are carried out one after the other anyway."""

_HEADERS: Final = encode([("Content-Type", "application/json"), ("Cache-Control", "no-store"), *OPEN])


class Updating:
    """Passes on the updates of an operator, and refuses all others."""

    def __init__(self, operator: Operator | None) -> None:
        self._operator = operator
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="update")

    async def answer(self, request: UpdateRequest, scope: Message, client: WebClient) -> None:
        """
        Carry out an update and send what became of it; it goes on if the client goes away.

        Raises:
            SparqlError: It is refused, or failed.
        """
        operator = self._operator
        if operator is None:
            raise ForbiddenError(NO_UPDATES)
        _authorise(operator, header(scope, b"authorization"))
        text = request.text()
        loop = asyncio.get_running_loop()
        record = await loop.run_in_executor(self._threads, operator.update, text)
        body = json.dumps(record).encode() + b"\n"
        await client.reply(200, [*_HEADERS, (b"content-length", str(len(body)).encode())], body)


def _authorise(operator: Operator, header: str | None) -> None:
    """Return if the request bears the operator's token."""
    scheme, _, token = (header or "").strip().partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise ForbiddenError("Updates are for operators: send the operator token as `Authorization: Bearer TOKEN`.")
    if not hmac.compare_digest(token.strip().encode("latin-1"), operator.token.encode()):
        raise ForbiddenError("The token is not the operator token of this instance (setting query.operator_token).")
