"""The settings of what an instance may have elsewhere: `store`, an engine; `content`, storage; `workers`, a cluster."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import yaml

from harvest.config.places import Unusable, shape
from harvest.config.values import text

_ADDRESS: Final = re.compile(r"https?://[^\s@#]+"), "an address with http:// or https://, and without a user"
_ENGINE: Final = {
    "query": _ADDRESS,
    "update": _ADDRESS,
    "graph_store": _ADDRESS,
    "user": (re.compile(r"[^\s:]+"), "a name without a colon"),
    "password": (re.compile(r"\$[A-Za-z_]\w*"), "a variable of the environment such as $STORE_PASSWORD"),
    "scheme": (re.compile("basic|digest"), "basic or digest"),
    "dialect": (
        re.compile("auto|oxigraph|fuseki|virtuoso|rdf4j|other"),
        "auto, oxigraph, fuseki, virtuoso, rdf4j or other",
    ),
}


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """
    A SPARQL 1.1 engine as the store.

    Attributes:
        query: URL that takes queries.
        update: URL that takes updates.
        graph_store: URL of the Graph Store HTTP Protocol; empty where there is none.
        user: Who asks; empty for nobody.
        password: Name of the environment variable with the password.
        scheme: `basic` or `digest`.
        dialect: `auto`, `oxigraph`, `fuseki`, `virtuoso`, `rdf4j` or `other`.
    """

    query: str
    update: str
    graph_store: str = ""
    user: str = ""
    password: str = ""
    scheme: str = "basic"
    dialect: str = "auto"


def engine(node: yaml.Node) -> EngineSettings | None:
    """The engine that is the store; None for `embedded`."""
    if isinstance(node, yaml.ScalarNode):
        if text(node) != "embedded":
            raise Unusable(f"must be embedded, or a mapping with query and update of an engine, not {shape(node)}")
        return None
    found = _texts(node, _ENGINE)
    for key in ("query", "update"):
        if key not in found:
            raise Unusable(f"needs {key}, the address of the engine that takes this")
    if "user" in found and "password" not in found:
        raise Unusable("needs password, such as $STORE_PASSWORD, the variable of the environment that holds it")
    found["password"] = found.get("password", "").removeprefix("$")
    return EngineSettings(**found)


def object_storage(node: yaml.Node) -> str:
    """The address of a bucket or folder for objects, or empty."""
    address = text(node).rstrip("/")
    is_bucket = re.fullmatch(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[A-Za-z0-9._/-]*)?", address)
    is_folder = re.fullmatch(r"file://(/[^/\s?#]+)+", address) and not {".", ".."} & set(address.split("/"))
    if address and not (is_bucket or is_folder):
        raise Unusable("must be s3://bucket/prefix without credentials, file:///folder, or empty")
    return address


def workers(node: yaml.Node) -> str:
    """Who washes: `local`, or the address of a scheduler."""
    address = text(node)
    match = re.fullmatch(r"dask://([\w.-]+|\[[0-9a-fA-F:.]+\]):(\d{1,5})", address)
    if address != "local" and not (match and 0 < int(match[2]) < 65536):
        raise Unusable(f"must be local, or the dask://host:port of a scheduler, not {address!r}")
    return address


def _texts(node: yaml.Node, forms: Mapping[str, tuple[re.Pattern[str], str]]) -> dict[str, str]:
    """The values of a mapping with these keys, each of its form."""
    if not isinstance(node, yaml.MappingNode):
        raise Unusable(f"must be a mapping, not {shape(node)}", node)
    found: dict[str, str] = {}
    for key, value in node.value:
        name = text(key)
        if name not in forms:
            raise Unusable(f"has a key {name!r}; there are {', '.join(forms)}", key)
        if name in found:
            raise Unusable(f"has the key {name} twice", key)
        form, what = forms[name]
        if not form.fullmatch(text(value)):
            raise Unusable(f"has a {name} that is not {what}", value)  # which may be a password: not shown
        found[name] = text(value)
    return found
