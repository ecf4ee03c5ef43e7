"""
The loader of harvest.yaml and of the HARVEST_* variables that override it.

`READERS` is the one list of settings: its keys are those of the file (a dot is nesting), the variables' names follow
from them, and tests hold it against the dataclasses of harvest.config.settings and against config/harvest.schema.json.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from harvest.config.engine import engine, object_storage, workers
from harvest.config.following import adopted
from harvest.config.mappings import features, platform_hosts, tokens
from harvest.config.nearest import nearest, unknown
from harvest.config.places import Places, Unusable, is_null, is_plain, joined, shape
from harvest.config.settings import (
    FilesetSettings,
    GuardSettings,
    HttpSettings,
    KeepSettings,
    NotifySettings,
    QuerySettings,
    ScheduleSettings,
    SeedSettings,
    Settings,
    WashSettings,
)
from harvest.config.values import (
    ENVIRONMENT,
    boolean,
    duration,
    listed,
    mail_address,
    network,
    number,
    one_of,
    optional,
    server,
    size,
    text,
    web_address,
    whole,
)
from harvest.errors import SettingsError

PREFIX: Final = "HARVEST_"
RESERVED: Final = frozenset({"HARVEST_CONFIG", "HARVEST_REALDATA"})
"""Variables that are no settings: which settings file to read, and where the tests find real data."""

PATHS: Final[Mapping[str, str]] = {"registry": "registry.yaml", "data_dir": "../var", "exports_dir": "../exports"}
"""The defaults of the settings that are paths, relative to the settings file."""

TOKEN_CHARACTERS: Final = 16
"""The shortest operator token: of random characters, as many as nobody guesses over a network."""

_STRING = "tag:yaml.org,2002:str"
_YEAR = 366 * 86400
_MANY = 1_000_000_000


def _path(node: yaml.Node) -> str:
    value = text(node)
    if not value or "\0" in value:
        raise Unusable("must be a path, not empty")
    return value


def _base_url(node: yaml.Node) -> str:
    address = web_address(node)
    if "?" in address or "#" in address:
        raise Unusable(f"must have no query and no fragment: {address!r}")
    return address.rstrip("/")


def _graph_base(node: yaml.Node) -> str:
    address = web_address(node)
    if not address.endswith(("/", "#")):
        raise Unusable(f"must end in / or #, because provider names are put behind it; did you mean {address}/ ?")
    return address


def _bind(node: yaml.Node) -> str:
    match = isinstance(node, yaml.ScalarNode) and re.fullmatch(r"([\w.-]+|\[[0-9a-fA-F:.]+\]):(\d{1,5})", node.value)
    if not match or int(match[2]) > 65535:
        raise Unusable(f"must be host:port, such as 127.0.0.1:8080 or [::1]:8080, not {shape(node)}")
    return match[0]


def _size_or_none(node: yaml.Node) -> int:
    return 0 if isinstance(node, yaml.ScalarNode) and node.value.strip() == "0" else size(node)


def _token(node: yaml.Node) -> str:
    """A secret: its errors do not show it."""
    value = node.value if isinstance(node, yaml.ScalarNode) else None
    if value is None or (is_plain(node) and node.tag not in (_STRING, ENVIRONMENT) and value):
        raise Unusable("must be text; put quotes around it")
    if value and (len(value) < TOKEN_CHARACTERS or not re.fullmatch(r"[A-Za-z0-9._~+/=-]+", value)):
        raise Unusable(
            f"must have at least {TOKEN_CHARACTERS} characters, letters, digits and -._~+/= alone; "
            "`openssl rand -hex 32` makes one"
        )
    return str(value)


READERS: Final[Mapping[str, Callable[[yaml.Node], Any]]] = {
    "base_url": _base_url,
    "bind": _bind,
    "proxies": listed(network),
    "graph_base": _graph_base,
    "registry": _path,
    "write_back": boolean,
    "data_dir": _path,
    "exports_dir": _path,
    "exports_storage": object_storage,
    "exports_url": optional(_base_url),
    "scratch_dir": optional(_path),
    "resource_dumps": boolean,
    "warc": boolean,
    "schedule.update": duration(1, _YEAR),
    "schedule.export": duration(1, _YEAR),
    "schedule.status": duration(1, _YEAR),
    "content": object_storage,
    "store": engine,
    "write": one_of("auto", "delta", "subjects"),
    "workers": workers,
    "http.contact": text,
    "http.connect_s": duration(0.1, 3600),
    "http.read_s": duration(0.1, 86400),
    "http.total_s": duration(1, _YEAR),
    "http.min_rate": _size_or_none,
    "http.min_rate_s": duration(0.1, 86400),
    "http.max_bytes": size,
    "http.parallel": whole(1, 256),
    "http.per_host": whole(1, 256),
    "http.retries": whole(0, 100),
    "http.allow_loopback": boolean,
    "http.robots": one_of("pages", "all", "none"),
    "http.tokens": tokens,
    "guard.floor": whole(0, 1_000_000_000_000),
    "guard.share": number(0, 1),
    "wash.timeout_s": duration(1, _YEAR),
    "wash.memory": size,
    "wash.threshold": number(0, 1),
    "wash.max_bytes": size,
    "wash.max_ratio": number(1, _MANY),
    "wash.max_entries": whole(1, _MANY),
    "wash.max_depth": whole(1, 100),
    "seeds.interval": duration(1, 100 * _YEAR),
    "seeds.max_parallel": whole(1, 256),
    "filesets.platform_hosts": platform_hosts,
    "filesets.doi_resolver": _graph_base,
    "filesets.max_total_size": size,
    "filesets.max_file_count": whole(1, _MANY),
    "filesets.preferred_file_size": size,
    "filesets.archiveorg": _graph_base,
    "filesets.archiveorg_s3": _graph_base,
    "query.timeout_s": duration(0.1, 86400),
    "query.memory": size,
    "query.workers": whole(1, 256),
    "query.max_rows": whole(1, _MANY),
    "query.max_bytes": size,
    "query.union_default_graph": boolean,
    "query.listed_graphs": whole(0, 1000),
    "query.cache": _size_or_none,
    "query.service": listed(web_address),
    "query.operator_token": _token,
    "query.update_timeout_s": duration(0.1, 86400),
    "keep.age": duration(1, 100 * _YEAR),
    "keep.newest": whole(1, _MANY),
    "notify.secret": _token,
    "notify.smtp": server,
    "notify.sender": mail_address,
    "features": features,
    "follow": optional(_base_url),
}

SECTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    "schedule": ScheduleSettings,
    "http": HttpSettings,
    "guard": GuardSettings,
    "wash": WashSettings,
    "seeds": SeedSettings,
    "filesets": FilesetSettings,
    "query": QuerySettings,
    "keep": KeepSettings,
    "notify": NotifySettings,
}


def load_settings(path: Path | None, environ: Mapping[str, str]) -> Settings:
    """
    The settings of a file and of the environment, whose variables win.

    A key is overridden by the variable `HARVEST_` + the key in capitals, with two underscores for nesting:
    `HARVEST_HTTP__ALLOW_LOOPBACK=true`. Relative paths, those of variables too, are relative to the settings file;
    without a file they are what they would be if `config/harvest.yaml` were there and empty.

    Raises:
        SettingsError: The file cannot be read, or a key or value in it or in a variable cannot be used. The message
            has one line, `file:line:column: what is wrong`, for each problem; line and column are those of the first.

    Source: DESIGN "Serving", on the settings.
    """
    file = Path(os.path.abspath(path)) if path else None
    values: dict[str, Any] = dict(PATHS)
    places, variables = Places(str(path)), Places("environment")
    if file:
        values.update(_of_file(file, places))
    values.update(_of_environment(environ, variables))
    if findings := places.fatal + variables.fatal:
        first = findings[0]
        raise SettingsError(joined(findings), url=first.url, line=first.line, column=first.column)
    settings = _settings(values, file)
    if settings.exports_url and not settings.exports_storage:
        raise SettingsError("exports_url says where copies of the exports are read, and exports_storage names none")
    return adopted(settings)


def variable(key: str) -> str:
    """The environment variable that overrides a setting: `http.allow_loopback` is HARVEST_HTTP__ALLOW_LOOPBACK."""
    return PREFIX + key.replace(".", "__").upper()


def _of_file(file: Path, places: Places) -> dict[str, Any]:
    data = places.data(file)
    source = places.decoded(data) if data is not None else None
    root = places.document(source) if source is not None else None
    return _of_mapping(root, "", places) if root is not None else {}


def _of_mapping(node: yaml.Node, section: str, places: Places) -> dict[str, Any]:
    """The usable values of a mapping by dotted key; `section` is empty for the file's root."""
    values: dict[str, Any] = {}
    known = _keys(section)
    for key, (key_node, value_node) in places.entries(node, section or "the settings file").items():
        dotted = f"{section}.{key}" if section else key
        if key not in known:
            where = f" of {section}" if section else ""
            places.report("unknown-key", unknown("key", key, known) + where, key_node.start_mark)
        elif dotted in SECTIONS:
            if not is_null(value_node):  # all of a section may be commented out
                values.update(_of_mapping(value_node, dotted, places))
        else:
            values[dotted] = places.value(value_node, dotted, READERS[dotted])
    return values


def _of_environment(environ: Mapping[str, str], places: Places) -> dict[str, Any]:
    values: dict[str, Any] = {}
    keys = {variable(key): key for key in READERS}
    for name in sorted(environ):
        if not name.startswith(PREFIX) or name in RESERVED:
            continue
        if name in keys:
            node = yaml.ScalarNode(ENVIRONMENT, environ[name])
            values[keys[name]] = _of_variable(name, node, READERS[keys[name]], places)
        else:
            places.report("unknown-key", f"{name} is no setting; the nearest variable is {nearest(name, keys)}")
    return values


def _of_variable(name: str, node: yaml.Node, read: Callable[[yaml.Node], Any], places: Places) -> Any:
    try:
        return read(node)
    except Unusable as error:
        places.report("wrong-value", f"{name} {error.message}")
        return None


def _keys(section: str) -> set[str]:
    """The keys that may stand in a section."""
    if section:
        return {key.removeprefix(section + ".") for key in READERS if key.startswith(section + ".")}
    return {key.split(".")[0] for key in READERS}


def _settings(values: Mapping[str, Any], file: Path | None) -> Settings:
    """The settings of checked values; what is not among them has its default."""
    base = file.parent if file else Path.cwd() / "config"
    top = {key: value for key, value in values.items() if "." not in key}
    paths = (*PATHS, "scratch_dir")
    top |= {key: Path(os.path.normpath(base / values[key])) if values.get(key) else None for key in paths}
    for section, kind in SECTIONS.items():
        prefix = section + "."
        top[section] = kind(**{k.removeprefix(prefix): v for k, v in values.items() if k.startswith(prefix)})
    return Settings(file=file, **top)
