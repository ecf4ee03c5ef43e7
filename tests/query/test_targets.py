"""Which graph an update writes to: each form of operation, and texts that look like another one."""

from __future__ import annotations

import time

import pytest

from sparql.errors import ForbiddenError, RequestError
from sparql.query.targets import MOST, operations
from sparql.query.updating import read_update

BASE = "http://h.example/sparql"
G = "http://h.example/graph/g"

ONE = [
    f"INSERT DATA {{ GRAPH <{G}> {{ <a> <b> <c> }} }}",
    f"DELETE DATA {{ GRAPH <{G}> {{ <a> <b> <c> }} }}",
    f"DELETE WHERE {{ GRAPH <{G}> {{ ?s ?p ?o }} }}",
    f"INSERT {{ GRAPH <{G}> {{ ?s ?p ?o }} }} WHERE {{ GRAPH <other> {{ ?s ?p ?o }} }}",
    f"DELETE {{ GRAPH <{G}> {{ ?s ?p ?o }} }} WHERE {{ GRAPH ?any {{ ?s ?p ?o }} }}",
    f"DELETE {{ GRAPH <{G}> {{ ?s ?p 1 }} }} INSERT {{ GRAPH <{G}> {{ ?s ?p 2 }} }} WHERE {{ ?s ?p 1 }}",
    f"WITH <{G}> DELETE {{ ?s ?p ?o }} WHERE {{ ?s ?p ?o }}",
    f"WITH <{G}> INSERT {{ ?s ?p 1 }} WHERE {{ ?s ?p ?o }}",
    f"WITH <{G}> DELETE {{ ?s ?p 1 }} INSERT {{ ?s ?p 2 }} USING <u> USING NAMED <n> WHERE {{ ?s ?p 1 }}",
    f"WITH <other> DELETE {{ GRAPH <{G}> {{ ?s ?p ?o }} }} WHERE {{ ?s ?p ?o }}",
    f"WITH <{G}> INSERT {{ <a> <b> <c> . GRAPH <{G}> {{ <d> <e> <f> }} <g> <h> <i> }} WHERE {{}}",
    f"CLEAR GRAPH <{G}>",
    f"CLEAR SILENT GRAPH <{G}>",
    f"DROP GRAPH <{G}>",
    f"DROP SILENT GRAPH <{G}>",
    f"CREATE GRAPH <{G}>",
    f"CREATE SILENT GRAPH <{G}>",
    f"ADD <other> TO <{G}>",
    f"ADD SILENT GRAPH <other> TO GRAPH <{G}>",
    f"COPY <other> TO <{G}>",
    f"COPY DEFAULT TO <{G}>",
    f"MOVE <{G}> TO <{G}>",
    f"insert data {{ graph <{G}> {{ <a> <b> <c> }} }}",
    "INSERT DATA { GRAPH <graph/g> { <a> <b> <c> } }",
    "BASE <http://h.example/graph/> CLEAR GRAPH <g>",
    "PREFIX x: <http://h.example/graph/> CLEAR GRAPH x:g",
    "PREFIX : <http://h.example/graph/g> INSERT DATA { GRAPH : { <a> <b> <c> } }",
    f"PREFIX p: <http://p/> CLEAR GRAPH <{G}> ; PREFIX q: <http://h.example/> CLEAR GRAPH q:graph\\/g ;",
    f"INSERT DATA {{ GRAPH <{G}> {{ <a> <b> '}} }} ; CLEAR ALL' }} }}",
    f"INSERT DATA {{ GRAPH <{G}> {{ <a> <b> '''}} \n' }} ; CLEAR ALL''' }} }}",
    f'INSERT DATA {{ GRAPH <{G}> {{ <a> <b> """}} " "" }} ; CLEAR ALL\\"""" }} }}',
    f"INSERT DATA {{ GRAPH <{G}> {{ <a;CLEAR#ALL> <b> <c> }} }} # ; CLEAR ALL",
    f"INSERT DATA {{ GRAPH <{G}> {{ <a> <b> <c> # }} }} ; CLEAR ALL\n }} }}",
    f"WITH <{G}> INSERT {{ ?s <b> ?n }} WHERE {{ ?s ?p ?n FILTER(?n<1 && ?n>0) {{ SELECT ?s {{ ?s ?p ?n }} }} }}",
    f"INSERT DATA {{ GRAPH <{G}> {{ <a> <b> [ <c> ( 1 2 ) ] , 'x'@en , '1'^^<t> ; a <d> }} }}",
    f"WITH <{G}> INSERT {{ <GRAPH> <b> ?GRAPH }} WHERE {{ <a> <b> ?GRAPH }}",
    "INSERT DATA { GRAPH <http://h.example/graph/\\u0067> { <a> <b> <c> } }",
    f"INSERT DATA {{ GRAPH <{G}> {{ _:a <b> _:a }} }} ; INSERT DATA {{ GRAPH <{G}> {{ _:b <b> '_:a' }} }}",
    f"INSERT DATA {{ GRAPH <{G}> {{ _:a <b> 1 }} }} ; WITH <{G}> INSERT {{ _:a <b> 2 }} WHERE {{}}",
]

REFUSED = [
    ("", "no graph"),
    ("# nothing", "no graph"),
    ("PREFIX x: <http://x/>", "no graph"),
    (f"WITH <{G}> DELETE {{}} INSERT {{}} WHERE {{ ?s ?p ?o }}", "no graph"),
    ("INSERT DATA { <a> <b> <c> }", "default graph (line 1)"),
    ("INSERT DATA {\n <a> <b> <c> }", "default graph (line 2)"),
    ("DELETE WHERE { ?s ?p ?o }", "default graph"),
    (f"DELETE WHERE {{ GRAPH <{G}> {{ ?s ?p ?o }} ?a ?b ?c }}", "default graph"),
    ("INSERT { ?s ?p ?o } USING <u> WHERE { ?s ?p ?o }", "default graph"),
    ("CLEAR DEFAULT", "default graph"),
    ("DROP DEFAULT", "default graph"),
    (f"MOVE DEFAULT TO <{G}>", "several|default graph"),
    (f"ADD <{G}> TO DEFAULT", "default graph"),
    ("CLEAR ALL", "all graphs (line 1: ALL)"),
    ("DROP SILENT NAMED", "all graphs (line 1: NAMED)"),
    ("INSERT { GRAPH ?g { ?s ?p ?o } } WHERE { GRAPH ?g { ?s ?p ?o } }", "the graph ?g (line 1)"),
    ("DELETE WHERE { GRAPH $g { ?s ?p ?o } }", "the graph $g"),
    (f"CLEAR GRAPH <{G}> ;\nCLEAR GRAPH <{G}2>", f"<{G}> (line 1) and to <{G}2> (line 2)"),
    (f"INSERT DATA {{ GRAPH <{G}> {{ <a> <b> <c> }} GRAPH <other> {{ <a> <b> <c> }} }}", "a request for each graph"),
    (f"WITH <{G}> INSERT {{ <a> <b> <c> . GRAPH <other> {{ <d> <e> <f> }} }} WHERE {{}}", "a request for each graph"),
    (f"MOVE <other> TO <{G}>", "a request for each graph"),
    ("CLEAR GRAPH x:g", "the prefix x: is not declared"),
    ("CLEAR GRAPH", "line 1, column 12"),
    ("CLEAR", "line 1, column 6"),
    ("SELECT * { ?s ?p ?o }", "an operation must begin here"),
    (f"INSERT DATA {{ GRAPH <{G}> {{ <a> <b> <c> }}", "the request ends here too early"),
    (f"CLEAR GRAPH <{G}> CLEAR GRAPH <{G}>", "`;` must stand here"),
    (f"WITH <{G}> CLEAR ALL", "DELETE or INSERT must follow WITH"),
    (f"ADD <{G}> <{G}>", "TO must stand here"),
    (f"WITH <{G}> INSERT {{ <a> <b> <c> }}", "WHERE must stand here"),
    ("PREFIX x <http://x/> CLEAR ALL", "a prefix and `:` must follow PREFIX"),
    (f"INSERT DATA {{ GRAPH <{G}> {{ _:a <b> 1 }} }} ; INSERT DATA {{ GRAPH <{G}> {{ _:a <b> 2 }} }}", "label _:a"),
    ("BASE x:y CLEAR ALL", "an IRI must stand here"),
]


@pytest.mark.parametrize("text", ONE)
def test_the_graph_that_an_operation_writes_to_is_found(text: str) -> None:
    """Every form of SPARQL 1.1 Update, with what may stand in strings, comments and IRIs."""
    assert read_update(text, BASE).graph == G


@pytest.mark.parametrize(("text", "said"), REFUSED)
def test_what_does_not_name_one_graph_is_refused(text: str, said: str) -> None:
    """Before anything happens, with the place."""
    with pytest.raises(RequestError) as caught:
        read_update(text, BASE)
    assert any(part in caught.value.message for part in said.split("|")), caught.value.message


def test_load_is_refused_and_told_what_to_do_instead() -> None:
    """What is downloaded is a provider's, with everything that guards a download."""
    with pytest.raises(ForbiddenError, match=r"LOAD is refused \(line 2, column 1\).*`dump`"):
        read_update(f"CLEAR GRAPH <{G}> ;\nLOAD SILENT <http://x/> INTO GRAPH <{G}>", BASE)


def test_operations_know_their_places_and_what_is_declared_before_them() -> None:
    """The store takes declarations at the beginning alone, so each operation is sent with its own."""
    text = "PREFIX a: <http://a/> CLEAR GRAPH a:x ;\nPREFIX b: <http://b/>\nADD SILENT b:y TO a:x ;"
    first, second = operations(text)
    assert text[first.start : first.end] == "CLEAR GRAPH a:x"
    assert text[second.start : second.end] == "ADD SILENT b:y TO a:x"
    assert [text[start:end] for start, end in second.declared] == ["PREFIX a: <http://a/>", "PREFIX b: <http://b/>"]
    assert (second.kind, second.silent, second.source and second.source.text) == ("ADD", True, "b:y")


def test_a_long_request_is_read_in_a_moment() -> None:
    """8 MB are the most that the front takes; a regular expression that goes back and forth would take hours."""
    lines = "".join(f'<http://x/{i}> <http://p> "{i} \\" ; }}" ; <q> {i}.5e3 .\n' for i in range(60_000))
    began = time.monotonic()
    assert read_update(f"INSERT DATA {{ GRAPH <{G}> {{ {lines} }} }}", BASE).graph == G
    for piece in ("\\' ''", '\\"', "a.", "1a.", "<a", "a:b.", "-a", "?a.", "\\", "%", '"" ', "''' "):
        for quote in ("", '"', "'''", '"""'):
            with pytest.raises(RequestError):
                read_update("INSERT DATA { GRAPH <g> { <a> <b> " + quote + piece * 30_000, BASE)
    assert time.monotonic() - began < 30


def test_more_operations_than_anybody_writes_are_refused() -> None:
    """Each is parsed with all that was declared before it."""
    with pytest.raises(RequestError, match="more than 10,000 operations"):
        read_update(f"CLEAR GRAPH <{G}> ;" * (MOST + 1), BASE)
