"""Which graphs an update changed, by comparing a store with its copy: each form of operation."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyoxigraph import Store

from harvest.pipeline.update.evaluating import DEFAULT, changed_graphs
from sparql.protocol.update import carry_out, check, read_update

DATA = """
    INSERT DATA {
        GRAPH <graph/n> { <s> <p> 'n' , 1 , 1.0 , <o> . <t> <p> 'a text that is too long to be kept in a key' }
        GRAPH <graph/o> { <s> <p> 'o' }
        GRAPH <graph/q> { <s> <p> 'q' , 'r' }
    }
"""
BASE = "http://h.example/sparql"

CHANGES = [
    ("", ""),
    ("INSERT DATA { GRAPH <graph/q> { <s> <p> 'q' } }", ""),
    ("INSERT DATA { GRAPH <graph/n> { <s> <p> 2 } }", "n"),
    ("INSERT DATA { GRAPH <graph/new> { <s> <p> 2 } }", "new"),
    ("INSERT DATA { GRAPH <graph/n> { <s> <p> [] } } ; DELETE DATA { GRAPH <graph/q> { <s> <p> 'q' } }", "n q"),
    ("DELETE DATA { GRAPH <graph/n> { <s> <p> 1.0 } }", "n"),
    ("DELETE DATA { GRAPH <graph/n> { <s> <p> 2 } GRAPH <graph/none> { <s> <p> 2 } }", ""),
    ("INSERT DATA { GRAPH <graph/n> { <s> <p> 2 } } ; DELETE DATA { GRAPH <graph/n> { <s> <p> 2 } }", ""),
    ("WITH <graph/q> DELETE { ?s ?p 'q' } INSERT { ?s ?p 't' } WHERE { ?s ?p 'q' }", "q"),
    ("WITH <graph/q> INSERT { GRAPH <graph/n> { ?s ?p 3 } } WHERE { ?s ?p ?o }", "n"),
    ("DELETE { GRAPH ?g { ?s ?p 'q' } } INSERT { GRAPH ?g { ?s ?p 't' } } WHERE { GRAPH ?g { ?s ?p 'q' } }", "q"),
    ("PREFIX x: <graph/> DELETE WHERE { GRAPH x:q { ?s ?p 'q' } }", "q"),
    ("BASE <http://h.example/graph/> DELETEWHERE{GRAPH<q>{?s ?p 'q'}}", "q"),
    ("DELETE # WHERE\n WHERE { GRAPH <graph/\\u0071> { ?s ?p 'q' } }", "q"),
    ("CLEAR GRAPH <graph/q>", "q"),
    ("DROP SILENT GRAPH <graph/q>", "q"),
    ("DROP SILENT GRAPH <graph/none>", ""),
    ("CREATE GRAPH <graph/new>", ""),
    ("CLEAR ALL", "n o q"),
    ("DROP NAMED", "n o q"),
    ("CLEAR DEFAULT", ""),
    ("ADD <graph/o> TO <graph/q>", "q"),
    ("ADD <graph/o> TO DEFAULT", "default"),
    ("COPY <graph/o> TO <graph/q> ; COPY <graph/q> TO <graph/o>", "q"),
    ("MOVE <graph/o> TO <graph/q>", "o q"),
    ("MOVE <graph/q> TO <graph/q>", ""),
    ("COPY SILENT <graph/none> TO <graph/q>", "q"),
    ("INSERT DATA { <s> <p> 1 }", "default"),
]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A store on disk, as readers open it."""
    folder = tmp_path_factory.mktemp("store")
    written = Store(str(folder))
    written.update(DATA, base_iri=BASE)
    written.flush()
    return Store.read_only(str(folder))


def test_graphs_that_are_other_than_before_are_found_and_no_others(store: Store, tmp_path: Path) -> None:
    """Whatever operation changed them, and however the text spells them."""
    for number, (text, expected) in enumerate(CHANGES):
        store.backup(str(tmp_path / str(number)))
        after, update = Store(str(tmp_path / str(number))), read_update(text, BASE)
        check(update)
        carry_out(update, after)
        names = [graph.removeprefix("http://h.example/graph/") for graph in changed_graphs(store, after, update)]
        assert " ".join(name if name != DEFAULT else "default" for name in names) == expected, text
