"""The format of a document is found by its content, whatever its server says."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from pyoxigraph import Quad

from harvest.errors import WashError
from harvest.wash.sniff import BOM, HEAD, sniff
from sparql.rdf import FORMATS, JSON_LD, N3, N_QUADS, N_TRIPLES, RDF_XML, TRIG, TURTLE, Format, by_extension
from tests.realdata import realdata
from tests.wash.documents import BASE, expected

PLAIN = BASE + "download"
LINE = b"<http://example.org/s> <http://example.org/p> <http://example.org/o> .\n"
QUAD = b"<http://example.org/s> <http://example.org/p> <http://example.org/o> <http://example.org/g> .\n"

SUITES = ("rdf-turtle", "rdf-trig", "rdf-n-triples", "rdf-n-quads", "rdf-xml")
FOLDERS = (*(f"w3c/rdf/rdf11/{suite}" for suite in SUITES), "formats/uw", "series", "void", "w3c/json-ld/toRdf")
REALLY = {"culturecreates__artsdata-data-model___triples_dbpedia_2016-10.nq": RDF_XML}
"""Files that are not what their name says."""
SIZE = 700_000
"""Larger files are left out, for the tests' time; sniffing sees no more of them than of others."""


@cache
def _triples(path: Path, format: Format, base: str) -> frozenset[Quad] | None:
    """The triples of a file read as a format, or None if it is not of that format."""
    try:
        return frozenset(expected(path.read_bytes().removeprefix(BOM), format, base))
    except SyntaxError:
        return None


def _readable() -> Iterator[tuple[Path, Format]]:
    """Every file of the real data that a parser can read, with its format."""
    data = realdata()
    for folder in (*FOLDERS, "messy"):
        for path in sorted((data / folder).rglob("*")):
            small = path.is_file() and path.stat().st_size < SIZE
            format = REALLY.get(path.name) or (by_extension(path.name) if small else None)
            if format is not None and _triples(path, format, PLAIN) is not None:
                yield path, format


def _misread(path: Path, true: Format, media_type: str | None, url: str) -> str | None:
    """What is wrong with the format found for a file, or None: another format is right if it gives the same triples."""
    found = sniff(path.read_bytes()[:HEAD], media_type, url)
    if _triples(path, found, PLAIN) == _triples(path, true, PLAIN):
        return None
    return f"{path.name}: {found.name} for {true.name}, declared {media_type} {url}"


def test_every_readable_file_is_recognised_whatever_is_declared() -> None:
    """
    1,600 files, each under its own name, its own media type, none at all, text/plain, and each wrong media type.

    A format counts as right if it gives the triples of the true one: N-Triples may be read as Turtle.
    """
    files = list(_readable())
    assert len(files) > 1500
    wrong = []
    for path, true in files:
        declared = [(None, PLAIN), ("text/plain", PLAIN), ("application/octet-stream", PLAIN)]
        declared += [(format.media_types[0], PLAIN) for format in FORMATS]
        if path.name not in REALLY:
            declared.append((None, BASE + path.name))
        wrong += [told for media_type, url in declared if (told := _misread(path, true, media_type, url))]
    assert wrong == []


@pytest.mark.parametrize(
    ("head", "format"),
    [
        (LINE, N_QUADS),
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
        (b"<!-- made by hand -->\n<ex:Thing xmlns:ex = 'http://example.org/'>", RDF_XML),
        (b'<!DOCTYPE rdf:RDF [<!ENTITY a "]>">\n]>\n<rdf:RDF>', RDF_XML),
        (b"# nothing but a comment\n", TURTLE),
        (b"", TURTLE),
        (b" \n\t", TURTLE),
    ],
)
@pytest.mark.parametrize("mark", [b"", BOM], ids=["", "byte order mark"])
def test_content_alone_tells_the_format(head: bytes, format: Format, mark: bytes) -> None:
    """Many servers declare nothing, or text/plain; a byte order mark changes nothing."""
    assert sniff(mark + head, None, PLAIN) is format
    assert sniff(mark + head, "text/plain; charset=utf-8", PLAIN + "?format=ttl") is format


@pytest.mark.parametrize("format", [N_TRIPLES, N_QUADS, TURTLE, TRIG, N3], ids=lambda format: format.name)
def test_the_declared_format_is_kept_where_the_content_leaves_a_choice(format: Format) -> None:
    """A line of N-Triples is in all five, and later lines may not be."""
    assert sniff(LINE, format.media_types[0], PLAIN) is format
    assert (
        sniff(LINE, "application/octet-stream", f"{BASE}a.{format.extensions[0].upper()}.GZ?x=y.html#z.rdf") is format
    )
    assert sniff(b"# so far a comment\n", format.media_types[0], PLAIN) is format


def test_the_media_type_goes_before_the_extension() -> None:
    """Where both are known and the content fits both."""
    assert sniff(LINE, "application/trig", BASE + "a.ttl") is TRIG


@pytest.mark.parametrize("format", [N_TRIPLES, N_QUADS], ids=lambda format: format.name)
@pytest.mark.parametrize("slip", [b"<s> <http://example.org/p> 1 .\n", LINE[:-2] + b"\n", b"<a b> <c> <d> .\n"])
def test_a_slip_in_a_line_format_does_not_make_it_turtle(format: Format, slip: bytes) -> None:
    """It is to be told as an error with its line; a relative IRI must not be resolved in silence."""
    assert sniff(LINE + slip + LINE, format.media_types[0], PLAIN) is format


def test_a_broken_document_is_taken_for_what_was_declared() -> None:
    """The error is then about the format that the provider meant."""
    broken = b"@prefix : <http://example.org/> .\n:s :p :o .\n:s :p ; .\n"
    for declared in (TURTLE, TRIG, N3):
        assert sniff(broken, declared.media_types[0], PLAIN) is declared
    assert sniff(broken, None, PLAIN) is TURTLE
    assert sniff(b"nothing of that kind", "application/rdf+xml", PLAIN) is RDF_XML
    assert sniff(b"nothing of that kind", None, PLAIN) is TURTLE


def test_turtle_that_is_broken_is_not_taken_for_n3() -> None:
    """N3 allows `=` and rules; as Turtle they are errors, and stay so."""
    assert sniff(b"@prefix : <http://example.org/> .\n:a = :b .\n", "text/turtle", PLAIN) is TURTLE
    assert sniff(b"@prefix : <http://example.org/> .\n:a = :b .\n", "text/n3", PLAIN) is N3


def test_a_statement_that_the_head_cuts_is_no_error() -> None:
    """The head is 10,000 bytes, and ends where it ends: within a term, a character, a long literal."""
    for cut in range(HEAD, HEAD + 200):
        assert sniff((LINE * 200)[cut - HEAD : cut], "text/turtle", PLAIN) in (TURTLE, N_TRIPLES, N_QUADS)
    literal = b'@prefix : <http://example.org/> .\n:s :p """' + "é".encode() * HEAD
    assert sniff(literal[:HEAD], "application/n-quads", PLAIN) is TURTLE
    assert sniff(literal[: HEAD + 1][:HEAD], None, PLAIN) is TURTLE


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
    ],
)
@pytest.mark.parametrize("media_type", [None, "text/html", "text/turtle", "application/rdf+xml"])
def test_a_web_page_is_refused(page: bytes, media_type: str | None) -> None:
    """Servers answer 200 with a page that says not found; what a parser says of it helps nobody."""
    with pytest.raises(WashError, match="is an HTML page") as caught:
        sniff(page, media_type, PLAIN)
    assert (caught.value.url, caught.value.line) == (PLAIN, 1)


def test_every_page_of_the_real_data_is_refused() -> None:
    """Also those that hold RDFa."""
    pages = [*realdata().rglob("*.html"), *realdata().rglob("*.htm")]
    assert len(pages) >= 4
    for page in pages:
        with pytest.raises(WashError, match="is an HTML page"):
            sniff(page.read_bytes()[:HEAD], "text/turtle", PLAIN)


def test_a_page_inside_rdf_xml_does_not_make_it_a_page() -> None:
    """An XML literal may hold one, and a comment speak of it."""
    head = b'<!-- for <html> --><rdf:RDF xmlns:rdf="x"><d rdf:parseType="Literal"><html>'
    assert sniff(head, None, PLAIN) is RDF_XML


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32-le"])
def test_utf_16_is_refused(encoding: str) -> None:
    """No parser here reads it, and what it would say is about the first byte."""
    mark = "" if encoding == "utf-16" else "\ufeff"
    with pytest.raises(WashError, match="is in UTF-16; publish it in UTF-8"):
        sniff((mark + "<?xml version='1.0'?>").encode(encoding), "application/rdf+xml", PLAIN)


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
    ],
    ids=lambda head: repr(head[:12]),
)
def test_no_document_makes_sniffing_slow(head: bytes) -> None:
    """Patterns that try everything in every way take minutes on such text."""
    start = time.perf_counter()
    sniff(head[:HEAD], None, PLAIN)
    assert time.perf_counter() - start < 1
