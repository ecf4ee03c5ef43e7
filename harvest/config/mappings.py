"""Readers of settings whose keys are not known beforehand."""

from __future__ import annotations

import re
from typing import Final

import yaml

from harvest.config.places import Unusable, shape
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
    if isinstance(node, yaml.ScalarNode) and node.tag == ENVIRONMENT:
        parts = [part.strip().rpartition("=") for part in node.value.split(",") if part.strip()]
        pairs = [(yaml.ScalarNode(ENVIRONMENT, host), yaml.ScalarNode(ENVIRONMENT, name)) for host, _, name in parts]
    elif isinstance(node, yaml.MappingNode):
        pairs = node.value
    else:
        raise Unusable(f"must map hosts to names of platforms, not be {shape(node)}", node)
    found: dict[str, str] = {}
    for key, value in pairs:
        host = text(key).lower()
        if not re.fullmatch(r"[^\s/@]+", host):
            raise Unusable(f"has a key that is no host, with or without a port: {shape(key)}", key)
        if not re.fullmatch(r"[\w.-]{1,100}", text(value)):
            raise Unusable(f"must map {host} to the name of a platform, not to {shape(value)}", value)
        found[host] = text(value)
    return found
