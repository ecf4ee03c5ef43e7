"""Asking a server one query: what it answers, and how long that takes."""

from __future__ import annotations

import http.client
import json
import socket
import time
from collections import Counter
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from bench.errors import Disagreement

JSON = "application/sparql-results+json"
TSV = "text/tab-separated-values"
PATIENCE_S = 300.0

_BUFFER = 1 << 20
_END = b"0\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Reply:
    """
    A whole answer.

    Attributes:
        body: Without the framing of HTTP.
        cache: What the header X-Cache says; empty where it is missing.
    """

    body: bytes
    cache: str


@dataclass(frozen=True, slots=True)
class Times:
    """
    When an answer came.

    Attributes:
        first_s: Seconds until the first byte of the body.
        whole_s: Seconds until its last.
        length: Bytes, the framing of HTTP included.
    """

    first_s: float
    whole_s: float
    length: int


def path(url: str, query: str) -> str:
    """The path and query string that ask a query by GET; braces stay, as templates have them."""
    return f"{urlsplit(url).path}?query={quote(query, safe='{}')}"


def ask(url: str, query: str, accept: str = JSON) -> Reply:
    """
    The answer to a query.

    Raises:
        Disagreement: It is no success.
    """
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=PATIENCE_S)
    try:
        connection.request("GET", f"{parts.path}?query={quote(query)}", headers={"Accept": accept})
        response = connection.getresponse()
        body = response.read()
    except (OSError, http.client.HTTPException) as error:
        raise Disagreement(f"{url} broke off, {error!r}, for {query}") from error
    finally:
        connection.close()
    if response.status != 200:
        raise Disagreement(f"{url} answered {response.status} to {query}: {body[:300].decode(errors='replace')}")
    return Reply(body, response.getheader("X-Cache") or "")


def timed(url: str, query: str, accept: str = JSON) -> Times:
    """
    When the answer to a query came, over a connection of its own; what it says is thrown away.

    Raises:
        Disagreement: It is no success, or was broken off.
    """
    parts = urlsplit(url)
    head = f"GET {parts.path}?query={quote(query)} HTTP/1.1\r\nHost: {parts.netloc}\r\nAccept: {accept}\r\n"
    try:
        with socket.create_connection((parts.hostname or "", parts.port or 80), PATIENCE_S) as connection:
            began = time.monotonic()
            connection.sendall(f"{head}Connection: close\r\n\r\n".encode())
            return _received(connection, began, query)
    except OSError as error:
        raise Disagreement(f"{url} broke off, {error!r}, for {query}") from error


def _received(connection: socket.socket, began: float, query: str) -> Times:
    buffer = bytearray(_BUFFER)
    start, tail, first, length = b"", b"", 0.0, 0
    while size := connection.recv_into(buffer):
        length += size
        if not first:
            start += buffer[:size]
            if len(start.partition(b"\r\n\r\n")[2]) > 0:
                first = time.monotonic() - began
        tail = (tail + buffer[max(size - len(_END), 0) : size])[-len(_END) :]
    whole = time.monotonic() - began
    if not start.startswith(b"HTTP/1.1 200 "):
        raise Disagreement(f"{start[:300].decode(errors='replace')} was the answer to {query}")
    if b"transfer-encoding: chunked" in start.partition(b"\r\n\r\n")[0].lower() and tail != _END:
        raise Disagreement(f"the answer to {query} was broken off after {length} bytes")
    return Times(first, whole, length)


def rows(reply: Reply) -> Counter[str]:
    """The rows of a JSON result, in no order; or its truth value, for ASK."""
    found = json.loads(reply.body)
    if "boolean" in found:
        return Counter([str(found["boolean"])])
    return Counter(json.dumps(row, sort_keys=True) for row in found["results"]["bindings"])


def agree(ours: str, theirs: str, query: str) -> int:
    """
    How many rows both servers give for a query.

    Raises:
        Disagreement: They give different ones.
    """
    here, there = rows(ask(ours, query)), rows(ask(theirs, query))
    if here != there:
        raise Disagreement(f"{here.total()} rows of ours, {there.total()} of the peer, not the same, for {query}")
    return here.total()
