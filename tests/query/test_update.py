"""An update request: how it is parsed and refused, what it does, and which graphs its text cannot write."""

from __future__ import annotations

import time

import pyoxigraph
import pytest
from pyoxigraph import Store

from sparql.errors import ForbiddenError, RequestError, SparqlError
from sparql.protocol.extent import TOKENS
from sparql.protocol.update import MissingGraph, carry_out, check, read_update

BASE = "http://h.example/sparql"
G = "http://h.example/graph/g1"

WRITTEN = [
    f"INSERT DATA {{ GRAPH <{G}> {{ <a> <b> <c> }} }}",
    f"DELETE DATA {{ GRAPH<{G}>{{ <a> <b> <c> }} }}",
    f"DELETE WHERE {{ GRAPH <{G}> {{ ?s ?p ?o }} }}",
    f"DELETE # WHERE {{\n WHERE {{ GRAPH <{G}> {{ ?s ?p ?o }} }}",
    f"DELETEWHERE{{GRAPH<{G}>{{?s ?p ?o}}}}",
    f"DELETE {{ GRAPH <other> {{ ?s ?p 1 }} }} INSERT {{ ?s ?p 2 . GRAPH <{G}> {{ ?s ?p 2 }} }} WHERE {{ ?s ?p 1 }}",
    f"WITH <{G}> DELETE {{ ?s ?p ?o }} WHERE {{ ?s ?p ?o }}",
    f"INSERT {{}} WHERE {{ GRAPH <other> {{ ?s ?p ?o }} }} ; WITH <{G}> INSERT {{ <a> <b> 1 }} WHERE {{}}",
    f"CLEAR SILENT GRAPH <{G}>",
    f"DROP GRAPH <{G}>",
    f"CREATE GRAPH <{G}>",
    f"ADD SILENT GRAPH <other> TO GRAPH <{G}>",
    f"COPY DEFAULT TO <{G}>",
    f"MOVE <{G}> TO <other>",
    "INSERT DATA { GRAPH <graph/g1> { <a> <b> <c> } }",
    "BASE <http://h.example/graph/> CLEAR GRAPH <g1>",
    f"BASE <{G}> CLEAR GRAPH <>",
    "PREFIX x: <http://h.example/graph/> CLEAR GRAPH x:g1",
    "PREFIX x: <http://h.example/graph/g> CLEAR GRAPH x:1",
    f"PREFIX : <{G}> INSERT DATA {{ GRAPH : {{ <a> <b> <c> }} }}",
    "PREFIX p: <http://p/> CLEAR GRAPH <x> ; PREFIX q: <http://h.example/> CLEAR GRAPH q:graph\\/g1 ;",
    "INSERT DATA { GRAPH <http://h.example/graph/\\u00671> { <a> <b> <c> } }",
    f"INSERT DATA {{ GRAPH <x> {{ <a> <b> '}} }} WHERE {{' }} }} ; CLEAR GRAPH <{G}>",
    f"INSERT DATA {{ GRAPH <x> {{ <a;#> <b> '''}} ' \\''' }}''' }} }} # }}\n ; CLEAR GRAPH <{G}>",
    f"INSERT {{}} WHERE {{ ?s ?p ?n FILTER(?n<1 && ?n>0) {{ SELECT ?s {{ ?s ?p ?n }} }} }} ; CLEAR GRAPH <{G}>",
    "INSERT { GRAPH ?g { ?s ?p ?o } } WHERE { GRAPH ?g { ?s ?p ?o } }",
    "DELETE WHERE { GRAPH$g{ ?s ?p ?o } }",
]

READ = [
    "INSERT { GRAPH <x> { ?s ?p ?o } } WHERE { GRAPH <graph/g1> { ?s ?p ?o } }",
    "WITH <x> INSERT { ?s ?p ?o } USING <graph/g1> WHERE { ?s ?p ?o GRAPH ?g { ?s ?p ?o } }",
    "INSERT DATA { GRAPH <x> { <http://h.example/graph/g1> <g1> 'g1' } }",
    "DELETE WHERE { GRAPH <x> { ?s <g1> '\\u0067' } } # g1",
    "CLEAR GRAPH <graph/g> ; DROP ALL",
    "PREFIX g: <http://h.example/log> CLEAR GRAPH g:g",
]


def held(store: Store) -> set[str]:
    """The statements of a store, graph last."""
    return {f"{q.subject} {q.predicate} {q.object} {q.graph_name}" for q in store}


def done(store: Store, text: str) -> set[str]:
    update = read_update(text, BASE)
    check(update)
    carry_out(update, store, [G])
    return held(store)


def refused(text: str) -> SparqlError:
    with pytest.raises(SparqlError) as caught:
        check(read_update(text, BASE))
    return caught.value


def test_a_graph_that_an_operation_writes_is_never_taken_for_one_that_it_cannot() -> None:
    """Every form of SPARQL 1.1 Update, however the graph is spelt; what cannot be written is not compared."""
    for text in WRITTEN:
        check(read_update(text, BASE))
        assert read_update(text, BASE).may_write(G), text
    assert read_update("CLEAR GRAPH <>", BASE).may_write(BASE)


def test_a_graph_that_is_read_or_stands_in_data_is_not_to_be_compared() -> None:
    """To compare a graph of millions would take longer than the update."""
    for text in READ:
        check(read_update(text, BASE))
        assert not read_update(text, BASE).may_write(G), text


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (f"INSERT DATA {{ GRAPH <{G}> {{ <a> <b> ?x }} }}", "line 1, column"),
        (f"CLEAR GRAPH <{G}> ;\nINSERT DATA {{\n GRAPH <{G}> {{ <a> <b> . }} }}", "line 3, column"),
        (f"PREFIX a: <b> CLEAR GRAPH <{G}> ; #\nPREFIX c: <d>\nINSERT DATA {{\n <a> <b> . }}", "line 4, column"),
        (f"WITH <{G}>\nINSERT {{ x:y <b> <c> }} WHERE {{}}", "line 2, column 10 (the prefix x: is not declared)"),
        (f"DELETE DATA {{ GRAPH <{G}> {{ <a> <b> _:c }} }}", "line 1, column"),
        (f"WITH <{G}> INSERT {{ <a> <b> <c> }} WHERE {{ FILTER( }}", "line 1, column"),
        ("SELECT * { ?s ?p ?o }", "line 1, column 1"),
        (f"CLEAR GRAPH <{G}> ;\nCLEAR", "line 2, column"),
        ("PREFIX x <http://x/> CLEAR ALL", "line 1, column"),
        (f"INSERT DATA {{ GRAPH <{G}> {{ <a> <b> <c> }}", "line 1, column"),
        ("INSERT DATA { { <a> <b> <c> } }", "line 1, column"),
        ("} CLEAR ALL {", "line 1, column"),
        ("INSERT DATA { <a> <b> _:a } ; INSERT DATA { <a> <b> _:a }", "_:a cannot be shared"),
    ],
)
def test_a_syntax_error_is_reported_with_its_place_in_the_request(text: str, place: str) -> None:
    """The operations of a request are parsed one by one, and people see the whole request."""
    error = refused(text)
    assert isinstance(error, RequestError)
    assert error.message.startswith("The update does not parse near ") and place in error.message


@pytest.mark.parametrize(
    "where",
    ["SERVICE <http://x/> { ?s ?p ?o }", "SERVICE SILENT ?e { ?s ?p ?o }", "{ SELECT * { SERVICEx:y { ?s ?p ?o } } }"],
)
def test_service_is_refused_by_parsing(where: str) -> None:
    """Also where the grammar of the store takes what looks like a name for the keyword."""
    error = refused(f"PREFIX x: <http://x/> CLEAR GRAPH <{G}> ; WITH <{G}> INSERT {{ ?s ?p ?o }} WHERE {{ {where} }}")
    assert isinstance(error, ForbiddenError)
    assert "SERVICE is refused" in error.message


@pytest.mark.parametrize("load", ["LOAD <http://x/>", "load SILENT<http://x/>INTO GRAPH<g>", "LOADx:y INTO GRAPH x:z"])
def test_load_is_refused_by_parsing_with_what_to_do_instead(load: str) -> None:
    """What is downloaded is a provider's, with everything that guards a download."""
    error = refused(f"PREFIX x: <http://x/> INSERT DATA {{ GRAPH <{G}> {{ x:load x:p 'LOAD' }} }} ;\n{load}")
    assert isinstance(error, ForbiddenError)
    assert "LOAD is refused (line 2)" in error.message and "`dump`" in error.message


def test_the_words_load_and_service_may_stand_in_names_and_texts() -> None:
    """The keywords are found by parsing, not by searching the text."""
    check(
        read_update(
            f"PREFIX service: <http://load/> INSERT DATA {{ GRAPH <{G}> {{ service:load <b> 'SERVICE <x> {{' }} }}",
            BASE,
        )
    )


def test_checking_does_nothing() -> None:
    """An operation that would take for ever is only parsed."""
    rows = " ".join(str(i) for i in range(200))
    loops = " ".join(f"VALUES ?v{i} {{ {rows} }}" for i in range(8))
    check(read_update(f"WITH <{G}> INSERT {{ ?v0 ?v1 ?v2 }} WHERE {{ {loops} }}", BASE))


def test_operations_see_what_those_before_them_did_and_their_declarations() -> None:
    """A request is carried out in its order; what looks like a declaration in a text or a comment is none."""
    text = (
        "# ; BASE <http://no/>\nPREFIX x: <http://x/>"
        f" INSERT DATA {{ GRAPH <{G}> {{ x:a x:p '; PREFIX x: <y>' ; x:q 1 }} }} ;"
        f"# PREFIX\nPREFIX y: # <\n <http://y/> WITH <{G}> DELETE {{ ?s x:q ?o }} INSERT {{ ?s y:q ?o }}"
        " WHERE { ?s x:q ?o } ; base<http://z/>PREFIX x:<http://xx/>"
        f" INSERT DATA {{ GRAPH <{G}> {{ <a> x:p y:b }} }};"
    )
    assert done(Store(), text) == {
        f'<http://x/a> <http://x/p> "; PREFIX x: <y>" <{G}>',
        f'<http://x/a> <http://y/q> "1"^^<http://www.w3.org/2001/XMLSchema#integer> <{G}>',
        f"<http://z/a> <http://xx/p> <http://y/b> <{G}>",
    }


@pytest.mark.parametrize(
    "text",
    [
        f"CLEAR GRAPH <{G}>",
        f"DROP GRAPH <{G}>",
        f"CREATE GRAPH <{G}>",
        f"CREATE GRAPH <{G}> ; DROP GRAPH <{G}>",
        f"DROP SILENT GRAPH <{G}> ; CREATE GRAPH <{G}>",
        f"COPY <{G}> TO <other>",
        "",
        "# nothing",
        "PREFIX x: <http://x/>",
    ],
)
def test_a_graph_that_stands_in_the_registry_may_be_cleared_and_created_while_it_is_empty(text: str) -> None:
    """Whether a graph without triples exists is up to the store. Source: SPARQL 1.1 Update, section 3.2."""
    assert done(Store(), text) == set()
    store = Store()
    store.add_graph(pyoxigraph.NamedNode(G))
    assert done(store, text) == set()


def test_a_graph_with_triples_cannot_be_created_again() -> None:
    """Source: SPARQL 1.1 Update, section 3.2.1."""
    store = Store()
    insert = f"INSERT DATA {{ GRAPH <{G}> {{ <a> <b> <c> }} }}"
    done(store, insert)
    with pytest.raises(RequestError, match=f"The update fails: The graph <{G}> already exists"):
        done(store, f"\nCREATE GRAPH <{G}>")
    assert len(done(store, f"CREATE SILENT GRAPH <{G}>")) == 1


def test_a_copy_of_a_graph_that_is_not_there_fails_unless_silent() -> None:
    """A typing error would empty the graph that is written. Source: SPARQL 1.1 Update, section 3.2.3."""
    for text in ("COPY <typo> TO", "ADD GRAPH <typo> TO GRAPH", "CLEAR DEFAULT ; copy<typo>to", "MOVE <typo> TO"):
        store = Store()
        done(store, f"INSERT DATA {{ GRAPH <{G}> {{ <a> <b> 'COPY <no> TO' }} }}")
        with pytest.raises(MissingGraph, match=r"there is no graph <http://h\.example/typo>"):
            done(store, f"{text} <{G}>")
    made = f"INSERT DATA {{ GRAPH <made> {{ <a> <b> 1 }} }} ; COPY <made> TO <{G}>"
    assert len(done(store, made)) == 2
    assert len(done(store, f"COPY SILENT <typo> TO <{G}>")) == 1


def test_a_graph_is_copied_and_moved_onto_itself_unchanged() -> None:
    """Source: SPARQL 1.1 Update, sections 3.2.3 and 3.2.4."""
    store = Store()
    before = done(store, f"INSERT DATA {{ GRAPH <{G}> {{ <a> <b> <c> }} }}")
    assert done(store, f"COPY <{G}> TO <{G}> ; MOVE <{G}> TO <{G}>") == before


def test_a_long_request_is_read_in_a_moment() -> None:
    """8 MB are the most that the front takes; a regular expression that goes back and forth would take hours."""
    lines = "".join(f'<http://x/{i}> <http://p> "{i} \\" ; }}" ; <q> {i}.5e3 .\n' for i in range(20_000))
    began = time.monotonic()
    long = read_update(f"INSERT DATA {{ GRAPH <{G}> {{ {lines} }} }}", BASE)
    check(long)
    assert long.may_write(G) and not long.may_write("http://h.example/graph/xyz")
    for piece in ("\\' ''", '\\"', "a.", "1a.", "<a", "a:b.", "-a", "?a.", "\\", "%", '"" ', "''' ", "; #", "{", "}"):
        for quote in ("", '"', "'''", '"""'):
            assert read_update("INSERT DATA { GRAPH <g1> { <a> <b> " + quote + piece * 30_000, BASE).may_write(G)
    assert time.monotonic() - began < 60


def test_an_update_of_more_tokens_than_can_be_parsed_is_refused() -> None:
    """Data are not counted, as they take no stack."""
    data = f"INSERT DATA {{ GRAPH <{G}> {{ {'<a> <b> 1 . ' * (TOKENS // 4)} }} }} ; DELETE WHERE {{ GRAPH <x> {{ "
    check(read_update(f"{data} ?s ?p ?o }} }}", BASE))
    with pytest.raises(RequestError, match="tokens"):
        check(read_update(f"{data} {'?s ?p ?o . ' * (TOKENS // 4)} }} }}", BASE))


def test_the_parser_of_the_store_needs_what_is_done_here() -> None:
    """It takes declarations at the beginning alone; once it takes them everywhere, no request need be cut."""
    with pytest.raises(SyntaxError):
        pyoxigraph.Store().update("CLEAR DEFAULT ; PREFIX x: <http://x/> CLEAR DEFAULT")
