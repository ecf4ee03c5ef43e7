"""
Readers of single YAML values: each makes a typed value of a node, or raises Unusable with what it must be.

The settings and the registry share them, so that a size or a length of time is written in one way everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from ipaddress import ip_network
from typing import Final
from urllib.parse import urlsplit

import yaml

from harvest.config.places import Unusable, is_null, is_plain, shape
from sparql.rdf import HASH_URI

ENVIRONMENT: Final = "!environment"
"""Tag of a node made from an environment variable, which has no types of its own."""

_STRING = "tag:yaml.org,2002:str"
_TRUTH: Final[Mapping[str, bool]] = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
_NOT_IN_IRI = re.compile(r"[\x00-\x20<>\"{}|\\^`]")
_UNITS: Final[Mapping[str, int]] = {
    "": 1,
    "b": 1,
    **{f"{prefix}b": 1000**power for power, prefix in enumerate("kmgt", 1)},
    **{f"{prefix}ib": 1024**power for power, prefix in enumerate("kmgt", 1)},
}
_SECONDS: Final[Mapping[str, int]] = {"w": 604800, "d": 86400, "h": 3600, "m": 60, "s": 1}
_SHORT_DURATION = re.compile(r"(?:\d+(?:\.\d+)?\s*[wdhms]\s*)+", re.IGNORECASE)
_ISO_DURATION = re.compile(
    r"P(?=.)(?:(?P<w>\d+)W)?(?:(?P<d>\d+)D)?(?:T(?=.)(?:(?P<h>\d+)H)?(?:(?P<m>\d+)M)?(?:(?P<s>\d+(?:\.\d+)?)S)?)?"
)


def text(node: yaml.Node) -> str:
    """A string, which YAML does not read as anything else."""
    scalar = _scalar(node, "text")
    if is_plain(scalar) and scalar.tag not in (_STRING, ENVIRONMENT):
        raise Unusable(f"must be text, not {shape(node)}; put quotes around it")
    return str(scalar.value)


def boolean(node: yaml.Node) -> bool:
    """True or false; a variable of the environment may also say 1 or 0."""
    scalar = _scalar(node, "true or false")
    known = {**_TRUTH, "1": True, "0": False} if scalar.tag == ENVIRONMENT else _TRUTH
    if not is_plain(scalar) or scalar.value.lower() not in known:
        raise Unusable(f"must be true or false, not {shape(node)}")
    return known[scalar.value.lower()]


def listed(read: Callable[[yaml.Node], str]) -> Callable[[yaml.Node], tuple[str, ...]]:
    """A reader of lists, each of whose values has a reader; in a variable of the environment commas stand between."""

    def read_all(node: yaml.Node) -> tuple[str, ...]:
        if isinstance(node, yaml.ScalarNode) and node.tag == ENVIRONMENT:
            parts = (part.strip() for part in node.value.split(","))
            return tuple(read(yaml.ScalarNode(ENVIRONMENT, part)) for part in parts if part)
        if not isinstance(node, yaml.SequenceNode):
            raise Unusable(f"must be a list, not {shape(node)}")
        return tuple(_entry(read, value) for value in node.value)

    return read_all


def network(node: yaml.Node) -> str:
    """An IP address, or a network such as 10.0.0.0/8."""
    value = text(node)
    try:
        return str(ip_network(value))
    except ValueError:
        raise Unusable(f"must be an IP address or a network such as 10.0.0.0/8, not {shape(node)}") from None


def whole(least: int, most: int) -> Callable[[yaml.Node], int]:
    """A reader of whole numbers from `least` to `most`."""
    wanted = f"a whole number from {least} to {most}"

    def read(node: yaml.Node) -> int:
        scalar = _scalar(node, wanted)
        if not is_plain(scalar) or not re.fullmatch(r"[-+]?(0|[1-9][0-9_]*)", scalar.value):
            raise Unusable(f"must be {wanted}, not {shape(node)}")
        return int(_within(int(scalar.value.replace("_", "")), least, most, wanted))

    return read


def number(least: float, most: float) -> Callable[[yaml.Node], float]:
    """A reader of numbers from `least` to `most`."""
    wanted = f"a number from {least:.10g} to {most:.10g}"

    def read(node: yaml.Node) -> float:
        scalar = _scalar(node, wanted)
        if not is_plain(scalar) or not re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", scalar.value):
            raise Unusable(f"must be {wanted}, not {shape(node)}")
        return _within(float(scalar.value), least, most, wanted)

    return read


def size(node: yaml.Node) -> int:
    """A number of bytes, at least one: `64GiB` (powers of 1024), `500MB` (powers of 1000) or a plain number."""
    scalar = _scalar(node, "a size")
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([a-z]*)", scalar.value.strip(), re.IGNORECASE)
    if not match or match[2].lower() not in _UNITS:
        raise Unusable(f"must be a size in bytes, such as 64GiB, 500MB or 1048576, not {shape(node)}")
    amount = float(match[1]) if "." in match[1] else int(match[1])
    return int(_within(amount * _UNITS[match[2].lower()], 1, 1 << 60, "a size from 1 byte to 1 EiB"))


def duration(least: float, most: float) -> Callable[[yaml.Node], float]:
    """A reader of seconds from `least` to `most`: a number, `90s`, `5m`, `1h30m`, `1d`, `2w`, `P1D` or `PT1H`."""
    wanted = f"a length of time from {least:.10g} to {most:.10g} seconds, such as 90, 5m, 1h, 1d or P1D"

    def read(node: yaml.Node) -> float:
        scalar = _scalar(node, wanted)
        seconds = seconds_of(scalar.value.strip())
        if seconds is None:
            raise Unusable(f"must be {wanted}, not {shape(node)}")
        return _within(seconds, least, most, wanted)

    return read


def seconds_of(length: str) -> float | None:
    """
    The seconds that a length of time stands for, or None.

    Years and months are not read: they have no fixed length.

    Source: ISO 8601-1, "Duration"; XML Schema 1.1 Part 2, section 3.3.6.
    """
    if re.fullmatch(r"\d+(\.\d+)?", length):
        return float(length)
    if _SHORT_DURATION.fullmatch(length):
        parts = re.findall(r"(\d+(?:\.\d+)?)\s*([wdhms])", length.lower())
    elif match := _ISO_DURATION.fullmatch(length):
        parts = [(amount, unit) for unit, amount in match.groupdict().items() if amount]
    else:
        return None
    return sum(float(amount) * _SECONDS[unit] for amount, unit in parts)


def moment(node: yaml.Node) -> datetime | None:
    """
    A date, or a date and time, as an aware UTC datetime; None for nothing. Without a zone it is UTC.

    Source: shared GeoLink document, "Field: 'modified'".
    """
    wanted = "a date or a date and time, such as 2015-10-10 or 2015-12-04T14:25:44Z"
    scalar = _scalar(node, wanted)
    written = scalar.value.strip().upper()
    if is_null(node) or not written:
        return None
    try:
        read = datetime.fromisoformat(written)
        return read.replace(tzinfo=UTC) if read.tzinfo is None else read.astimezone(UTC)
    except (ValueError, OverflowError):
        raise Unusable(f"must be {wanted}, not {shape(node)}") from None


def web_address(node: yaml.Node) -> str:
    """An absolute http or https IRI."""
    scalar = _scalar(node, "an address")
    if not is_web_address(scalar.value):
        raise Unusable(f"must be an absolute http or https address, not {shape(node)}")
    return str(scalar.value)


def document_address(node: yaml.Node) -> str:
    """A web address, or `hash://sha256/...` for a document in the archive."""
    scalar = _scalar(node, "an address")
    return str(scalar.value) if HASH_URI.fullmatch(scalar.value) else web_address(node)


def is_web_address(value: str) -> bool:
    """Whether `value` is an absolute http or https IRI with a host."""
    try:
        parts = urlsplit(value)
        host, _ = parts.hostname, parts.port
    except ValueError:  # a bracket without its partner, a port that is no number
        return False
    return parts.scheme in ("http", "https") and bool(host) and not _NOT_IN_IRI.search(value)


def one_of(*known: str) -> Callable[[yaml.Node], str]:
    """A reader of one of a few words."""
    wanted = " or ".join(known)

    def read(node: yaml.Node) -> str:
        scalar = _scalar(node, wanted)
        if scalar.value not in known:
            raise Unusable(f"must be {wanted}, not {shape(node)}")
        return str(scalar.value)

    return read


def _scalar(node: yaml.Node, wanted: str) -> yaml.ScalarNode:
    if not isinstance(node, yaml.ScalarNode):
        raise Unusable(f"must be {wanted}, not {shape(node)}")
    return node


def _within(value: float, least: float, most: float, wanted: str) -> float:
    if not least <= value <= most:
        raise Unusable(f"must be {wanted}, not {value:.10g}")
    return value


def _entry(read: Callable[[yaml.Node], str], node: yaml.Node) -> str:
    """The value of a list's entry, whose place is in the error when it is wrong."""
    try:
        return read(node)
    except Unusable as error:
        raise Unusable(f"has an entry that {error.message}", node) from error


def server(node: yaml.Node) -> str:
    """HOST:PORT, or nothing."""
    address = text(node)
    if address and not re.fullmatch(r"(\[[0-9A-Fa-f:.]+\]|[^\s:/@\[\]]+):[0-9]{1,5}", address):
        raise Unusable(f"must be HOST:PORT of a server, not {shape(node)}")
    return address


def mail_address(node: yaml.Node) -> str:
    """A mail address, or nothing."""
    address = text(node)
    if address and not re.fullmatch(r"[^\s@<>]+@[^\s@<>]+", address):
        raise Unusable(f"must be a mail address, not {shape(node)}")
    return address


def optional(read: Callable[[yaml.Node], str]) -> Callable[[yaml.Node], str]:
    """A reader of what may be empty."""
    return lambda node: "" if isinstance(node, yaml.ScalarNode) and not node.value else read(node)
