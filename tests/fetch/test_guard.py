"""Which addresses may be asked."""

from __future__ import annotations

import socket

import pytest

from harvest.errors import RefusedError, TransferError
from harvest.fetch.guard import Gate, Sockaddr, admit, forbidden, look_up

REFUSED = [
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "100.64.0.1",
    "100.127.255.255",
    "127.0.0.1",
    "127.8.8.8",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::7f00:1",
    "::ffff:10.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:100.64.0.1",
    "64:ff9b::10.0.0.1",
    "64:ff9b::169.254.169.254",
    "64:ff9b:1::8.8.8.8",
    "100::1",
    "2001::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "2002:808:808::1",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "ff02::1",
]
PUBLIC = ["1.1.1.1", "8.8.8.8", "100.63.255.255", "100.128.0.1", "172.32.0.1", "2606:4700:4700::1111"]
PUBLIC_INSIDE = ["::ffff:8.8.8.8", "64:ff9b::8.8.8.8"]


def gate(*addresses: str, allow_loopback: bool = False) -> Gate:
    def resolve(host: str, port: int) -> list[tuple[int, Sockaddr]]:
        return [(socket.AF_INET6 if ":" in address else socket.AF_INET, (address, port)) for address in addresses]

    return Gate(allow_loopback, resolve)


@pytest.mark.parametrize("address", REFUSED)
def test_an_address_that_is_not_public_is_refused(address: str) -> None:
    """A provider must not reach the operator's own machines through the platform."""
    assert forbidden(address, allow_loopback=False)


@pytest.mark.parametrize("address", PUBLIC + PUBLIC_INSIDE)
def test_a_public_address_is_let_through(address: str) -> None:
    """On a network of IPv6 alone, every IPv4 host appears behind the NAT64 prefix."""
    assert forbidden(address, allow_loopback=False) is None


@pytest.mark.parametrize("address", ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"])
def test_loopback_is_let_through_when_the_settings_say_so(address: str) -> None:
    """The demo and the tests have their providers there."""
    assert forbidden(address, allow_loopback=True) is None


@pytest.mark.parametrize("address", [a for a in REFUSED if not a.startswith(("127.", "::1", "::ffff:127."))])
def test_letting_loopback_through_opens_nothing_else(address: str) -> None:
    """0.0.0.0 is this machine too, and is not loopback."""
    assert forbidden(address, allow_loopback=True)


def test_one_private_address_refuses_the_host() -> None:
    """Which of its addresses is connected to would be chance."""
    with pytest.raises(RefusedError, match=r"two\.example \(10\.0\.0\.1\) is a private address") as caught:
        admit("two.example", 80, gate("8.8.8.8", "10.0.0.1"), "http://two.example/")
    assert caught.value.url == "http://two.example/"


def test_the_judged_addresses_are_those_connected_to() -> None:
    """A second look-up could answer otherwise."""
    assert list(admit("a.example", 80, gate("8.8.8.8", "1.1.1.1"), "http://a.example/")) == [
        (socket.AF_INET, ("8.8.8.8", 80)),
        (socket.AF_INET, ("1.1.1.1", 80)),
    ]


def test_a_name_that_does_not_resolve_may_resolve_later() -> None:
    """Name servers fail for minutes; a registry entry must not fail for good."""
    with pytest.raises(TransferError, match=r"nowhere\.invalid cannot be resolved"):
        admit("nowhere.invalid", 80, Gate(False, look_up), "http://nowhere.invalid/")


def test_a_name_without_addresses_is_refused() -> None:
    """Some resolvers answer with an empty list."""
    with pytest.raises(TransferError, match="has no address"):
        admit("empty.example", 80, gate(), "http://empty.example/")


@pytest.mark.parametrize("host", ["2130706433", "0x7f.1", "127.1"])
def test_old_ways_to_write_an_address_are_judged_as_what_they_mean(host: str) -> None:
    """The resolver reads them as 127.0.0.1."""
    with pytest.raises(RefusedError, match="loopback"):
        admit(
            host,
            80,
            Gate(False, lambda host, port: [(socket.AF_INET, (socket.inet_ntoa(socket.inet_aton(host)), port))]),
            "u",
        )
