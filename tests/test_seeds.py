"""Normalised URIs and hashes: a vector for each of the five steps, and for what none of them does."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from hashlib import md5

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harvest.model.seeds import (
    LONGEST,
    download_hash,
    entry_hash,
    is_relative,
    normalised,
    place_graph,
    place_hash,
    public,
    seed_hash,
    unusable,
    without_dots,
)


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("HTTP://Example.ORG/Data", "http://example.org/Data"),
        ("FtP://EXAMPLE.org", "ftp://example.org"),
        ("HTTP://User:PassWord@Example.ORG:8080/A?B=C#D", "http://User:PassWord@example.org:8080/A?B=C#D"),
        ("http://A@B@Example.org/", "http://A@B@example.org/"),
        ("http://[2001:DB8::A]:80/X", "http://[2001:db8::a]:80/X"),
        ("//Example.ORG/Data", "//example.org/Data"),
        ("URN:ISBN:0451450523", "urn:ISBN:0451450523"),
        ("MAILTO:Me@Example.ORG", "mailto:Me@Example.ORG"),
        ("Data/File.TTL", "Data/File.TTL"),
    ],
)
def test_scheme_and_host_are_lower_case(uri: str, expected: str) -> None:
    """Step 2: those two, and not the user, the path, or what merely looks like a host in an opaque URI."""
    assert normalised(uri) == expected


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("http://example.org/a%c3%a9b", "http://example.org/a%C3%A9b"),
        ("http://example.org/a?q=%2f%3a#%3f", "http://example.org/a?q=%2F%3A#%3F"),
        ("http://u%3au@example.org/", "http://u%3Au@example.org/"),
        ("http://%c3%a9.example/", "http://%C3%A9.example/"),
        ("http://example.org/%zz%4", "http://example.org/%zz%4"),
        ("a%2fb", "a%2Fb"),
    ],
)
def test_hexadecimal_digits_are_upper_case(uri: str, expected: str) -> None:
    """Step 3: of percent-encoded octets, anywhere; a bare percent sign begins none."""
    assert normalised(uri) == expected


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("http://example.org/%7Euser", "http://example.org/~user"),
        ("http://example.org/%41%5a%61%7a%30%39%2D%2e%5F%7e", "http://example.org/AZaz09-._~"),
        ("http://example.org/%2F%3F%23%5B%40%21%25%20", "http://example.org/%2F%3F%23%5B%40%21%25%20"),
        ("http://example.org/%2541", "http://example.org/%2541"),
        ("http://ex%61mple.org/?%71=%31#%66", "http://example.org/?q=1#f"),
        ("http://example.org/é%C3%A9", "http://example.org/é%C3%A9"),
    ],
)
def test_octets_of_unreserved_characters_are_decoded(uri: str, expected: str) -> None:
    """Step 4: once, so that `%2541` does not become `A`; reserved and non-ASCII ones stay encoded."""
    assert normalised(uri) == expected


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("http://example.org/a/b/c/./../../g", "http://example.org/a/g"),
        ("http://example.org/../../g", "http://example.org/g"),
        ("http://example.org/a/..", "http://example.org/"),
        ("http://example.org/a/.", "http://example.org/a/"),
        ("http://example.org/a/%2e%2E/b", "http://example.org/b"),
        ("http://example.org/a/...", "http://example.org/a/..."),
        ("http://example.org/a?x=/../y#/./z", "http://example.org/a?x=/../y#/./z"),
        ("../a/./b.ttl", "a/b.ttl"),
        ("./a", "a"),
        ("..", ""),
        ("mid/content=5/../6", "mid/6"),
        ("urn:a/../b", "urn:/b"),
    ],
)
def test_dot_segments_are_removed(uri: str, expected: str) -> None:
    """Step 5, after step 4: from the path alone, and from relative references too."""
    assert normalised(uri) == expected


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("http://BÜCHER.example/", "http://bücher.example/"),
        ("http://XN--BCHER-KVA.example/", "http://xn--bcher-kva.example/"),
        ("http://B%C3%9CCHER.example/", "http://b%C3%9Ccher.example/"),
    ],
)
def test_the_spellings_of_a_host_stay_apart(uri: str, expected: str) -> None:
    """U-labels, A-labels and encoded octets: the steps map case, and nothing else."""
    assert normalised(uri) == expected


@pytest.mark.parametrize(
    "uri",
    [
        "http://example.org",
        "http://example.org/",
        "http://example.org:80/",
        "http://example.org:/",
        "http://example.org//a//",
        "http://example.org/a?",
        "http://example.org/a#",
        "http://example.org/?b=2&a=1",
        "http://www.example.org/index.html",
        "urn:isbn:0451450523",
        "tag:example.org,2005:x",
        "",
        "#",
    ],
)
def test_nothing_else_is_normalised(uri: str) -> None:
    """No port, no slash, no query: another hash than the document's would be of no use."""
    assert normalised(uri) == uri


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/a/b/c/./../../g", "/a/g"), ("mid/content=5/../6", "mid/6"), ("/./", "/"), ("/..", "/"), ("/.", "/"),
        (".", ""), ("a/..", "/"), ("/../x", "/x"), ("a/b/..", "a/"), ("//..//", "//"), ("/.a/..b", "/.a/..b"),
    ],
)  # fmt: skip
def test_dots_are_removed_as_the_standard_has_it(path: str, expected: str) -> None:
    """The first two are the examples of RFC 3986, section 5.2.4."""
    assert without_dots(path) == expected


@given(st.lists(st.sampled_from(["/", ".", "..", "a", "b/", "%2e", "%2E", "%61"]), max_size=12).map("".join))
def test_a_path_that_is_normalised_stays_so(path: str) -> None:
    """Whoever registers the normalised URI of a seed has the same seed."""
    uri = f"http://example.org/{path}"
    assert normalised(normalised(uri)) == normalised(uri)
    assert "/./" not in normalised(uri) and "/../" not in normalised(uri)


@pytest.mark.parametrize(
    ("uri", "relative"),
    [
        ("http://example.org/", False), ("urn:x", False), ("mailto:a@b", False), ("file:///a", False),
        ("data.ttl", True), ("/data.ttl", True), ("//example.org/a", True), ("../a", True), ("?q", True), ("#f", True),
        ("www.example.org/data", True), ("1http://example.org/", True), ("a/b:c", True), ("%68ttp://x/", True),
    ],
)  # fmt: skip
def test_a_uri_without_a_scheme_is_relative(uri: str, relative: bool) -> None:
    """Its machine is missing, so it is registered and counted, and never asked for."""
    assert is_relative(uri) is relative


def test_a_seed_is_named_by_the_md5_of_its_normalised_uri() -> None:
    """Lower-case hex, of the UTF-8 bytes: anybody can compute it."""
    assert seed_hash("HTTP://EXAMPLE.org/a/../%7eb") == md5(b"http://example.org/~b").hexdigest()
    assert seed_hash("http://example.org/é") == md5("http://example.org/é".encode()).hexdigest()


def test_what_comes_of_a_seed_is_named_by_its_parent() -> None:
    """A download by its begin, in UTC whatever its zone; an entry by its name; a place by all names to it."""
    began = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    seed = seed_hash("http://example.org/")
    assert download_hash(seed, began) == md5(f"{seed}-2026-01-02T03:04:05+00:00".encode()).hexdigest()
    assert download_hash(seed, began.astimezone(timezone(timedelta(hours=2)))) == download_hash(seed, began)
    assert entry_hash(seed, "a/b.ttl") == md5(f"{seed}-a/b.ttl".encode()).hexdigest()
    assert place_hash(seed, ("x.zip", "a.nt")) == entry_hash(entry_hash(seed, "x.zip"), "a.nt")
    assert place_hash(seed, ()) == seed
    assert place_graph("http://h/g/", seed, ("a",)) == f"http://h/g/seed-{entry_hash(seed, 'a')}"


@pytest.mark.parametrize(
    ("text", "reason"),
    [("", "empty"), ("a b", "' '"), ("a\tb", r"'\t'"), ("http://x/\udcff", "udcff"), ("a" * (LONGEST + 1), "8,001"),
     ("<http://x/>", "'<'"), ('"x"', "'\"'")],
)  # fmt: skip
def test_a_text_that_is_no_uri_is_refused(text: str, reason: str) -> None:
    """The refusal says what is wrong with the text: a list of a million lines is not looked through by eye."""
    found = unusable(text)
    assert found is not None and reason in found
    assert unusable("http://é.example/[a]?b=c#d") is None


def test_a_password_is_not_shown() -> None:
    """Pages and the metadata graph are public."""
    assert public("http://me:secret@example.org/a@b") == "http://example.org/a@b"
    assert public("mailto:me@example.org") == "mailto:me@example.org"
