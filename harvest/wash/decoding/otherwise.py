"""What a document is that holds no RDF, for people: by its first bytes."""

from __future__ import annotations

import re
from typing import Final

from harvest.model import Problem
from harvest.wash.decoding.content import is_binary
from harvest.wash.decoding.markup import is_json, is_page, root

SHOWN: Final = 60
"""Characters of a document that a message shows."""

_RDF_INSTEAD: Final = "publish it as RDF/XML or Turtle"
_MAGIC: Final = (
    (b"%PDF-", "a PDF document"),
    (b"$HDT", "HDT, a binary format that is not read here; publish an N-Triples dump beside it"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"PAR1", "a Parquet file"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"GIF8", "a picture"),
    (b"\xd0\xcf\x11\xe0", "a document of an office program"),
    (b"version https://git-lfs", "a pointer of Git LFS, not the file that it stands for"),
)
_XML: Final = {
    "urlset": "a sitemap",
    "sitemapindex": "a list of sitemaps",
    "rss": "a news feed",
    "feed": "a news feed",
    "svg": "a picture",
    "sparql": "the results of a SPARQL query; ask by CONSTRUCT for RDF",
    "trix": "TriX, which is not read here",
    "rdf": "an rdf:RDF element without statements",
    "error": "an error message of a file server",
}
_TEXTS: Final = (
    (re.compile(rb"(?:Prefix\s*\(|Ontology\s*\(|Declaration\s*\()"), "OWL functional syntax"),
    (re.compile(rb"(?:Prefix:|Ontology:|Namespace:|Class:|ObjectProperty:|Import:)\s"), "OWL in Manchester syntax"),
)
_COMMENTS: Final = re.compile(rb"(?:\s++|#[^\r\n]*+)*+")
_QUERY: Final = re.compile(rb"(?:PREFIX\s[^\n]*\s)*\s*(?:SELECT|ASK|CONSTRUCT|DESCRIBE|INSERT|DELETE)\b", re.IGNORECASE)
_EMPTY_JSON: Final = re.compile(rb"[\[{]\s*[\]}]\s*")
_DELIMITERS: Final = (b"\t", b";", b",")


def no_rdf(title: str, head: bytes, read_as: str | None = None) -> Problem:
    """The problem of a document that holds no RDF: what it is, as far as that shows, and how it begins."""
    kind = otherwise(head)
    what = f"{title} holds no RDF: it " + (f"was read as {read_as} and has no statement" if read_as else "")
    what += ("; it " if read_as and kind else "") + (f"is {kind}" if kind else "" if read_as else "is of no known kind")
    begins = beginning(head)
    return Problem("no-rdf", what + (f"; it begins {begins}" if begins else ""))


def otherwise(head: bytes) -> str | None:
    """What a document is that begins so, as the rest of a sentence ("it is ..."); None where nobody knows."""
    magic = next((name for magic, name in _MAGIC if head.startswith(magic)), None)
    if magic or is_binary(head):
        return magic or "a binary file"
    text = head.lstrip()
    if not text:
        return "empty" if not head else "nothing but white space"
    if element := root(text):
        return _in_xml(element.name)
    if is_json(text):
        return _in_json(text)
    return _in_text(text)


def beginning(head: bytes) -> str:
    """The first characters of a document as they can be printed, in quotes; empty where it has none."""
    text = head[: 4 * SHOWN + 4].decode("utf-8", "replace")
    shown = "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text[:SHOWN])
    return f'"{shown[:SHOWN]}{"..." if len(text) > SHOWN or len(shown) > SHOWN else ""}"' if text else ""


def _in_json(text: bytes) -> str:
    if _EMPTY_JSON.fullmatch(text):
        return "an empty JSON document"
    return "JSON with nothing in it that JSON-LD makes statements of; it lacks a context, or keys that it knows"


def owl_text(head: bytes) -> str | None:
    """The syntax of OWL that a text is in and that is none of RDF, or None; under the name of Turtle it is common."""
    rest = _uncommented(head.lstrip())
    return next((name for pattern, name in _TEXTS if pattern.match(rest)), None)


def _uncommented(text: bytes) -> bytes:
    comments = _COMMENTS.match(text)
    return text[comments.end() :] if comments else text


def _in_xml(name: str) -> str:
    if name in ("html", "head", "body", "script"):
        return "a page in HTML"
    if name == "ontology":
        return f"OWL/XML, which is another format than RDF/XML and not read here; {_RDF_INSTEAD}"
    return _XML.get(name, f"XML, but no RDF/XML (its first element is {name!r})" if name else "XML, but no RDF/XML")


def _in_text(text: bytes) -> str | None:
    rest = _uncommented(text)
    if not rest:
        return "nothing but comments"
    if name := owl_text(text):
        return f"{name}, which is not read here; {_RDF_INSTEAD}"
    if _QUERY.match(rest):
        return "a SPARQL query"
    if is_page(text):
        return "a page in HTML"
    return "a table (CSV or the like)" if _is_table(text) else None


def _is_table(text: bytes) -> bool:
    """Whether the first lines have the same number of columns, two or more."""
    lines = [line for line in text.splitlines()[:6] if line.strip()]
    whole = lines[:5] if len(lines) > 5 else lines
    return any(
        len(whole) > 1 and len({line.count(each) for line in whole}) == 1 and whole[0].count(each) > 0
        for each in _DELIMITERS
    )
