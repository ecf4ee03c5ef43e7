"""Becoming a replica: a data directory follows one origin from its first start on."""

from __future__ import annotations

from typing import Final

from harvest.config.following import FollowedInstance, adopted, check_new, found_replica, origin_of
from harvest.config.settings import Settings
from harvest.pipeline.following.origin import graph_base_of_origin
from sparql.errors import ForbiddenError

READING: Final = ("export", "verify", "verify --store", "prune")
"""Commands that a replica carries out: they change no graph."""


def as_replica(settings: Settings) -> Settings:
    """
    The settings of a replica, with what it has from its origin, where `follow` names one; else as they are.

    Raises:
        SettingsError: The data directory was something else before.
        FetchError: The origin, which is asked when the directory is new, does not answer.
        DescriptionError: It is no instance that can be followed.
    """
    if settings.follow and origin_of(settings) is None:
        check_new(settings)
        found_replica(settings, FollowedInstance(settings.follow, graph_base_of_origin(settings)))
    return adopted(settings)


def check_replica(origin: str, command: str) -> None:
    """
    Return when an instance may carry out a command.

    Raises:
        ForbiddenError: It is a replica, whose graphs are those of its origin.
    """
    if origin and command not in READING:
        raise ForbiddenError(
            f"this instance is a read-only replica of {origin}: `harvest {command}` is for that one; what is damaged "
            "here comes again into a new data directory"
        )
