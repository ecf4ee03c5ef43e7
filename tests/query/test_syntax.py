"""What a query says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Store

from sparql.errors import ForbiddenError, RequestError, SparqlError
from sparql.protocol.syntax import Grammar, disguise, gist, may_be_relative, read_failure, syntax_error

GRAMMAR = Grammar("http://localhost/sparql")
REMOTE = "<http://127.0.0.1:1/sparql>"
"""No HTTP client connects to port 1: a query that asks it fails with an OSError, and nothing is sent."""

CALLS = [
    f"SELECT * {{ SERVICE {REMOTE} {{ ?s ?p ?o }} }}",
    f"select*{{service{REMOTE}{{?s ?p ?o}}}}",
    f"SELECT * {{ SeRvIcE SILENT {REMOTE} {{ ?s ?p ?o }} }}",
    f"SELECT * {{ SERVICESILENT{REMOTE}{{?s ?p ?o}} }}",
    f"SELECT * {{ SERVICE\n\n{REMOTE}\n{{ ?s ?p ?o }} }}",
    f"SELECT * {{ SERVICE# a comment\n{REMOTE} {{ ?s ?p ?o }} }}",
    f"SELECT * {{ #\rSERVICE {REMOTE} {{ ?s ?p ?o }} }}",
    "PREFIX ex: <http://127.0.0.1:1/> SELECT * { SERVICE ex:x { ?s ?p ?o } }",
    "PREFIX ex: <http://127.0.0.1:1/> SELECT * { SERVICEex:x { ?s ?p ?o } }",
    "PREFIX : <http://127.0.0.1:1/> SELECT * { service:x { ?s ?p ?o } }",
    f"SELECT * {{ BIND(0 AS ?a) FILTER(?a<1)SERVICE#>\n{REMOTE} {{ ?s ?p ?o }} }}",
    f"SELECT * {{ VALUES ?e {{ {REMOTE} }} SERVICE ?e {{ ?s ?p ?o }} }}",
    f"SELECT * {{ ?a ?b '''\\'''' . SERVICE {REMOTE} {{ ?s ?p ?o }} }}",
    f"SELECT * {{ ?a ?b 'x' . # '\n SERVICE {REMOTE} {{ ?s ?p ?o }} }}",
    f"SELECT * {{ OPTIONAL {{ {{ SELECT * {{ SERVICE {REMOTE} {{ ?s ?p ?o }} }} }} }} }}",
    f"SELECT * {{ FILTER EXISTS {{ SERVICE {REMOTE} {{ ?s ?p ?o }} }} }}",
    f"SELECT * {{ ?s ?p ?o MINUS {{ SERVICE {REMOTE} {{ ?s ?p ?o }} }} }}",
    f"SELECT * {{ ?s ?p ?o LATERAL {{ SERVICE {REMOTE} {{ ?s ?p ?o }} }} }}",
    f"ASK {{ SERVICE {REMOTE} {{ ?s ?p ?o }} }}",
    f"DESCRIBE ?s {{ SERVICE {REMOTE} {{ ?s ?p ?o }} }}",
    f"CONSTRUCT {{ ?s ?p ?o }} WHERE {{ SERVICE {REMOTE} {{ ?s ?p ?o }} }}",
    f"SELECT * {{ ?service ?p 'SERVICE' . SERVICE {REMOTE} {{ ?s ?p ?o }} }}",
]
"""All of them make the store ask another endpoint."""

NAMES = [
    "SELECT ?service { ?service ?p ?o }",
    "SELECT $SERVICE { $SERVICE ?p ?o }",
    "SELECT * { ?s a <http://example.org/service> }",
    "SELECT * { ?s a <http://example.org/service#Service> }",
    "SELECT * { ?s a <service> }",
    "SELECT * { ?s ?p 'SERVICE <http://a> {' }",
    'SELECT * { ?s ?p """\nSERVICE <http://a> { ?s ?p ?o }\n""" }',
    "SELECT * { ?s ?p 'x'@service }",
    "SELECT * { ?s ?p ?o } # SERVICE <http://a> { ?s ?p ?o }",
    "# SERVICE\nSELECT * { ?s ?p ?o }",
    "PREFIX service: <http://example.org/> SELECT * { service:service a service:Service }",
    "PREFIX ex: <http://example.org/> SELECT * { ?s ex:service/ex:microservices ?o }",
    "PREFIX sd: <http://www.w3.org/ns/sparql-service-description#> SELECT * { ?s a sd:Service }",
    "SELECT (1 AS ?service) (2 AS ?servicz) {}",
    "SELECT * { _:service ?p ?o }",
    "SELECT * { BIND(2 AS ?a) FILTER(?a < 1) #service>\n }",
]
"""The word is there, and calls nobody."""


@pytest.mark.parametrize("query", CALLS)
def test_service_is_refused_however_it_is_spelt(query: str) -> None:
    """The store would ask any address for whoever asks us."""
    with pytest.raises(ForbiddenError, match="SERVICE"):
        GRAMMAR.refuse_service(query)


@pytest.mark.parametrize("query", NAMES)
def test_the_word_is_not_refused_where_it_is_a_name(query: str) -> None:
    """People query service descriptions and things called services."""
    GRAMMAR.refuse_service(query)


@pytest.mark.parametrize("word", ["\\u0053ERVICE", "\\U00000053ERVICE", "serv\\u0069ce", "S\\u0045RV\\u0049CE"])
def test_the_word_in_escapes_is_refused(word: str) -> None:
    """The specification has escapes undone before parsing; a later store may do so."""
    with pytest.raises(ForbiddenError):
        GRAMMAR.refuse_service(f"SELECT * {{ {word} {REMOTE} {{ ?s ?p ?o }} }}")


def test_an_error_beside_the_word_is_an_error() -> None:
    """The error says where a query about services is mistyped."""
    with pytest.raises(RequestError, match="line 2, column 17"):
        GRAMMAR.refuse_service("SELECT * { ?service\n ?p 'x'  } LIMIT")


PIECES = st.sampled_from(
    [
        *"<>{}()?:;.,#'\"*/|^!=&@_\n 1as",
        "SERVICE",
        "service",
        "SILENT",
        REMOTE,
        "{ ?s ?p ?o }",
        "?a",
        "FILTER(",
        "BIND(1 AS ?b)",
        "OPTIONAL {",
        "UNION",
        "GRAPH",
        "<http://e/service#x>",
        "'''",
        "ex:",
        "serviceex:",
    ]
)


@given(st.lists(PIECES, max_size=12))
def test_what_passes_asks_nobody(pieces: list[str]) -> None:
    """Whatever the store's grammar makes of a text, a call that it finds is one that was refused."""
    query = "PREFIX ex: <http://127.0.0.1:1/> PREFIX serviceex: <http://e/> SELECT * { " + "".join(pieces) + " }"
    try:
        GRAMMAR.refuse_service(query)
        for _ in Store().query(query):
            pass
    except (SparqlError, SyntaxError, ValueError, RuntimeError):
        return


@pytest.mark.parametrize("query", [CALLS[0], CALLS[1], CALLS[8], CALLS[9], CALLS[10]])
def test_the_calls_of_these_tests_are_calls(query: str) -> None:
    """Tests of refusals prove nothing if the store would not have asked."""
    with pytest.raises(OSError):
        list(Store().query(query))


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("SELECT * FROM <http://a/g> { ?s ?p ?o }", True),
        ("SELECT * from named <http://a/g> { GRAPH ?g { ?s ?p ?o } }", True),
        ("ASK FROM<http://a/g>{}", True),
        ("SELECT ?from { ?from <http://a/from> 'FROM <http://a/g>' } # FROM <http://a/g>", False),
        ("SELECT * { ?s ?p ?o }", False),
        ("PREFIX from: <http://a/> SELECT * { ?s from:from ?o }", False),
    ],
)
def test_a_dataset_clause_is_found(query: str, names: bool) -> None:
    """The store's union switch would override it."""
    assert GRAMMAR.names_dataset(query) is names


def test_a_disguise_is_a_word_that_the_text_does_not_have() -> None:
    """Two names must not become one."""
    assert disguise("service", "Service servicz servicy") == "Servicx servicz servicy"


@pytest.mark.parametrize(
    ("query", "line", "column"),
    [
        ("INSERT DATA { <a:b> <a:c> <a:d> }", 1, 1),
        ("SELECT * {\n  ?s ex:p ?o\n}", 2, 6),
        ("SELECT *\n{ ?s ?p ?o }\nLIMIT x", 3, 7),
        ("SELECT", 1, 7),
        ("", 1, 1),
    ],
)
def test_an_error_has_its_place(query: str, line: int, column: int) -> None:
    """The parser's own columns lie behind by the length of a keyword, wherever it expected one."""
    failure = GRAMMAR.failure(query)
    assert failure is not None
    assert (failure.line, failure.column) == (line, column)
    message = syntax_error(query, failure).message
    assert f"line {line}, column {column}" in message
    assert message.splitlines()[-1].strip() == "^"


def test_an_undeclared_prefix_is_reported() -> None:
    """An undeclared prefix is the commonest mistake; its error names the prefix."""
    failure = GRAMMAR.failure("SELECT * { ?s ex:p ?o }")
    assert failure is not None
    assert failure.reason == "the prefix ex: is not declared"


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * { ?s <ex:p> 'ex:p', \"ex:p\", 'x'@en } # ex:p\nLIMIT x",
        "PREFIX ex: <http://a/> SELECT * { ?s ex:p _:b ; ?x: ?o }",
        "PREFIX : <http://a/> SELECT * { ?s :p/^:q 'a\\'ex:b' } LIMIT x",
        'SELECT * { ?s ?p """ex:\nex:p" """ } LIMIT x',
    ],
)
def test_no_other_prefix_is_blamed(query: str) -> None:
    """What looks like one in an IRI, a literal or a comment is none."""
    failure = GRAMMAR.failure(query)
    assert failure is not None
    assert failure.reason == ""


def test_a_message_of_another_form_is_survived() -> None:
    """The parser's messages are not part of its interface."""
    assert read_failure("something else", "ASK {}").line == 1


@pytest.mark.parametrize(
    ("query", "relative"),
    [
        ("SELECT * { <http://example.org/s> ?p ?o }", False),
        ("PREFIX e: <urn:x:> ASK { e:a ?p 1 }", False),
        ("ASK { <s> ?p ?o }", True),
        ("ASK { <> ?p ?o }", True),
        ("PREFIX : <#> ASK { :a ?p ?o }", True),
        ("SELECT (IRI('x') AS ?x) {}", True),
        ("SELECT (uRi ('x') AS ?x) {}", True),
        ("ASK { \\u003Cs> ?p ?o }", True),
        ("BASE <http://example.org/> ASK { <s> ?p ?o }", True),
    ],
)
def test_a_query_that_may_need_the_base_is_known(query: str, relative: bool) -> None:
    """The base is left out where it changes nothing, as it costs as much as a point lookup; never where it does."""
    assert may_be_relative(query) is relative


@pytest.mark.parametrize(
    ("query", "same"),
    [
        ("SELECT  *\n{ ?s ?p ?o }", True),
        ("SELECT * { ?s ?p ?o } # 42", True),
        ("# first\nSELECT * # second\n{ ?s ?p ?o }", True),
        ("SELECT * { ?s ?p ?x }", False),
        ("SELECT * { ?s ?p ?o . ?s ?p '#' }", False),
        ("SELECT * { ?s ?p <http://example.org/#x> }", False),
    ],
)
def test_the_gist_of_a_query_is_that_of_its_twins(query: str, same: bool) -> None:
    """A query that took long is known again when somebody puts a comment behind it, and not taken for another."""
    assert (gist(query) == "SELECT * { ?s ?p ?o }") is same
