"""SPARQL 1.1 Protocol requests."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import parse_qsl, quote, quote_plus, urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparql.errors import MethodRefused, RequestError, SparqlError, UnsupportedMedia
from sparql.protocol.request import FORM, QUERY, UPDATE, HttpRequest, QueryRequest, UpdateRequest, decode, read_request
from sparql.protocol.results import CSV, JSON

ASK = "ASK {}"


def get(*parameters: tuple[str, str], accept: str | None = None) -> QueryRequest | None:
    request = read_request(HttpRequest("GET", urlencode(parameters), accept=accept))
    assert not isinstance(request, UpdateRequest)
    return request


def post(content_type: str, body: bytes, query_string: str = "") -> QueryRequest | None:
    request = read_request(HttpRequest("POST", query_string, content_type, body=body))
    assert not isinstance(request, UpdateRequest)
    return request


def test_a_query_comes_by_get() -> None:
    """Source: SPARQL 1.1 Protocol, section 2.1.1."""
    request = get(("query", "SELECT * { ?s ?p 'ü&+' }"))
    assert request is not None
    assert request.text == "SELECT * { ?s ?p 'ü&+' }"


@pytest.mark.parametrize("content_type", [FORM, f"{FORM}; charset=UTF-8", FORM.upper()])
def test_a_query_comes_as_a_form(content_type: str) -> None:
    """Source: SPARQL 1.1 Protocol, section 2.1.2; browsers add a charset."""
    request = post(content_type, urlencode({"query": ASK, "default-graph-uri": "http://a/g"}).encode())
    assert request is not None
    assert (request.text, request.default_graphs) == (ASK, ("http://a/g",))


def test_a_query_comes_as_the_body() -> None:
    """Source: SPARQL 1.1 Protocol, section 2.1.3; the dataset then stands in the address."""
    request = post(QUERY, "ASK { ?s ?p 'ü' }".encode(), urlencode({"named-graph-uri": "http://a/g"}))
    assert request is not None
    assert (request.text, request.named_graphs) == ("ASK { ?s ?p 'ü' }", ("http://a/g",))


def test_without_a_query_a_get_asks_for_something_else() -> None:
    """The same address gives the description of the endpoint, and the query page."""
    assert get() is None
    assert get(("default-graph-uri", "http://a/g")) is None


def test_an_empty_query_is_a_query() -> None:
    """The parser reports what is wrong with an empty query."""
    request = get(("query", ""))
    assert request is not None
    assert request.text == ""


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (HttpRequest("GET", urlencode([("query", ASK), ("query", ASK)])), RequestError),
        (HttpRequest("POST", "", FORM, body=b"a=b"), RequestError),
        (HttpRequest("POST", urlencode({"query": ASK}), FORM, body=urlencode({"query": ASK}).encode()), RequestError),
        (HttpRequest("POST", urlencode({"query": ASK}), QUERY, body=ASK.encode()), RequestError),
        (HttpRequest("GET", "query=%FF"), RequestError),
        (HttpRequest("POST", "", QUERY, body=b"ASK { ?s ?p '\xff' }"), RequestError),
        (HttpRequest("GET", urlencode({"query": ASK, "default-graph-uri": "no iri"})), RequestError),
        (HttpRequest("GET", urlencode({"query": ASK, "named-graph-uri": ""})), RequestError),
        (HttpRequest("GET", urlencode({"query": ASK, "format": "hologram"})), RequestError),
        (HttpRequest("GET", urlencode({"query": ASK, "timeout": "soon"})), RequestError),
        (HttpRequest("GET", urlencode({"query": ASK, "timeout": "-1"})), RequestError),
        (HttpRequest("GET", urlencode({"query": ASK, "timeout": "nan"})), RequestError),
        (HttpRequest("POST", "", "text/plain", body=ASK.encode()), UnsupportedMedia),
        (HttpRequest("POST", "", "", body=ASK.encode()), UnsupportedMedia),
        (HttpRequest("POST", "", QUERY, body=b"\x1f\x8b", content_coding="gzip"), UnsupportedMedia),
        (HttpRequest("GET", "timeout=1?query=ASK", accept="application/sparql-results+json"), RequestError),
        (HttpRequest("POST", "", f"{QUERY}; charset=utf-16", body=ASK.encode("utf-16")), UnsupportedMedia),
        (HttpRequest("PUT", urlencode({"query": ASK})), MethodRefused),
        (HttpRequest("DELETE", ""), MethodRefused),
    ],
)
def test_what_is_not_the_protocol_is_refused(request_: HttpRequest, error: type[SparqlError]) -> None:
    """Each with the status that the protocol or HTTP has for it."""
    with pytest.raises(error) as caught:
        read_request(request_)
    assert type(caught.value) is error


def form(*parameters: tuple[str, str]) -> bytes:
    return urlencode(parameters).encode()


def updated(request: HttpRequest) -> str:
    found = read_request(request)
    assert isinstance(found, UpdateRequest)
    return found.text()


def test_an_update_comes_as_a_form_and_as_the_body() -> None:
    """Source: SPARQL 1.1 Protocol, sections 2.2.1 and 2.2.2."""
    assert updated(HttpRequest("POST", "", UPDATE, body="CLEAR ALL # ü".encode())) == "CLEAR ALL # ü"
    assert updated(HttpRequest("POST", "", f"{UPDATE}; charset=utf-8", body=b"CLEAR ALL")) == "CLEAR ALL"
    assert updated(HttpRequest("POST", "", FORM, body=form(("update", "CLEAR ALL # ü")))) == "CLEAR ALL # ü"
    # SPARQLWrapper says of updates, too, in what format it wants its results.
    assert updated(HttpRequest("POST", "format=json", FORM, body=form(("update", "CLEAR ALL"), ("output", "json"))))


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (HttpRequest("GET", urlencode({"update": "CLEAR ALL"})), "comes by POST"),
        (HttpRequest("POST", urlencode({"update": "CLEAR ALL"}), FORM, body=b""), "comes by POST"),
        (HttpRequest("POST", urlencode({"update": "CLEAR ALL"}), UPDATE, body=b"CLEAR ALL"), "comes by POST"),
        (HttpRequest("POST", "", FORM, body=form(("update", "CLEAR ALL"), ("update", "CLEAR ALL"))), "and 2 came"),
        (
            HttpRequest("POST", "", FORM, body=form(("update", "CLEAR ALL"), ("query", ASK))),
            "`query` came with an update",
        ),
        (HttpRequest("POST", "", FORM, body=form(("update", ""), ("using-graph-uri", "http://a/g"))), "write USING"),
        (HttpRequest("POST", "using-named-graph-uri=http://a/g", UPDATE, body=b"CLEAR ALL"), "write USING"),
        (
            HttpRequest("POST", "default-graph-uri=http://a/g", UPDATE, body=b"CLEAR ALL"),
            "`default-graph-uri` came with",
        ),
        (HttpRequest("GET", urlencode({"query": ASK, "using-graph-uri": "http://a/g"})), "write USING"),
        (HttpRequest("POST", "", UPDATE, body=b"CLEAR ALL # \xff"), "not UTF-8"),
    ],
)
def test_a_wrong_update_is_reported_to_those_who_may_send_one(request_: HttpRequest, said: str) -> None:
    """To all others it is an update, and refused as such before anybody looks at it."""
    found = read_request(request_)
    assert isinstance(found, UpdateRequest)
    with pytest.raises(RequestError, match=said):
        found.text()


def test_the_format_parameter_wins_over_accept() -> None:
    """A browser cannot set Accept, and SPARQLWrapper sends both."""
    request = get(("query", ASK), ("format", "csv"), accept="application/sparql-results+json")
    assert request is not None
    assert request.formats.solutions is CSV


def test_an_empty_format_parameter_says_nothing() -> None:
    """A form sends all its fields."""
    request = get(("query", ASK), ("format", ""))
    assert request is not None
    assert request.formats.solutions is JSON


def test_a_client_can_say_how_long_it_waits() -> None:
    """The parameter `timeout` is in seconds, also in parts of one."""
    request = get(("query", ASK), ("timeout", "2.5"))
    assert request is not None
    assert request.timeout_s == 2.5


def test_parameters_are_percent_encoded_utf_8() -> None:
    """In their order, each of a name's values; bytes that are no UTF-8 are refused, not replaced."""
    pairs = decode("query=ASK+%7B%7D&empty=&query=%C3%A9%3D%0A")
    assert pairs == [("query", "ASK {}"), ("empty", ""), ("query", "é=\n")]
    with pytest.raises(RequestError, match="percent-encoded UTF-8"):
        decode("query=%E9")


PIECES = st.one_of(
    st.sampled_from(
        ["%", "%%", "=", "==", "&", "&&", "+", "\r", "\n", "\r\n", "=3D", "%3D", "%0A", "%C3%A9", "%c3", "é", " "]
    ),
    st.text("0123456789abcdefABCDEFxyz%=&+_\t\n\r\u00ff", max_size=4),
    st.text(max_size=4).map(quote),
    st.text(max_size=4).map(quote_plus),
)
PARAMETERS = st.lists(PIECES, max_size=12).map("".join)


def check_decoding(encoded: str) -> None:
    """Our decoder gives or refuses what that of the standard library does."""

    def outcome(call: Callable[[], list[tuple[str, str]]]) -> object:
        try:
            return call()
        except (RequestError, ValueError):
            return "refused"

    expected = outcome(lambda: parse_qsl(encoded, keep_blank_values=True, errors="strict"))
    assert outcome(lambda: decode(encoded)) == expected


@settings(max_examples=300)
@given(PARAMETERS)
def test_parameters_are_decoded_as_the_standard_library_does(encoded: str) -> None:
    """Ours is another decoder, for it takes a tenth of the time; nobody may notice, whatever is sent."""
    check_decoding(encoded)


@pytest.mark.long
@settings(max_examples=10_000)
@given(PARAMETERS)
def test_many_parameters_are_decoded_as_the_standard_library_does(encoded: str) -> None:
    """The same comparison as above, for many more parameters."""
    check_decoding(encoded)
