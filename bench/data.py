"""
Generated catalogues: N-Triples that look like real ones, of any size, the same at every run.

An item has eight triples: type, label, date, price, part-of, modified, creator and a link to another catalogue. An
item with an address has a blank node in place of the last three: the link to it, its town and its post code. Items
come in an order that is neither that of their IRIs nor that of canonical lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from math import gcd
from pathlib import Path

TRIPLES_PER_ITEM = 8

_BATCH = 2_000
_GOLDEN = 0x9E3779B97F4A7C15
_KINDS = ("Photograph", "Letter", "Map", "Specimen", "Recording")
_WORDS = ("harbour", "rivière", "Küste", "glacier", "野原", "market", "observatory", "bridge", "orchard", "Ærø")
_TOWNS = ("Aarhus", "Bergen", "Córdoba", "Delft", "Espoo", "Faro", "Graz", "Hull")

_BASE = "http://data.example.org/"
_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
_LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
_DC = "<http://purl.org/dc/terms/"
_SCHEMA = "<http://schema.org/"
_XSD = "^^<http://www.w3.org/2001/XMLSchema#"


@dataclass(frozen=True, slots=True)
class Recipe:
    """
    What a generated file holds.

    Attributes:
        triples: In the whole catalogue; a multiple of 8.
        blank_share: Share of the items that have an address, which is a blank node.
        edition: Changed items have another label, price and post code in every edition; 0 is the first. No price ends
            with a zero, which Jena's TDB2 leaves behind where all of a subject is to be deleted.
        changed: Share of the items that changed since edition 0; the same ones in every edition.
        only: First and end of a range of item numbers, where the file is a part of the catalogue; None for all.
        catalogue: Part of the items' IRIs.
        order: Another number gives the same items in another order.
    """

    triples: int
    blank_share: float = 0.05
    edition: int = 0
    changed: float = 0.01
    only: tuple[int, int] | None = None
    catalogue: str = "c"
    order: int = 0

    @property
    def items(self) -> int:
        """Items in the whole catalogue."""
        return self.triples // TRIPLES_PER_ITEM

    @property
    def name(self) -> str:
        """A file name that no other recipe has."""
        part = "all" if self.only is None else f"{self.only[0]}-{self.only[1]}"
        shares = f"b{self.blank_share:g}-e{self.edition}-x{self.changed:g}"
        return f"{self.catalogue}-{self.triples}-{shares}-{part}-o{self.order}.nt"


def write(recipe: Recipe, target: Path) -> None:
    """Write the N-Triples of a recipe, a batch of items in memory at a time."""
    texts = (_item(recipe, i) for i in _shuffled(recipe))
    with target.open("wb") as out:
        while batch := "".join(islice(texts, _BATCH)):
            out.write(batch.encode())


def _shuffled(recipe: Recipe) -> Iterable[int]:
    """Every item of the recipe once: a multiplicative permutation."""
    first, end = recipe.only or (0, recipe.items)
    count = end - first
    step = int(count * 0.618) + recipe.order * 10 | 1
    while gcd(step, count) != 1:
        step += 2
    return (first + i * step % count for i in range(count))


def _mixed(recipe: Recipe, number: int) -> int:
    """64 bits that look random, and always the same for one item."""
    value = (number + 1) * _GOLDEN ^ hash_of(recipe.catalogue)
    value = (value ^ value >> 31) * _GOLDEN & 0xFFFFFFFFFFFFFFFF
    return value ^ value >> 29


def hash_of(text: str) -> int:
    """A number for a text that is the same in every process."""
    return int.from_bytes(text.encode(), "little") * _GOLDEN & 0xFFFFFFFFFFFFFFFF


def _item(recipe: Recipe, number: int) -> str:
    bits = _mixed(recipe, number)
    changed = (bits >> 8) % 100_000 < recipe.changed * 100_000
    edition = recipe.edition if changed else 0
    item = f"<{_BASE}{recipe.catalogue}/item/{number:08d}>"
    day = f"{1890 + bits % 130}-{1 + bits % 12:02d}-{1 + bits % 28:02d}"
    words = f"{_WORDS[bits % 10]} {_WORDS[bits // 10 % 10]}"
    last = _address if (bits >> 25) % 100_000 < recipe.blank_share * 100_000 else _ending
    return (
        f"{item} {_TYPE} <{_BASE}vocabulary#{_KINDS[bits % 5]}> .\n"
        f'{item} {_LABEL} "View of the {words}, number {number}, edition {edition}"@en .\n'
        f'{item} {_DC}issued> "{day}"{_XSD}date> .\n'
        f'{item} {_SCHEMA}price> "{bits % 5000}.{(bits >> 13) % 10}{edition % 9 + 1}"{_XSD}decimal> .\n'
        f"{item} {_DC}isPartOf> <{_BASE}{recipe.catalogue}/collection/{bits % 997:04d}> .\n"
        + "".join(last(item, number, bits, edition))
    )


def _ending(item: str, number: int, bits: int, edition: int) -> Iterator[str]:
    seconds = f"{bits % 24:02d}:{bits % 60:02d}:{bits % 59:02d}"
    yield f'{item} {_DC}modified> "{2000 + bits % 25}-{1 + bits % 12:02d}-11T{seconds}Z"{_XSD}dateTime> .\n'
    yield f"{item} {_DC}creator> <{_BASE}person/{bits % 50021:06d}> .\n"
    yield f"{item} <http://www.w3.org/2002/07/owl#sameAs> <http://elsewhere.example.net/id/{bits:016x}> .\n"


def _address(item: str, number: int, bits: int, edition: int) -> Iterator[str]:
    yield f"{item} {_SCHEMA}address> _:a{number} .\n"
    yield f'_:a{number} {_SCHEMA}addressLocality> "{_TOWNS[bits % 8]}" .\n'
    yield f'_:a{number} {_SCHEMA}postalCode> "{bits % 90000 + 10000}-{edition}" .\n'
