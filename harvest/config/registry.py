"""
The registry: the YAML file of providers, read and checked.

    d1lod:
      modified: 2015-10-01
      void: http://lod.dataone.org/void.ttl

Whatever is wrong is reported all at once, each with file, line and column. `harvest.config.writeback` changes the file.

Source: shared GeoLink document, "The Registry File".
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from harvest.config.nearest import unknown
from harvest.config.places import Places, Unusable, is_null, joined, shape
from harvest.config.values import (
    boolean,
    document_address,
    duration,
    is_web_address,
    moment,
    one_of,
    size,
    text,
    web_address,
)
from harvest.errors import RegistryError
from harvest.model import Finding, Limits, Provider, Removals, Source

NAME: Final = re.compile(r"[a-zA-Z0-9]{1,100}")
RESERVED: Final = frozenset({"all"})
"""Names that no provider may have: `exports/all.nq.gz` holds all providers together."""

_YEAR = 366 * 86400
_DOI: Final = re.compile(
    r"(?:doi:|(?:https?://)?(?:dx\.)?doi\.org/)?(10\.\d{4,9}(?:\.\d+)*/[^\s\"<>{}|\\^`]+)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Registry:
    """
    A registry that can be used.

    Attributes:
        providers: In the order of the file.
        digest: SHA-256 of the file's bytes, 64 lower-case hex digits.
    """

    providers: tuple[Provider, ...]
    digest: str


def _notify(node: yaml.Node) -> str:
    address = text(node)
    if not is_web_address(address) and not re.fullmatch(r"(mailto:)?[^\s@]+@[^\s@]+", address):
        raise Unusable(f"must be an http or https address or a mail address, not {shape(node)}")
    return address


def _updates(node: yaml.Node) -> str:
    """The address of a graph that updates write: there is none."""
    try:
        written = boolean(node)
    except Unusable:
        written = False
    if not written:
        raise Unusable(f"must be true, not {shape(node)}; to take no updates for now, write `enabled: false` beside it")
    return ""


def _handler(node: yaml.Node) -> str:
    """The name of a handler and the address that it is given, in one text."""
    found: dict[str, yaml.Node] = {}
    if isinstance(node, yaml.MappingNode):
        found = {key.value: value for key, value in node.value if isinstance(key, yaml.ScalarNode)}
    if found.keys() != {"name", "url"} or len(node.value) != 2:
        raise Unusable("must name a handler and an address: {name: void, url: http://provider.example/void.ttl}")
    name = text(found["name"])
    if not re.fullmatch(r"[\w.-]{1,100}", name):
        raise Unusable(f"must have the name of a handler, not {shape(found['name'])}", found["name"])
    return f"{name} {web_address(found['url'])}"


def landing_address(written: str) -> str:
    """A DOI, however it is written, as an address at doi.org; anything else as it is."""
    found = _DOI.fullmatch(written)
    return f"https://doi.org/{found[1]}" if found else written


def _landing_page(node: yaml.Node) -> str:
    """The address of a landing page; a DOI, however it is written, as one at doi.org."""
    written = text(node).strip()
    found = landing_address(written)
    return found if found != written else web_address(node)


def _removals(node: yaml.Node) -> Removals:
    return Removals(one_of(*Removals)(node))


LIMITS: Final[Mapping[str, Callable[[yaml.Node], Any]]] = {"max_bytes": size, "total_s": duration(1, _YEAR)}

SELDOM_S: Final = 86_400.0
"""Seconds between two looks at a repository, unless the registry says otherwise: its API counts each of them."""

UNUSED: Final = frozenset({"modified", "interval", "removals", "limits"})
"""What says nothing of a graph that updates write."""

READERS: Final[Mapping[Source, Callable[[yaml.Node], str]]] = {
    Source.UPDATES: _updates,
    Source.HANDLER: _handler,
    Source.DATASET: _landing_page,
}
"""What reads the value of a source that is not an address alone."""

KEYS: Final[Mapping[str, Callable[[yaml.Node], Any]]] = {
    "modified": moment,
    "interval": duration(1, _YEAR),
    "removals": _removals,
    "contact": text,
    "notify": _notify,
    "enabled": boolean,
}
"""What may stand beside the source; `limits`, a mapping, comes on top."""


def load_registry(path: Path) -> Registry:
    """
    The registry in a file.

    Raises:
        RegistryError: The file cannot be used. The message has one line, `file:line:column: what is wrong`, for each
            problem; line and column are those of the first.
    """
    registry, findings = check_registry(path)
    if registry is None:
        fatal = [f for f in findings if f.fatal]
        raise RegistryError(joined(fatal), url=str(path), line=fatal[0].line, column=fatal[0].column)
    return registry


def check_registry(path: Path) -> tuple[Registry | None, list[Finding]]:
    """
    The registry in a file and all that is wrong or odd with it, in the order of the file.

    The registry is None when any finding is fatal.
    """
    places = Places(str(path))
    data = places.data(path)
    source = places.decoded(data) if data is not None else None
    root = places.document(source) if source is not None else None
    providers = _providers(root, places) if root is not None else ()
    findings = sorted(places.findings, key=lambda f: (f.line or 0, f.column or 0))
    if data is None or any(f.fatal for f in findings):
        return None, findings
    return Registry(providers, hashlib.sha256(data).hexdigest()), findings


def _providers(root: yaml.Node, places: Places) -> tuple[Provider, ...]:
    providers: list[Provider] = []
    names: dict[str, str] = {}
    by_url: dict[str, Provider] = {}
    for name, (key, value) in places.entries(root, "the registry").items():
        _check_name(name, key, names, places)
        provider = _provider(name, key, value, places)
        if provider:
            _report_shared_url(provider, by_url, key, places)
            providers.append(provider)
    return tuple(providers)


def _check_name(name: str, key: yaml.Node, names: dict[str, str], places: Places) -> None:
    """Report what is wrong with a provider's name, and remember it in `names`."""
    if not NAME.fullmatch(name):
        message = f"a provider's name has 1 to 100 letters a-z, A-Z and digits; {name!r} has not"
        places.report("bad-name", message, key.start_mark)
    if name.lower() in RESERVED:
        message = f"no provider may be named {name!r}: exports/{name}.nq.gz holds all providers"
        places.report("bad-name", message, key.start_mark)
    first = names.setdefault(name.lower(), name)
    if first != name:
        message = f"{name!r} differs from {first!r} in capitals only, and some file systems know no difference"
        places.report("bad-name", message, key.start_mark)


def _report_shared_url(provider: Provider, by_url: dict[str, Provider], key: yaml.Node, places: Places) -> None:
    twin = by_url.setdefault(provider.url, provider)
    if twin is not provider and provider.url:
        message = f"{provider.name!r} has the same address as {twin.name!r} on line {twin.line}"
        places.report("shared-url", message, key.start_mark, fatal=False)


def _provider(name: str, key: yaml.Node, node: yaml.Node, places: Places) -> Provider | None:
    """The provider of one entry; None, with findings, when it has no usable source."""
    entries = places.entries(node, f"the entry of {name!r}")
    if not isinstance(node, yaml.MappingNode):
        return None
    known = {*KEYS, *(source.value for source in Source), "limits"}
    for word, (word_node, _) in entries.items():
        if word not in known:
            places.report("unknown-key", unknown("key", word, known), word_node.start_mark)
    values: dict[str, Any] = {}
    if isinstance(entries.get(Source.RESOURCESYNC, (key, key))[1], yaml.MappingNode):
        values["prefix"] = _prefix(name, entries, places)
    source = _source(name, key, entries, places)
    for word, read in KEYS.items():
        # A key without a value says as little as no key: people leave `modified:` empty for a new provider.
        if word in entries and not is_null(entries[word][1]):
            values[word] = places.value(entries[word][1], f"{name}.{word}", read)
    if "limits" in entries and not is_null(entries["limits"][1]):
        values["limits"] = _limits(name, entries["limits"][1], places)
    if source and source[0] is Source.UPDATES:
        for word in [word for word in entries if word in UNUSED]:
            message = f"{name}.{word} says nothing here: {name!r} is written by updates, and never harvested"
            places.report("unused-key", message, entries[word][0].start_mark, fatal=False)
        values["removals"] = Removals.MIRROR
    if source and source[0] is Source.DATASET:
        values.setdefault("interval", SELDOM_S)
    if source and source[0] is Source.HANDLER:
        values["handler"], _, url = source[1].partition(" ")
        source = source[0], url
    return Provider(name, *source, line=key.start_mark.line + 1, **values) if source else None


def _prefix(name: str, entries: dict[str, tuple[yaml.Node, yaml.Node]], places: Places) -> str | None:
    """The prefix of an entry that takes all providers of a source, whose address then stands for it in `entries`."""
    key, node = entries[Source.RESOURCESYNC]
    said = places.entries(node, f"{name}.resourcesync")
    for word, (word_node, _) in said.items():
        if word not in ("source", "prefix"):
            places.report("unknown-key", unknown("key", word, ("source", "prefix")), word_node.start_mark)
    for word in ("source", "prefix"):
        if word not in said:
            message = f"{name}.resourcesync must be an address, or have the keys source and prefix; {word} is missing"
            places.report("no-source", message, key.start_mark)
    if "source" in said:
        entries[Source.RESOURCESYNC] = (key, said["source"][1])
    else:
        del entries[Source.RESOURCESYNC]
    return places.value(said["prefix"][1], f"{name}.resourcesync.prefix", _name) if "prefix" in said else None


def _name(node: yaml.Node) -> str:
    """What the name of a provider may begin with."""
    found = text(node)
    if not NAME.fullmatch(found):
        raise Unusable(f"must have 1 to 100 letters a-z, A-Z and digits, not {shape(node)}")
    return found


def _source(
    name: str, key: yaml.Node, entries: dict[str, tuple[yaml.Node, yaml.Node]], places: Places
) -> tuple[Source, str] | None:
    """What describes the provider, and where; None, with a finding, when the entry does not say exactly that."""
    sources = [source for source in Source if source in entries]
    if not sources:
        places.report("no-source", f"{name!r} must have one of the keys {', '.join(Source)}", key.start_mark)
    for more in sources[1:]:
        message = f"{name!r} must have only one of the keys {', '.join(Source)}; it has {sources[0].value!r} already"
        places.report("several-sources", message, entries[more][0].start_mark)
    read = [READERS.get(source, document_address) for source in sources]
    urls = [
        places.value(entries[source][1], f"{name}.{source}", reader)
        for source, reader in zip(sources, read, strict=True)
    ]
    return (sources[0], urls[0]) if len(urls) == 1 and urls[0] is not None else None


def _limits(name: str, node: yaml.Node, places: Places) -> Limits:
    values: dict[str, Any] = {}
    for word, (key, value) in places.entries(node, f"{name}.limits").items():
        if word in LIMITS:
            values[word] = places.value(value, f"{name}.limits.{word}", LIMITS[word])
        else:
            places.report("unknown-key", unknown("key", word, LIMITS) + " of limits", key.start_mark)
    return Limits(**values)
