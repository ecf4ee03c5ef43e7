"""Handlers of other packages are found, and entries of archives have names."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from pyoxigraph import NamedNode

from harvest.archive.entries import EntryName, entry_named
from harvest.archive.handling import HandlerEntry, Version, contributed
from tests.packages import install

HASH = "0123456789abcdef" * 4


def test_handlers_of_installed_packages_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By their metadata alone: nothing of the package is imported before it is needed."""
    install(tmp_path / "one", monkeypatch, "first", {"b": "first:f", "a": "first:g"}, "raise RuntimeError")
    install(tmp_path / "two", monkeypatch, "second", {"b": "second:f"}, "def f(version): return [version.url]")
    found = contributed()
    assert [(handler.name, handler.package) for handler in found] == [
        ("a", "first 1.2"), ("b", "first 1.2"), ("b", "second 1.2"),
    ]  # fmt: skip
    version = Version("http://x/", HASH, tmp_path, None, "http://x/", datetime(2026, 1, 1, tzinfo=UTC))
    assert list(found[2].load()(version)) == ["http://x/"]
    with pytest.raises(RuntimeError):
        found[0].load()
    assert str(found[0]) == "handler a of first 1.2"


def test_a_handler_must_be_a_function() -> None:
    """Whatever else a reference leads to would fail at each version."""
    assert HandlerEntry("sum", "builtins:sum").load() is sum
    with pytest.raises(TypeError, match="sys:path is no function"):
        HandlerEntry("path", "sys:path").load()


@pytest.mark.parametrize(
    ("layers", "entry", "iri"),
    [
        (("zip",), "data/a.ttl", f"zip:hash://sha256/{HASH}!/data/a.ttl"),
        (("gzip", "tar"), "level1.txt", f"tar:gz:hash://sha256/{HASH}!/level1.txt"),
        (("xz", "gzip", "tar"), "a", f"tar:gz:xz:hash://sha256/{HASH}!/a"),
        (("zip",), "name with spaces.txt", f"zip:hash://sha256/{HASH}!/name%20with%20spaces.txt"),
        (("zip",), "50%#?!/<x>\\", f"zip:hash://sha256/{HASH}!/50%25%23%3F%21/%3Cx%3E%5C"),
        (("zip",), "gr\u00fcn.ttl", f"zip:hash://sha256/{HASH}!/gr\u00fcn.ttl"),
        (("7z",), "/a", f"x-7z:hash://sha256/{HASH}!//a"),
        (("lz4", "cpio"), "a", f"cpio:lz4-framed:hash://sha256/{HASH}!/a"),
    ],
)
def test_an_entry_has_the_name_that_preston_gives_it(layers: tuple[str, ...], entry: str, iri: str) -> None:
    """The name leads back to the entry, and is an IRI as it stands."""
    name = EntryName(layers, HASH, entry)
    assert name.iri == iri and entry_named(iri) == name
    assert NamedNode(iri).value == iri


@pytest.mark.parametrize(
    "text",
    [
        f"hash://sha256/{HASH}",
        f"zip:hash://sha256/{HASH}",
        f"zip:hash://sha256/{HASH}!/",
        f"zip:hash://sha256/{HASH[:-1]}!/a",
        f"zip:hash://md5/{HASH[:32]}!/a",
        "zip:file:///a.zip!/a",
        f"http://x/zip:hash://sha256/{HASH}!/a",
        f"zip:zip:hash://sha256/{HASH}!/a.zip!/",
    ][:-1],
)
def test_other_names_are_none(text: str) -> None:
    """They are asked for as they stand, and refused where nothing answers to them."""
    assert entry_named(text) is None
