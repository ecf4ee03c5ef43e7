"""The format of a document is found by its content, whatever its server says."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pyoxigraph
import pytest
from pyoxigraph import CanonicalizationAlgorithm, Dataset, Quad

from harvest.wash.decoding.charset import examine
from harvest.wash.decoding.content import HEAD
from harvest.wash.decoding.sniff import BOM, sniff
from sparql.rdf import (
    FORMATS,
    HTML,
    JSON_LD,
    N3,
    N_QUADS,
    N_TRIPLES,
    RDF,
    RDF_XML,
    TRIG,
    TURTLE,
    Format,
    by_extension,
)
from tests.realdata import realdata

BASE = "http://example.org/data/"
PLAIN = BASE + "download"
LINE = b"<http://example.org/s> <http://example.org/p> <http://example.org/o> .\n"
QUAD = b"<http://example.org/s> <http://example.org/p> <http://example.org/o> <http://example.org/g> .\n"

SUITES = ("rdf-turtle", "rdf-trig", "rdf-n-triples", "rdf-n-quads", "rdf-xml")
FOLDERS = (*(f"w3c/rdf/rdf11/{suite}" for suite in SUITES), "formats", "series", "void", "rdfa", "w3c/json-ld/toRdf")
REALLY = {"culturecreates__artsdata-data-model___triples_dbpedia_2016-10.nq": RDF_XML}
"""Files that are not what their name says."""
SIZE = 700_000
"""Larger files are left out, for the tests' time; sniffing sees no more of them than of others."""
SHARE = 0.99
EMPTY = [
    *("e001-out.nq", "e003-out.nq", "e019-out.nq", "e045-out.nq", "e046-out.nq"),
    *("nt-syntax-file-01.nq", "nt-syntax-file-01.nt", "trig-syntax-file-01.trig", "turtle-syntax-file-01.ttl"),
    *("wf01-out.nq", "wf02-out.nq", "wf03-out.nq", "wf05-out.nq", "wf07-out.nq"),
]
"""Files without a byte: nothing in them says that they are RDF."""
PLAIN_XML = "test001.rdf"
"""rdf-element-not-mandatory: `<Book><title>Dogs in Hats</title></Book>`, RDF/XML only to those who know that it is."""


@cache
def _triples(path: Path, format: Format) -> frozenset[Quad] | None:
    """The triples of a file read as a format, with blank nodes that compare, or None if it is not of that format."""
    data = path.read_bytes().removeprefix(BOM)
    try:
        dataset = Dataset(Quad(*quad.triple) for quad in pyoxigraph.parse(data, format=format.parser, base_iri=PLAIN))
    except SyntaxError:
        return None
    dataset.canonicalize(CanonicalizationAlgorithm.UNSTABLE)
    return frozenset(dataset)


@cache
def _files() -> tuple[tuple[Path, Format], ...]:
    """Every file of the real data that a parser can read, with its format; pages too."""
    return tuple(_readable())


def _readable() -> Iterator[tuple[Path, Format]]:
    for folder in (*FOLDERS, "messy"):
        for path in sorted((realdata() / folder).rglob("*")):
            if not path.is_file() or path.stat().st_size > SIZE:
                continue
            if path.suffix in (".html", ".rdfa"):
                yield path, HTML
                continue
            format = REALLY.get(path.name) or by_extension(path.name)
            if format is not None and _triples(path, format) is not None:
                yield path, format


def sniffed(head: bytes, media_type: str | None, url: str) -> Format | None:
    """The format of a document with this head; a shorter one than `HEAD` is all there is."""
    return sniff(head, media_type, url, whole=len(head) < HEAD)


@cache
def _head(path: Path) -> tuple[bytes, bool]:
    reading = examine(lambda: path.open("rb"), None, path.name)
    return reading.head, reading.whole


def _misread(path: Path, true: Format, media_type: str | None, url: str) -> str | None:
    """What is wrong with the format found for a file, or None: another format is right if it gives the same triples."""
    head, whole = _head(path)
    found = sniff(head, media_type, url, whole=whole)
    if found is true:
        return None
    if found and HTML not in (found, true) and _triples(path, found) == _triples(path, true):
        return None
    return f"{path.name}: {found.name if found else None} for {true.name}, declared {media_type} {url}"


def _wrong(media_type: str | None, named: bool) -> list[str]:
    """Every file of which the format is not guessed right, with or without its name."""
    misread = (_misread(path, true, media_type, BASE + path.name if named else PLAIN) for path, true in _files())
    return sorted(each for each in misread if each)


@pytest.mark.parametrize(
    ("media_type", "named", "known"),
    [
        (None, False, [*EMPTY, PLAIN_XML]),
        (None, True, []),
        ("text/plain", False, [*EMPTY, PLAIN_XML]),
        ("application/octet-stream", True, []),
    ],
    ids=["content alone", "with extension", "text/plain", "octet-stream with extension"],
)
def test_nearly_every_file_is_recognised(media_type: str | None, named: bool, known: list[str]) -> None:
    """
    1,800 files of real data and of the W3C suites; at least 99 of 100 guessed right, and the others known by name.

    Right is a format that gives the triples of the true one: N-Triples may be read as Turtle.
    """
    files, wrong = _files(), _wrong(media_type, named)
    assert len(files) > 1800
    print(f"{len(files) - len(wrong)} of {len(files)} right, {1 - len(wrong) / len(files):.2%}")
    assert 1 - len(wrong) / len(files) >= SHARE
    assert [each.split(":")[0] for each in wrong] == sorted(known)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("declared", [*FORMATS, HTML], ids=lambda format: format.name)
def test_a_wrong_media_type_misleads_nobody(declared: Format) -> None:
    """Each of the files under each media type: what the content says goes first, where it says anything."""
    wrong = {each.split(":")[0] for each in _wrong(declared.media_types[0], named=False)}
    assert wrong <= {*EMPTY, PLAIN_XML}


def test_broken_files_are_recognised_too() -> None:
    """Bad statements are dropped and the others kept, so a format has to be found in spite of them."""
    found = {}
    for path in sorted((realdata() / "series" / "berlin-vocabulary").iterdir()):
        if _triples(path, TURTLE) is None:
            found[path.name] = sniffed(_head(path)[0], None, PLAIN)
    assert len(found) >= 12
    assert set(found.values()) == {TURTLE}


@pytest.mark.parametrize(
    ("head", "format"),
    [
        (LINE, N_TRIPLES),
        (LINE * 300, N_TRIPLES),
        (LINE * 100 + QUAD, N_QUADS),
        (b"# made by hand\n" + LINE, N_TRIPLES),
        (QUAD, N_QUADS),
        (LINE + QUAD, N_QUADS),
        (b"@prefix : <http://example.org/> .\n:s :p :o .\n", TURTLE),
        (b"PREFIX : <http://example.org/>\n:s :p :o .\n", TURTLE),
        (LINE + b"@prefix : <http://example.org/> .\n:s :p :o .\n", TURTLE),
        (b"<s> <p> <o> .\n", TURTLE),
        (b"<http://example.org/s> a <http://example.org/O> .\n", TURTLE),
        (b"<http://example.org/s> <http://xmlns.com/foaf/0.1/name> 'rdf-syntax-ns#' .\n", TURTLE),
        (b"<?a=b> <p> <o> .\n", TURTLE),
        (b"[] a <http://example.org/O> .\n", TURTLE),
        (b"[ <http://example.org/p> 1 ] .\n", TURTLE),
        (b"{ <http://example.org/s> <http://example.org/p> <http://example.org/o> }\n", TRIG),
        (b'{ <http://example.org/s> <http://example.org/p> "o" }\n', TRIG),
        (b"[] { <http://example.org/s> <http://example.org/p> <http://example.org/o> }\n", TRIG),
        (b"PREFIX : <http://example.org/>\nGRAPH :g { }\n", TRIG),
        (b"<http://example.org/g> {\n" + LINE + b"}\n", TRIG),
        (b'{"@id": "http://example.org/s"}', JSON_LD),
        (b"{ }", JSON_LD),
        (b"[ ]\n", JSON_LD),
        (b'[\n  {"@id": "http://example.org/s"}]', JSON_LD),
        (b'<?xml version="1.0"?>\n<rdf:RDF>', RDF_XML),
        (b"<rdf:RDF\n  xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>", RDF_XML),
        (b"<RDF xmlns='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>", RDF_XML),
        (b"<!-- a --><ex:Thing xmlns:ex = 'http://example.org/' xmlns:rdf='%s'>" % RDF.encode(), RDF_XML),
        (b'<!DOCTYPE x [<!ENTITY rdf "%s">]><x xmlns:rdf="&rdf;">' % RDF.encode(), RDF_XML),
        (b'<!DOCTYPE rdf:RDF [<!ENTITY a "]>">\n]>\n<rdf:RDF>', RDF_XML),
        (b"# nothing but a comment\n", TURTLE),
        (b"PREFIX : <#>\n{ :a :b :c } => { :c :b :a } .\n", N3),
        (b"@prefix : <#> .\n@forAll :x .\n{ :x :b :c } => { :x :b :a } .\n", N3),
    ],
)
@pytest.mark.parametrize("mark", [b"", BOM], ids=["", "byte order mark"])
def test_content_alone_shows_the_format(head: bytes, format: Format, mark: bytes) -> None:
    """Many servers declare nothing, or text/plain; a byte order mark changes nothing."""
    assert sniffed(mark + head, None, PLAIN) is format
    assert sniffed(mark + head, "text/plain; charset=utf-8", PLAIN + "?format=ttl") is format


@pytest.mark.parametrize("format", [N_TRIPLES, N_QUADS, TURTLE, TRIG, N3], ids=lambda format: format.name)
def test_the_declared_format_is_kept_where_the_content_leaves_a_choice(format: Format) -> None:
    """A line of N-Triples is in all five, and later lines may not be."""
    assert sniffed(LINE, format.media_types[0], PLAIN) is format
    assert (
        sniffed(LINE, "application/octet-stream", f"{BASE}a.{format.extensions[0].upper()}.GZ?x=y.html#z.rdf") is format
    )
    assert sniffed(b"# so far a comment\n", format.media_types[0], PLAIN) is format


def test_the_media_type_goes_before_the_extension() -> None:
    """Where both are known and the content fits both."""
    assert sniffed(LINE, "application/trig", BASE + "a.ttl") is TRIG


@pytest.mark.parametrize("format", [N_TRIPLES, N_QUADS], ids=lambda format: format.name)
@pytest.mark.parametrize("slip", [b"<s> <http://example.org/p> 1 .\n", LINE[:-2] + b"\n", b"<a b> <c> <d> .\n"])
def test_a_slip_in_a_line_format_does_not_make_it_turtle(format: Format, slip: bytes) -> None:
    """The slip is to be reported as an error with its line; a relative IRI must not be resolved in silence."""
    assert sniffed(LINE + slip + LINE, format.media_types[0], PLAIN) is format


def test_a_broken_document_is_taken_for_what_was_declared() -> None:
    """The errors are then about the format that the provider meant."""
    broken = b"@prefix : <http://example.org/> .\n:s :p :o .\n:s :p ; .\n"
    for declared in (TURTLE, TRIG, N3):
        assert sniffed(broken, declared.media_types[0], PLAIN) is declared
    assert sniffed(broken, None, PLAIN) is TURTLE
    assert sniffed(b"oops\n<rdf:RDF>", "application/rdf+xml", PLAIN) is RDF_XML
    assert sniffed(b":s :p [ :q :o .\n", "text/turtle", PLAIN) is TURTLE


@pytest.mark.parametrize(
    ("document", "format"),
    [
        (b"oops\n" + LINE * 20, N_TRIPLES),
        (b"<a b> <c> <d> .\n" + LINE * 20 + b"oops <x>\n" + LINE * 20, N_TRIPLES),
        (b"<a b> <c> <d> .\n" + QUAD * 20 + b"oops <x>\n" + LINE * 20, N_QUADS),
        (b"@prefix : <http://example.org/> .\n:s no:p :o .\n" + b":s :p :o, 1 .\n" * 9, TURTLE),
        (b"@prefix : <http://example.org/> .\n:s :p <a b> .\n:g { :s :p :o, 1 }\n:g { :s :p :o, 2 }\n", TRIG),
        (b"@prefix ex: <http://example.org/\nex:s ex:p ex:o .\n", TURTLE),
    ],
)
def test_a_broken_statement_early_on_hides_no_format(document: bytes, format: Format) -> None:
    """Parsers drop what is bad and go on, so the statements that follow say what the document is."""
    assert sniffed(document, None, PLAIN) is format


@pytest.mark.parametrize("format", [N_TRIPLES, N_QUADS], ids=lambda format: format.name)
def test_turtle_served_as_a_line_format_is_read_as_turtle(format: Format) -> None:
    """Lines that are no slips but another format: directives, or as many errors as statements."""
    directives = b"@prefix : <http://example.org/> .\n" + LINE * 5 + b":s :p :o .\n"
    lists = (
        b"<http://example.org/s> <http://example.org/p> <http://example.org/o> ;\n  a <http://example.org/C> .\n" * 5
    )
    for document in (directives, lists * 5):
        assert sniffed(document, format.media_types[0], PLAIN) is TURTLE


def test_turtle_that_is_broken_is_not_taken_for_n3() -> None:
    """N3 allows `=` and rules; as Turtle they are errors, and stay so."""
    assert sniffed(b"@prefix : <http://example.org/> .\n:a = :b .\n", "text/turtle", PLAIN) is TURTLE
    assert sniffed(b"@prefix : <http://example.org/> .\n:a = :b .\n", "text/n3", PLAIN) is N3


def test_a_statement_that_the_head_cuts_is_no_error() -> None:
    """The head is 10,000 bytes, and ends where it ends: within a term, a character, a long literal."""
    for cut in range(HEAD, HEAD + 200):
        assert sniffed((LINE * 200)[cut - HEAD : cut], "text/turtle", PLAIN) in (TURTLE, N_TRIPLES, N_QUADS)
    literal = b'@prefix : <http://example.org/> .\n:s :p """' + "é".encode() * HEAD
    assert sniffed(literal[:HEAD], "application/n-quads", PLAIN) is TURTLE
    assert sniffed(literal[: HEAD + 1][:HEAD], None, PLAIN) is TURTLE


@pytest.mark.parametrize(
    "page",
    [
        b"<!DOCTYPE html>\n<html><head>",
        b"\n <!doctype HTML PUBLIC '-//W3C//DTD XHTML 1.0//EN'>\n<HTML>",
        b"<html lang='en'>",
        b"<HTML>\n<body>",
        b'<?xml version="1.0"?>\n<html xmlns="http://www.w3.org/1999/xhtml">',
        b"<!-- " + b"x" * 5000 + b" -->\n<!-- y --><html>",
        BOM + b"<!DOCTYPE html>",
        b"<head>\n<title>no html tag</title>",
    ],
)
@pytest.mark.parametrize("media_type", [None, "text/html", "text/turtle", "application/rdf+xml"])
def test_a_web_page_is_html(page: bytes, media_type: str | None) -> None:
    """It may hold RDFa or JSON-LD; servers also answer 200 with a page that says not found, under any media type."""
    assert sniffed(page, media_type, PLAIN) is HTML


@pytest.mark.parametrize(
    ("page", "declared"),
    [
        (b"<div vocab='http://schema.org/'><p property='name'>x</p></div>", HTML),
        (b"Hello, <b>you</b><br> <a href='x'>y</a>", HTML),
        (LINE, N_TRIPLES),
        (b'{"@id": "http://example.org/s"}', JSON_LD),
        (b"<rdf:RDF xmlns:rdf='x'>", RDF_XML),
        (b"404 not found", None),
    ],
)
def test_what_is_served_as_html_is_html_only_where_it_has_tags(page: bytes, declared: Format | None) -> None:
    """Frameworks serve everything as text/html that nobody gave another type."""
    assert sniffed(page, "text/html; charset=utf-8", PLAIN) is declared


@pytest.mark.parametrize(
    "document",
    [
        b"",
        b" \n\t",
        BOM,
        b"nothing of that kind",
        b"Error: the requested file was not found.\nPlease try again later.\n" * 9,
        b"id,name,place\n1,Ann,Rome\n2,Bob,Oslo\n",
        b"id\tname\n1\thttp://example.org/s\n",
        b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<</Type /Catalog>>\nendobj\n",
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0",
        b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01",
        b"PK\x03\x04\x14\0\0\0\x08\0",
        b'{"type": "FeatureCollection", "features": []}',
        b'[{"id": 1, "mail": "a@b.c"}]',
        b"[1, 2, 3]",
        b'<?xml version="1.0"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url/></urlset>',
        b"<?xml version='1.0'?><rss version='2.0'><channel/></rss>",
        b"<svg xmlns='http://www.w3.org/2000/svg' xmlns:rdf='%s'/>" % RDF.encode(),
        b"<?xml version='1.0'?>\n<catalog><book/></catalog>",
        b"<Ontology xmlns='http://www.w3.org/2002/07/owl#' xmlns:rdf='%s' ontologyIRI='http://x/'>" % RDF.encode(),
        b"PREFIX : <http://example.org/>\nSELECT ?s WHERE { ?s :p ?o }\n",
        b"PREFIX : <http://example.org/>\nINSERT DATA {\n:s :p :o .\n:s :p :q .\n}\n",
        b"?s\t?o\n<http://example.org/s>\t<http://example.org/o>\n",
        b"# Title\n\nA text about `<a> <b> <c> .` and more; with (some) prose.\n\n* one\n* two\n" * 5,
        b"name: x\nlist:\n  - a: 1\n",
        b"#!/bin/sh\nset -e\necho hello\n",
        b"A" * 20_000,
    ],
    ids=lambda document: repr(document[:24]),
)
def test_what_is_no_rdf_has_no_format(document: bytes) -> None:
    """A parser would find thousands of errors in it, or, of other XML, statements that nobody made."""
    assert sniffed(document[:HEAD], None, PLAIN) is None
    assert sniffed(document[:HEAD], "text/plain", PLAIN) is None


def test_xml_and_json_of_other_kinds_are_rdf_where_they_are_declared_to_be() -> None:
    """RDF/XML needs no rdf:RDF, and JSON-LD may have its context in a Link header; `.xml` declares nothing."""
    book = b'<Book xmlns="http://example.org/terms#"><title>Dogs in Hats</title></Book>'
    assert sniffed(book, "application/rdf+xml", PLAIN) is RDF_XML
    assert sniffed(book, None, BASE + "books.rdf") is RDF_XML
    assert sniffed(book, "application/xml", BASE + "books.xml") is None
    thing = b'{"name": "x"}'
    for media_type in ("application/ld+json", "application/vnd.example+ld+json"):
        assert sniffed(thing, media_type, PLAIN) is JSON_LD
    assert sniffed(thing, "application/json", BASE + "thing.jsonld") is JSON_LD
    assert sniffed(thing, "application/json", BASE + "thing.json") is None
    assert sniffed(b'{"@type": "Thing"}', "application/json", BASE + "thing.json") is JSON_LD


def test_an_empty_document_is_of_the_textual_format_that_is_declared() -> None:
    """No statements are a valid document in those, and in no other."""
    assert sniffed(b"", "text/turtle", PLAIN) is TURTLE
    assert sniffed(b"\n", None, BASE + "a.nq.gz") is N_QUADS
    assert sniffed(b"", "application/rdf+xml", PLAIN) is None


def test_a_page_inside_rdf_xml_does_not_make_it_a_page() -> None:
    """An XML literal may hold one, and a comment speak of it."""
    head = b'<!-- for <html> --><rdf:RDF xmlns:rdf="x"><d rdf:parseType="Literal"><html>'
    assert sniffed(head, None, PLAIN) is RDF_XML


@pytest.mark.parametrize(
    "head",
    [
        b"\n" * HEAD,
        b" " * HEAD,
        b"<" * HEAD,
        b"<!--" * (HEAD // 4),
        b"<!doctype [" * 900,
        b"<!doctype [" + b"] " * 4900,
        b"<?xml" * 2000,
        b"[" + b" " * (HEAD - 1),
        b"(" * HEAD,
        b"{" * HEAD,
        b"<a b c d e f" * 800,
        b'"' * HEAD,
        b"\0" * HEAD,
        b"\x80" * HEAD,
        b"a:b " * (HEAD // 4),
        b"<a> <b> <c d> .\n" * (HEAD // 16),
        b". " * (HEAD // 2),
        b"# x\n" * (HEAD // 4) + b"!",
        b"<a '" * (HEAD // 4),
    ],
    ids=lambda head: repr(head[:12]),
)
def test_no_document_makes_sniffing_slow(head: bytes) -> None:
    """Patterns that try everything in every way take minutes on such text."""
    start = time.process_time()
    sniffed(head[:HEAD], None, PLAIN)
    assert time.process_time() - start < 30
