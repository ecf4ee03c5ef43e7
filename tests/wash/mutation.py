"""Documents as nobody meant them: real ones of every format, changed at random, each made again from its number."""

from __future__ import annotations

import gzip
import warnings
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Final

from tests.wash.originals import SHORT, Sample, originals
from tests.wash.packed import zipped

MEDIA_TYPES: Final = (
    None,
    "text/turtle",
    "application/trig",
    "application/n-triples",
    "application/n-quads",
    "text/n3",
    "application/rdf+xml",
    "application/ld+json",
    "text/html",
    "application/xhtml+xml",
    "text/plain; charset=utf-16",
    "text/turtle; charset=iso-8859-1",
    "application/zip",
    "application/gzip",
    "application/octet-stream",
    "nonsense",
    "text/turtle; charset=\udcff",
)
ENDINGS: Final = ("ttl", "trig", "nt", "nq", "n3", "rdf", "jsonld", "html", "zip", "tar.gz", "gz", "7z", "owl", "x", "")

TOKENS: Final = (
    *(b"\0", b"\xff", b"\xfe\xff", b"\xff\xfe", b"\xef\xbb\xbf", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80"),
    *(b"\r", b"\n", b"\r\n", b"\x0c", b"\x1b", b"\xc2\x85", b"\xe2\x80\xa8", b"\x7f", b"\t", b" "),
    *(b'"', b"'", b'"""', b"'''", b"\\", b"\\u", b"\\uD800", b"\\U00110000", b"\\u0000", b"\\x", b"`"),
    *(b"<", b">", b"<<", b"<<(", b")>>", b">>", b"{|", b"|}", b"~", b"[", b"]", b"(", b")", b"{", b"}", b"[]", b"()"),
    *(b".", b";", b",", b":", b"@", b"^^", b"^", b"!", b"=>", b"<=", b"_:", b"_:b", b"#", b"%", b"%zz", b"a ", b" = "),
    *(b"@prefix : <> .", b"@base <:> .", b"PREFIX x: <y>", b"BASE <http://[>", b"GRAPH <g> {", b"@forAll :x.", b"?x"),
    *(b"<a> <b> <c> .", b"<http://a/> <http://b/> <http://c/> .\n", b'"x"@en--ltr', b'"x"@', b'"1"^^<>', b"1e", b"-."),
    *(b"<?xml version='1.0' encoding='utf-16'?>", b"<?x?>", b"<!--", b"-->", b"<![CDATA[", b"]]>", b"&a;", b"&#0;"),
    *(b"<!DOCTYPE r [<!ENTITY a 'x'>]>", b'<!ENTITY a "&a;">', b'<!ENTITY % p SYSTEM "file:///etc/passwd">%p;'),
    *(b"<!DOCTYPE html>", b"xmlns:x=''", b'xml:base="::"', b'xml:lang=""', b'rdf:parseType="Literal"', b"/>", b"</"),
    *(b'rdf:ID="1"', b'rdf:about="http://[x"', b'rdf:nodeID=""', b'rdf:datatype="x y"', b'rdf:parseType="Collection"'),
    *(b'{"@context":', b'"@id":"_:"', b'"@graph":[', b'"@value":{}', b'"@type":[1]', b'"@list":[[[', b"null", b"1e999"),
    *(b'"@reverse":', b'"@context":"http://c.example/"', b'"@import":"x"', b'"@language":"\\u0000"', b'"@index":2'),
    *(b"<script type=application/ld+json>", b"</script>", b' property="x"', b' about="[x:"', b' typeof=""', b" vocab"),
    *(b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06", b"\x1f\x8b\x08\0", b"7z\xbc\xaf\x27\x1c", b"BZh9", b"ustar\0"),
)
"""What means something to one format or another, and stands where it does not belong."""

NESTING: Final = (
    *((b"[", b"]"), (b"(", b")"), (b"{", b"}"), (b"<<(", b")>>"), (b"<<", b">>"), (b"[<p> ", b"]"), (b"<x>", b"</x>")),
    *((b'{"@id":', b"}"), (b'{"http://p/":[', b"]}"), (b'{"@graph":', b"}"), (b"<r:D><r:p>", b"</r:p></r:D>")),
    *((b"<div property='p'>", b"</div>"), (b"<a> <b> [", b"] ."), (b"{<a> <b> ", b"} ."), (b"!", b""), (b"^", b"")),
)
"""What opens and what closes."""

ENTITIES: Final = b"".join(
    b'<!ENTITY e%d "%s">' % (level, b"&e%d;" % (level - 1) * 8 if level else b"lol") for level in range(5)
)


def mutant(number: int) -> Sample:
    """The document of that number: the same one whenever it is asked for."""
    random = Random(number)
    sample = _drawn(random)
    data = sample.data
    changes = []
    for _ in range(random.choice((1, 1, 1, 2, 2, 3, 4, 6, 10))):
        change = random.choice(CHANGES)
        data = change(random, data)
        changes.append(change.__name__.strip("_"))
    name, media_type = sample.name, sample.media_type
    if random.random() < 0.15:
        name = f"dump.{random.choice(ENDINGS)}"
    if random.random() < 0.25:
        media_type = random.choice(MEDIA_TYPES)
    if random.random() < 0.03:
        data, name = _wrapped(random, name, data)
    return Sample(name, data, media_type, f"{number}: {sample.origin}, {' '.join(changes)}")


def _drawn(random: Random) -> Sample:
    """An original, most often cut down: its beginning, where prefixes stand, and some more of it."""
    sample = random.choice(random.choice(originals()))
    data = sample.data
    if len(data) > SHORT and random.random() < 0.95 and sample.name.rpartition(".")[2] not in ("zip", "7z", "tar"):
        start = random.randrange(len(data))
        data = data[: SHORT // 3] + data[start : start + SHORT // 3]
    return replace(sample, data=data)


def _wrapped(random: Random, name: str, data: bytes) -> tuple[bytes, str]:
    """The document in a compression or an archive, with others."""
    if random.random() < 0.5:
        return gzip.compress(data, mtime=0), f"{name}.gz"
    with warnings.catch_warnings(action="ignore"):  # of the two entries with one name
        return zipped([(name, data), ("../" + name, _drawn(random).data), (name, b"")]), "dump.zip"


def _place(random: Random, data: bytes) -> int:
    """Somewhere in the document, more often near its beginning."""
    return int(len(data) * random.random() ** random.choice((1, 1, 3)))


def _slice(random: Random, data: bytes) -> tuple[int, int]:
    start = _place(random, data)
    return start, start + int(2 ** random.uniform(0, 10))


def _flip(random: Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 5, 30)) if data else 0):
        changed[_place(random, data)] ^= 1 << random.randrange(8)
    return bytes(changed)


def _overwrite(random: Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 3)) if data else 0):
        changed[_place(random, data)] = random.randrange(256)
    return bytes(changed)


def _insert(random: Random, data: bytes) -> bytes:
    for _ in range(random.choice((1, 1, 2, 4))):
        at = _place(random, data)
        data = data[:at] + random.choice(TOKENS) * random.choice((1, 1, 1, 2, 3)) + data[at:]
    return data


def _replace_mark(random: Random, data: bytes) -> bytes:
    """One mark for another where it stands: what tears most with the least change."""
    marks = [at for at, byte in enumerate(data) if byte in b"\"'<>[](){}.;,:@\\&=/#\n"]
    if not marks:
        return data
    at = random.choice(marks)
    return data[:at] + random.choice((b"", *TOKENS)) + data[at + 1 :]


def _delete(random: Random, data: bytes) -> bytes:
    start, end = _slice(random, data)
    return data[:start] + data[end:]


def _repeat(random: Random, data: bytes) -> bytes:
    start, end = _slice(random, data)
    return data[:end] + data[start:end] * random.choice((1, 1, 2, 8)) + data[end:]


def _move(random: Random, data: bytes) -> bytes:
    start, end = _slice(random, data)
    rest = data[:start] + data[end:]
    at = _place(random, rest)
    return rest[:at] + data[start:end] + rest[at:]


def _truncate(random: Random, data: bytes) -> bytes:
    return data[: _place(random, data)]


def _behead(random: Random, data: bytes) -> bytes:
    return data[_place(random, data) :]


def _splice(random: Random, data: bytes) -> bytes:
    other = _drawn(random).data[:SHORT]
    at, begin = _place(random, data), _place(random, other)
    return data[:at] + other[begin:] + random.choice((b"", data[at:]))


def _nest(random: Random, data: bytes) -> bytes:
    at = _place(random, data)
    opening, closing = random.choice(NESTING)
    depth = int(2 ** random.uniform(1, random.choice((6, 6, 9, 12))))
    inner = random.choice((b"", b"1", data[at : at + 40]))
    return data[:at] + opening * depth + inner + closing * random.choice((depth, depth, 0, depth - 1)) + data[at:]


def _lengthen(random: Random, data: bytes) -> bytes:
    at = _place(random, data)
    long = int(2 ** random.uniform(6, random.choice((10, 10, 13))))
    mark = random.choice((b"a", b"\\", b" ", b"\xc3\xa9", b"<", b'"', b"\n", b"0", b"_:", b"&a;", b"\t."))
    return data[:at] + mark * long + data[at:]


def _shuffle(random: Random, data: bytes) -> bytes:
    lines = data.splitlines(True)
    random.shuffle(lines)
    return b"".join(lines)


def _declare(random: Random, data: bytes) -> bytes:
    """Entities, and where they are used."""
    declared = b"<!DOCTYPE rdf:RDF [" + ENTITIES + b"]>"
    at = data.find(b"?>") + 2 if b"?>" in data else 0
    use = max(at, _place(random, data))
    return data[:at] + declared + data[at:use] + b"&e%d;" % random.randrange(6) + data[use:]


def _line_ends(random: Random, data: bytes) -> bytes:
    return data.replace(b"\n", random.choice((b"\r", b"\r\n", b"\n\n", b" ", b"\xc2\x85", b"\n\r")))


def _recode(random: Random, data: bytes) -> bytes:
    source, target = (random.choice(("utf-8", "latin-1", "utf-16-le", "utf-16", "utf-32-be")) for _ in range(2))
    return data.decode(source, "replace").encode(target, "replace")


CHANGES: Final[tuple[Callable[[Random, bytes], bytes], ...]] = (
    *(_flip, _overwrite, _insert, _insert, _insert, _replace_mark, _replace_mark, _replace_mark, _delete, _repeat),
    *(_move, _truncate, _behead, _splice, _nest, _lengthen, _shuffle, _declare, _line_ends, _recode),
)
"""What may be done to a document, what tears most several times."""
