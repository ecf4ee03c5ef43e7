"""Real documents of every format, and some that are as real ones are, to be changed at random."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Final

from tests.realdata import realdata
from tests.wash.packed import archive, zipped

MOST: Final = 20_000
"""Bytes of an original; of a longer one the beginning is taken."""

SHORT: Final = 3_000
"""Bytes that most originals are cut down to, so that many can be read in the time there is."""

PAGE: Final = b"""<!DOCTYPE html><html lang="en"><head><title>A page</title><base href="http://example.org/x/">
<script type="application/ld+json">{"@id": "http://example.org/a", "http://p/": [1, {"@value": "x"}]}</script></head>
<body vocab="http://schema.org/" prefix="d: http://purl.org/dc/terms/"><p typeof="Person" about="#me">
<span property="name">Ann &amp; Bob</span><a rel="d:related" href="/b?x=1">b</a><time datetime="2020-01-01">then</time>
<ul inlist><li property="d:title" inlist content="1" datatype="d:x">one<li inlist property="d:title">two</ul></body>"""

NEWEST: Final = (
    b'<http://a/> <http://p/> <<( <http://b/> <http://q/> <<( _:b <http://q/> "x"@ar--rtl )>> )>> .\n'
    b'_:b <http://p/> "y"@en--ltr .\n<http://a/> <http://p/> "<<( --ltr ." .\n'
)
ANNOTATED: Final = (
    b"PREFIX : <http://example.org/>\n:a :p :b ~ :r {| :q <<( :a :p :b )>>, << :a :p 1 >> |} .\n"
    b'<< :a :p :b ~ _:r >> :q \'x\'@en--ltr, """y\n"""@en .\n'
)
"""RDF 1.2, in lines and in Turtle."""


@dataclass(frozen=True, slots=True)
class Sample:
    """
    A document.

    Attributes:
        name: The last part of its URL.
        data: Its bytes.
        media_type: What it is declared as.
        origin: What it was made of.
    """

    name: str
    data: bytes
    media_type: str | None = None
    origin: str = ""


@cache
def originals() -> tuple[tuple[Sample, ...], ...]:
    """Real documents in groups that are drawn from alike."""
    w3c = realdata() / "w3c"
    groups = [tuple(_files(w3c / "rdf/rdf11" / suite)) for suite in ("rdf-turtle", "rdf-trig", "rdf-xml")]
    lines = [*_files(w3c / "rdf/rdf11/rdf-n-triples"), *_files(w3c / "rdf/rdf11/rdf-n-quads")]
    groups += [tuple(lines), tuple(_expanded(w3c / "json-ld"))]
    published = [*_files(realdata() / "void"), *_files(realdata() / "formats/uw")]
    groups += [tuple(published), tuple(_files(realdata() / "messy"))]
    groups.append((Sample("page.html", PAGE), *_files(realdata() / "rdfa")))
    groups.append((Sample("newest.nt", NEWEST), Sample("newest.nq", NEWEST), Sample("annotated.ttl", ANNOTATED)))
    small = [sample for group in groups for sample in group if len(sample.data) < SHORT]
    groups += [tuple(_packed(small)), tuple(_recoded(small))]
    assert all(groups)
    return tuple(groups)


def _files(folder: Path) -> Iterator[Sample]:
    """The files of a folder that are documents and not tests of what is bad."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "bad" not in path.name and "manifest" not in path.name and path.suffix != ".md":
            with path.open("rb") as stream:
                yield Sample(path.name, stream.read(MOST), origin=str(path.relative_to(realdata())))


def _expanded(folder: Path) -> Iterator[Sample]:
    """The inputs of the valid tests of JSON-LD."""
    for entry in json.loads((folder / "toRdf-manifest.jsonld").read_bytes())["sequence"]:
        path = folder / entry["input"]
        if "jld:PositiveEvaluationTest" in entry["@type"] and path.exists():
            yield Sample(path.name, path.read_bytes()[:MOST], origin=str(path.relative_to(realdata())))


def _packed(samples: list[Sample]) -> Iterator[Sample]:
    """Some documents, in archives of three and each compressed."""
    drawn = Random(1).sample(samples, 36)
    for three in (drawn[start : start + 3] for start in range(0, len(drawn), 3)):
        files = {sample.name: sample.data for sample in three}
        origin = " + ".join(sample.origin for sample in three)
        yield Sample("dump.zip", zipped(files.items()), origin=origin)
        yield Sample("dump.7z", archive("7z", files), origin=origin)
        yield Sample("dump.tar.gz", gzip.compress(_tar(files), mtime=0), origin=origin)
        yield Sample("dump.tar", _tar(files), origin=origin)
        yield Sample(f"{three[0].name}.gz", gzip.compress(three[0].data, mtime=0), origin=three[0].origin)
        yield Sample(f"{three[1].name}.bz2", bz2.compress(three[1].data), origin=three[1].origin)


def _tar(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
        entry = tarfile.TarInfo("link")
        entry.type, entry.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(entry)
    return out.getvalue()


def _recoded(samples: list[Sample]) -> Iterator[Sample]:
    """Some documents in other encodings."""
    for number, sample in enumerate(Random(2).sample(samples, 60)):
        encoding = ("utf-16", "utf-16-le", "utf-16-be", "cp1252", "utf-32", "shift_jis")[number % 6]
        text = sample.data.decode(errors="replace")
        yield replace(sample, data=text.encode(encoding, "replace"), origin=f"{sample.origin} in {encoding}")
