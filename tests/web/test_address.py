"""Which client a request is of: by its address, or by what a proxy says."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from sparql.web.address import Addresses
from sparql.web.app import create_app
from sparql.web.catalog import Site
from sparql.worker.limits import QueryLimits
from tests.query.stores import PublishedStore, items
from tests.web.instance import FolderCatalog


def client_of(peer: str, forwarded: str | None = None, proxies: tuple[str, ...] = ()) -> str:
    headers = [] if forwarded is None else [(b"x-forwarded-for", forwarded.encode())]
    return Addresses(proxies).of({"client": (peer, 1234), "headers": headers})


@pytest.mark.parametrize(
    ("peer", "forwarded", "proxies", "expected"),
    [
        ("192.0.2.1", None, (), "192.0.2.1"),
        ("192.0.2.1", "198.51.100.7", (), "192.0.2.1"),
        ("10.0.0.1", "198.51.100.7", ("10.0.0.0/8",), "198.51.100.7"),
        ("10.0.0.1", "203.0.113.9, 198.51.100.7", ("10.0.0.0/8",), "198.51.100.7"),
        ("10.0.0.1", "198.51.100.7, 10.0.0.2", ("10.0.0.0/8",), "198.51.100.7"),
        ("10.0.0.1", "", ("10.0.0.0/8",), "10.0.0.1"),
        ("10.0.0.1", "10.0.0.3", ("10.0.0.0/8",), "10.0.0.3"),
        ("2001:db8:1:2:3::4", None, (), "2001:db8:1:2::/64"),
        ("::ffff:192.0.2.1", None, (), "192.0.2.1"),
        ("10.0.0.1", "unknown", ("10.0.0.1",), "unknown"),
        ("", None, ("10.0.0.1",), ""),
    ],
)
def test_a_client_is_known_by_its_address(
    peer: str, forwarded: str | None, proxies: tuple[str, ...], expected: str
) -> None:
    """Only proxies of ours are believed: else a client could take a new name for each request."""
    assert client_of(peer, forwarded, proxies) == expected


def test_two_addresses_of_one_customer_are_one_client() -> None:
    """Whoever has a /64 has more addresses than there are turns."""
    assert client_of("2001:db8::1") == client_of("2001:db8::ffff:2")
    assert client_of("2001:db8::1") != client_of("2001:db8:0:1::1")


def test_the_queue_knows_clients_behind_a_proxy(tmp_path: Path) -> None:
    """A turn for each of them, and not one for the proxy."""
    published = PublishedStore(tmp_path / "store")
    published.add(items(10))
    site = Site("http://localhost", proxies=("10.0.0.1",))
    app = create_app(FolderCatalog(tmp_path), published.root, QueryLimits(workers=1, spare=0, extra=0), site)
    sent: list[dict[str, Any]] = []

    async def silence() -> dict[str, Any]:
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: Any) -> None:
        sent.append(message)

    async def test() -> str:
        app._pool.start()
        try:
            headers = [(b"x-forwarded-for", b"203.0.113.9, 198.51.100.7")]
            scope = {"type": "http", "method": "GET", "path": "/sparql", "query_string": b"query=ASK%7B%7D"}
            await app({**scope, "http_version": "1.1", "client": ("10.0.0.1", 1), "headers": headers}, silence, send)
            return app._pool.workers[0].client
        finally:
            await app._pool.close()

    assert asyncio.run(test()) == "198.51.100.7"
    assert sent[0]["status"] == 200
