"""
requests, with connections that pass the address guard and can be cut.

The adapter is used without a Session: a session would read the body of a redirect into memory whole, follow proxies
and .netrc of the environment, and keep cookies across threads.
"""

from __future__ import annotations

import io
import socket
import ssl
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse, RemoteDisconnected
from pathlib import Path
from typing import Any, Final

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import HTTPError, ReadTimeoutError

from harvest.errors import FetchError, RefusedError, TransferError
from harvest.fetch.guard import Gate, admit
from harvest.fetch.watch import Line
from harvest.fetch.wire import Wire

POOLS: Final = 64
"""Hosts whose idle connections are kept; a tick over thousands of hosts must not use up the file descriptors."""

_BUFFER: Final = 1 << 16
"""Bytes read ahead; with the usual 8 KiB, a body in small chunks takes half as long again."""

_NODELAY: Final = (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


@dataclass(frozen=True, slots=True)
class _Call:
    """What a connection must know of the request that uses it."""

    line: Line
    gate: Gate


# A connection is made deep inside urllib3, in the thread that sends the request.
_CALL: ContextVar[_Call] = ContextVar("call")


def _dial(host: str, port: int, timeout: float | None) -> socket.socket:
    """A socket connected to the first address of the host that answers."""
    call = _CALL.get()
    failure: OSError | None = None
    for family, address in admit(host, port, call.gate, call.line.url):
        sock = socket.socket(family, socket.SOCK_STREAM)
        try:
            call.line.bind(sock)
            sock.settimeout(timeout)
            sock.setsockopt(*_NODELAY)
            sock.connect(address)
        except OSError as error:
            sock.close()
            failure = error
        else:
            return sock
    call.line.check()
    reason = f"no connection in {timeout} s" if isinstance(failure, TimeoutError) else failure
    message = f"{call.line.url}: {host} port {port} cannot be reached ({reason}); it is tried again later"
    raise TransferError(message, url=call.line.url) from failure


def _target(connection: HTTPConnection) -> str:
    """The request target, untouched: urllib3 would respell its percent-encoding."""
    line = _CALL.get().line
    if connection.sock is not None:
        line.bind(connection.sock)
    return line.target


class _Response(HTTPResponse):
    """
    A response whose header must be complete.

    http.client takes the end of the connection for the end of the header: a Location would be followed half, and a
    200 without its Content-Length would be an empty body.
    """

    def begin(self) -> None:
        if self.headers is None:
            self.fp = _Lines(self.fp.detach(), _BUFFER)
        super().begin()
        if isinstance(self.fp, _Lines):
            self.fp.header = False
        # urllib3 finds this too, but leaves the socket open.
        lengths = {
            length.strip() for header in self.headers.get_all("Content-Length", ()) for length in header.split(",")
        }
        if len(lengths) > 1:
            raise HTTPException(f"several lengths: {', '.join(sorted(lengths))}")


class _Lines(io.BufferedReader):
    """
    A reader that tells a cut line from a whole one.

    Attributes:
        header: Whether the header is being read, where the end of the stream is a cut too.
    """

    header = True

    def readline(self, size: int | None = -1, /) -> bytes:
        line = super().readline(size)
        if not line.endswith(b"\n") and (line or self.header) and len(line) != size:
            raise RemoteDisconnected("the connection ended inside a line or the header")
        return line


class _Connection(HTTPConnection):
    response_class = _Response

    def _new_conn(self) -> socket.socket:
        return _dial(self._dns_host, self.port, self.timeout)

    def putrequest(self, method: str, url: str, *args: bool, **kwargs: bool) -> None:
        super().putrequest(method, _target(self), *args, **kwargs)


class _TLSConnection(HTTPSConnection):
    response_class = _Response

    def _new_conn(self) -> socket.socket:
        return _dial(self._dns_host, self.port, self.timeout)

    def putrequest(self, method: str, url: str, *args: bool, **kwargs: bool) -> None:
        super().putrequest(method, _target(self), *args, **kwargs)


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

    def send(self, wire: Wire, headers: Mapping[str, str], line: Line) -> requests.Response:
        """
        The answer to one GET, its body not read yet.

        Raises:
            RefusedError: The address guard refused, or the certificate does not verify.
            TransferError: There was no answer.
        """
        request = requests.PreparedRequest()
        request.prepare_method("GET")
        request.prepare_headers(headers)
        request.url = wire.url
        token = _CALL.set(_Call(line, self._gate))
        try:
            return self._adapter.send(request, stream=True, timeout=self._timeouts, verify=self._verify)
        except requests.RequestException as error:
            raise self._explain(error, line) from error
        finally:
            _CALL.reset(token)

    def read(self, response: requests.Response, size: int, line: Line) -> Iterator[bytes]:
        """
        Yield the body as it was sent, content-encoding and all, in pieces of at most `size` bytes.

        Raises:
            TransferError: It ended before its Content-Length or its last chunk, stalled, or was cut.
        """
        raw: Any = response.raw
        try:
            while data := raw.read1(size, decode_content=False):
                yield data
        except HTTPError as error:
            raise self._explain(error, line) from error
        line.check()

    def close(self) -> None:
        """Close the idle connections."""
        self._adapter.close()

    def _explain(self, error: Exception, line: Line) -> FetchError:
        """The error of this package for one of requests or urllib3."""
        if line.reason is not None:
            return TransferError(f"{line.url}: {line.reason}", url=line.url)
        chain = list(_causes(error))
        certificate = next((e for e in chain if isinstance(e, ssl.SSLCertVerificationError)), None)
        if certificate is not None:
            reason = certificate.verify_message
            return RefusedError(
                f"{line.url}: the server's certificate is not valid ({reason}); tell its owner", url=line.url
            )
        if any(isinstance(e, TimeoutError | ReadTimeoutError | requests.Timeout) for e in chain):
            return TransferError(
                f"{line.url}: nothing came for {self._timeouts[1]} s; it is tried again later", url=line.url
            )
        return TransferError(f"{line.url}: the transfer broke off ({chain[-1]}); it is tried again later", url=line.url)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and what it wraps, outermost first; urllib3 and requests wrap in `args` and `reason`."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        wrapped = (getattr(current, "reason", None), *reversed(current.args), current.__cause__)
        current = next((w for w in wrapped if isinstance(w, BaseException)), None)
