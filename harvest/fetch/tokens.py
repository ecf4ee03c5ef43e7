"""Headers that hold a secret, for the hosts that they are meant for."""

from __future__ import annotations

import os
from collections.abc import Mapping

from harvest.config.settings import TOKEN
from harvest.fetch.wire import PORTS, Wire

LOOPBACK = ("localhost", "127.0.0.1", "::1")


def token_header(tokens: Mapping[str, str], wire: Wire) -> dict[str, str]:
    """
    The header with a token for a request, or none: for its host alone, and never in clear over a network.

    `tokens` are headers by host, or host and port, as the setting `http.tokens` has them. A variable that the
    environment has not, or has empty, sends nothing.
    """
    header = tokens.get(f"{wire.host}:{wire.port}")
    if header is None and wire.port == PORTS[wire.scheme]:
        header = tokens.get(wire.host)
    found = TOKEN.fullmatch(header) if header else None
    if found is None or not (wire.scheme == "https" or wire.host in LOOPBACK):
        return {}
    name, scheme, variable = found.groups()
    secret = os.environ.get(variable, "").strip()
    return {name: scheme + secret} if secret.isascii() and secret.isprintable() and secret else {}
