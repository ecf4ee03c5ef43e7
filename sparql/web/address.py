"""
Whose request it is, for queues that are fair.

Source: the de facto standard X-Forwarded-For, as nginx, Apache httpd and HAProxy write it: each proxy adds the address
that it was asked from at the end.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv6Address, ip_address, ip_network

from sparql.web.client import Message, header

SUBSCRIBER_BITS = 64
"""Bits of an IPv6 address that a provider gives to one customer, who may use all addresses below. Source: RFC 6177."""


class Addresses:
    """
    Tells the clients of requests.

    Attributes:
        client: Of an address the name of whom it is given to: itself, or the network of an IPv6 customer.
        trusts: Whether an address is that of a proxy that is believed.

    Args:
        proxies: Addresses and networks of the reverse proxies in front, which alone are believed.
    """

    def __init__(self, proxies: Iterable[str]) -> None:
        self._proxies = [ip_network(proxy) for proxy in proxies]
        self.client = lru_cache(maxsize=4096)(_client)
        self.trusts = lru_cache(maxsize=256)(self._is_proxy)

    def of(self, scope: Message) -> str:
        """The address of whoever sent a request; all of one IPv6 customer are one."""
        address: str = (scope.get("client") or ("",))[0]
        if self._proxies and self.trusts(address):
            for before in reversed((header(scope, b"x-forwarded-for") or "").split(",")):
                if not before.strip():
                    break
                address = before.strip()
                if not self.trusts(address):
                    break
        return self.client(address)

    def _is_proxy(self, address: str) -> bool:
        try:
            found = ip_address(address)
        except ValueError:
            return False
        return any(found in network for network in self._proxies)


def _client(address: str) -> str:
    try:
        found = ip_address(address)
    except ValueError:
        return address[:64]
    if not isinstance(found, IPv6Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ip_network((found, SUBSCRIBER_BITS), strict=False))
