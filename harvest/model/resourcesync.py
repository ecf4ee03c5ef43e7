"""
The names of ResourceSync, for whoever writes its documents and whoever reads them.

Source: ResourceSync Framework Specification 1.1 (ANSI/NISO Z39.99-2017), sections 6 to 14; sitemaps.org protocol 0.9.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

SITEMAP: Final = "http://www.sitemaps.org/schemas/sitemap/0.9"
"""Namespace of the elements of sitemaps: urlset, sitemapindex, url, sitemap, loc, lastmod, changefreq."""

RS: Final = "http://www.openarchives.org/rs/terms/"
"""Namespace of `rs:md` and `rs:ln`."""

WELL_KNOWN: Final = "/.well-known/resourcesync"
"""Path of a host's source description. Source: section 6.3.2."""

MEDIA_TYPE: Final = "application/xml"
"""Media type of all its documents."""

MOST_ITEMS: Final = 50_000
"""Most items of one document; with more there are several, and an index. Source: section 7, sitemaps.org."""


class Capability(StrEnum):
    """What a document is for: the `capability` of its `rs:md`."""

    DESCRIPTION = "description"
    CAPABILITY_LIST = "capabilitylist"
    RESOURCE_LIST = "resourcelist"
    RESOURCE_DUMP = "resourcedump"
    RESOURCE_DUMP_MANIFEST = "resourcedump-manifest"
    CHANGE_LIST = "changelist"
    CHANGE_DUMP = "changedump"
    CHANGE_DUMP_MANIFEST = "changedump-manifest"


class ChangeKind(StrEnum):
    """What became of a resource: the `change` of an item's `rs:md`."""

    CREATED = "created"
    UPDATED = "updated"
    DELETED = "deleted"


class Relation(StrEnum):
    """What a link leads to: the `rel` of an `rs:ln`, of a Link header or of a link in HTML."""

    RESOURCESYNC = "resourcesync"
    """From any page or resource to its capability list."""
    UP = "up"
    INDEX = "index"
    DESCRIBED_BY = "describedby"
    CONTENTS = "contents"
    DUPLICATE = "duplicate"
    ALTERNATE = "alternate"
    CANONICAL = "canonical"
    PATCH = f"{RS}patch"
    """To what takes the representation of before to the one of now. Source: section 14.4."""
