"""Connections that nobody uses keep nobody out."""

from __future__ import annotations

import http.client
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from sparql.web import connections
from sparql.web.address import Addresses
from sparql.web.connections import EACH, Connections
from tests.web.instance import Server

IDLE = 1_500
REQUEST = b"GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n"


@contextmanager
def listening(ends: int, source: str = "127.0.0.1") -> Iterator[list[socket.socket]]:
    """The clients' ends of so many connections to a listening socket of this process, oldest first."""
    with ExitStack() as stack:
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=ends))
        address = server.getsockname()
        clients = []
        for _ in range(ends):
            clients.append(stack.enter_context(socket.create_connection(address, source_address=(source, 0))))
            stack.enter_context(server.accept()[0])
            time.sleep(0.03)  # The system counts in ticks, of up to 10 ms.
        yield clients


def closed(end: socket.socket) -> bool:
    """Whether the other end was shut down; what it sent before is passed over."""
    end.setblocking(False)
    try:
        while end.recv(1 << 16):
            pass
    except BlockingIOError:
        return False
    except ConnectionResetError:
        return True
    return True


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """One address may have six connections."""
    monkeypatch.setattr(connections, "EACH", 6)


@pytest.mark.usefixtures("few")
def test_the_longest_idle_of_one_address_are_closed_and_busy_ones_are_not() -> None:
    """A request that waits for its answer looks idle to the system."""
    with listening(10) as clients:
        kept = Connections(Addresses(()), most=1000)
        kept.busy.add(clients[0].getsockname())
        clients[1].sendall(b"x")
        time.sleep(0.05)
        assert kept.look() == 4
        assert [closed(client) for client in clients] == [False, False, *[True] * 4, *[False] * 4]


@pytest.mark.usefixtures("few")
def test_a_trusted_proxy_has_no_bound_of_its_own() -> None:
    """All clients of the instance are behind it."""
    with listening(10, "127.0.0.3") as clients:
        assert Connections(Addresses(["127.0.0.3"]), most=1000).look() == 0
        assert Connections(Addresses(["127.0.0.3"]), most=12).look() == 1
        assert closed(clients[0])


def test_the_front_may_have_as_many_as_there_are_descriptors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of downloads need some too."""
    limits = [1024, 4096]
    monkeypatch.setattr(connections.resource, "getrlimit", lambda _: tuple(limits))
    monkeypatch.setattr(connections.resource, "setrlimit", lambda _, both: limits.__setitem__(slice(None), both))
    connections.get_descriptors()
    assert limits == [4096, 4096]
    assert connections.most() == (4096 - connections.KEPT) // 2


def test_idle_connections_of_one_client_keep_no_other_out(front: Server) -> None:
    """1,500 of them are more than the server once took at all."""
    host, port = front.url.removeprefix("http://").split(":")
    with ExitStack() as stack:
        idle = []
        for number in range(IDLE):
            end = stack.enter_context(socket.create_connection((host, int(port)), 60))
            if number % 10 == 0:
                end.sendall(REQUEST)  # Some asked once, some never.
            idle.append(end)
        began = time.monotonic()
        other = http.client.HTTPConnection(host, int(port), timeout=240, source_address=("127.0.0.2", 0))
        stack.callback(other.close)
        other.request("GET", "/healthz")
        assert other.getresponse().read()
        assert time.monotonic() - began < 30
        other.request("GET", "/sparql?query=ASK%7B%7D", headers={"Accept": "text/csv"})
        assert other.getresponse().read() == b"true"
        end_s = time.monotonic() + 240
        while (left := sum(not closed(end) for end in idle)) > EACH and time.monotonic() < end_s:
            time.sleep(0.1)
        assert 0 < left <= EACH  # The one that was opened last may have been accepted before others.
