"""Documents become canonical N-Triples lines; what is wrong with one is left out and reported with its place."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, Triple, serialize
from pyoxigraph import parse as read

from harvest.model import Document, Part, Problem, Status
from harvest.wash.problems import EXCERPT
from sparql.rdf import N_QUADS
from tests.realdata import realdata
from tests.wash.documents import BASE, document, expected, parsed, parts_of, triples, washed

E = b"http://example.org/"
LINE = b"<http://example.org/s> <http://example.org/p> <http://example.org/o> .\n"
RDF = b'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://example.org/"'
START = b"<rdf:RDF " + RDF + b">"
OF_THE_FORMAT = {"http://purl.org/dc/terms/format", "http://purl.org/dc/terms/hasFormat"}
"""What each file of a data set says of itself and its siblings."""


def ground(folder: Path, data: bytes, name: str = "dump", media_type: str | None = None) -> set[bytes]:
    """The lines of a document without blank nodes."""
    _, lines, blank = parsed(document(folder, data, name, media_type))
    assert not blank
    return lines


def faulty(source: Document) -> Part:
    """What became of a document that has something wrong."""
    part, _, _ = washed(source)
    assert part.counts, part
    return part


def fault(source: Document) -> Problem:
    """The first problem that costs something."""
    return next(p for p in faulty(source).problems if p.kind not in ("recoded", "format", "fallback", "encoding"))


def place(problem: Problem) -> tuple[int | None, int | None, str | None]:
    return problem.line, problem.column, problem.excerpt


def test_every_format_of_a_data_set_gives_the_same_triples() -> None:
    """The University of Washington publishes each of these as Turtle, N-Triples, RDF/XML and JSON-LD."""
    folder = realdata() / "formats/uw"
    stems = {path.stem for path in folder.iterdir()}
    assert len(stems) == 5
    for stem in stems:
        found = {}
        for extension in ("ttl", "nt", "rdf", "jsonld"):
            source = Document(folder / f"{stem}.{extension}", f"{BASE}{stem}.{extension}")
            found[extension] = {q for q in triples(source) if q.predicate.value not in OF_THE_FORMAT}
        assert len(found["nt"]) >= 10
        assert found["ttl"] == found["nt"] == found["rdf"] == found["jsonld"]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.nq", LINE[:-2] + b"<http://elsewhere.example/g> .\n"),
        ("a.nq", LINE + LINE[:-2] + b"_:g .\n"),
        ("a.trig", b"GRAPH <http://elsewhere.example/g> { " + LINE + b"}\n_:g { " + LINE + b"}\n{ " + LINE + b"}"),
        (
            "a.jsonld",
            b'{"@id": "http://elsewhere.example/g", "@graph": [{"@id": "http://example.org/s",'
            b' "http://example.org/p": {"@id": "http://example.org/o"}}]}',
        ),
    ],
    ids=["N-Quads", "N-Quads, blank graph", "TriG", "JSON-LD"],
)
def test_a_graph_named_in_the_document_is_overruled(tmp_path: Path, name: str, data: bytes) -> None:
    """A statement that names another provider's graph is one of the provider's own."""
    _, lines, blank = parsed(document(tmp_path, data, name))
    assert (lines, blank) == ({LINE}, set())


def test_two_documents_with_the_same_blank_labels_stay_apart(tmp_path: Path) -> None:
    """Every dump numbers its blank nodes from one; taken as the same node, two records would melt into one."""
    data = b"_:b0 <http://example.org/p> _:b1 .\n<http://example.org/s> <http://example.org/p> _:b0 .\n"
    sources = [document(tmp_path, data, name) for name in ("a.nt", "b.nt")]
    (_, one, first), (_, other, second) = (parsed(source, i) for i, source in enumerate(sources))
    assert first == {
        b"_:d0-b0 <http://example.org/p> _:d0-b1 .\n",
        b"<http://example.org/s> <http://example.org/p> _:d0-b0 .\n",
    }
    assert not first & second
    assert one == other == set()


def test_what_looks_like_a_blank_node_inside_a_literal_or_an_iri_is_left_alone(tmp_path: Path) -> None:
    """A line is cut at its spaces, and a literal may hold spaces and underscores."""
    lines = {
        b'<http://example.org/s> <http://example.org/p> " _:b0 " .\n',
        b'<http://example.org/s> <http://example.org/p> "_:b0" .\n',
        b'<http://example.org/s> <http://example.org/p> "<<( _:a --ltr ." .\n',
        b"<http://example.org/_:b0> <http://example.org/_:p> <http://example.org/_:o> .\n",
    }
    assert ground(tmp_path, b"".join(lines), "a.nt") == lines


def test_relative_iris_are_resolved_against_the_final_url(tmp_path: Path) -> None:
    """A document speaks of where it was found, after redirects."""
    assert ground(tmp_path, b"<> <#p> <../o> .", "a/b.ttl") == {
        b"<http://example.org/data/a/b.ttl> <http://example.org/data/a/b.ttl#p> <http://example.org/data/o> .\n"
    }
    assert ground(tmp_path, b"@base <http://other.example/x/> . <> <p> </o> .", "a.ttl") == {
        b"<http://other.example/x/> <http://other.example/x/p> <http://other.example/o> .\n"
    }


@pytest.mark.parametrize("name", ["a b.ttl", "a[1].ttl", "a|b.ttl", "{id}.ttl", "ü.ttl", "%zz.ttl?x=[]"])
def test_a_url_that_is_no_iri_is_a_base_all_the_same(tmp_path: Path, name: str) -> None:
    """Servers and people leave brackets and spaces in URLs; that alone must not stop a harvest."""
    assert len(ground(tmp_path, b"<s> <p> <o> .", name)) == 1


def test_a_file_name_serves_where_no_base_is_needed(tmp_path: Path) -> None:
    """A file on disk has no IRI of its own, and N-Triples need none."""
    source = document(tmp_path, LINE)
    assert parsed(Document(source.path, "dump.nt"))[1] == {LINE}


@pytest.mark.parametrize("name", ["a.ttl", "a.nt", "a.nq", "a.trig"])
def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path, name: str) -> None:
    """Windows editors write one, and RDF parsers refuse it."""
    assert ground(tmp_path, b"\xef\xbb\xbf" + LINE, name) == {LINE}
    assert ground(tmp_path, b"\xef\xbb\xbf" + LINE * 200, name) == {LINE}


def test_real_files_with_a_byte_order_mark_are_read() -> None:
    """Turtle and RDF/XML from the wild."""
    messy = realdata() / "messy"
    assert triples(Document(messy / "silvinabcn__landvoc.org__void.ttl", BASE + "void.ttl"))
    assert len(triples(Document(messy / "SEMICeu__DCAT-AP__releases_1.2_dcat-ap_1.2.rdf", BASE + "dcat.rdf"))) == 494


def test_a_document_is_read_whole_whatever_its_size(tmp_path: Path) -> None:
    """The head that is sniffed is put back; sizes around it, and around the parser's buffers, are where that slips."""
    for size in (9_997, 9_998, 9_999, 10_000, 10_001, 10_003, 262_144, 300_000):
        comment = b"#" * (size - len(LINE) - 1) + b"\n"
        assert ground(tmp_path, comment + LINE, "a.nt") == {LINE}
        assert ground(tmp_path, gzip.compress(b"\xef\xbb\xbf" + comment + LINE), "a.nt") == {LINE}


@pytest.mark.parametrize("name", ["a.nt", "a.rdf"])
def test_a_literal_larger_than_every_buffer_passes(tmp_path: Path, name: str) -> None:
    """Geometries have megabytes; they come out in chunks of 8 KiB, which must not cost their square."""
    literal = b"x" * (10_000_000 if name == "a.nt" else 50_000_000)
    line = b'<http://example.org/s> <http://example.org/p> "' + literal + b'" .\n'
    xml = (
        START
        + b"<rdf:Description rdf:about='http://example.org/s'><e:p>"
        + literal
        + b"</e:p></rdf:Description></rdf:RDF>"
    )
    assert ground(tmp_path, xml if name == "a.rdf" else line, name) == {line}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["a.nt", "a.ttl", "a.trig", "a.nq", "a.n3"])
def test_a_term_larger_than_the_parser_takes_is_reported_as_such(tmp_path: Path, name: str) -> None:
    """The parser raises MemoryError at 16 MiB, however much memory there is."""
    data = b'<http://example.org/s> <http://example.org/p> "%b" .\n' % (b"x" * 17_000_000)
    assert "too-large" in faulty(document(tmp_path, data, name)).counts


def _broken() -> Iterator[tuple[str, int, int]]:
    """Each release that does not parse, with line and column of its first error."""
    with (realdata() / "EXPECTED-DIFFS.tsv").open(encoding="utf-8") as table:
        for row in csv.reader(table, delimiter="\t"):
            if row[1] == "BROKEN":
                match = re.search(r"at line (\d+) (?:between columns|column) (\d+)", row[2])
                assert match is not None
                yield row[0], int(match[1]), int(match[2])


def test_every_broken_release_is_reported_with_line_column_and_text() -> None:
    """The Berlin vocabulary was published 12 times in a state that no parser reads."""
    broken = list(_broken())
    assert len(broken) == 12
    for name, line, column in broken:
        path = realdata() / name
        text = path.read_text("utf-8").splitlines()[line - 1]
        assert place(fault(Document(path, BASE + path.name))) == (line, column, text[:EXCERPT])


@pytest.mark.parametrize(
    ("name", "data", "line", "column", "excerpt"),
    [
        ("a.nt", LINE + b"<http://example.org/s> x\n" + LINE, 2, 24, "<http://example.org/s> x"),
        ("a.nq", LINE * 300 + b"<a b>\n", 301, 1, "<a b>"),
        ("a.ttl", b"<s> <p> 'a\xc3\xa9', ; .", 1, 15, "<s> <p> 'aé', ; ."),
        ("a.ttl", b"\xef\xbb\xbf<s> <p> ; .", 1, 9, "<s> <p> ; ."),
        ("a.ttl", b"<s> <p> '''open\n\n", 1, 9, "<s> <p> '''open"),
        ("a.jsonld", b'{"@id": "http://example.org/s",\n "x": [}', 2, 8, ' "x": [}'),
        (
            "a.rdf",
            START + b"\n<e:a>\n  <e:b rdf:resource='a b\n'/></e:a></rdf:RDF>",
            4,
            4,
            "'/></e:a></rdf:RDF>",
        ),
        (
            "a.rdf",
            START + b"\n<!-- \xc3\xa9 --><e:a rdf:ID='1'/>\n</rdf:RDF>",
            2,
            11,
            "<!-- é --><e:a rdf:ID='1'/>",
        ),
        ("a.rdf", START + b"\n<e:a></e:b>\n</rdf:RDF>", 2, 8, "<e:a></e:b>"),
        ("a.rdf", START + b"\n <e:a>", 2, 7, " <e:a>"),
        ("a.rdf", START + b"\n <e:a>\n", 3, 1, ""),
    ],
)
def test_an_error_shows_its_place(tmp_path: Path, name: str, data: bytes, line: int, column: int, excerpt: str) -> None:
    """Columns count characters, from 1; for RDF/XML, where the parser gives none, the place is that of the tag."""
    assert place(fault(document(tmp_path, data, name))) == (line, column, excerpt)
    assert place(fault(document(tmp_path, gzip.compress(data), name + ".gz"))) == (line, column, excerpt)


@pytest.mark.parametrize("extension", ["jsonld", "ttl", "rdf"])
def test_the_excerpt_of_an_endless_line_is_the_text_around_the_error(tmp_path: Path, extension: str) -> None:
    """Programs write JSON and XML without any line break; the first 200 characters would show nothing."""
    ok = {
        "jsonld": '{"http://example.org/é": "%d"},',
        "ttl": "<http://example.org/é> <http://example.org/p> %d . ",
        "rdf": "<rdf:Description><e:p>é%d</e:p></rdf:Description>",
    }[extension]
    bad = {"jsonld": "{HERE},", "ttl": "HERE ", "rdf": '<rdf:Description rdf:ID="HERE 1"/>'}[extension]
    start = {"jsonld": "[", "ttl": "", "rdf": f"<rdf:RDF {RDF.decode()}>"}[extension]
    before, after = "".join(ok % i for i in range(5000)), "".join(ok % i for i in range(5000))
    error = fault(document(tmp_path, (start + before + bad + after).encode(), f"a.{extension}"))
    assert error.line == 1
    assert error.column is not None
    assert error.excerpt is not None
    assert abs(error.column - len(start + before)) <= 3
    assert len(error.excerpt) == EXCERPT
    assert EXCERPT // 3 < error.excerpt.index("HERE") < 2 * EXCERPT // 3


@given(st.text(alphabet="a <>é𝄞\"'\n:=/", max_size=60))
def test_the_place_of_an_error_in_rdf_xml_is_in_the_document(text: str) -> None:
    """Whatever is wrong, line and column point at a character of the document or at its end."""
    data = START + f"\n{text}<e:a>".encode()
    with TemporaryDirectory() as folder:
        error = fault(document(Path(folder), data, "a.rdf"))
    assert error.line is not None
    assert error.column is not None
    lines = data.decode().split("\n")
    assert 1 <= error.line <= len(lines)
    assert 1 <= error.column <= len(lines[error.line - 1]) + 1


@pytest.mark.parametrize("cut", [100, -9, -1])
def test_a_truncated_gzip_file_is_reported_and_what_could_be_read_is_kept(tmp_path: Path, cut: int) -> None:
    """Also where what came before the cut parses without fault, for a full dump would end what is missing."""
    data = b"".join(
        b"<http://example.org/%d> <http://example.org/p> <http://example.org/o> .\n" % i for i in range(9000)
    )
    part, lines, _ = washed(document(tmp_path, gzip.compress(data)[:cut], "a.nt.gz"))
    assert not part.whole
    assert "cut-off" in part.counts
    assert lines <= set(data.splitlines(keepends=True))
    assert cut == 100 or len(lines) > 8000


WHOLE = {
    "a.ttl": b"@prefix e: <http://example.org/> .\ne:s e:p e:o , [ e:p (1 2) ] ; e:q 'y' .",
    "a.trig": b"@prefix e: <http://example.org/> .\nGRAPH e:g { e:s e:p e:o . e:s e:p 'y' }",
    "a.n3": b"@prefix e: <http://example.org/> .\ne:s e:p e:o , [ e:p (1 2) ] ; e:q 'y' .",
    "a.nt": LINE.rstrip(),
    "a.nq": LINE.rstrip(),
    "a.jsonld": b'{"@context": {"e": "http://example.org/"}, "@graph": [{"@id": "e:s", "e:p": ["x", {"@id": "e:o"}]}]}',
    "a.rdf": b"<?xml version='1.0'?>\n"
    + START
    + b"<e:T rdf:about='s'><e:p>x</e:p><e:q rdf:resource='o'/></e:T></rdf:RDF>",
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", WHOLE)
def test_a_document_that_breaks_off_anywhere_is_reported_or_empty(tmp_path: Path, name: str) -> None:
    """A provider's own program may die while it writes; what it wrote so far must not pass for the whole."""
    whole = WHOLE[name]
    assert sum(map(len, parsed(document(tmp_path, whole, name))[1:])) > 0
    for end in range(len(whole)):
        part, lines, blank = washed(document(tmp_path, whole[:end], name))
        assert not (lines or blank) or part.dropped or not part.whole, whole[:end]
        assert all(p.line is not None for p in part.problems if p.kind in ("syntax", "cut-off")), whole[:end]


def test_nested_entities_are_refused_before_they_explode(tmp_path: Path) -> None:
    """640 bytes that say three billion times lol."""
    entities = b'<!ENTITY a0 "lol">' + b"".join(
        b'<!ENTITY a%d "%b">' % (i, b"&a%d;" % (i - 1) * 10) for i in range(1, 10)
    )
    bomb = b"<!DOCTYPE rdf:RDF [" + entities + b"]>\n" + START + b"<e:T><e:p>&a9;</e:p></e:T></rdf:RDF>"
    error = fault(document(tmp_path, bomb, "a.rdf"))
    assert "limit on input amplification factor" in error.message
    assert error.line == 2


def test_entities_of_an_ontology_are_expanded(tmp_path: Path) -> None:
    """Protégé writes every namespace as one, and refers to it a hundred thousand times."""
    entities = b'<!DOCTYPE rdf:RDF [<!ENTITY e "http://example.org/a-namespace-of-some-length/that/people/use#">]>\n'
    record = b"<e:T rdf:about='&e;s%d'><e:p rdf:resource='&e;o'/></e:T>\n"
    data = entities + START + b"".join(record % i for i in range(50_000)) + b"</rdf:RDF>"
    assert len(ground(tmp_path, data, "a.owl")) == 100_000


@pytest.mark.parametrize(
    ("what", "name", "data"),
    [
        ("a triple term", "a.nt", b"<http://example.org/s> <http://example.org/p> <<( %b )>> .\n" % LINE[:-2]),
        ("a triple term", "a.ttl", b'VERSION "1.2" <s> <p> <<( <s> <p> <o> )>> .'),
        ("a triple term", "a.ttl", b"<< <s> <p> <o> >> <p> <o> ."),
        ("a triple term", "a.ttl", b"<s> <p> <o> {| <p> <o> |} ."),
        ("a literal with a base direction", "a.ttl", b'<s> <p> "o"@en--ltr .'),
        ("a literal with a base direction", "a.nq", LINE * 200 + b'_:s <http://example.org/p> "o"@ar--rtl .'),
    ],
)  # fmt: skip
def test_what_rdf_1_1_cannot_say_is_refused(tmp_path: Path, what: str, name: str, data: bytes) -> None:
    """It would be filed, and then break everybody who downloads the export."""
    part, lines, _ = washed(document(tmp_path, data, name))
    assert part.counts["rdf-1.2"] == part.dropped > 0
    assert any(what in problem.message for problem in part.problems)
    assert not any(b"<<(" in line or b"--" in line for line in lines)


def test_the_direction_of_text_in_json_ld_is_left_out() -> None:
    """JSON-LD 1.1 has it and RDF 1.1 has not; the W3C's tests say what comes out."""
    folder = realdata() / "w3c/json-ld/toRdf"
    for number in range(1, 8):
        name = f"di{number:02d}"
        wanted = expected((folder / f"{name}-out.nq").read_bytes(), N_QUADS, BASE)
        assert triples(Document(folder / f"{name}-in.jsonld", f"{BASE}{name}.jsonld")) == wanted


def test_a_formula_of_n3_is_refused(tmp_path: Path) -> None:
    """What stands in a formula is not asserted: `{:a :b :c} => {:d :e :f}` states neither of the two."""
    rule = b"@prefix : <http://example.org/> .\n:x :y :z .\n{ :a :b :c } => { :d :e :f } .\n"
    error = fault(document(tmp_path, rule, "rules.n3"))
    assert error.line == 3
    assert washed(document(tmp_path, rule, "rules.n3"))[1] == {
        b"<http://example.org/x> <http://example.org/y> <http://example.org/z> .\n"
    }


def test_a_variable_of_n3_ends_what_can_be_read(tmp_path: Path) -> None:
    """The parser gives no place for it, so that nobody knows what follows; a loss that must not be silent."""
    data = b"@prefix : <http://example.org/> .\n:a :b :c .\n?x :b :c .\n:d :e :f .\n"
    part, lines, _ = washed(document(tmp_path, data, "a.n3"))
    assert lines == {b"<http://example.org/a> <http://example.org/b> <http://example.org/c> .\n"}
    assert not part.whole
    assert part.dropped == 1


def test_n3_without_formulas_is_read(tmp_path: Path) -> None:
    """Its shorthands are triples like others."""
    assert ground(tmp_path, b"@prefix : <http://example.org/> .\n:a = :b .\n:c :is :d .", "a.n3") == {
        b"<http://example.org/a> <http://www.w3.org/2002/07/owl#sameAs> <http://example.org/b> .\n",
        b"<http://example.org/c> <http://example.org/is> <http://example.org/d> .\n",
    }


class Full(io.RawIOBase):
    """A file on a full disk."""

    def writable(self) -> bool:
        return True

    def write(self, data: object, /) -> int:
        raise OSError(28, "No space left on device")


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_trouble_with_our_disk_is_not_the_documents_fault(tmp_path: Path, packed: bool) -> None:
    """It is retriable, and the provider can do nothing about it."""
    data = b"_:a <http://example.org/p> _:b .\n" * 1000 + LINE
    source = document(tmp_path, gzip.compress(data) if packed else data, "a.nt")
    with pytest.raises(OSError, match="No space left"):
        parts_of(source, io.BytesIO(), Full())
    with pytest.raises(OSError, match="No space left"):
        parts_of(source, Full(), io.BytesIO())


iris = st.integers(0, 5).map(lambda n: NamedNode(f"http://example.org/{n}"))
texts = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), max_size=20)
literals = st.one_of(
    texts.map(Literal), st.builds(lambda text: Literal(text, language="en"), texts), st.integers().map(Literal)
)
statements = st.lists(st.builds(Triple, iris, iris, st.one_of(iris, literals)), max_size=30)


@given(statements, st.sampled_from([RdfFormat.N_TRIPLES, RdfFormat.TURTLE, RdfFormat.TRIG, RdfFormat.JSON_LD]))
def test_whatever_is_said_comes_out_as_canonical_lines(said: list[Triple], format: RdfFormat) -> None:
    """Any text, in any format: each triple is one line, ended by a line feed and holding no other."""
    data = serialize([Quad(*t) for t in said], format=format)
    assert data is not None
    with TemporaryDirectory() as folder:
        _, lines, blank = parsed(document(Path(folder), data, f"a.{format.file_extension}"))
    assert blank == set()
    assert all(line.count(b"\n") == 1 and line.endswith(b" .\n") and b"\r" not in line for line in lines)
    assert {q.triple for q in read(b"".join(lines), format=RdfFormat.N_TRIPLES)} == set(said)
    assert lines == {b"%b .\n" % str(t).encode() for t in set(said)}


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress], ids=["gzip", "bzip2"])
@pytest.mark.parametrize("name", ["dump.nt", "dump.ttl", "dump.rdf", "dump.jsonld", "dump.html"])
def test_a_compression_that_is_damaged_from_the_start_is_reported(
    tmp_path: Path, name: str, pack: Callable[[bytes], bytes]
) -> None:
    """The first look at the text meets the damage already."""
    data = bytearray(pack(b"<http://x/a> <http://p> <http://x/b> .\n" * 5))
    data[12:16] = b"\xff" * 4
    part, ground, blank = washed(document(tmp_path, bytes(data), name))
    assert not ground | blank
    assert part.problems
    assert part.status is not Status.PARSED or not part.whole


def test_a_statement_that_is_too_large_counts_as_left_out(tmp_path: Path) -> None:
    """Else a dump of nothing else would count as one without bad statements."""
    deep = (
        b"<http://x/a> <http://p> " + b"<<( <http://x/a> <http://p> " * 300 + b"<http://x/b> " + b")>> " * 300 + b".\n"
    )
    good = b"<http://x/a> <http://p> <http://x/b> .\n"
    for name in ("dump.nt", "dump.ttl"):
        part, ground, _ = washed(document(tmp_path, good + deep + deep + good, name))
        assert ground == {good}
        assert (part.counts, part.dropped, part.whole) == ({"too-large": 2}, 2, True)
