"""The files of config/, for the tests of the settings and of the registry."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

CONFIG = Path(__file__).resolve().parents[1] / "config"


class _Loader(yaml.SafeLoader):
    """Reads dates as text, which is what JSON has and editors check."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def as_json(source: Path | str) -> Any:
    """A YAML file or text as the values that a JSON Schema is applied to."""
    return yaml.load(source.read_text("utf-8") if isinstance(source, Path) else source, _Loader)
