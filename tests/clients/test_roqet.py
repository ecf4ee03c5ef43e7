"""roqet of Rasqal, Debian's `rasqal-utils`."""

from __future__ import annotations

import csv
import io
import subprocess
import xml.etree.ElementTree as ET

from tests.clients.instance import ALL_KINDS, COUNT, KINDS, LONG, MAGNITUDES, PREFIXES
from tests.clients.programs import run
from tests.query.stores import BASE
from tests.web.instance import Server

RESULTS = "{http://www.w3.org/2005/sparql-results#}"
NAMES = f"{PREFIXES} SELECT ?star ?magnitude {{ ?star star:magnitude ?magnitude }} ORDER BY ?magnitude"


def roqet(served: Server, query: str, *words: str) -> subprocess.CompletedProcess[str]:
    words = ("-q", "-p", f"{served.url}/sparql", "-e", query, *words)
    return run("roqet", *words, package="rasqal-utils")


def test_a_table_is_printed_in_every_format(served: Server) -> None:
    """roqet asks for XML and writes the other formats itself."""
    written = roqet(served, NAMES, "-r", "csv")
    assert written.returncode == 0, written.stderr
    rows = list(csv.DictReader(io.StringIO(written.stdout)))
    assert [float(row["magnitude"]) for row in rows] == sorted(MAGNITUDES.values())
    assert roqet(served, NAMES, "-r", "tsv").stdout.startswith("?star\t?magnitude\n<http://stars.example/sirius>\t")
    for form, expected in (("simple", "uri<http://stars.example/vega>"), ("turtle", "rs:ResultSet")):
        assert expected in roqet(served, NAMES, "-r", form).stdout


def test_every_kind_of_term_arrives_as_it_is(served: Server) -> None:
    """Through its own reader and writer of XML."""
    done = roqet(served, ALL_KINDS, "-r", "xml")
    assert done.returncode == 0, done.stderr
    found = {}
    for result in ET.fromstring(done.stdout).iter(f"{RESULTS}result"):
        predicate, value = (binding[0] for binding in result)
        found[predicate.text] = (value.tag.removeprefix(RESULTS), value.text or "")
    kinds = {"NamedNode": "uri", "Literal": "literal"}
    for step, term in KINDS.items():
        kind, text = found.pop(BASE + step)
        if step == "blank":
            assert kind == "bnode"
        elif step == "double":  # It writes numbers anew.
            assert (kind, float(text)) == ("literal", float(term.value))
        else:
            assert (kind, text) == (kinds[type(term).__name__], term.value)
    assert found == {}


def test_graphs_are_chosen_by_its_options(served: Server) -> None:
    """`-D` is a default graph, `-G` a named one."""
    done = roqet(served, COUNT, "-r", "csv", "-D", f"{served.url}/graph/kinds")
    assert done.stdout.split() == ["n", str(len(KINDS))]
    query = "SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } }"
    done = roqet(served, query, "-r", "csv", "-G", f"{served.url}/graph/stars")
    assert done.stdout.split() == ["n", str(len(MAGNITUDES))]


def test_a_refusal_is_an_error(served: Server) -> None:
    """roqet prints the status; of the reason it reads nothing."""
    for query, status in (("SELEC", "400"), ("SELECT * { SERVICE <http://x.example/> { ?s ?p ?o } }", "403")):
        done = roqet(served, query)
        assert done.returncode != 0
        assert f"HTTP status {status}" in done.stderr


def test_a_graph_is_refused_not_misread(served: Server) -> None:
    """From an endpoint roqet takes tables alone."""
    done = roqet(served, "CONSTRUCT WHERE { ?s ?p ?o }")
    assert done.returncode != 0
    assert "HTTP status 406" in done.stderr


def test_a_truncated_result_is_an_error(strict: Server) -> None:
    """roqet fails without printing a single row."""
    done = roqet(strict, LONG, "-r", "csv")
    assert (done.returncode, done.stdout.strip()) == (1, "")
