"""Lines to copy: how an export is taken, checked, read and kept up to date. The tests run those of curl and Python."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Recipe:
    """
    Lines of one language for one purpose.

    Attributes:
        name: A word for programs.
        title: For people; may hold code between backticks.
        language: `Shell`, `Python` or `R`.
        lines: To be copied as they are.
    """

    name: str
    title: str
    language: str
    lines: str


_EXPORT: Final = (
    Recipe(
        "download",
        "Download, or go on with a download that broke off, and check it",
        "Shell",
        """\
curl -fLO -C - {base}/exports/{file}
curl -fsSL {base}/exports/{file}.sha256 | sha256sum --check""",
    ),
    Recipe(
        "daily",
        "Every day: take it only if it changed, by its ETag",
        "Shell",
        """\
curl -fsSL --etag-compare {file}.etag --etag-save {file}.etag -o {file} {base}/exports/{file}""",
    ),
    Recipe(
        "python",
        "Download it if it changed, and check it, with nothing but Python 3.11",
        "Python",
        """\
import hashlib, pathlib, urllib.error, urllib.request

url = "{base}/exports/{file}"
data, part, tag = (pathlib.Path("{file}" + ending) for ending in ("", ".part", ".etag"))
known = {"If-None-Match": tag.read_text()} if data.exists() and tag.exists() else {}
digest = hashlib.sha256()
try:
    with urllib.request.urlopen(urllib.request.Request(url, headers=known)) as answer, part.open("wb") as file:
        while chunk := answer.read(1 << 20):
            digest.update(chunk)
            file.write(chunk)
    expected = urllib.request.urlopen(url + ".sha256").read().decode().split()[0]
    assert digest.hexdigest() == expected, "the download is damaged; take it again"
    part.replace(data)
    tag.write_text(answer.headers["ETag"])
except urllib.error.HTTPError as error:
    if error.code != 304:  # 304: what is here is what is there
        raise""",
    ),
    Recipe(
        "pyoxigraph",
        "Load it into pyoxigraph, a store for millions of statements (`pip install pyoxigraph`)",
        "Python",
        """\
import gzip
from pyoxigraph import RdfFormat, Store

store = Store("{stem}.store")
with gzip.open("{file}") as quads:
    store.bulk_load(quads, format=RdfFormat.N_QUADS)
for row in store.query("SELECT ?g (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g"):
    print(row["g"].value, row["n"].value)""",
    ),
    Recipe(
        "rdflib",
        "Load it into rdflib, in memory (`pip install rdflib`)",
        "Python",
        """\
import gzip
from rdflib import Dataset

data = Dataset()
with gzip.open("{file}") as quads:
    data.parse(quads, format="nquads")
for graph in data.graphs():
    print(graph.identifier, len(graph))""",
    ),
    Recipe(
        "r",
        'Read it in R, with rdflib (`install.packages("rdflib")`)',
        "R",
        """\
library(rdflib)
options(timeout = 3600)
download.file("{base}/exports/{file}", "{file}", mode = "wb")
writeLines(readLines(gzfile("{file}"), encoding = "UTF-8"), "{stem}.nq", useBytes = TRUE)
data <- rdf_parse("{stem}.nq", format = "nquads")
rdf_query(data, "SELECT ?s ?p ?o WHERE { ?s ?p ?o } LIMIT 10")""",
    ),
    Recipe(
        "readr",
        'Or ask in R, and get a table (`install.packages("readr")`)',
        "R",
        """\
library(readr)
query <- "SELECT ?class (COUNT(*) AS ?entities) WHERE { ?entity a ?class } GROUP BY ?class"
table <- read_csv(paste0("{base}/sparql?format=csv&query=", URLencode(query, reserved = TRUE)))""",
    ),
)

_CHANGES: Final = (
    Recipe(
        "version",
        "Take a version whole; it is sorted N-Quads",
        "Shell",
        "curl -fsSL -o {name}.nq {base}/providers/{name}/versions/{before}.nq",
    ),
    Recipe(
        "patch",
        "Bring it to the next version, with `comm` and `sort` alone, however large it is",
        "Shell",
        """\
export LC_ALL=C
curl -fsSL --compressed -o {n}.nqud {base}/providers/{name}/changes/{n}.nqud
sed -n 's/^-//p' {n}.nqud | comm -13 - {name}.nq > kept.nq
sed -n 's/^+//p' {n}.nqud | sort -m - kept.nq > {name}.nq
sha256sum {name}.nq  # the sha256 that {base}/providers/{name}/versions/{n} says""",
    ),
    Recipe(
        "follow",
        "Bring a store to the next version in Python",
        "Python",
        """\
import urllib.request
from pyoxigraph import RdfFormat, Store, parse

def quads(sign, lines):
    return parse(b"".join(l[1:] for l in lines if l[:1] == sign), format=RdfFormat.N_QUADS)

store = Store("{name}.store")
with urllib.request.urlopen("{base}/providers/{name}/changes/{n}.nqud") as change:
    lines = change.readlines()
for quad in quads(b"-", lines):
    store.remove(quad)
store.extend(quads(b"+", lines))
print(len(store))""",
    ),
)


def of_export(base_url: str, file: str) -> Iterator[Recipe]:
    """Yield the lines for a file of `/exports/`."""
    return _filled(_EXPORT, {"base": base_url, "file": file, "stem": file.removesuffix(".nq.gz")})


def of_changes(base_url: str, name: str, n: int) -> Iterator[Recipe]:
    """Yield the lines that take a provider's graph from the version before to version n."""
    return _filled(_CHANGES, {"base": base_url, "name": name, "n": str(n), "before": str(n - 1)})


def _filled(recipes: tuple[Recipe, ...], values: dict[str, str]) -> Iterator[Recipe]:
    for recipe in recipes:
        lines = recipe.lines
        for name, value in values.items():
            lines = lines.replace(f"{{{name}}}", value)
        yield Recipe(recipe.name, recipe.title, recipe.language, lines)
