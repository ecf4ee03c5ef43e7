"""A document is read in the encoding that it is in, and comes back in UTF-8."""

from __future__ import annotations

import io
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import BinaryIO
from xml.sax.saxutils import escape

import pyoxigraph
import pytest

from harvest.errors import WashError
from harvest.wash.decoding.charset import Examined, examine
from harvest.wash.decoding.codec import codec
from harvest.wash.decoding.content import HEAD
from harvest.wash.decoding.recode import recoded
from harvest.wash.decoding.sniff import sniff
from sparql.rdf import N_TRIPLES, RDF_XML, RDFS, TURTLE, Format
from tests.realdata import realdata

TITLE = "http://example.org/dump"
TEXTS: dict[str, list[str]] = tomllib.loads(Path(__file__).with_name("articles.toml").read_text("utf-8"))
"""The first articles of the Universal Declaration of Human Rights, by language."""
NARROW = {
    "cp1250": "pl",
    "cp1251": "ru",
    "cp1252": "fr",
    "cp1253": "el",
    "cp1254": "tr",
    "cp1255": "he",
    "cp1256": "ar",
    "cp1257": "lt",
    "cp1258": "vi",
    "iso8859-1": "de",
    "iso8859-2": "pl",
    "iso8859-5": "ru",
    "iso8859-7": "el",
    "iso8859-8": "he",
    "iso8859-9": "tr",
    "iso8859-15": "fr",
    "koi8-r": "ru",
    "mac-arabic": "ar",
    "mac-roman": "de",
    "shift_jis": "ja",
    "euc_jp": "ja",
    "gb18030": "zh",
    "big5": "zh-Hant",
    "euc_kr": "ko",
}
"""Encodings in which ASCII is ASCII, with a language that is written in them."""
WIDE = ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
UNGUESSED = {"iso8859-15", "mac-arabic", "mac-roman"}
"""Encodings that the guess takes for a near relative or for nothing it knows; they have to be declared."""


def texts(encoding: str) -> list[str]:
    """Sentences without the characters that an encoding lacks."""
    language = NARROW.get(encoding, "ru")
    return [each.encode(encoding, "ignore").decode(encoding) for each in TEXTS[language]]


def turtle(labels: list[str]) -> str:
    """A document with those labels, in Turtle."""
    lines = [f'<http://example.org/{at}> rdfs:label "{each}"@und .\n' for at, each in enumerate(labels)]
    return f"@prefix rdfs: <{RDFS}> .\n" + "".join(lines)


def triples(labels: list[str]) -> str:
    """A document with those labels, in N-Triples."""
    return "".join(f'<http://example.org/{at}> <{RDFS}label> "{each}"@und .\n' for at, each in enumerate(labels))


def xml(labels: list[str], declared: str = "") -> str:
    """A document with those labels, in RDF/XML, with the charset that it declares."""
    described = "".join(
        f'<r:Description r:about="http://example.org/{at}"><s:label>{escape(each)}</s:label></r:Description>\n'
        for at, each in enumerate(labels)
    )
    declaration = f'<?xml version="1.0" encoding="{declared}"?>\n' if declared else ""
    root = f'<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:s="{RDFS}">\n'
    return f"{declaration}{root}{described}</r:RDF>\n"


WRITERS: list[tuple[Format, Callable[[list[str]], str]]] = [(TURTLE, turtle), (N_TRIPLES, triples), (RDF_XML, xml)]


def encoded(document: str, labels: list[str], encoding: str) -> bytes:
    """
    A document whose labels are in an encoding and whose markup is in ASCII.

    Python writes the spaces and quotes of mac-arabic as those for text from right to left, in markup too.
    """
    if encoding != "mac-arabic":
        return document.encode(encoding)
    data = document.encode()
    for label in labels:
        data = data.replace(label.encode(), label.encode(encoding))
    return data


def read(data: bytes, media_type: str | None = None) -> Examined:
    """What is found out about a document of those bytes."""
    return examine(partial(_opened, data), media_type, TITLE)


@contextmanager
def _opened(data: bytes) -> Iterator[BinaryIO]:
    with io.BufferedReader(io.BytesIO(data)) as stream:
        yield stream


def utf_8(data: bytes, reading: Examined) -> bytes:
    """The document in UTF-8."""
    assert reading.content.encoding
    with _opened(data) as stream:
        return recoded(stream, reading.content.encoding, damaged=reading.damaged).read()


def labels_of(data: bytes, format: Format) -> list[str]:
    """The labels in a document in UTF-8."""
    quads = pyoxigraph.parse(data, format=format.parser, base_iri=TITLE)
    return [quad.object.value for quad in quads if isinstance(quad.object, pyoxigraph.Literal)]


def kinds(reading: Examined) -> list[str]:
    return [problem.kind for problem in reading.problems]


@pytest.mark.parametrize(("format", "write"), WRITERS, ids=[format.name for format, _ in WRITERS])
@pytest.mark.parametrize("encoding", NARROW)
def test_the_content_type_names_the_encoding(encoding: str, format: Format, write: Callable[[list[str]], str]) -> None:
    """Each of the encodings that are met in the wild, where the server says which it is."""
    labels = texts(encoding)
    data = encoded(write(labels), labels, encoding)
    reading = read(data, f"text/plain; charset={encoding.upper()}")
    assert kinds(reading) == ["recoded"]
    assert "its Content-Type" in reading.problems[0].message
    assert reading.content.encoding == encoding
    assert labels_of(utf_8(data, reading), format) == labels
    assert sniff(reading.head, None, TITLE, whole=reading.whole) is format


@pytest.mark.parametrize("encoding", NARROW)
def test_an_xml_declaration_names_the_encoding(encoding: str) -> None:
    """It comes with the document, so it goes before what a server says of all its files."""
    labels = texts(encoding)
    data = encoded(xml(labels, encoding), labels, encoding)
    for media_type in (None, "application/rdf+xml; charset=windows-1252", "application/rdf+xml; charset=utf-8"):
        reading = read(data, media_type)
        assert (reading.content.encoding, kinds(reading)) == (encoding, ["recoded"])
        assert "its XML declaration" in reading.problems[0].message
        assert labels_of(utf_8(data, reading), RDF_XML) == labels


@pytest.mark.parametrize("encoding", sorted(set(NARROW) - UNGUESSED))
def test_the_letters_show_the_encoding(encoding: str) -> None:
    """A few hundred characters are enough for a guess; a relative that has the same characters is as good."""
    labels = texts(encoding)
    for format, write in WRITERS:
        data = encoded(write(labels), labels, encoding)
        reading = read(data)
        assert kinds(reading) == ["recoded"], reading
        assert "a guess" in reading.problems[0].message
        assert labels_of(utf_8(data, reading), format) == labels


@pytest.mark.parametrize("encoding", sorted(UNGUESSED))
def test_some_encodings_have_to_be_declared(encoding: str) -> None:
    """The guess is wrong for these encodings, and is reported as a guess."""
    labels = texts(encoding)
    data = encoded(triples(labels), labels, encoding)
    reading = read(data)
    assert kinds(reading)[0] == "recoded"
    assert labels_of(utf_8(data, reading), N_TRIPLES) != labels


@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["no mark", "byte order mark"])
@pytest.mark.parametrize("encoding", WIDE)
@pytest.mark.parametrize("language", ["fr", "ru", "ja", "ar"])
def test_utf_16_and_utf_32_are_recognised_by_their_bytes(language: str, encoding: str, mark: str) -> None:
    """Whatever the server says, and whatever an XML declaration says that no longer is true."""
    labels = [*TEXTS[language], "𝄞 beyond the first plane"]
    writers: list[tuple[Format, Callable[[list[str]], str]]] = [*WRITERS]
    writers.append((RDF_XML, partial(xml, declared="iso-8859-1")))
    for format, write in writers:
        data = (mark + write(labels)).encode(encoding)
        for media_type in (None, "text/plain; charset=iso-8859-1"):
            reading = read(data, media_type)
            assert (reading.content.encoding, kinds(reading)) == (encoding, ["recoded"])
            assert reading.content.chars == len(write(labels))
            assert labels_of(utf_8(data, reading), format) == labels


@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["no mark", "byte order mark"])
@pytest.mark.parametrize("served", [None, "utf-8", "iso-8859-1", "windows-1252", "shift_jis", "utf-16", "nonsense"])
@pytest.mark.parametrize("language", TEXTS)
def test_utf_8_is_utf_8_whatever_the_server_says(language: str, served: str | None, mark: str) -> None:
    """Servers add `charset=ISO-8859-1` to all they have, and every byte decodes in that."""
    document = triples(list(TEXTS[language]))
    data = (mark + document).encode()
    reading = read(data, served and f"application/n-triples; charset={served}")
    assert reading.content.encoding == "utf-8"
    assert "recoded" not in kinds(reading)
    assert reading.content.chars == len(document)
    assert reading.head == document.encode() == utf_8(data, reading)


def test_utf_8_and_ascii_have_no_problems() -> None:
    """Nothing was recoded, so nothing is reported."""
    for data in (b"", b"<a:a> <a:b> <a:c> .\n", '"Grüße"'.encode(), b'<?xml version="1.0" encoding="US-ASCII"?><a/>'):
        assert read(data, "text/plain; charset=utf-8").problems == ()
    assert read(b'<?xml version="1.0" encoding="windows-1251"?><a/>').content.encoding == "utf-8"


@pytest.mark.parametrize("label", ["ISO-8859-1", "latin1", "us-ascii", "x-cp1252", '"windows-1252"'])
def test_latin_1_means_windows_1252_where_it_has_its_letters(label: str) -> None:
    """The bytes from 0x80 to 0x9F are controls that nobody writes. Source: WHATWG Encoding, section 4.2."""
    data = '"Das „Œuvre“ kostet 5 €"'.encode("cp1252")
    assert utf_8(data, read(data, f"text/plain; charset={label}")).decode() == '"Das „Œuvre“ kostet 5 €"'
    if "cp" not in label and "windows" not in label and "ascii" not in label:
        assert read("Größe".encode("latin-1"), f"text/plain; charset={label}").content.encoding == "iso8859-1"


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("macarabic", "mac-arabic"),
        ("x-mac-arabic", "mac-arabic"),
        ("MAC_ARABIC", "mac-arabic"),
        ("x-sjis", "shift_jis"),
        ("Windows-31J", "cp932"),
        ("x-gbk", "gbk"),
        ("iso-8859-8-i", "iso8859-8"),
        ("windows-874", "cp874"),
        ("ks_c_5601-1987", "euc_kr"),
        ("utf8", "utf-8"),
        ("UTF-8-SIG", "utf-8"),
        ("unicode", "utf-16"),
        ("rot13", None),
        ("zlib", None),
        ("idna", None),
        ("unicode_escape", None),
        ("utf-7", None),
        ("cp037", None),
        ("nonsense", None),
        ("../../etc/passwd", None),
        ("a\0b", None),
        ("", None),
    ],
)
def test_a_label_means_what_it_means_in_practice(label: str, name: str | None) -> None:
    """Python knows fewer labels than the web, and some codecs that are no charsets."""
    assert codec(label) == name


def test_an_unknown_charset_is_reported_and_ignored() -> None:
    """A typing error in a server's configuration must not cost the data."""
    data = turtle(list(TEXTS["ru"])).encode("koi8-r")
    reading = read(data, "text/turtle; charset=koi9")
    assert kinds(reading) == ["encoding", "recoded"]
    assert "unknown charset 'koi9' in its Content-Type" in reading.problems[0].message
    assert reading.content.encoding == "koi8-r"
    assert not reading.damaged


def test_utf_16_declared_in_a_document_of_bytes_is_reported_and_ignored() -> None:
    """Programs copy the declaration and not the encoding; no parser could have read the declaration otherwise."""
    data = xml(list(TEXTS["fr"]), "UTF-16").encode()
    reading = read(data)
    assert (reading.content.encoding, kinds(reading)) == ("utf-8", ["encoding"])
    assert "is not in UTF-16, which its XML declaration says" in reading.problems[0].message
    assert labels_of(utf_8(data, reading), RDF_XML) == list(TEXTS["fr"])


def test_a_declaration_that_does_not_decode_gives_way() -> None:
    """To UTF-8 that decodes, or else to what the server says."""
    labels = list(TEXTS["ja"])
    data = xml(labels, "euc-kr").encode()
    assert read(data).content.encoding == "utf-8"
    data = xml(labels, "us-ascii").encode("euc_jp")
    assert read(data, "application/rdf+xml; charset=euc-jp").content.encoding == "euc_jp"


def test_a_page_names_its_encoding_in_a_meta_element() -> None:
    """Before a guess, and after the server. Source: HTML, section 13.2.3.2."""
    labels = texts("mac-roman")
    for meta in (
        '<meta charset="macintosh">',
        '<meta http-equiv="Content-Type" content="text/html; charset=macintosh">',
    ):
        data = f"<!DOCTYPE html><html><head>{meta}</head><p>{labels[0]}".encode("mac-roman")
        reading = read(data, "text/html")
        assert reading.content.encoding == "mac-roman"
        assert "its meta element" in reading.problems[0].message
        assert read(data, "text/html; charset=koi8-r").content.encoding == "koi8-r"


def test_iso_2022_is_read_where_it_is_declared() -> None:
    """Its bytes are all ASCII, so they decode in UTF-8 as well."""
    data = triples(list(TEXTS["ja"])).encode("iso2022_jp")
    reading = read(data, "text/plain; charset=iso-2022-jp")
    assert reading.content.encoding == "iso2022_jp"
    assert labels_of(utf_8(data, reading), N_TRIPLES) == list(TEXTS["ja"])


@pytest.mark.parametrize("place", [0, 1, 5000, 20_000])
def test_damaged_utf_8_stays_utf_8(place: int) -> None:
    """A text cut in mid-character, or one line from elsewhere, must not turn all others into gibberish."""
    lines = triples(list(TEXTS["ru"]) * 100).encode().splitlines(keepends=True)
    at = place * len(lines) // 20_001
    lines[at] = lines[at].replace(b"\xd0\xb0", b"\xd0", 1)
    data = b"".join(lines)
    for media_type in (None, "text/plain; charset=iso-8859-1"):
        reading = read(data, media_type)
        assert (reading.content.encoding, kinds(reading), reading.damaged) == ("utf-8", ["encoding"], True)
        problem = reading.problems[0]
        whole = data.decode("utf-8", "replace")
        assert problem.line == at + 1
        assert problem.column == whole.splitlines()[at].index("\ufffd") + 1
        assert problem.excerpt
        assert "\ufffd" in problem.excerpt
        assert len(problem.excerpt) <= 200
        assert "in 1 places" in problem.message
        assert reading.content.chars == len(whole)
        assert reading.size == len(whole.encode())
        assert utf_8(data, reading).decode() == whole


def test_bad_places_are_counted() -> None:
    """Those of the document, and not the U+FFFD that it has itself."""
    data = "héé\ufffd\n".encode() * 50 + b"\xff\n\n\xc3\n" + "éé\ufffd".encode() * 50_000 + b"\xe2\x82"
    reading = read(data)
    assert [(problem.line, problem.column) for problem in reading.problems] == [(51, 1)]
    assert "in 3 places" in reading.problems[0].message
    assert utf_8(data, reading).decode() == data.decode("utf-8", "replace")


def test_what_nothing_reads_is_taken_for_windows_1252() -> None:
    """That is in use most, after UTF-8; what is not in it is replaced."""
    data = b'<a:a> <a:b> "\x81 \xff\x8d\x90" .\n'
    reading = read(data)
    assert (reading.content.encoding, kinds(reading)) == ("cp1252", ["recoded", "encoding"])
    assert labels_of(utf_8(data, reading), N_TRIPLES) == ["\ufffd ÿ\ufffd\ufffd"]


@pytest.mark.parametrize(
    "data",
    [
        b"%PDF-1.7\n1 0 obj\n",
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + b"\0\1\2\3" * 5000,
        b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01",
        bytes(range(256)) * 99,
        b"\0" * 1000,
    ],
    ids=["PDF", "PNG", "JPEG", "every byte", "zeros"],
)
def test_what_is_no_text_has_no_encoding(data: bytes) -> None:
    """Its size is all there is to count."""
    reading = read(data, "text/turtle; charset=utf-8")
    content = reading.content
    assert (content.bytes, content.chars, content.lines, content.newline, content.encoding) == (len(data), *[None] * 4)
    assert reading.problems == ()
    assert sniff(reading.head, "text/turtle", TITLE, whole=reading.whole) is None


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16-le", "shift_jis"])
@pytest.mark.parametrize("size", [1, 3, (1 << 16) - 1, 1 << 16, (1 << 18) - 1, 1 << 18, (1 << 18) + 1])
@pytest.mark.parametrize(
    ("end", "newline", "lines"), [("\n", "LF", 3), ("\r\n", "CRLF", 3), ("\r", "CR", 3), ("", None, 1)]
)
def test_lines_are_counted_across_all_borders(encoding: str, size: int, end: str, newline: str, lines: int) -> None:
    """A line end, or a character, may lie on the border of two chunks."""
    sign = "¶" if encoding != "shift_jis" else "段"
    text = "a" * (size - 1) + end + sign * (size % 5) + end + "b"
    data = text.encode(encoding)
    media_type = f"text/plain; charset={encoding}" if encoding in NARROW else None
    content = read(("\ufeff".encode(encoding) if encoding.startswith("utf") else b"") + data, media_type).content
    assert (content.chars, content.newline) == (len(text), newline)
    assert content.lines == lines if size > 1 or end else 1
    with _opened(data) as stream:
        assert recoded(stream, encoding).read() == text.encode()


def test_a_last_line_without_an_end_is_a_line() -> None:
    """Source: `harvest.model.Content`."""
    for data, lines in ((b"", 0), (b"a", 1), (b"a\n", 1), (b"a\nb", 2), (b"\n\n", 2), (b"a\r\n\r\nb\r", 3)):
        assert read(data).content.lines == lines


@pytest.mark.parametrize("encoding", [*NARROW, *WIDE])
def test_recoding_changes_no_line_and_no_column(encoding: str) -> None:
    """What a parser says of the text in UTF-8 is looked up in the original, so both have the same lines."""
    label = encoding.upper()
    text = f"<?xml version='1.0' encoding='{label}' standalone='yes'?>\n<a>\n{texts(encoding)[0]}\n</a>\n"
    data = encoded(text, texts(encoding), encoding)
    with _opened(data) as stream:
        lines = recoded(stream, encoding).read().decode().split("\n")
    assert lines[0] == text.split("\n")[0].replace(f" encoding='{label}'", " " * (12 + len(label)))
    assert lines[1:] == data.decode(encoding).split("\n")[1:]


@pytest.mark.parametrize("label", ["us-ascii", "ISO-8859-1", "utf-16", "windows-1251", "utf8"])
def test_a_foreign_declaration_is_blanked_in_utf_8_too(label: str) -> None:
    """pyoxigraph refuses all but UTF-8, also where the document has nothing but ASCII."""
    data = xml(["plain"] * 400, label).encode()
    with _opened(data) as stream:
        text = recoded(stream, "utf-8").read()
    assert labels_of(text, RDF_XML) == ["plain"] * 400
    assert len(text) == len(data)
    with _opened(data.replace(label.encode(), b"UTF-8")) as stream:
        assert recoded(stream, "utf-8") is stream


def test_a_declaration_that_is_damaged_costs_no_line_end() -> None:
    """A quotation mark may be missing, or a line end stand between two."""
    for declaration in (b'<?xml encoding="utf-16?>\n', b'<?xml encoding="koi8\n-r"?>\n', b"<?xml encoding='a\r\nb'?>"):
        data = declaration + b"<a>\n" * 200
        with _opened(data) as stream:
            text = recoded(stream, "utf-8").read()
        assert (len(text), text.count(b"\n")) == (len(data), data.count(b"\n"))


class _Slow(io.BytesIO):
    """A stream that comes in small pieces, as from an archive."""

    def read1(self, size: int | None = -1, /) -> bytes:
        return super().read1(min(size or 0, 7))


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-16-le", "utf-32-be", "koi8-r", "shift_jis", "gb18030", "iso2022_jp"]
)
def test_small_pieces_make_no_difference(encoding: str) -> None:
    """A character, a mark or a declaration may be spread over several of them."""
    language = {"koi8-r": "ru", "gb18030": "zh"}.get(encoding, "ja")
    data = xml(TEXTS[language] * 9, encoding).replace("\n", "\r\n").encode(encoding)
    for damaged in (data, data[:5000] + data[5001:], data[:-1]):

        @contextmanager
        def slow(body: bytes = damaged) -> Iterator[BinaryIO]:
            yield _Slow(body)

        reading = read(damaged)
        assert examine(slow, None, TITLE) == reading
        with slow() as stream:
            text = recoded(stream, reading.content.encoding or "", damaged=reading.damaged).read()
        assert text == utf_8(damaged, reading)
        assert len(text) == reading.size
        assert len(text.decode()) == reading.content.chars


def test_a_stream_in_utf_8_is_passed_on_as_it_is() -> None:
    """A dump of 300 MB is read at full speed, without a copy on the way."""
    data = triples(list(TEXTS["ru"]) * 100).encode()
    with _opened(data) as stream:
        assert recoded(stream, "utf-8") is stream
        assert stream.read() == data
    with _opened(b"\xef\xbb\xbf" + data) as stream:
        assert recoded(stream, "utf-8") is stream
        assert stream.read() == data


def test_no_codec_swallows_a_line_end() -> None:
    """A first byte of a pair without its second one is replaced, and the line end after it stays."""
    for encoding in NARROW:
        for lead in range(0x80, 0x100):
            with _opened(b"a" + bytes([lead]) + b"\nb") as stream:
                assert recoded(stream, encoding).read().count(b"\n") == 1


class _Damaged(io.BytesIO):
    """A compressed stream that turns out to be damaged."""

    def read1(self, size: int | None = -1, /) -> bytes:
        data = super().read1(min(size or 0, 1000))
        if not data:
            raise WashError("damaged", url=TITLE)
        return data


def test_a_damaged_stream_counts_as_far_as_it_can_be_read() -> None:
    """Whoever parses the stream meets the same damage, and reports it."""

    @contextmanager
    def opened() -> Iterator[BinaryIO]:
        yield _Damaged(b"<a:a> <a:b> <a:c> .\n" * 5000)

    content = examine(opened, None, TITLE).content
    assert (content.bytes, content.lines, content.encoding) == (100_000, 5000, "utf-8")


def test_the_head_is_the_first_characters() -> None:
    """In UTF-8 and whole, whatever the document is in."""
    text = "é" * 30_000
    for encoding in ("utf-8", "utf-16-le", "cp1252"):
        reading = read(f"<a> {text}".encode(encoding), f"text/plain; charset={encoding}")
        assert reading.head.decode() == f"<a> {text}"[:HEAD]
        assert not reading.whole
    assert read("é".encode() * HEAD).whole


def test_a_real_file_in_windows_1252_is_read_as_such() -> None:
    """A draft of DCAT-AP 1.2 declares nothing, and its quotation marks came from a word processor."""
    path = realdata() / "messy" / "SEMICeu__DCAT-AP__releases_1.2_Draft_dcat-ap_1.2.rdf"
    reading = examine(lambda: path.open("rb"), "application/rdf+xml", path.name)
    assert (reading.content.encoding, kinds(reading)) == ("cp1252", ["recoded"])
    assert reading.content.newline == "CRLF"
    assert (
        "indicating \u2018public domain\u2019 or \u2018royalties required\u2019"
        in utf_8(path.read_bytes(), reading).decode()
    )


@pytest.mark.parametrize(
    "text", ["Müller", "naïve", "Café au lait", "señor niño mañana", "It\u2019s a “nice” \u2013 text"]
)
def test_a_few_accents_are_taken_for_windows_1252(text: str) -> None:
    """The detector takes `Müller` for ISO-8859-3 and `naïve` for IBM 852: so few letters say nothing."""
    data = f'<http://example.org/s> <http://example.org/p> "{text}" .\n'.encode("cp1252")
    assert labels_of(utf_8(data, read(data)), N_TRIPLES) == [text]


def test_every_other_real_file_is_in_utf_8() -> None:
    """A reading that recodes what needs none would do harm to most data."""
    for folder in ("void", "formats", "series", "rdfa", "w3c/rdf/rdf11"):
        for path in sorted((realdata() / folder).rglob("*")):
            if path.is_file() and path.stat().st_size < 1 << 20 and path.suffix not in (".gz", ".zip"):
                _is_utf_8(path)


def _is_utf_8(path: Path) -> None:
    reading = examine(lambda: path.open("rb"), "text/plain; charset=ISO-8859-1", path.name)
    assert reading.content.encoding == "utf-8", path
    assert reading.content.bytes == path.stat().st_size
    assert reading.problems == (), path
