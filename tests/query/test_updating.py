"""Updates are parsed by the store before anything is done, and done operation by operation."""

from __future__ import annotations

import pyoxigraph
import pytest
from pyoxigraph import Store

from sparql.errors import ForbiddenError, RequestError, SparqlError
from sparql.query.updating import carry_out, check, read_update

BASE = "http://h.example/sparql"
G = "http://h.example/graph/g"


def held(store: Store) -> set[str]:
    """The statements of a store, graph last."""
    return {f"{q.subject} {q.predicate} {q.object} {q.graph_name}" for q in store}


def done(store: Store, text: str) -> set[str]:
    update = read_update(text, BASE)
    check(update)
    carry_out(update, store)
    return held(store)


def refused(text: str) -> SparqlError:
    with pytest.raises(SparqlError) as caught:
        check(read_update(text, BASE))
    return caught.value


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (f"INSERT DATA {{ GRAPH <{G}> {{ <a> <b> ?x }} }}", "line 1, column"),
        (f"CLEAR GRAPH <{G}> ;\nINSERT DATA {{\n GRAPH <{G}> {{ <a> <b> . }} }}", "line 3, column"),
        (f"WITH <{G}>\nINSERT {{ x:y <b> <c> }} WHERE {{}}", "line 2, column 10 (the prefix x: is not declared)"),
        (f"DELETE DATA {{ GRAPH <{G}> {{ <a> <b> _:c }} }}", "line 1, column"),
        (f"WITH <{G}> INSERT {{ <a> <b> <c> }} WHERE {{ FILTER( }}", "line 1, column"),
    ],
)
def test_a_syntax_error_is_told_with_its_place_in_the_request(text: str, place: str) -> None:
    """Operations are parsed one by one, and people see the whole."""
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


def test_the_word_service_may_stand_in_names_and_texts() -> None:
    """It is no text search."""
    check(
        read_update(
            f"PREFIX service: <http://x/> INSERT DATA {{ GRAPH <{G}> {{ service:a <b> 'SERVICE <x> {{' }} }}", BASE
        )
    )


def test_checking_does_nothing() -> None:
    """An operation that would take for ever is only parsed."""
    rows = " ".join(str(i) for i in range(200))
    loops = " ".join(f"VALUES ?v{i} {{ {rows} }}" for i in range(8))
    check(read_update(f"WITH <{G}> INSERT {{ ?v0 ?v1 ?v2 }} WHERE {{ {loops} }}", BASE))


def test_operations_see_what_those_before_them_did_and_their_declarations() -> None:
    """A request is carried out in its order."""
    text = (
        f"PREFIX x: <http://x/> INSERT DATA {{ GRAPH <{G}> {{ x:a x:p 1 }} }} ;\n"
        f"PREFIX y: <http://y/> WITH <{G}> DELETE {{ ?s x:p ?o }} INSERT {{ ?s y:q ?o }} WHERE {{ ?s x:p ?o }}"
    )
    (statement,) = done(Store(), text)
    assert statement == f'<http://x/a> <http://y/q> "1"^^<http://www.w3.org/2001/XMLSchema#integer> <{G}>'


@pytest.mark.parametrize("text", [f"CLEAR GRAPH <{G}>", f"DROP GRAPH <{G}>", f"CREATE GRAPH <{G}>"])
def test_a_graph_that_stands_in_the_registry_may_be_cleared_and_created_while_it_is_empty(text: str) -> None:
    """Whether a graph without triples exists is up to the store. Source: SPARQL 1.1 Update, section 3.2."""
    assert done(Store(), text) == set()


def test_a_graph_with_triples_cannot_be_created_again() -> None:
    """Source: SPARQL 1.1 Update, section 3.2.1."""
    store = Store()
    insert = f"INSERT DATA {{ GRAPH <{G}> {{ <a> <b> <c> }} }}"
    done(store, insert)
    with pytest.raises(RequestError, match="CREATE on line 2 fails"):
        done(store, f"\nCREATE GRAPH <{G}>")
    assert len(done(store, f"CREATE SILENT GRAPH <{G}>")) == 1


def test_a_copy_of_a_graph_that_is_not_there_fails_unless_silent() -> None:
    """A typing error would empty the graph that is written. Source: SPARQL 1.1 Update, section 3.2.3."""
    store = Store()
    done(store, f"INSERT DATA {{ GRAPH <{G}> {{ <a> <b> <c> }} }}")
    for word in ("COPY", "ADD"):
        with pytest.raises(RequestError, match=f"{word} on line 1 fails: there is no graph <http://h.example/typo>"):
            done(store, f"{word} <typo> TO <{G}>")
    assert len(held(store)) == 1
    assert done(store, f"COPY SILENT <typo> TO <{G}>") == set()


def test_a_graph_is_copied_and_moved_onto_itself_unchanged() -> None:
    """Source: SPARQL 1.1 Update, sections 3.2.3 and 3.2.4."""
    store = Store()
    before = done(store, f"INSERT DATA {{ GRAPH <{G}> {{ <a> <b> <c> }} }}")
    assert done(store, f"COPY <{G}> TO <{G}> ; MOVE <{G}> TO <{G}>") == before


def test_the_parser_of_the_store_needs_what_is_done_here() -> None:
    """It takes declarations at the beginning alone; once it takes them everywhere, no request need be cut."""
    with pytest.raises(SyntaxError):
        pyoxigraph.Store().update("CLEAR DEFAULT ; PREFIX x: <http://x/> CLEAR DEFAULT")
