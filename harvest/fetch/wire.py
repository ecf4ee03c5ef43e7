"""URLs as they go over the wire: what may stand in a request line, and which credentials go with it."""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import dataclass
from ipaddress import IPv6Address
from typing import Final
from urllib.parse import SplitResult, quote, unquote, urljoin, urlsplit

import idna

from harvest.errors import RefusedError

PORTS: Final = {"http": 80, "https": 443}
_PATH_SAFE: Final = "/:@!$&'()*+,;=-._~%"
_QUERY_SAFE: Final = "".join(chr(c) for c in range(0x21, 0x7F))
_BARE_PERCENT: Final = re.compile("%(?![0-9A-Fa-f]{2})")
_NOT_IN_IRI: Final = re.compile(r'[\x00-\x20<>"{}|\\^`\x7f]')
_HOST: Final = re.compile(r"[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?\.?")
_USERINFO: Final = re.compile(r"(?<=//)[^/?#]*@")


@dataclass(frozen=True, slots=True)
class Wire:
    """
    A URL that can be asked for.

    Attributes:
        url: Absolute and ASCII, without user, password and fragment.
        target: Its path and query, as they stand in the request line.
        scheme: `http` or `https`.
        host: Lower-case A-labels or an address, without brackets.
        port: Always there.
        authorization: The Authorization header that the URL's user and password make, or None.
    """

    url: str
    target: str
    scheme: str
    host: str
    port: int
    authorization: str | None = None

    @property
    def origin(self) -> tuple[str, str, int]:
        """Scheme, host and port. Source: RFC 6454, section 4."""
        return self.scheme, self.host, self.port


def spell(url: str) -> Wire:
    """
    The URL percent-encoded and its host in A-labels.

    The query stays as it is, but for spaces, control characters and non-ASCII ones: some servers sign it or compare
    it byte by byte, so `%7e`, `+`, `|` and a bare `%` must arrive as they were given.

    Raises:
        RefusedError: It is not an http or https URL with a host.

    Source: RFC 3986, sections 2.1 and 3; RFC 5891 for the host.
    """
    shown = without_userinfo(url)
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError as error:
        raise RefusedError(f"{shown} is not a URL ({error}); correct it", url=shown) from error
    if parts.scheme not in PORTS:
        raise RefusedError(f"{shown} is not an http or https URL; correct it", url=shown)
    host = _host(parts.hostname, shown)
    netloc = (f"[{host}]" if ":" in host else host) + (f":{port}" if port is not None else "")
    target = _target(parts)
    return Wire(
        url=f"{parts.scheme}://{netloc}{target}",
        target=target,
        scheme=parts.scheme,
        host=host,
        port=port if port is not None else PORTS[parts.scheme],
        authorization=_basic(parts),
    )


def follow(wire: Wire, location: str) -> Wire:
    """
    The URL that a Location header points to.

    A user and password in it are dropped: credentials come from the URL that was asked for, never from a server.

    Raises:
        RefusedError: It is not an http or https URL.

    Source: RFC 9110, section 10.2.2.
    """
    # http.client reads headers as Latin-1, and servers send raw UTF-8 here: encoding the bytes is right for both.
    raw = location.strip().encode("latin-1", "replace")
    ascii_only = "".join(chr(b) if b < 0x80 else f"%{b:02X}" for b in raw)
    try:
        target = urljoin(wire.url, ascii_only)
    except ValueError as error:
        raise RefusedError(f"{ascii_only[:200]} is not a URL ({error}); tell its owner", url=wire.url) from error
    return spell(without_userinfo(target))


def base_iri(url: str, wire: Wire) -> str:
    """The base of relative IRIs in what `url` answered without a redirect: `url` as asked for, if it is an IRI."""
    bare = without_userinfo(url.strip()).split("#")[0]
    return wire.url if _NOT_IN_IRI.search(bare) else bare


def without_userinfo(url: str) -> str:
    """The URL without user and password, as it may be shown."""
    return _USERINFO.sub("", url, count=1)


def _host(given: str | None, url: str) -> str:
    host = unquote(given or "")
    try:
        if ":" in host:
            if "%" in host:
                raise ValueError("an address with a zone means something on one machine alone")
            return str(IPv6Address(host))
        if not host.isascii():
            host = idna.encode(host, uts46=True).decode("ascii")
    except ValueError as error:
        raise RefusedError(f"{url} has a host that cannot be ({error}); correct it", url=url) from error
    if not _HOST.fullmatch(host):
        raise RefusedError(f"{url} has no host that can be asked; correct it", url=url)
    return host


def _target(parts: SplitResult) -> str:
    path = quote(_BARE_PERCENT.sub("%25", parts.path or "/"), safe=_PATH_SAFE)
    return path + ("?" + quote(parts.query, safe=_QUERY_SAFE) if parts.query else "")


def _basic(parts: SplitResult) -> str | None:
    """Source: RFC 7617, section 2."""
    if not parts.username:
        return None
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return "Basic " + b64encode(pair.encode()).decode("ascii")
