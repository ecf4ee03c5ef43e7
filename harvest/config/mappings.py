"""Readers of settings whose keys are not known beforehand."""

from __future__ import annotations

import re
from typing import Final

import yaml

from harvest.config.places import Unusable, shape
from harvest.config.settings import TOKEN
from harvest.config.values import ENVIRONMENT, text

_IRI: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|\\^`]+")


def features(node: yaml.Node) -> dict[str, str]:
    """Feature IRIs, each with full or partial."""
    if isinstance(node, yaml.ScalarNode) and node.tag == ENVIRONMENT:
        raise Unusable("can only be set in the settings file")
    if not isinstance(node, yaml.MappingNode):
        raise Unusable(f"must map feature IRIs to full or partial, not be {shape(node)}", node)
    found: dict[str, str] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode) or not _IRI.fullmatch(key.value):
            raise Unusable(f"has a key that is no absolute IRI: {shape(key)}", key)
        if key.value in found:
            raise Unusable(f"names <{key.value}> twice", key)
        if not isinstance(value, yaml.ScalarNode) or value.value not in ("full", "partial"):
            raise Unusable(f"must map <{key.value}> to full or partial, not to {shape(value)}", value)
        found[key.value] = value.value
    return found


def platform_hosts(node: yaml.Node) -> dict[str, str]:
    """Names of platforms by host; in a variable of the environment `HOST=PLATFORM`, commas between."""
    return _by_host(node, re.compile(r"[\w.-]{1,100}"), "the name of a platform")


def tokens(node: yaml.Node) -> dict[str, str]:
    """Headers by host, each with a variable for its secret; in a variable `HOST=HEADER: $NAME`, commas between."""
    return _by_host(
        node, TOKEN, "a header such as `Authorization: Bearer $NAME`, with a variable in place of the secret"
    )


def _by_host(node: yaml.Node, form: re.Pattern[str], what: str) -> dict[str, str]:
    if isinstance(node, yaml.ScalarNode) and node.tag == ENVIRONMENT:
        parts = [part.strip().partition("=") for part in node.value.split(",") if part.strip()]
        pairs = [(yaml.ScalarNode(ENVIRONMENT, host), yaml.ScalarNode(ENVIRONMENT, value)) for host, _, value in parts]
    elif isinstance(node, yaml.MappingNode):
        pairs = node.value
    else:
        raise Unusable(f"must map hosts to {what}, not be {shape(node)}", node)
    found: dict[str, str] = {}
    for key, value in pairs:
        host = text(key).lower()
        if not re.fullmatch(r"[^\s/@]+", host):
            raise Unusable(f"has a key that is no host, with or without a port: {shape(key)}", key)
        if not form.fullmatch(text(value)):
            not_that = "" if form is TOKEN else f", not to {shape(value)}"  # which may be the secret itself
            raise Unusable(f"must map {host} to {what}{not_that}", value)
        found[host] = text(value)
    return found
