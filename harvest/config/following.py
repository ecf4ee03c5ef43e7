"""
Whose replica a data directory is, if it is one: `following.json` in it.

A replica has the graphs, names and versions of its origin. So it takes the `graph_base` of that, and its registry is
the list of the origin's providers, which it writes itself.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from pathlib import Path

from harvest.config.settings import Settings
from harvest.errors import SettingsError


@dataclass(frozen=True, slots=True)
class FollowedInstance:
    """
    The instance that is followed.

    Attributes:
        url: Its address, without a slash at the end.
        graph_base: What the IRIs of its graphs begin with.
    """

    url: str
    graph_base: str


def adopted(settings: Settings) -> Settings:
    """
    The settings of an instance, or of a replica with what it has from its origin.

    Raises:
        SettingsError: The data directory is the replica of another origin than the settings name, or unreadable.
    """
    origin = origin_of(settings)
    if origin is None:
        return settings
    if settings.follow not in ("", origin.url):
        raise SettingsError(
            f"the data directory {settings.data_dir} is a replica of {origin.url}, and {settings.follow} is to be "
            "followed; take another `data_dir` for that"
        )
    registry = settings.layout.following_registry
    return replace(settings, follow=origin.url, graph_base=origin.graph_base, registry=registry, write_back=False)


def origin_of(settings: Settings) -> FollowedInstance | None:
    """
    Whose replica the data directory is, or None.

    Raises:
        SettingsError: The file that says so is damaged.
    """
    path = settings.layout.following
    try:
        known = json.loads(path.read_bytes())
        return FollowedInstance(known["origin"], known["graph_base"])
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SettingsError(f"{path}, which names the origin of this replica, cannot be read: {error}") from error


def check_new(settings: Settings) -> None:
    """
    Return when a data directory may become a replica: nothing was ever harvested in it.

    Raises:
        SettingsError: It has a ledger.
    """
    if settings.layout.ledger.exists():
        raise SettingsError(
            f"{settings.data_dir} holds an instance of its own, and is no replica of {settings.follow}; nothing was "
            "changed: name another `data_dir` for the replica"
        )


def check_founded(settings: Settings) -> None:
    """
    Return when a data directory may be opened: where the settings name an origin, it is a replica.

    Raises:
        SettingsError: It is none yet, or was something else before.
    """
    if settings.follow and origin_of(settings) is None:
        check_new(settings)
        raise SettingsError(
            f"{settings.data_dir} is no replica of {settings.follow} yet; `harvest serve` makes it one at its first "
            "start; nothing was done"
        )


def found_replica(settings: Settings, origin: FollowedInstance) -> None:
    """Have the data directory be the replica of an origin from now on, durably."""
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    write_registry(settings.layout.following_registry, origin.url, ())
    _write(settings.layout.following, json.dumps({"origin": origin.url, "graph_base": origin.graph_base}) + "\n")


def write_registry(path: Path, origin: str, names: tuple[str, ...]) -> None:
    """Write the registry of a replica: the providers of its origin."""
    entries = (f"{name}: {{resourcesync: {origin}/resourcesync/{name}/capabilitylist.xml}}\n" for name in names)
    body = "".join((f"# The providers of {origin}, which this instance follows; written by it.\n", *entries))
    if not path.is_file() or path.read_text("utf-8") != body:
        _write(path, body)


def _write(path: Path, body: str) -> None:
    temporary = path.with_name(f".{path.name}.tmp")
    with temporary.open("w", encoding="utf-8") as stream:
        stream.write(body)
        stream.flush()
        os.fsync(stream.fileno())
    temporary.replace(path)
