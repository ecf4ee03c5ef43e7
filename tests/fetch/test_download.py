"""Several dumps at once: all of them, or none."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from time import monotonic

import pytest

from harvest.errors import RefusedError, StatusError, TransferError
from harvest.fetch.download import ACCEPT, download_all
from harvest.model import Limits, Validators
from tests.fetch.conftest import Bench
from tests.fetch.server import WAIT_S, Request, Step, broken, reply


class Crowd:
    """Answers each request after all that are to be there at once have come, and counts them."""

    def __init__(self, size: int) -> None:
        self.most = 0
        self._here = 0
        self._size = size
        self._changed = threading.Condition()

    def answer(self, request: Request) -> list[Step]:
        with self._changed:
            self._here += 1
            self.most = max(self.most, self._here)
            self._changed.notify_all()
            # The last few never meet so many; they go after a moment.
            self._changed.wait_for(lambda: self._here >= self._size, 0.2)
            self._changed.wait(0.01)
            self._here -= 1
        return [reply(request.target.encode())]


def test_all_dumps_come_in_the_order_of_their_urls(bench: Bench) -> None:
    """Each request names the formats that are wanted, for dumps that negotiate."""
    server = bench.serve(lambda request: [reply(request.target.encode())])
    urls = [server.url(f"/{number}") for number in range(10)]
    fetched = download_all(bench.client(), urls, bench.into)
    assert [f.capture.url for f in fetched] == urls
    assert [f.path.read_bytes() for f in fetched if f.path] == [b"/%d" % number for number in range(10)]
    assert {request.headers["accept"] for request in server.requests} == {ACCEPT}
    assert ACCEPT.startswith("application/n-quads;q=0.90, application/n-triples;q=0.85")


def test_no_dumps_are_no_trouble(bench: Bench) -> None:
    """A caller need not look first."""
    assert download_all(bench.client(), [], bench.into) == []


def test_a_dump_that_is_there_already_may_be_unchanged(bench: Bench) -> None:
    """A dataset announced anew often has most of its dumps as before."""
    server = bench.serve(reply(b"", "304 Not Modified"))
    url = server.url()
    (fetched,) = download_all(bench.client(), [url], bench.into, known={url: Validators('"v1"')})
    assert (fetched.path, fetched.capture.status) == (None, 304)


def test_the_providers_limits_hold_for_each_dump(bench: Bench) -> None:
    """They are of one dump."""
    server = bench.serve(reply(bytes(11)))
    with pytest.raises(RefusedError, match="max_bytes of 10"):
        download_all(bench.client(), [server.url()], bench.into, Limits(max_bytes=10))


@pytest.mark.parametrize(("parallel", "per_host", "most"), [(8, 2, 2), (3, 8, 3), (1, 1, 1)])
def test_downloads_at_once_are_bounded(bench: Bench, parallel: int, per_host: int, most: int) -> None:
    """Over all threads that share the client, and to one host."""
    crowd = Crowd(most)
    server = bench.serve(crowd.answer)
    client = bench.client(parallel=parallel, per_host=per_host)
    urls = [server.url(f"/{number}") for number in range(6)]
    with ThreadPoolExecutor(2) as threads:
        for fetched in threads.map(lambda _: download_all(client, urls, bench.into), range(2)):
            assert len(fetched) == 6
    assert crowd.most == most


def test_hosts_do_not_wait_for_one_another(bench: Bench) -> None:
    """With two places a host, four downloads from two hosts run at once."""
    crowd = Crowd(4)
    server = bench.serve(crowd.answer)
    bench.names["other.example"] = ["127.0.0.1"]
    urls = [server.url(f"/{number}", host) for number in range(2) for host in ("127.0.0.1", "other.example")]
    download_all(bench.client(parallel=4, per_host=2), urls, bench.into)
    assert crowd.most == 4


def test_checks_do_not_wait_for_downloads(bench: Bench) -> None:
    """A tick must not stand still while a host's dumps come for hours."""
    started, go_on = threading.Event(), threading.Event()

    def answer(request: Request) -> list[Step]:
        if request.target == "/dump":
            started.set()
            go_on.wait(WAIT_S)
        return [reply()]

    server, client = bench.serve(answer), bench.client(parallel=1, per_host=1)
    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(download_all, client, [server.url("/dump")], bench.into)
        assert started.wait(WAIT_S)
        client.get(server.url("/void"), into=bench.into)
        assert not running.done()
        go_on.set()
        running.result(WAIT_S)


def test_the_first_failure_ends_the_others(bench: Bench) -> None:
    """One has landed, one hangs, one breaks off again and again, one waits: nothing of them stays."""
    landed, hanging = threading.Event(), threading.Event()

    def answer(request: Request) -> list[Step]:
        if request.target == "/missing":
            assert landed.wait(WAIT_S)
            assert hanging.wait(WAIT_S)
            return [reply(b"no", "404 Not Found")]
        if request.target == "/hangs":
            hanging.set()
            request.ended.wait(WAIT_S)
            return []
        if request.target == "/second":
            landed.set()
        return [reply(b"x" * 1000)]

    server = bench.serve(answer)
    urls = [server.url(path) for path in ("/hangs", "/missing", "/first", "/second", "/third")]
    began = monotonic()
    with pytest.raises(StatusError) as caught:
        download_all(bench.client(parallel=3, per_host=3, read_s=60), urls, bench.into)
    assert (caught.value.status, caught.value.url) == (404, server.url("/missing"))
    assert monotonic() - began < WAIT_S / 2
    assert bench.files() == []


def test_a_failure_ends_a_pause(bench: Bench) -> None:
    """A server that asked for minutes does not hold up the error of another."""
    paused = threading.Event()

    def nap(stop: threading.Event, seconds: float) -> object:
        paused.set()
        return stop.wait(WAIT_S)

    bench.nap = nap  # type: ignore[method-assign]  # one that can be ended

    def answer(request: Request) -> list[Step]:
        if request.target == "/busy":
            return [reply(b"", "503 X", Retry_After="20")]
        assert paused.wait(WAIT_S)
        return [reply(b"", "404 X")]

    server = bench.serve(answer)
    began = monotonic()
    with pytest.raises(StatusError) as caught:
        download_all(bench.client(), [server.url("/busy"), server.url("/gone")], bench.into)
    assert caught.value.status == 404
    assert monotonic() - began < WAIT_S / 2


def test_a_failure_that_could_pass_fails_all_after_its_tries(bench: Bench) -> None:
    """A dataset commits only if all its dumps landed."""
    whole = reply(b"x" * 1000)
    cut = broken(whole, 10)

    def answer(request: Request) -> object:
        return cut(request) if request.target == "/cut" else [whole]

    server = bench.serve(answer)  # type: ignore[arg-type]  # one of two kinds of answers
    with pytest.raises(TransferError, match="given up at try 3 of 3"):
        download_all(bench.client(retries=2), [server.url(path) for path in ("/a", "/cut", "/b")], bench.into)
    assert bench.files() == []


def test_a_client_goes_on_after_a_failed_dataset(bench: Bench) -> None:
    """Other providers use the same one."""
    server = bench.serve(reply(b"", "404 X"), reply(b"x"))
    client = bench.client()
    with pytest.raises(StatusError):
        download_all(client, [server.url()], bench.into)
    assert len(download_all(client, [server.url()], bench.into)) == 1


def test_a_closed_client_downloads_nothing(bench: Bench) -> None:
    """It may be closed between the tick and the download."""
    client = bench.client()
    client.close()
    with pytest.raises(TransferError, match="stopped"):
        download_all(client, [bench.serve(reply()).url()], bench.into)
