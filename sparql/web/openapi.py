"""
What `openapi.yaml` says of the HTTP interface: as a document of this instance, and in the order of the API page.

Source: OpenAPI Specification 3.1.1.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import yaml

from sparql.rdf import NQUD
from sparql.web.catalog import Record

METHODS: Final = ("get", "post")
_CHANGE: Final = '+<http://example.org/a> <http://example.org/b> "c" .'
"""A change, as an example."""
_FILE: Final = Path(__file__).with_name("openapi.yaml")
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's where PyYAML was built with it: 0.03 s in place of 0.4 s."""


@dataclass(frozen=True, slots=True)
class Operation:
    """
    One method of one address, with what it refers to in its place.

    Attributes:
        id: Its name in the document, and its anchor on the page.
        method: Upper case.
        path: With `{}` around what varies.
        definition: Summary, description, parameters, request body and responses, as in the document.
        command: A line of `curl` that asks for an example.
    """

    id: str
    method: str
    path: str
    definition: Record
    command: str

    @property
    def responses(self) -> Iterator[tuple[str, str, Record]]:
        """Yield the status, its name, and what is said of each response."""
        for status, response in self.definition["responses"].items():
            yield status, HTTPStatus(int(status)).phrase, response


@dataclass(frozen=True, slots=True)
class OperationGroup:
    """
    Operations that belong together.

    Attributes:
        name: The tag.
        description: Of the tag.
        operations: In the order of the document.
    """

    name: str
    description: str
    operations: tuple[Operation, ...]


@cache
def source() -> Record:
    """The document as it is written; not to be changed."""
    loaded: Record = yaml.load(_FILE.read_text("utf-8"), _LOADER)
    return loaded


def document(base_url: str, title: str) -> Record:
    """The document of the instance at an address."""
    info = {**source()["info"], "title": title}
    return {**source(), "info": info, "servers": [{"url": base_url}]}


def groups(base_url: str, examples: Mapping[str, str]) -> tuple[OperationGroup, ...]:
    """The operations by tag; `examples` of parameters take the place of those in the document."""
    found = tuple(_operations(base_url, examples))
    return tuple(
        OperationGroup(tag["name"], tag["description"], tuple(o for o in found if tag["name"] in o.definition["tags"]))
        for tag in source()["tags"]
    )


def _operations(base_url: str, examples: Mapping[str, str]) -> Iterator[Operation]:
    for path, methods in source()["paths"].items():
        for method in METHODS:
            if method in methods:
                definition = _resolved(methods[method])
                command = _command(f"{base_url}{path}", method, definition, examples)
                yield Operation(definition["operationId"], method.upper(), path, definition, command)


def _resolved(definition: Record) -> Record:
    """An operation with its parameters, responses and headers in the place of references to them."""
    found = copy.deepcopy(definition)
    found["parameters"] = [follow(item) for item in definition.get("parameters", ())]
    found["responses"] = {status: follow(item) for status, item in definition["responses"].items()}
    for response in found["responses"].values():
        response["headers"] = {name: follow(item) for name, item in response.get("headers", {}).items()}
    return found


def follow(item: Record) -> Record:
    """What an object refers to, with what it says beside that; or a copy of itself."""
    if "$ref" not in item:
        return dict(item)
    found: Any = source()
    for step in item["$ref"].removeprefix("#/").split("/"):
        found = found[step]
    return {**follow(found), **{key: value for key, value in item.items() if key != "$ref"}}


def _command(address: str, method: str, definition: Record, examples: Mapping[str, str]) -> str:
    given = {item["name"]: item for item in definition["parameters"]}
    for name in re.findall(r"{(\w+)}", address):
        value = examples.get(name, str(given[name].get("example", "")))
        address = address.replace(f"{{{name}}}", quote(value))
    if method == "post" and NQUD in definition["requestBody"]["content"]:
        graph = "".join(f"?{n}={quote(item['example'], '')}" for n, item in given.items() if item["in"] == "query")
        headers = " ".join(
            f"--header {quoted(each)}" for each in ("Authorization: Bearer TOKEN", f"Content-Type: {NQUD}")
        )
        return f"curl {quoted(address + graph)} {headers} --data-binary {quoted(_CHANGE)}"
    if method == "post":
        query = follow({"$ref": "#/components/parameters/query"})["example"]
        return f"curl {quoted(address)} --data-urlencode {quoted(f'query={query}')}"
    asked = {
        n: examples.get(n, item["example"]) for n, item in given.items() if item["in"] == "query" and "example" in item
    }
    types = list(definition["responses"].get("200", {}).get("content", {}))
    accept = f" --header {quoted(f'Accept: {types[0]}')}" if "text/html" in types else ""
    data = "".join(f" --data-urlencode {quoted(f'{name}={value}')}" for name, value in asked.items())
    return f"curl{' --get' if data else ''} {quoted(address)}{data}{accept}"


def quoted(text: str) -> str:
    """A word of a shell command. Source: POSIX, "Shell Command Language", section 2.2.2."""
    return "'" + text.replace("'", "'\\''") + "'"


@dataclass(frozen=True, slots=True)
class Field:
    """
    A property of a JSON object.

    Attributes:
        name: Its key.
        kind: Its type in words.
        schemas: The names of the schemas that the type refers to.
        required: Whether it is always there.
        description: Empty where the name says it.
    """

    name: str
    kind: str
    schemas: tuple[str, ...]
    required: bool
    description: str


@dataclass(frozen=True, slots=True)
class Schema:
    """
    A kind of JSON value.

    Attributes:
        name: In the document, and part of its anchor on the page.
        description: Of it.
        kind: Its type in words.
        schemas: The names of the schemas that the type refers to.
        fields: Of an object.
    """

    name: str
    description: str
    kind: str
    schemas: tuple[str, ...]
    fields: tuple[Field, ...]


def schemas() -> tuple[Schema, ...]:
    """The kinds of JSON values, in the order of the document."""
    return tuple(_schema(name, definition) for name, definition in source()["components"]["schemas"].items())


def _schema(name: str, definition: Record) -> Schema:
    required = definition.get("required", ())
    fields = tuple(
        Field(key, kind(value), named(value), key in required, _description(value))
        for key, value in definition.get("properties", {}).items()
    )
    return Schema(name, definition.get("description", ""), kind(definition), named(definition), fields)


def _description(definition: Record) -> str:
    return str(definition.get("description") or "")


def kind(definition: Record) -> str:
    """The type of a schema in words."""
    if "$ref" in definition:
        return str(definition["$ref"].rpartition("/")[2])
    if "enum" in definition:
        return " | ".join("null" if value is None else str(value) or "empty" for value in definition["enum"])
    if "const" in definition:
        return str(definition["const"])
    for many in ("anyOf", "oneOf"):
        if many in definition:
            return " | ".join(kind(one) for one in definition[many])
    types = definition.get("type", "any")
    if types == "array":
        return f"list of {kind(definition['items'])}"
    if types == "object" and isinstance(definition.get("additionalProperties"), dict):
        return f"object of {kind(definition['additionalProperties'])}"
    return " | ".join([types] if isinstance(types, str) else types) + _bounds(definition)


def named(definition: Record) -> tuple[str, ...]:
    """The names of the schemas that `kind` speaks of."""
    inner = [
        definition.get("items"),
        definition.get("additionalProperties"),
        *definition.get("anyOf", ()),
        *definition.get("oneOf", ()),
    ]
    own = (definition["$ref"].rpartition("/")[2],) if "$ref" in definition else ()
    return (*own, *(name for one in inner if isinstance(one, dict) for name in named(one)))


def _bounds(definition: Record) -> str:
    least, most = definition.get("minimum"), definition.get("maximum")
    if least is not None and most is not None:
        return f" from {least} to {most}"
    return f" from {least}" if least else ""
