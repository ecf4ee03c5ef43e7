"""RDF/XML: what is good is read fast, what is bad costs its own statements, and nothing is invented."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from pathlib import Path

import pyoxigraph
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import RdfFormat

from harvest.wash.problems import Problems
from harvest.wash.process import Bounds, call
from harvest.wash.structured import rdfxml
from harvest.wash.structured.patient import read_patiently
from harvest.wash.structured.wellformed import DEPTH
from tests.realdata import realdata
from tests.wash.texts import BASE, Outcome, comparable, damaged, outcome, text_of

HEAD = b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/">\n'
TAIL = b"</rdf:RDF>\n"

OTHERWISE = {"xml-canon/test001.rdf", "xml-canon/test002.rdf"}
"""Files with an XML literal into which pyoxigraph writes more namespaces than exclusive canonicalisation leaves."""


def read(body: bytes, head: bytes = HEAD) -> Outcome:
    """What a body gives inside `rdf:RDF`."""
    return outcome(rdfxml.transcribe, head + body + TAIL)


def suite() -> Iterator[tuple[str, Path, str, Path | None]]:
    """Kind, file, URL and expected result of each W3C test of RDF/XML."""
    folder = realdata() / "w3c/rdf/rdf11/rdf-xml"
    base = "https://w3c.github.io/rdf-tests/rdf/rdf11/rdf-xml/"
    found: dict[str, dict[str, str]] = {}
    for quad in pyoxigraph.parse(path=folder / "manifest.ttl", base_iri=base + "manifest.ttl"):
        if isinstance(quad.object, pyoxigraph.NamedNode):
            found.setdefault(str(quad.subject), {})[quad.predicate.value.rpartition("#")[2]] = quad.object.value
    for entry in found.values():
        if "action" in entry:
            result = folder / entry["result"].removeprefix(base) if "result" in entry else None
            yield entry["type"].rpartition("#")[2], folder / entry["action"].removeprefix(base), entry["action"], result


def test_valid_documents_of_the_w3c_give_their_triples_by_either_parser() -> None:
    """The strict parser reads all 126 but two literals; the patient one, alone, reads every one as it is meant."""
    otherwise, count = set(), 0
    for kind, path, url, result in suite():
        if "Negative" in kind or result is None:
            continue
        count += 1
        expected = comparable(pyoxigraph.parse(result.read_bytes(), format=RdfFormat.N_TRIPLES))
        found = outcome(rdfxml.transcribe, path.read_bytes(), url)
        assert not found.kinds
        if found.triples() != expected:
            otherwise.add(f"{path.parent.name}/{path.name}")
        again, problems = io.BytesIO(), Problems()
        assert read_patiently(path.read_bytes(), url, again, problems) is None
        assert not problems.counts
        assert comparable(pyoxigraph.parse(again.getvalue(), format=RdfFormat.N_TRIPLES)) == expected, path
    assert count >= 120
    assert otherwise == OTHERWISE


def test_each_invalid_document_of_the_w3c_has_a_problem_with_a_place() -> None:
    """All 40 are refused by the strict parser, and the patient one says which element is wrong."""
    count = 0
    for kind, path, url, _ in suite():
        if "Negative" in kind:
            count += 1
            found = outcome(rdfxml.transcribe, path.read_bytes(), url)
            assert found.kinds == {"fallback": 1, "syntax": 1}, path
            assert None not in (found.the("syntax").line, found.the("syntax").column, found.the("syntax").excerpt)
    assert count == 40


@pytest.mark.parametrize(
    ("name", "triples", "kinds"),
    [
        ("SEMICeu__DCAT-AP__releases_1.2_dcat-ap_1.2.rdf", 548, {}),
        ("SEMICeu__DCAT-AP__releases_2.0.0_dcat-ap_2.0.0.rdf", 770, {"fallback": 1, "invalid-iri": 2}),
        ("SEMICeu__DCAT-AP__releases_2.1.0_dcat-ap_2.1.0.rdf", 749, {"syntax": 4, "cut-off": 1}),
        ("dcmi__vocabtool__build_dcelements.rdf", 138, {"fallback": 1}),
        ("dcmi__vocabtool__build_dcterms.rdf", 866, {"fallback": 1}),
    ],
)
def test_messy_files_are_read_as_far_as_they_are_rdf(name: str, triples: int, kinds: dict[str, int]) -> None:
    """Official vocabularies: bad IRIs cost themselves, single-quoted entities nothing, a missing end tag the rest."""
    data = (realdata() / "messy" / name).read_bytes().removeprefix(b"\xef\xbb\xbf")
    found = outcome(rdfxml.transcribe, data)
    assert (len(found.lines), found.kinds) == (triples, kinds)
    assert all(problem.line and problem.excerpt for problem in found.problems.first)


def test_an_invalid_subject_costs_its_statements_and_invents_none() -> None:
    """pyoxigraph goes on after it with `_:b rdf:type e:p`, which nobody said."""
    found = read(
        b'<e:A rdf:about="http://e/a"><e:p>1</e:p></e:A>\n'
        b'<e:A rdf:about="http://e/ b"><e:p>2</e:p><e:q rdf:resource="http://e/c"/></e:A>\n'
        b'<e:A rdf:about="http://e/d"><e:p>3</e:p></e:A>\n'
    )
    assert b"".join(sorted(found.lines)) == (
        b'<http://e/a> <http://e/p> "1" .\n'
        b"<http://e/a> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://e/A> .\n"
        b'<http://e/d> <http://e/p> "3" .\n'
        b"<http://e/d> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://e/A> .\n"
    )
    assert found.kinds == {"fallback": 1, "invalid-iri": 3}
    assert (found.the("fallback").line, found.the("fallback").column) == (3, 1)
    assert {problem.line for problem in found.problems.first} == {3}


def test_an_invalid_language_costs_its_literals_alone() -> None:
    """`en_US` is common; the properties of the same element in other languages stay."""
    found = read(b'<e:A rdf:about="http://e/a" xml:lang="en_US"><e:p>1</e:p><e:p xml:lang="en">2</e:p></e:A>')
    assert b'<http://e/a> <http://e/p> "2"@en .\n' in found.lines
    assert len(found.lines) == 2
    assert '"en_US"' in found.the("invalid-literal").message


def test_literals_stay_as_they_are_written_by_the_patient_parser() -> None:
    """rdflib alone turns "01" into "1", and reports odd values to the log."""
    number = b'rdf:datatype="http://www.w3.org/2001/XMLSchema#integer"'
    found = read(b'<e:A rdf:about="http://e/a"><e:p ' + number + b'>01</e:p><e:q rdf:resource=" "/></e:A>')
    assert b'<http://e/a> <http://e/p> "01"^^<http://www.w3.org/2001/XMLSchema#integer> .\n' in found.lines


def test_the_patient_parser_says_nothing_to_the_log(caplog: pytest.LogCaptureFixture) -> None:
    """What is wrong is a problem of the document, not an event of the platform."""
    assert read(b'<e:A rdf:about="http://e/ a"><e:p rdf:datatype="http://e/ x">1</e:p></e:A>').kinds["invalid-iri"] >= 2
    assert not caplog.records


def test_text_after_a_literal_of_xml_does_not_get_into_the_next_object() -> None:
    """rdflib's reader of such literals stays on for the next property, whose IRI would get a blank."""
    found = read(
        b'<e:A rdf:about="http://e/a"><e:p rdf:parseType="Literal">x</e:p>'
        b'<e:q rdf:resource="http://e/b"> </e:q><e:r rdf:resource=" "/></e:A>'
    )
    assert b"<http://e/a> <http://e/q> <http://e/b> .\n" in found.lines


@pytest.mark.parametrize(
    "reference", ["", "#x", "?", "?q=a:b", "../up", "//other.org/a:b", "/a:b", "a/./b", "http://x/?"]
)
def test_both_parsers_resolve_references_alike(reference: str) -> None:
    """A document must not change its IRIs because one of its other statements is bad."""
    good = b'<rdf:Description rdf:about="' + reference.encode() + b'"><e:p>1</e:p></rdf:Description>'
    bad = b'<rdf:Description rdf:about="http://e/ b"><e:p>2</e:p></rdf:Description>'
    assert read(good + bad).lines == read(good).lines
    assert read(good + bad).kinds == {"fallback": 1, "invalid-iri": 1}


def test_xml_base_wins_over_the_address() -> None:
    """RDF/XML, section 5.3; in both parsers."""
    body = b'<rdf:Description xml:base="http://other.org/x/y" rdf:about="z"><e:p>1</e:p></rdf:Description>'
    assert read(body).lines == (b'<http://other.org/x/z> <http://e/p> "1" .\n',)
    assert b'<http://other.org/x/z> <http://e/p> "1" .\n' in read(body + b'<e:A rdf:about=" "/>').lines


def test_what_precedes_an_error_in_the_xml_is_kept() -> None:
    """Each statement before the wrong end tag, and nothing else; the place is that of the tag."""
    found = outcome(
        rdfxml.transcribe, HEAD + b'<e:A rdf:about="http://e/a">\n<e:p>1</e:p>\n<e:q>2</e:r>\n</e:A>' + TAIL
    )
    assert {line.split()[1] for line in found.lines} == {
        b"<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>",
        b"<http://e/p>",
    }
    assert found.kinds == {"cut-off": 1}
    assert (found.the("cut-off").line, found.the("cut-off").excerpt) == (4, "<e:q>2</e:r>")
    assert not found.problems.whole


def test_damage_of_the_file_is_reported_and_costs_only_what_follows() -> None:
    """A cut-off gzip: the message of the decompressor is the problem."""
    found = outcome(rdfxml.transcribe, damaged(HEAD + b'<e:A rdf:about="http://e/a"><e:p>1</e:p>'))
    assert len(found.lines) == 2
    assert "says gzip" in found.the("cut-off").message


def test_a_declared_encoding_is_not_believed() -> None:
    """The text was recoded to UTF-8 before; pyoxigraph refuses, and expat would misread, what still says Latin-1."""
    declared = b'<?xml version="1.0" encoding="iso-8859-1"?>\n' + HEAD
    found = read('<e:A rdf:about="http://e/a"><e:p>é</e:p></e:A>'.encode(), declared)
    assert '<http://e/a> <http://e/p> "é" .\n'.encode() in found.lines
    assert not found.kinds
    found = read('<e:A rdf:about="http://e/a"><e:p>é</e:p><e:q rdf:resource=" "/></e:A>'.encode(), declared)
    assert '<http://e/a> <http://e/p> "é" .\n'.encode() in found.lines


@pytest.mark.parametrize("depth", [2_000, 20_000, 200_000])
def test_elements_far_within_each_other_end_the_document(depth: int) -> None:
    """20,000 took 8 s, and ten times as many take a hundred times as long."""
    began = time.process_time()
    found = read(b"<rdf:Description><e:p>" * depth + b"</e:p></rdf:Description>" * depth)
    assert time.process_time() - began < 5
    assert found.kinds == ({} if 2 * depth < DEPTH else {"too-large": 1, "cut-off": 1})


def test_external_entities_are_never_loaded(tmp_path: Path) -> None:
    """Neither files nor addresses; the gap in the text is reported."""
    secret = tmp_path / "secret"
    secret.write_text("secret")
    entities = f"<!DOCTYPE rdf:RDF [<!ENTITY f SYSTEM \"{secret.as_uri()}\"><!ENTITY x 'y'>]>\n".encode()
    found = read(b'<e:A rdf:about="http://e/a"><e:p>&f;&x;</e:p></e:A>', entities + HEAD)
    assert not any(b"secret" in line for line in found.lines)
    assert found.kinds


def _bomb(quote: str) -> Outcome:
    """What becomes of entities that are 12 GB of text."""
    entities = "".join(f"<!ENTITY e{i} {quote}{f'&e{i - 1};' * 10 if i else 'x' * 10}{quote}>" for i in range(10))
    head = f"<!DOCTYPE rdf:RDF [{entities}]>\n".encode() + HEAD
    found = read(b'<e:A rdf:about="http://e/a"><e:p>1</e:p><e:q>&e9;</e:q></e:A>', head)
    return Outcome(found.lines, found.problems)


@pytest.mark.parametrize("quote", ['"', "'"])
def test_entities_that_explode_end_the_document(quote: str) -> None:
    """Expat's limit holds for both parsers; run in a process with a limit on memory, should it not."""
    found = call(_bomb, Bounds(240, BASE), quote)
    assert found.kinds["cut-off"] == 1
    assert "amplification" in found.the("cut-off").message


def test_a_large_document_is_kept_up_to_its_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the limit it is streamed, so that nothing can be taken back, and nothing is invented either."""
    monkeypatch.setattr(rdfxml, "PATIENT_BYTES", 10)
    found = read(b'<e:A rdf:about="http://e/a"/>\n<e:A rdf:about="http://e/ b"><e:p>2</e:p></e:A>')
    assert len(found.lines) == 1
    assert found.kinds == {"cut-off": 1}
    assert (found.the("cut-off").line, found.the("cut-off").column) == (3, 1)


@given(st.binary(max_size=60), st.integers(0, 300))
def test_no_document_makes_an_error_escape_or_a_line_break(junk: bytes, place: int) -> None:
    """Junk anywhere in a document: every line that comes out is canonical N-Triples."""
    whole = (
        HEAD + b'<e:A rdf:about="http://e/a" xml:lang="en"><e:p rdf:parseType="Collection"><e:B/></e:p></e:A>' + TAIL
    )
    outcome(rdfxml.transcribe, text_of(whole[:place] + junk + whole[place:]))


@given(st.integers(0, 400))
def test_a_document_that_is_cut_gives_a_part_of_the_whole(length: int) -> None:
    """Whatever was lost, no statement is given that the whole document does not make."""
    whole = HEAD + b"".join(
        b'<e:A rdf:about="http://e/%d"><e:p xml:lang="en">text</e:p><e:q rdf:resource="b"/></e:A>\n' % i
        for i in range(3)
    )
    found = outcome(rdfxml.transcribe, text_of(whole[:length]))
    assert set(found.lines) <= set(read(whole.removeprefix(HEAD)).lines)
    assert found.kinds == {"cut-off": 1}
