"""
requests, with connections that pass the address guard and can be cut.

The adapter is used without a Session: a session would read the body of a redirect into memory whole, follow proxies
and .netrc of the environment, and keep cookies across threads.
"""

from __future__ import annotations

import errno
import os
import select
import socket
import ssl
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any, BinaryIO, Final

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import HTTPError, ReadTimeoutError

from harvest.errors import FetchError, RefusedError, TransferError
from harvest.fetch.framing import BrokenAnswer, FramedResponse
from harvest.fetch.guard import Gate, Sockaddr, admit
from harvest.fetch.transfer import POLL_S, Transfer
from harvest.fetch.wire import Wire

POOLS: Final = 64
"""Hosts whose idle connections are kept; a tick over thousands of hosts must not use up the file descriptors."""

_NODELAY: Final = (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


@dataclass(frozen=True, slots=True)
class _Call:
    """What a connection must know of the request that uses it."""

    transfer: Transfer
    gate: Gate


# A connection is made deep inside urllib3, in the thread that sends the request.
_CALL: ContextVar[_Call] = ContextVar("call")


def _dial(host: str, port: int, timeout_s: float) -> socket.socket:
    """A socket connected to the first address of the host that answers."""
    transfer, gate = _CALL.get().transfer, _CALL.get().gate
    failure: OSError | None = None
    for family, address in admit(host, port, gate, transfer.url):
        sock = socket.socket(family, socket.SOCK_STREAM)
        try:
            _connect(sock, address, timeout_s, transfer)
            sock.setsockopt(*_NODELAY)
        except OSError as error:
            sock.close()
            failure = error
        except TransferError:
            sock.close()
            raise
        else:
            return sock
    reason = f"no connection in {timeout_s:g} s" if isinstance(failure, TimeoutError) else failure
    message = f"{transfer.url}: {host} port {port} cannot be reached ({reason}); it is tried again later"
    raise TransferError(message, url=transfer.url) from failure


def _connect(sock: socket.socket, address: Sockaddr, timeout_s: float, transfer: Transfer) -> None:
    """Connect a socket, unless the transfer ends before."""
    until = monotonic() + timeout_s
    sock.setblocking(False)
    code = sock.connect_ex(address)
    ready = select.poll()
    ready.register(sock, select.POLLOUT)
    while code == errno.EINPROGRESS:
        transfer.check()
        if ready.poll(1000 * POLL_S):
            code = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        elif monotonic() >= until:
            raise TimeoutError
    if code:
        raise OSError(code, os.strerror(code))
    sock.settimeout(timeout_s)


class _Connection(HTTPConnection):
    """A connection that passes the address guard, and whose answers end with their transfer."""

    def _new_conn(self) -> socket.socket:
        assert self.timeout is not None, "Transport gives each request its time-outs"
        return _dial(self._dns_host, self.port, self.timeout)

    def putrequest(self, method: str, url: str, *args: bool, **kwargs: bool) -> None:
        """Begin a request; its target is untouched, where urllib3 would respell its percent-encoding."""
        transfer = _CALL.get().transfer
        self.response_class = partial(FramedResponse, transfer=transfer)  # type: ignore[assignment]  # it is called only
        super().putrequest(method, transfer.target, *args, **kwargs)

    def send(self, data: Any) -> None:
        """Send bytes of the request, which a recording takes in."""
        recording = _CALL.get().transfer.recording
        if recording is not None:
            recording.sent(data)
        super().send(data)


class _TLSConnection(_Connection, HTTPSConnection):
    pass


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Connection


class _TLSPool(HTTPSConnectionPool):
    ConnectionCls = _TLSConnection


class Transport:
    """Sends single requests over kept connections; shared by all threads."""

    def __init__(self, gate: Gate, timeouts: tuple[float, float], kept: int, ca_bundle: Path | None) -> None:
        """
        Nothing is connected yet.

        Args:
            gate: Judges addresses.
            timeouts: Seconds to connect to one address, seconds between two reads.
            kept: Idle connections kept for one host.
            ca_bundle: PEM file of trusted authorities; None takes those of certifi. Verification is always on.
        """
        self._gate = gate
        self._timeouts = timeouts
        self._verify: bool | str = str(ca_bundle) if ca_bundle else True
        self._adapter = HTTPAdapter(pool_connections=POOLS, pool_maxsize=kept)
        self._adapter.poolmanager.pool_classes_by_scheme = {"http": _Pool, "https": _TLSPool}

    def send(
        self,
        wire: Wire,
        headers: Mapping[str, str],
        transfer: Transfer,
        method: str = "GET",
        body: bytes | BinaryIO | None = None,
    ) -> requests.Response:
        """
        The answer to one request, its body not read yet; `body` is that of the request.

        Raises:
            RefusedError: The address guard refused, or the certificate does not verify.
            TransferError: There was no answer.
        """
        request = requests.PreparedRequest()
        request.prepare_method(method)
        request.prepare_headers(headers)
        request.url = wire.url
        if body is not None:
            request.prepare_body(body, None)
        transfer.check()
        connect_s, read_s = self._timeouts
        # A TLS handshake has no reads that could be checked.
        timeouts = (min(connect_s, max(POLL_S, transfer.deadline - monotonic())), read_s)
        token = _CALL.set(_Call(transfer, self._gate))
        try:
            return self._adapter.send(request, stream=True, timeout=timeouts, verify=self._verify)
        except requests.RequestException as error:
            raise self._explain(error, transfer.url) from error
        finally:
            _CALL.reset(token)

    def read(self, response: requests.Response, size: int, transfer: Transfer) -> Iterator[bytes]:
        """
        Yield the body as it was sent, content-encoding and all, in pieces of at most `size` bytes.

        Raises:
            TransferError: It ended before its Content-Length or its last chunk, or stalled, or the transfer ended.
        """
        raw: Any = response.raw
        try:
            while data := raw.read1(size, decode_content=False):
                yield data
            if transfer.recording is not None:
                transfer.recording.is_whole = True
        except HTTPError as error:
            raise self._explain(error, transfer.url) from error

    def close(self) -> None:
        """Close the idle connections."""
        self._adapter.close()

    def _explain(self, error: Exception, url: str) -> FetchError:
        """The error of this package for one of requests or urllib3."""
        chain = list(_causes(error))
        certificate = next((e for e in chain if isinstance(e, ssl.SSLCertVerificationError)), None)
        if certificate is not None:
            reason = certificate.verify_message
            return RefusedError(f"{url}: the server's certificate is not valid ({reason}); tell its owner", url=url)
        broken = next((e for e in chain if isinstance(e, BrokenAnswer)), None)
        if broken is not None:
            return TransferError(f"{url}: the answer is broken: {broken}; tell its owner", url=url)
        if any(isinstance(e, TimeoutError | ReadTimeoutError | requests.Timeout) for e in chain):
            return TransferError(f"{url}: nothing came for {self._timeouts[1]} s; it is tried again later", url=url)
        return TransferError(f"{url}: the transfer broke off ({chain[-1]}); it is tried again later", url=url)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and what it wraps, outermost first; urllib3 and requests wrap in `args` and `reason`."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        wrapped = (getattr(current, "reason", None), *reversed(current.args), current.__cause__)
        current = next((w for w in wrapped if isinstance(w, BaseException)), None)
