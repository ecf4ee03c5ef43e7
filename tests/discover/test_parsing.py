"""A description is read in whatever format it really is."""

from __future__ import annotations

import time
from pathlib import Path

import pyoxigraph
import pytest

from harvest.discover.text import LIMIT_BYTES
from harvest.discover.void import read_description
from harvest.errors import DescriptionError
from sparql.rdf import FORMATS, JSON_LD, N3, N_TRIPLES, RDF_XML, TURTLE, Format
from tests.discover.describe import PREFIXES, URL, described, finding_of, kinds, only

BODY = "<#d> a void:Dataset ; dcterms:title 'Räume'@de ; void:dataDump <d.ttl> ; dcterms:modified '2020-01-01' ."
BARE = URL.removesuffix(".ttl")

XML = """<?xml version="1.0" encoding="{}"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:void="http://rdfs.org/ns/void#"
    xmlns:dcterms="http://purl.org/dc/terms/">
  <void:Dataset rdf:about="#d">
    <dcterms:title xml:lang="de">Räume</dcterms:title>
    <void:dataDump rdf:resource="d.ttl"/>
    <dcterms:modified>2020-01-01</dcterms:modified>
  </void:Dataset>
</rdf:RDF>
"""


def written(form: Format) -> bytes:
    """The description in a format."""
    quads = pyoxigraph.parse((PREFIXES + BODY).encode(), TURTLE.parser, base_iri=URL)
    triples = (quad.triple for quad in quads)
    if form is N3:
        form = TURTLE  # pyoxigraph does not write N3, which Turtle is part of
    serialized = pyoxigraph.serialize(triples, format=form.parser)
    assert serialized is not None
    return serialized


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
@pytest.mark.parametrize("said", ["media type", "extension", "both wrong", "nothing"])
def test_every_format_is_read(tmp_path: Path, form: Format, said: str) -> None:
    """By media type, then by extension, then by content, whatever the server says."""
    media_type, url = {
        "media type": (f"{form.media_types[0]}; charset=utf-8", BARE),
        "extension": ("text/plain", f"{BARE}.{form.extensions[0]}"),
        "both wrong": ("text/csv", f"{BARE}.csv"),
        "nothing": (None, BARE),
    }[said]
    description = described(tmp_path, written(form), url, media_type)
    assert only(description).title == "Räume"
    assert kinds(description) == (["format-mismatch"] if said == "both wrong" else [])


@pytest.mark.parametrize(
    ("form", "media_type", "name", "said"),
    [
        (
            RDF_XML,
            "text/turtle",
            "void.ttl",
            "is served as text/turtle and is RDF/XML; serve it as application/rdf+xml",
        ),
        (TURTLE, "application/rdf+xml", "void.rdf", "is served as application/rdf+xml and is Turtle"),
        (TURTLE, "application/n-triples", "void.nt", "is served as application/n-triples and is Turtle"),
        (TURTLE, "text/html; charset=utf-8", "void.ttl", "is served as text/html and is Turtle"),
        (JSON_LD, "text/turtle", "void", "is served as text/turtle and is JSON-LD"),
        (RDF_XML, "text/plain", "void.ttl", "has a name that says Turtle and is RDF/XML"),
        (JSON_LD, None, "void.rdf", "has a name that says RDF/XML and is JSON-LD"),
    ],
)
def test_a_wrong_declaration_is_reported(
    tmp_path: Path, form: Format, media_type: str | None, name: str, said: str
) -> None:
    """Other clients believe the declaration."""
    body = (PREFIXES + BODY).encode() if form is TURTLE else written(form)
    description = described(tmp_path, body, f"http://provider.example/data/{name}", media_type)
    assert len(description.datasets) == 1
    assert said in finding_of(description, "format-mismatch").message


@pytest.mark.parametrize(
    ("form", "media_type", "name"),
    [
        (RDF_XML, "application/xml", "void"),
        (RDF_XML, "text/xml", "void.rdf"),
        (JSON_LD, "application/json", "void.json"),
        (TURTLE, "application/octet-stream", "void.ttl"),
        (N_TRIPLES, "text/turtle", "void.nt"),
    ],
)
def test_a_vague_declaration_is_no_mistake(tmp_path: Path, form: Format, media_type: str, name: str) -> None:
    """Code hosts serve every file as text, and N-Triples are Turtle."""
    assert kinds(described(tmp_path, written(form), f"http://provider.example/data/{name}", media_type)) == []


@pytest.mark.parametrize(
    ("body", "media_type", "line", "column", "said"),
    [
        ("<#d> a void:Dataset .\n<#d> void:dataDump d.ttl .", "text/plain", 1, 8, "as Turtle at line 1, column 8"),
        (XML.replace("</void:Dataset>", "</void:Data>"), "application/rdf+xml", 8, 5, "as RDF/XML at line 8, column 5"),
        (XML.replace("dcterms:title", "dct:title"), "text/turtle", 5, 5, "as RDF/XML at line 5"),
        (XML.replace("d.ttl", "http://h/a b"), None, 6, 34, "as RDF/XML at line 6, column 34: error while parsing IRI"),
        ('{"@id": "http://h/",\n "@type": oops}', "application/ld+json", 2, 11, "as JSON-LD at line 2"),
        ("Not found", "text/plain", 1, 1, "as Turtle at line 1"),
    ],
)
def test_a_syntax_error_has_its_place(
    tmp_path: Path, body: str, media_type: str | None, line: int, column: int, said: str
) -> None:
    """The error is that of the format that the document most likely is in."""
    with pytest.raises(DescriptionError) as caught:
        described(tmp_path, body.replace('encoding="{}"', "").encode(), BARE, media_type)
    assert said in caught.value.message
    assert (caught.value.line, caught.value.column) == (line, column)
    assert caught.value.excerpt


def test_an_empty_document_is_a_description_without_datasets(tmp_path: Path) -> None:
    """It is no syntax error, whatever it is served as."""
    description = described(tmp_path, b"\n", BARE, "application/ld+json; charset=utf-16")
    assert "it holds no statement at all" in finding_of(description, "no-dataset").message


def test_a_remote_context_is_explained(tmp_path: Path) -> None:
    """The parser does not load it, and its own message is for programmers."""
    with pytest.raises(DescriptionError, match="its @context is another document, which is not loaded"):
        described(tmp_path, b'{"@context": "http://schema.org", "@id": "http://h/", "name": "x"}', BARE, None)


def test_json_without_terms_is_an_empty_description(tmp_path: Path) -> None:
    """It parses as JSON-LD, and says nothing."""
    description = described(tmp_path, b'{"name": "x"}', BARE, "application/json")
    assert "it holds no statement at all (read as JSON-LD)" in finding_of(description, "no-dataset").message


@pytest.mark.parametrize(
    ("body", "media_type", "findings"),
    [
        (b"\xef\xbb\xbf" + (PREFIXES + BODY).encode(), "text/turtle", ["byte-order-mark"]),
        ((PREFIXES + BODY).encode("utf-16"), "text/turtle", ["recoded"]),
        ((PREFIXES + BODY).encode("latin-1"), "text/turtle; charset=ISO-8859-1", ["recoded"]),
        ((PREFIXES + BODY).encode(), "text/turtle; charset=ISO-8859-1", []),
        (XML.format("utf-8").encode(), "application/rdf+xml", []),
        (b"\xef\xbb\xbf" + XML.format("utf-8").encode(), "application/rdf+xml", []),
        (XML.format("windows-1252").encode("windows-1252"), "application/rdf+xml", ["recoded"]),
        (XML.format("UTF-16").encode("utf-16"), "application/rdf+xml", ["recoded"]),
        (XML.format("x").replace(' encoding="x"', "").encode("latin-1"), "text/xml; charset=latin-1", ["recoded"]),
    ],
)
def test_encodings_are_read_and_reported(tmp_path: Path, body: bytes, media_type: str, findings: list[str]) -> None:
    """Byte order mark, then XML declaration, then UTF-8, then the charset of the server."""
    description = described(tmp_path, body, BARE, media_type)
    assert only(description).title == "Räume"
    assert kinds(description) == findings


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ((PREFIXES + BODY).encode("latin-1"), "is not UTF-8: byte 0xe4 at line 7, column 39"),
        (XML.format("hex").encode(), "declares an encoding that cannot be used: hex"),
        (XML.format("undefined").encode(), "declares an encoding that cannot be used: undefined"),
        (XML.format("utf-7").replace("Räume", "+2AA-").encode(), "declares an encoding that cannot be used: utf-7"),
        (XML.format("us-ascii").encode(), "is not US-ASCII: byte 0xc3 at line 5"),
        (b"\x1f\x8b\x08\x00rest", "is a gzip file; a description must be served unpacked"),
        (b"PK\x03\x04rest", "is a zip file"),
    ],
)
def test_bytes_that_are_no_text_are_an_error(tmp_path: Path, body: bytes, said: str) -> None:
    """What cannot be decoded with certainty is not guessed."""
    with pytest.raises(DescriptionError, match=said):
        described(tmp_path, body, BARE, None)


def test_a_dump_in_place_of_a_description_is_refused(tmp_path: Path) -> None:
    """Reading it whole would take the memory of the machine."""
    path = tmp_path / "description"
    with open(path, "wb") as file:
        file.truncate(LIMIT_BYTES + 1)
    with pytest.raises(DescriptionError, match="Does the address name a dump"):
        read_description(path, URL, None, {})


def test_entities_that_explode_are_refused_quickly(tmp_path: Path) -> None:
    """600 bytes that the parser would make 200 megabytes of."""
    entities = "".join(f'<!ENTITY {chr(98 + i)} "{f"&{chr(97 + i)};" * 10}">' for i in range(8))
    bomb = XML.format("utf-8").replace("<rdf:RDF", f'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">{entities}]><rdf:RDF', 1)
    started = time.process_time()
    with pytest.raises(DescriptionError, match="amplification"):
        described(tmp_path, bomb.replace("Räume", "&i;"), BARE, "application/rdf+xml")
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            "<#d> rdfs:label " + "<<( <#a> <#b> " * 100_000 + "1" + " )>>" * 100_000 + " .",
            "more than 1000 triple terms",
        ),
        (
            XML.split("<void")[0].format("utf-8") + "<rdf:x>" * 100_000 + "</rdf:x>" * 100_000 + "</rdf:RDF>",
            "nested more than 1000",
        ),
        ('{"http://h/":' * 100_000, "stack size"),
    ],
)
def test_deep_nesting_is_an_error_and_no_crash(tmp_path: Path, body: str, said: str) -> None:
    """The parser runs on the machine's stack, and would take the whole process with it."""
    with pytest.raises(DescriptionError, match=said):
        described(tmp_path, (PREFIXES + body if "rdfs:label" in body else body).encode(), BARE, None)


def test_triple_terms_say_nothing_in_a_description(tmp_path: Path) -> None:
    """RDF 1.2 has them in the place of an object; a dump or a date they are not."""
    description = described(tmp_path, BODY + " <#d> void:dataDump <<( <#a> <#b> <#c> )>> ; rdfs:label 'x' .")
    assert len(only(description).dumps) == 1
    assert kinds(description) == []


def test_entities_for_namespaces_are_read(tmp_path: Path) -> None:
    """Ontology editors write them."""
    body = XML.format("utf-8").replace("<rdf:RDF", '<!DOCTYPE x [<!ENTITY s "d.ttl">]><rdf:RDF', 1)
    assert only(described(tmp_path, body.replace('"d.ttl"/>', '"&s;"/>'), BARE, None)).dumps[0].endswith("d.ttl")


def test_named_graphs_say_nothing_in_a_description(tmp_path: Path) -> None:
    """TriG and N-Quads are read like the rest."""
    description = described(tmp_path, (PREFIXES + f"<#g> {{ {BODY} }}").encode(), BARE, "application/trig")
    assert len(description.datasets) == 1


def test_an_address_with_letters_beyond_ascii_is_a_base(tmp_path: Path) -> None:
    """Relative IRIs are resolved against whatever address the client ended at."""
    description = described(tmp_path, BODY, "http://provider.example/r\u00e4ume/a b.ttl")
    assert only(description).dumps == ("http://provider.example/r%C3%A4ume/d.ttl",)


def test_long_lines_are_shown_in_part(tmp_path: Path) -> None:
    """A description on one line is no excerpt."""
    with pytest.raises(DescriptionError) as caught:
        described(tmp_path, "<#d> rdfs:label '" + "x" * 5000 + "' oops .")
    assert "oops" in str(caught.value.excerpt)
    assert len(str(caught.value.excerpt)) < 600
