"""What the lists of a source say of its files."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ListedFile:
    """
    What a list of a source says of a file.

    Attributes:
        url: Its address.
        media_type: The type it is said to have, which overrules its extension and what its server says; or None.
        length: Bytes, or None.
        hashes: As (name in `hashlib`, lower-case hex digits).

    Source: ResourceSync 1.1, section 7.2 (`rs:md`).
    """

    url: str
    media_type: str | None = None
    length: int | None = None
    hashes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Listing:
    """
    What the lists of a source say of a dataset.

    Attributes:
        sync_token: Names the state of the dataset that its dumps lead to; None where lists do not say what changes.
        follows: The state that the dumps change; None where they are the whole dataset.
        dumps: What is said of each dump, in their order.
        others: Files of the dataset that are archived and not harvested.
        mirrored: Whether the lists say what was deleted, so that the dataset becomes exactly its dumps.
    """

    sync_token: str | None
    follows: str | None = None
    dumps: tuple[ListedFile, ...] = ()
    others: tuple[ListedFile, ...] = ()
    mirrored: bool = False
