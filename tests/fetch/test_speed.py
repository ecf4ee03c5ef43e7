"""A tick over a thousand unchanged providers is quick, and a large body is not held in memory."""

from __future__ import annotations

import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from time import process_time

from harvest.model import Validators
from tests.fetch.conftest import Bench
from tests.fetch.server import Request, reply

MIB = 1 << 20


def test_a_thousand_unchanged_descriptions_take_less_than_three_seconds(bench: Bench) -> None:
    """
    32 threads, and the server in the same process; DESIGN gives the whole tick five seconds.

    Processor time is measured, as nothing here waits for more than the other side.
    """
    server = bench.serve(reply(b"", "304 Not Modified", Content_Length=None))
    client = bench.client()
    validators = Validators('"v1"', "Sun, 01 Feb 2026 00:00:00 GMT")
    began = process_time()
    with ThreadPoolExecutor(32) as threads:
        urls = [server.url(f"/{number}/void.ttl") for number in range(1000)]
        fetched = list(threads.map(lambda url: client.get(url, validators, into=bench.into), urls))
    took = process_time() - began
    assert [f.capture.url for f in fetched if f.path is None and f.tries == 1] == urls
    assert bench.files() == []
    assert len({request.connection for request in server.requests}) <= 8
    assert took < 3, f"{took:.2f} s"


def test_a_large_body_is_never_in_memory(bench: Bench) -> None:
    """64 MiB come through a few pieces."""
    piece = bytes(MIB)

    def answer(request: Request) -> object:
        yield reply(Content_Length=64 * MIB)
        for _ in range(64):
            yield piece

    server, client = bench.serve(answer), bench.client()  # type: ignore[arg-type]  # a generator of steps
    tracemalloc.start()
    try:
        fetched = client.get(server.url(), into=bench.into)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert fetched.capture.length == 64 * MIB
    assert peak < 8 * MIB
