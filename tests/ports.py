"""Ports for servers that have to know theirs before they listen."""

from __future__ import annotations

import random
import socket

_PORTS = range(20_000, 32_000)
"""Below those that the system gives by itself to connections and to whoever asks for any port (32768 on Linux)."""

_CHOICE = random.SystemRandom()


def free_port() -> int:
    """A port of the loopback address that nobody uses, and that nobody is given until a server takes it."""
    while True:
        port = _CHOICE.choice(_PORTS)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
