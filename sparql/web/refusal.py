"""Errors as answers, where Flask does not give them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from sparql.errors import MethodRefused, SparqlError
from sparql.web.client import Message, WebClient, encode, header
from sparql.web.headers import OPEN

RETRY_S: Final = 5

_OPEN: Final = encode([("Vary", "Accept"), *OPEN])


async def refuse(error: SparqlError, methods: Sequence[str], scope: Message, client: WebClient) -> None:
    """Say why there is no answer, as JSON to those who read JSON and as text to all others."""
    if "json" in (header(scope, b"accept") or ""):
        content_type = b"application/json"
        answer = {
            "error": type(error).__name__,
            "message": error.message,
            "status": error.status,
            "retriable": error.retriable,
        }
        body = json.dumps(answer).encode()
    else:
        content_type, body = b"text/plain; charset=utf-8", f"{error.message}\n".encode(errors="replace")
    headers = [
        (b"content-type", content_type),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        *_OPEN,
    ]
    if error.retriable:
        headers.append((b"retry-after", str(RETRY_S).encode()))
    if isinstance(error, MethodRefused):
        headers.append((b"allow", ", ".join(methods).encode()))
    await client.reply(error.status, headers, b"" if scope["method"] == "HEAD" else body)
