"""
The address guard: which addresses may be connected to.

A provider chooses the URLs that the platform asks, so a name could lead to the operator's own network. Names are
resolved here once, every address is judged, and the connection goes to a judged address itself: a second look-up
that answers otherwise (DNS rebinding) is never made.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final

from harvest.errors import RefusedError, TransferError

Sockaddr = tuple[str, int] | tuple[str, int, int, int]
Resolver = Callable[[str, int], Sequence[tuple[int, Sockaddr]]]
"""Gives (address family, socket address) of a host and port, best first; raises OSError."""

_CGNAT: Final = ip_network("100.64.0.0/10")
_NAT64: Final = ip_network("64:ff9b::/96")
_SIX_TO_FOUR: Final = ip_network("2002::/16")
# Python's is_global knows these from other releases on, so the answer would depend on the interpreter.
_RESERVED: Final = tuple(
    ip_network(net)
    for net in (
        "192.0.0.0/24",
        "192.88.99.0/24",
        "::/96",
        "64:ff9b:1::/48",
        "2001::/23",
        "3fff::/20",
        "5f00::/16",
        "fec0::/10",
    )
)


@dataclass(frozen=True, slots=True)
class Gate:
    """
    The rule by which addresses are judged.

    Attributes:
        allow_loopback: Whether 127.0.0.0/8 and ::1 may be connected to.
        resolve: Looks a host up.
    """

    allow_loopback: bool
    resolve: Resolver


def look_up(host: str, port: int) -> list[tuple[int, Sockaddr]]:
    """
    What the system's resolver says, in its order of preference.

    Raises:
        OSError: The host has no address, or the resolver did not answer.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [(family, address) for family, _, _, _, address in found if isinstance(address[0], str)]


def admit(host: str, port: int, gate: Gate, url: str) -> Sequence[tuple[int, Sockaddr]]:
    """
    The addresses of a host, when all of them may be connected to.

    One forbidden address among good ones refuses the host: which of them is used would be chance.

    Raises:
        RefusedError: An address is forbidden.
        TransferError: The host could not be resolved.
    """
    try:
        addresses = gate.resolve(host, port)
    except OSError as error:
        reason = error.strerror or error
        raise TransferError(f"{url}: the host {host} cannot be resolved ({reason}); check the name", url=url) from error
    for _, address in addresses:
        kind = forbidden(address[0], gate.allow_loopback)
        if kind:
            raise RefusedError(_refusal(host, address[0], kind, url), url=url)
    if not addresses:
        raise TransferError(f"{url}: the host {host} has no address; check the name", url=url)
    return addresses


def forbidden(address: str, allow_loopback: bool) -> str | None:
    """
    Why an address may not be connected to, as in "is a private address"; None when it may.

    IPv4 addresses inside IPv6 ones (mapped, NAT64) are judged as what they stand for. 6to4 is refused altogether:
    its relays were withdrawn (RFC 7526), so that only local ones would answer.

    Source: IANA special-purpose address registries; RFC 6890, RFC 6598, RFC 6052.
    """
    ip = _embedded(ip_address(address))
    if ip.is_loopback:
        return None if allow_loopback else "a loopback address"
    kinds = (
        (ip.is_unspecified, "the unspecified address"),
        (ip.is_link_local, "a link-local address"),
        (ip.is_multicast, "a multicast address"),
        (ip in _CGNAT, "a shared (carrier-grade NAT) address"),
        (ip in _SIX_TO_FOUR, "a 6to4 address"),
        (ip.is_reserved or any(ip in net for net in _RESERVED), "a reserved address"),
        (not ip.is_global, "a private address"),
    )
    return next((kind for holds, kind in kinds if holds), None)


def _embedded(ip: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    if isinstance(ip, IPv4Address):
        return ip
    if ip.ipv4_mapped:
        return ip.ipv4_mapped
    return IPv4Address(int(ip) & 0xFFFFFFFF) if ip in _NAT64 else ip


def _refusal(host: str, address: str, kind: str, url: str) -> str:
    where = host if host == address else f"{host} ({address})"
    hint = "; set http.allow_loopback for tests" if kind == "a loopback address" else ""
    return f"{url}: {where} is {kind}, and only public addresses are asked; give a public address{hint}"
