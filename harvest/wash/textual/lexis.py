"""
What Turtle, TriG and N3 are made of, distinguished just well enough to see where statements end.

The expressions are looser than the grammars: a token that is none passes here, and the parser says what is wrong with
it. Only where a string, a long string or an IRI does not close, no token is found.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from sparql.rdf import N3, TRIG, Format

LINE_END: Final = re.compile(rb"\r\n?|\n")
"""Where lines end for the parser."""

_STRING = rb"""
      \"\"\" (?: [^"\\]++ | \\. | "(?!"") )*+ \"\"\"
    | ''' (?: [^'\\]++ | \\. | '(?!'') )*+ '''
    | "(?!"") (?: [^"\\\n\r]++ | \\[^\n\r] )*+ "
    | '(?!'') (?: [^'\\\n\r]++ | \\[^\n\r] )*+ '
"""
_WORD = rb"""
      (?: [A-Za-z0-9_:%+\-@\x80-\xff]++ | \\. | \.++(?=[A-Za-z0-9_:%\-\\\x80-\xff]) )++
"""
_BLANK = rb"\s++ | \#[^\n\r]*+"
_IRI = rb"<[^<>\n\r]*+>"
_MARKS = rb"<< | <(?=[=\-]) | [^\s\"'<.{}\#\\A-Za-z0-9_:%+\-@\x80-\xff]"

_CONTINUED = {b'"""': rb'(?:[^"\\]++|\\.|"(?!""))*+', b"'''": rb"(?:[^'\\]++|\\.|'(?!''))*+"}
_ON_LINE = {b'"': rb'(?:[^"\\\n\r]++|\\[^\n\r])*+', b"'": rb"(?:[^'\\\n\r]++|\\[^\n\r])*+", b"<": rb"[^<>\n\r]*+"}

INSIDE: Final = {opening: re.compile(body, re.S) for opening, body in (_CONTINUED | _ON_LINE).items()}
"""What can stand between the opening of a token and its end."""

STATEMENT_END: Final = re.compile(rb"[ \t]*(?:#[^\n\r]*)?(?=[\n\r]|\Z)")
"""What follows the dot of a statement where another begins on a line of its own."""

DIRECTIVE: Final = re.compile(
    rb"(?:\s++|\#[^\n\r]*+)*+ (?i: PREFIX\s++[^\s:<>\"'\#]*+:\s*+ | BASE\s*+ ) <[^<>\n\r]*+>", re.X
)
"""A declaration that no dot ends."""

DECLARED: Final = re.compile(rb"(?:\s++|\#[^\n\r]*+)*+ @?(?i: PREFIX\s++([^\s:<>\"'\#]*+) | (BASE)\b )", re.X)
"""The beginning of a declaration: a prefix, or the base."""

SENTENCE: Final = re.compile(rb"(?<=\.)[ \t]*(?:#[^\n\r]*)?[\n\r]|\A[^\n\r]*[\n\r]")
"""What is between statements on lines of their own; or the first line, of which only the end is seen."""

LEADING: Final = re.compile(
    rb"""
    (?: \s++ | \#[^\n\r]*+ | [;,\[\]()] | <[^<>"\s]*+> | [\w\-\x80-\xff]*+:[\w\-.%:\x80-\xff]*+
      | a(?![\w:]) | true\b | false\b | (?: "(?:[^"\\\n\r]|\\.)*+" | '(?:[^'\\\n\r]|\\.)*+' ) (?:@[A-Za-z\-]++|\^\^)?
      | [+\-]?[0-9.]++(?:[eE][+\-]?[0-9]++)?(?=[\s,;]) )*+
    (?<=[>\w\x80-\xff,(])
    """,
    re.X,
)
"""The beginning of a statement up to an object."""

BEHIND: Final = re.compile(rb"\s*+[.;,\])}@^#|]")
"""What can follow a string."""


OPEN_ON_LINE: Final = re.compile(rb"<[^<>\n\r]*+>|\"(?:[^\"\\\n\r]|\\[^\n\r])*+\"|([<\"])")
"""IRIs and strings of a line, and in its group the first that is not closed."""


@dataclass(frozen=True, slots=True)
class Lexis:
    """
    The tokens of one format.

    Attributes:
        token: One token, white space or comment.
        run: As many tokens as there are up to a stop, an unclosed token or the end; not the one that touches the end.
        stops: What ends a statement: the dot, and braces where they mean something.
    """

    token: re.Pattern[bytes]
    run: re.Pattern[bytes]
    stops: bytes


def lexis_of(source: Format) -> Lexis:
    """The tokens of Turtle, TriG or N3."""
    braces = source in (TRIG, N3)
    annotation = rb"\{\| | \|\}" if braces else rb"[{}]"
    token = b" | ".join((_BLANK, _IRI, _WORD, _STRING, annotation, _MARKS))
    return Lexis(
        re.compile(token, re.X | re.S),
        re.compile(rb"(?: (?>" + token + rb") (?!\Z) )*+", re.X | re.S),
        b".{}" if braces else b".",
    )
