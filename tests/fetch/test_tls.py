"""Certificates are verified, always, and by the name that was asked for."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from harvest.errors import RefusedError, TransferError
from tests.fetch.conftest import TLS, Bench
from tests.fetch.server import Request, drip, moved, reply


@contextmanager
def listening(serve: Callable[[socket.socket, threading.Event], None]) -> Iterator[str]:
    """An https URL whose server does this with the first connection, before any handshake."""
    ended = threading.Event()

    def run() -> None:
        connection, _ = listener.accept()
        with connection:
            serve(connection, ended)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=run)
        thread.start()
        try:
            yield f"https://localhost:{listener.getsockname()[1]}/"
        finally:
            ended.set()
            thread.join()


def test_a_trusted_certificate_is_accepted(bench: Bench) -> None:
    """The connection goes to a judged address, and the certificate is that of the name."""
    server = bench.serve(reply(b"safe"), tls=True)
    client = bench.client(trust=TLS / "ca.pem")
    for _ in range(2):
        assert client.get(server.url("/", "localhost"), into=bench.into).capture.length == 4
    assert [request.connection for request in server.requests] == [0, 0]


def test_an_unknown_authority_is_refused(bench: Bench) -> None:
    """Trying again would not help; somebody has to act."""
    server = bench.serve(reply(), tls=True)
    with pytest.raises(RefusedError, match=r"certificate is not valid \(unable to get local issuer certificate\)"):
        bench.client().get(server.url("/", "localhost"), into=bench.into)
    assert (server.requests, bench.naps) == ([], [])


def test_a_certificate_of_another_name_is_refused(bench: Bench) -> None:
    """It is made out to localhost."""
    bench.names["other.example"] = ["127.0.0.1"]
    server = bench.serve(reply(), tls=True)
    client = bench.client(trust=TLS / "ca.pem")
    for host in ("other.example", "127.0.0.1"):
        with pytest.raises(RefusedError, match="certificate is not valid"):
            client.get(server.url("/", host), into=bench.into)


def test_a_server_without_tls_is_a_broken_transfer(bench: Bench) -> None:
    """A port may be served wrongly for a while."""
    page = b"HTTP/1.0 400 Bad Request\r\n\r\n"
    with (
        listening(lambda connection, _: connection.sendall(page)) as url,
        pytest.raises(TransferError, match="broke off"),
    ):
        bench.client(retries=0).get(url, into=bench.into)


def test_a_redirect_that_leaves_encryption_is_noted(bench: Bench) -> None:
    """It is followed, because much linked data is served so."""
    plain = bench.serve(reply(b"x"))
    server = bench.serve(moved(plain.url("/b")), tls=True)
    fetched = bench.client(trust=TLS / "ca.pem").get(server.url("/a", "localhost"), into=bench.into)
    assert [note.kind for note in fetched.notes] == ["insecure-redirect"]


def test_a_dripping_tls_server_is_cut_off(bench: Bench) -> None:
    """The deadline reaches through the encryption."""

    def answer(request: Request) -> object:
        yield reply(Content_Length=1000)
        yield from drip(bytes(1000), 0.05)(request)

    server = bench.serve(answer, tls=True)  # type: ignore[arg-type]  # a generator of steps
    with pytest.raises(TransferError, match="not done within total_s"):
        bench.client(trust=TLS / "ca.pem", total_s=0.4).get(server.url("/", "localhost"), into=bench.into)
    assert bench.files() == []


def test_a_dripping_handshake_is_cut_off(bench: Bench) -> None:
    """Where there is no request yet, and no response."""

    def trickle(connection: socket.socket, ended: threading.Event) -> None:
        connection.sendall(b"\x16\x03\x03\x40\x00")
        with suppress(OSError):
            while not ended.wait(0.05):
                connection.sendall(b"\x02")

    with listening(trickle) as url, pytest.raises(TransferError, match=r"not done within total_s of 0\.4 s"):
        bench.client(trust=TLS / "ca.pem", total_s=0.4).get(url, into=bench.into)
