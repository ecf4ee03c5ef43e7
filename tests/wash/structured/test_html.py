"""HTML: RDFa and blocks of JSON-LD, without a word to the network or the log."""

from __future__ import annotations

import re
import socket
import time
from pathlib import Path

import pyoxigraph
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Literal, Quad, RdfFormat

from harvest.errors import ContextWanted
from harvest.wash.problems import Problems
from harvest.wash.structured import html
from tests.realdata import realdata
from tests.selection import mostly_long
from tests.wash.texts import BASE, Outcome, comparable, damaged, outcome, text_of

DCT = "http://purl.org/dc/terms/"


def read(body: str, head: str = "", **contexts: Path | None) -> Outcome:
    """What a page gives."""
    page = f"<!DOCTYPE html>\n<html><head>{head}</head>\n<body>{body}</body></html>".encode()
    files = {BASE.rpartition("/")[0] + "/" + name: path for name, path in contexts.items()}
    return outcome(html.transcribe, text_of(page, contexts=files))


def plain(quads: set[Quad]) -> set[Quad]:
    """The triples with their white space collapsed, and without languages."""
    found = set()
    for quad in quads:
        value = quad.object
        if isinstance(value, Literal):
            value = Literal(" ".join(value.value.split()))
        found.add(Quad(quad.subject, quad.predicate, value))
    return found


def test_schema_org_in_rdfa_gives_all_its_triples() -> None:
    """The release 2.0 of the vocabulary is one page with 9,023 triples."""
    data = (realdata() / "rdfa/schemaorg-2.0_schema.rdfa").read_bytes()
    found = outcome(html.transcribe, text_of(data, "http://schema.org/"))
    assert len(found.lines) == 9023
    assert not found.kinds


def predicates(quads: set[Quad]) -> list[str]:
    """The predicates of some triples."""
    return sorted(quad.predicate.value for quad in quads)


def of_library(name: str) -> tuple[set[Quad], set[Quad]]:
    """What the page and the N-Triples file of a graph say, plainly; the context of the page's script is missing."""
    folder = realdata() / "formats/uw"
    text = text_of((folder / f"{name}.html").read_bytes(), contexts={"http://schema.org": None})
    expected = pyoxigraph.parse(path=folder / f"{name}.nt", format=RdfFormat.N_TRIPLES)
    return plain(outcome(html.transcribe, text).triples()), plain(comparable(expected))


def test_a_description_in_rdfa_says_what_its_n_triples_say() -> None:
    """The two differ in line breaks of texts, and in the page's language, which plain literals take over."""
    found, expected = of_library("void_description")
    assert len(found) == 115
    assert found == expected


@pytest.mark.parametrize("name", ["collection", "provenancestatement", "rightsstatement"])
def test_pages_say_of_themselves_what_other_formats_do_not(name: str) -> None:
    """Each names itself as RDFa and the other as its format, and has a waiver in its foot that only pages have."""
    found, expected = of_library(f"instances_of_the_{name}_class")
    of_itself = [DCT + "format", DCT + "hasFormat"]
    waiver = [DCT + "publisher", DCT + "title"]
    waiver += ["http://www.w3.org/1999/xhtml/vocab#license", "http://www.w3.org/2001/vcard-rdf/3.0#Country"]
    assert len(found & expected) >= 15
    assert predicates(expected - found) == of_itself
    assert predicates(found - expected) == sorted(of_itself + waiver)


def test_rdfa_and_scripts_are_read_together() -> None:
    """Blank nodes of one script are not those of another, nor of the RDFa."""
    script = '<script type="application/ld+json">{"@id": "_:a", "http://p/": 1}</script>'
    found = read(f'<p resource="_:a" property="http://p/">x</p>{script}{script}')
    assert len(found.lines) == 3
    assert len({line.split()[0] for line in found.lines}) == 3
    assert not found.kinds


def test_a_bad_script_does_not_stop_the_others() -> None:
    """The bad script is reported with its place in the page; what is not JSON-LD is no script of ours."""
    found = read(
        '<script type="application/ld+json">\n{"http://p/": oops}\n</script>\n'
        '<script type="application/ld+json">{"http://p/": nil}</script>\n'
        '<script type="application/ld+json; charset=utf-8">{"@id": "http://a/", "http://p/": "b"}</script>'
        "<script>{</script><script type='text/turtle'>&lt;x:x> &lt;x:x> 3 .</script>"
    )
    assert found.lines == (b'<http://a/> <http://p/> "b" .\n',)
    assert found.kinds == {"syntax": 2, "cut-off": 2}
    places = [(problem.line, problem.column) for problem in found.problems.first if problem.kind == "syntax"]
    assert places == [(4, 15), (6, 50)]
    assert found.problems.first[0].excerpt == '{"http://p/": oops}'


@pytest.mark.parametrize(
    ("opening", "closing"), [("<!--", "-->"), ("//<![CDATA[", "//]]>"), ("/*<![CDATA[*/", "/*]]>*/")]
)
def test_scripts_may_be_wrapped(opening: str, closing: str) -> None:
    """Old habits, from when browsers did not know the element."""
    found = read(f'<script type="application/ld+json">{opening}\n{{"http://p/": "b"}}\n{closing}</script>')
    assert (len(found.lines), found.kinds) == (1, {})


@pytest.mark.parametrize("tag", mostly_long(["<b>", "<a>", "<div property='p'>", "<span><p>"], ("<b>",)))
def test_elements_far_within_each_other_cost_no_time(tag: str) -> None:
    """20,000 took more than 20 s, and ten times as many take a hundred times as long."""
    began = time.process_time()
    found = read(tag * 30_000)
    assert time.process_time() - began < 10
    assert found.kinds in ({"too-large": 1, "cut-off": 1}, {"no-rdf": 1})


def test_what_looks_like_a_wrapping_inside_a_script_stays() -> None:
    """A string may hold the marks of a comment."""
    found = read('<script type="application/ld+json">{"http://p/": "a <!-- b --> ]]> /* c"}</script>')
    assert found.lines[0].split(b" ", 2)[2] == b'"a <!-- b --> ]]> /* c" .\n'


@pytest.mark.parametrize("part", [" ", "\x85", "// ", "/* ", "-->", "]]> ", "<!-- ", "<![CDATA[ */"])
def test_what_nearly_wraps_a_script_costs_no_time(part: str) -> None:
    """4,000 blanks took half a minute, and ten times as many would have taken eight hours."""
    began = time.process_time()
    read(f'<script type="application/ld+json">{{"http://p/": "b"}}{part * 20_000}x</script>')
    read(f'<script type="application/ld+json">{part * 20_000}x</script>')
    assert time.process_time() - began < 5


def test_the_base_of_the_page_is_the_base_of_all_in_it() -> None:
    """HTML, section 4.2.3: also where it is relative itself."""
    script = '<script type="application/ld+json">{"@id": "s", "http://p/": "b"}</script>'
    found = read(f'<p about="r" property="http://p/">x</p>{script}', '<base href="../up/">')
    subjects = {line.split()[0] for line in found.lines}
    assert subjects == {b"<http://example.org/up/r>", b"<http://example.org/up/s>"}


def test_a_context_of_a_script_is_asked_for_before_anything_is_written(tmp_path: Path) -> None:
    """Most pages use schema.org's; with its file, the terms are known."""
    script = '<script type="application/ld+json">{"@context": "context", "@id": "http://a/", "p": "b"}</script>'
    with pytest.raises(ContextWanted) as wanted:
        read(script)
    assert wanted.value.url == "http://example.org/data/context"
    context = tmp_path / "context"
    context.write_text('{"@context": {"p": "http://p/"}}')
    assert read(script, context=context).lines == (b'<http://a/> <http://p/> "b" .\n',)
    assert read(script, context=None).kinds == {"context": 1, "cut-off": 1}


def test_a_page_without_data_is_reported() -> None:
    """A login page or an error instead of a dump."""
    found = read("<h1>404</h1>", '<link rel="stylesheet" href="x.css">')
    assert (found.lines, found.kinds) == ((), {"no-rdf": 1})


def test_a_declared_encoding_is_not_believed() -> None:
    """The text was recoded to UTF-8, whatever its `<meta>` or declaration still says."""
    page = '<p about="http://a/" property="http://p/">é</p>'
    expected = '<http://a/> <http://p/> "é" .\n'.encode()
    assert read(page, '<meta charset="iso-8859-1">').lines == (expected,)
    declared = '<?xml version="1.0" encoding="iso-8859-1"?>\n<html xmlns="http://www.w3.org/1999/xhtml"><head/>'
    assert outcome(html.transcribe, f"{declared}<body>{page}</body></html>".encode()).lines == (expected,)


def test_xhtml_is_read_as_xml_and_its_named_characters_are_known() -> None:
    """An empty element ends where it ends, which HTML does not see; no DTD is loaded for `&eacute;`."""
    page = (
        '<?xml version="1.0"?>\n'
        '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://127.0.0.1:9/xhtml1-strict.dtd">\n'
        '<html xmlns="http://www.w3.org/1999/xhtml"><head><link rel="stylesheet" href="x"/></head><body>'
        '<div about="http://a/"><span property="http://p/" content="1"/>caf&eacute; &amp; '
        '<b property="http://q/">caf&eacute;</b></div></body></html>'
    )
    found = outcome(html.transcribe, page.encode())
    assert set(found.lines) == {b'<http://a/> <http://p/> "1" .\n', '<http://a/> <http://q/> "café" .\n'.encode()}


def test_what_only_looks_like_xhtml_is_read_as_html() -> None:
    """Most pages with its document type are not well-formed."""
    page = (
        '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x"><p about="http://a/" property="http://p/">1<br>'
    )
    assert outcome(html.transcribe, page.encode()).lines == (b'<http://a/> <http://p/> "1" .\n',)


def test_statements_with_terms_that_are_none_are_dropped() -> None:
    """pyRdfa gives up the whole page for `en_US`; here it costs its own literals."""
    found = read(
        '<p lang="en_US" about="http://a/"><b property="http://p/">x</b><a rel="http://q/" href="http://x/ y">z</a>'
        '<i property="http://r/" lang="en">y</i></p>'
    )
    assert found.lines == (b'<http://a/> <http://r/> "y"@en .\n',)
    assert found.kinds == {"invalid-literal": 1, "invalid-iri": 1}
    assert '"en_US"' in found.the("invalid-literal").message


def test_literals_stay_as_they_are_written() -> None:
    """rdflib alone turns "01" into "1"."""
    found = read('<p about="http://a/" property="http://p/" datatype="xsd:integer">01</p>')
    assert found.lines == (b'<http://a/> <http://p/> "01"^^<http://www.w3.org/2001/XMLSchema#integer> .\n',)


def test_nothing_is_fetched_logged_or_printed(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """Neither vocabularies nor profiles, nor what is odd; the report of pyRdfa stays out of the data."""

    def refuse(*_: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    found = read(
        '<div vocab="http://127.0.0.1:9/v#" profile="http://127.0.0.1:9/p" prefix="_: http://x/ a: b: dc: http://y/">'
        '<p typeof="Thing undefined:thing" property="name" datatype="xsd:date" href="http://x/ y">never</p></div>'
    )
    assert found.lines
    assert not any(b"rdfa#Error" in line or b"pyRdfa" in line for line in found.lines)
    assert not caplog.records
    assert capfd.readouterr() == ("", "")


def test_nesting_without_end_is_a_problem_and_no_crash() -> None:
    """pyRdfa is recursive; the scripts of the page are read all the same."""
    script = '<script type="application/ld+json">{"@id": "http://a/", "http://p/": "b"}</script>'
    found = read(f'{script}{"<div>" * 1_200}<p about="http://a/" property="http://p/">x</p>')
    assert found.kinds == {"too-large": 1, "cut-off": 1}
    assert found.lines == (b'<http://a/> <http://p/> "b" .\n',)


def test_a_page_beyond_the_limit_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its tree would take all memory."""
    monkeypatch.setattr(html, "PAGE_BYTES", 10)
    assert read("<p>").kinds == {"too-large": 1, "cut-off": 1}


def test_entities_that_explode_are_left_alone() -> None:
    """Expat refuses them as XHTML, and HTML knows no entities of a document's own."""
    entities = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10 if i else "x" * 10}">' for i in range(10))
    page = f'<?xml version="1.0"?><!DOCTYPE html [{entities}]><html><p about="http://a/" property="http://p/">&e9;</p>'
    found = outcome(html.transcribe, (page + "</html>").encode())
    assert sum(map(len, found.lines)) < 10_000


def test_damage_of_the_file_is_reported_and_costs_only_what_follows() -> None:
    """A cut-off gzip: the message of the decompressor is the problem."""
    found = outcome(html.transcribe, damaged(b'<p about="http://a/" property="http://p/">x</p><p about="http'))
    assert found.lines == (b'<http://a/> <http://p/> "x" .\n',)
    assert "says gzip" in found.the("cut-off").message


_TAGS = st.sampled_from(
    (
        *("<p about='http://a/ b' property='dc:title'>", "<a rel='license' href='[x:y]'>", "<b typeof='_:x [x'>"),
        *("<i property='http://p/' datatype='rdf:XMLLiteral'>", "<ol inlist='' rel='x:y'>", "<u lang='&#x0;'>", "</p>"),
        *("<base href='::'>", "<html version='XHTML+RDFa 1.0'>", "<table>", "<svg><script type='application/ld+json'>"),
        *("<script type='application/ld+json'>", "</script>", '{"@id":"', "<time property='a:b' datetime='x'>", "text"),
        *("<p resource='_:a' prefix='a' vocab='x y' content='&#xd800;' property='c'>", "<?xml version='1.0'?>", "<!--"),
    )
)


@given(st.lists(_TAGS, max_size=12).map("".join))
def test_no_page_makes_an_error_escape(body: str) -> None:
    """Whatever page it is, what comes out is canonical, and what is wrong is reported."""
    problems = Problems()
    html.transcribe(text_of(body.encode()), _Nowhere(), problems)
    read(body)


class _Nowhere:
    def write(self, data: bytes) -> int:
        """Forget it, but not before it proved to be whole lines."""
        assert not data or re.search(rb"\.\n\Z", data)
        return len(data)


@pytest.mark.parametrize("property", ["title", "dcterms", "./p", "_:p", "[e:p]", "b/p"])
def test_a_property_of_rdfa_without_an_iri_makes_no_statement(property: str) -> None:
    """A term that no vocabulary has is ignored, and never resolved against the address of the page."""
    body = f'<p about="http://e.org/s" property="{property}">x</p><p about="http://e.org/s" property="http://e.org/p">y</p>'
    assert read(body).lines == (b'<http://e.org/s> <http://e.org/p> "y" .\n',)
