"""What a request with a short answer leaves behind in the front: nothing that has to be looked for."""

from __future__ import annotations

import asyncio
import gc
import time
import weakref
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlencode

import pytest

from sparql.cache.cache import Cache
from sparql.cache.edition import Editions
from sparql.cache.recall import Recall
from sparql.web.address import Addresses
from sparql.web.client import Message
from sparql.web.endpoint import PATH, Endpoint
from sparql.web.gateway import Gateway
from sparql.web.updating import Updating
from sparql.worker.limits import QueryLimits
from tests.query.stores import PublishedStore, items
from tests.query.test_pool import running


def no_page(environ: dict[str, Any], start: object) -> NoReturn:
    raise AssertionError("a page was asked for")


def request(query: str) -> Message:
    return {
        "type": "http",
        "method": "GET",
        "path": PATH,
        "query_string": urlencode({"query": query}).encode(),
        "headers": [(b"accept", b"application/sparql-results+json")],
        "client": ("127.0.0.1", 1),
        "http_version": "1.1",
    }


@pytest.mark.parametrize("query", ["ASK { ?s ?p ?o }", "SELECT * { ?s ?p ?o } LIMIT 3"])
def test_a_request_that_is_done_is_gone(tmp_path: Path, query: str) -> None:
    """What knows each other in a circle waits for the collector, which takes a share of the front's time."""
    published = PublishedStore(tmp_path / "store")
    published.add(items(20))
    left: list[weakref.ref[object]] = []

    async def ask(endpoint: Endpoint, query: str) -> int:
        """The status of the answer."""
        sent: list[Message] = []

        async def receive() -> Message:
            await asyncio.Event().wait()
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            sent.append(message)

        left.extend((weakref.ref(receive), weakref.ref(send)))
        await endpoint(request(query), receive, send)
        return int(sent[0]["status"])

    async def test() -> None:
        limits = QueryLimits(workers=1, spare=0, extra=0, timeout_s=60)
        async with running(published.root, limits) as pool:
            editions = Editions(published.root)
            recall = Recall(pool, limits, editions, Cache(tmp_path / "cache", 1 << 20))
            endpoint = Endpoint(recall, editions, Gateway(no_page, 1), Addresses([]), Updating(None))
            gc.disable()
            try:
                for number in range(5):
                    assert await ask(endpoint, f"{query} # {number}") == 200
                end_s = time.monotonic() + 240  # The loop and the cache let go of it.
                while any(one() is not None for one in left) and time.monotonic() < end_s:
                    await asyncio.sleep(0.05)
                assert [one for one in left if one() is not None] == []
            finally:
                gc.enable()

    asyncio.run(test())
