"""How URLs are spelled in a request, and what of them is shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harvest.errors import RefusedError
from harvest.fetch.wire import base_iri, follow, spell, without_userinfo


@pytest.mark.parametrize(
    ("url", "spelled"),
    [
        ("http://example.org", "http://example.org/"),
        ("HTTP://EXAMPLE.org:80/a", "http://example.org:80/a"),
        ("http://example.org/é/ü ß", "http://example.org/%C3%A9/%C3%BC%20%C3%9F"),
        ("http://example.org/%C3%a9/100%", "http://example.org/%C3%a9/100%25"),
        ("https://münchen.example/x", "https://xn--mnchen-3ya.example/x"),
        ("https://m%C3%BCnchen.example/x", "https://xn--mnchen-3ya.example/x"),
        ("https://bücher.例え/", "https://xn--bcher-kva.xn--r8jz45g/"),
        ("http://[2001:DB8::1]:8080/x", "http://[2001:db8::1]:8080/x"),
        ("http://user:secret@example.org/x#part", "http://example.org/x"),
        ("  http://example.org/x\n", "http://example.org/x"),
        ("http://under_score.example/", "http://under_score.example/"),
        ("http://example.org/a/../b//c", "http://example.org/a/../b//c"),
    ],
)
def test_a_url_is_spelled_in_ascii(url: str, spelled: str) -> None:
    """Descriptions hold IRIs, and HTTP carries URIs."""
    assert spell(url).url == spelled


@pytest.mark.parametrize("query", ["a=%7e&b=+", "q=100%", "x=a|b^c{d}", "sig=a%2fb==", "?//?", "'\"<>`\\", "[]"])
def test_a_query_stays_as_it_is(query: str) -> None:
    """Signed links and hand-written servers compare the query byte by byte."""
    assert spell(f"http://example.org/x?{query}").target == f"/x?{query}"


def test_a_query_is_encoded_where_it_could_not_be_sent() -> None:
    """A space would end the request line."""
    assert spell("http://example.org/x?q=é z").target == "/x?q=%C3%A9%20z"


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.org/x",
        "file:///etc/passwd",
        "/x",
        "",
        "http://",
        "http:///x",
        "http://example.org:99999/",
        "http://example.org:x/",
        "http://[::1/",
        "http://[1:2]/",
        "http://exa mple.org/",
        "http://a%2Fb/",
        "http://a%00b/",
        "http://..xn--/",
        "http://-ü-.example/",
        "javascript:alert(1)",
        "mailto:a@example.org",
    ],
)
def test_what_is_no_web_address_is_refused(url: str) -> None:
    """Only http and https have a host that the address guard can judge."""
    with pytest.raises(RefusedError) as caught:
        spell(url)
    assert caught.value.url == url


def test_credentials_are_kept_apart() -> None:
    """They go into a header, for the origin of the URL alone, and never into a log."""
    wire = spell("https://us%40er:p%3Aw@example.org/x")
    assert wire.authorization == "Basic dXNAZXI6cDp3"
    assert wire.origin == ("https", "example.org", 443)
    assert "p%3Aw" not in wire.url


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://u:p@example.org/a@b", "http://example.org/a@b"),
        ("http://example.org/a@b", "http://example.org/a@b"),
        ("http://u:p@ss@example.org/?x=@", "http://example.org/?x=@"),
    ],
)
def test_a_shown_url_has_no_password(url: str, shown: str) -> None:
    """Receipts and findings are public."""
    assert without_userinfo(url) == shown


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("/b", "http://example.org:81/b"),
        ("b?c", "http://example.org:81/dir/b?c"),
        ("//other.example/b", "http://other.example/b"),
        ("https://other.example/#x", "https://other.example/"),
        ("?q", "http://example.org:81/dir/a?q"),
        ("http://u:p@other.example/", "http://other.example/"),
        ("/\xc3\xa9", "http://example.org:81/%C3%A9"),
        ("/\xe9", "http://example.org:81/%E9"),
        ("http://m\xc3\xbcnchen.example/", "http://xn--mnchen-3ya.example/"),
        ("../../../x", "http://example.org:81/x"),
    ],
)
def test_a_location_is_resolved(location: str, target: str) -> None:
    """Servers send relative ones, and raw bytes that http.client reads as Latin-1."""
    wire = follow(spell("http://u:p@example.org:81/dir/a?old"), location)
    assert (wire.url, wire.authorization) == (target, None)


@pytest.mark.parametrize(
    ("url", "base"),
    [
        ("http://example.org/é#x", "http://example.org/é"),
        ("http://Example.org", "http://Example.org"),
        ("http://u:p@example.org/a", "http://example.org/a"),
        ("http://example.org/a b", "http://example.org/a%20b"),
    ],
)
def test_the_base_iri_is_what_was_asked_for(url: str, base: str) -> None:
    """Relative IRIs in a document should come out as its author writes the absolute ones."""
    assert base_iri(url, spell(url)) == base


@given(st.text())
def test_any_text_is_spelled_safely_or_refused(text: str) -> None:
    """Nothing that a provider writes gets a line break or a space into a request."""
    try:
        wire = spell(f"http://example.org/{text}")
    except RefusedError:
        return
    assert all("!" <= char <= "~" for char in wire.url + wire.target)
