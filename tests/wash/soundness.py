"""What holds of the washing of every document, however bad it is."""

from __future__ import annotations

import io
import re
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pyoxigraph
from pyoxigraph import BlankNode, RdfFormat, Triple

from harvest.errors import ContextWanted
from harvest.model import Document, Part, Problem, Status
from harvest.pipeline.harvest.contexts import MOST
from harvest.wash import problems
from harvest.wash.leaves import Terms, parts
from harvest.wash.problems import EXCERPT, KEPT, STATEMENTS
from harvest.wash.process import report
from harvest.wash.text import Sink
from harvest.wash.unpacking.members import Leaf
from harvest.wash.unpacking.volume import Volume
from tests.wash.documents import BASE
from tests.wash.mutation import mutant
from tests.wash.originals import Sample

KINDS: Final = frozenset(re.findall(r"^    ([a-z0-9.-]+) {2,}\S", problems.__doc__ or "", re.MULTILINE))
"""The kinds of problems, as the table of `harvest.wash.problems` lists them."""

SLOW_S: Final = 0.5
"""Seconds of processor time from which on a document is reported as slow."""

MEMORY: Final = Path("/dev/shm")
"""Where files cost little; where it is missing, they cost more."""

_LAST = "".join(chr(plane << 16 | code) for plane in range(17) for code in (0xFFFE, 0xFFFF))
_MARK = re.compile(r"d\d+-")
_ENDS = re.compile(r"[\r\n]")
_NO_IRIS = re.compile(f"[\U000e0000-\U000e0fff{_LAST}]")
"""Characters of Turtle's prefixed names that no IRI may have; W3C tests have them, and the store takes them."""


def examined(sample: Sample, folder: Path) -> tuple[tuple[Part, ...], list[str]]:
    """What became of a document, which is filed in a folder, and what is wrong with that; nothing, if all is well."""
    path = folder / "body"
    path.write_bytes(sample.data)
    ground, blank = io.BytesIO(), io.BytesIO()
    source = Document(path, BASE + sample.name, sample.media_type)
    try:
        found = answered(source, ground, blank)
    except LookupError as error:
        return (), [str(error)]
    lines = ground.getvalue() + blank.getvalue()
    wrong = [*(fault for part in found for fault in _of_part(part)), *_of_lines(lines, blank.getvalue())]
    if sum(part.statements for part in found) != lines.count(b"\n"):
        wrong.append("another number of statements was counted than was given")
    if not wrong and [part.format for part in found] in (["N-Triples"], ["N-Quads"]):
        wrong += _invented(sample.data, found[0], lines)
    return found, wrong


def answered(source: Document, ground: io.BytesIO, blank: io.BytesIO) -> tuple[Part, ...]:
    """What became of a document whose contexts cannot be had."""
    contexts: dict[str, Path | None] = {}
    terms = Terms(Volume(), source.path.parent)

    @contextmanager
    def outlet(leaf: Leaf) -> Iterator[tuple[Sink, Sink]]:
        yield ground, blank

    while len(contexts) <= MOST:
        for sink in (ground, blank):
            sink.seek(0)
            sink.truncate()
        try:
            return tuple(parts(replace(source, contexts=contexts), terms, outlet, count()))
        except ContextWanted as wanted:
            if not wanted.url or wanted.url in contexts:
                raise LookupError(f"the context {wanted.url!r} is asked for twice") from wanted
            contexts[wanted.url] = None
    return ()


def _of_part(part: Part) -> Iterator[str]:
    """What is wrong with a record."""
    kinds = Counter(problem.kind for problem in part.problems)
    if unknown := part.counts.keys() - KINDS:
        yield f"unknown kinds {unknown}"
    if kinds - Counter(part.counts) or (len(part.problems) < KEPT and kinds != Counter(part.counts)):
        yield f"{part.counts} counted, and {kinds} reported"
    # What is too large is a statement in some formats, and all the rest of the document in others.
    least = sum(count for kind, count in part.counts.items() if kind in STATEMENTS)
    if not least <= part.dropped <= least + part.counts.get("too-large", 0):
        yield f"{part.dropped} dropped, and {part.counts} counted"
    if part.whole == ("cut-off" in part.counts):
        yield f"whole is {part.whole}, and {part.counts} counted"
    if part.statements < 0 or (part.statements and part.format is None):
        yield f"{part.statements} statements of {part.format}"
    if part.status is not Status.PARSED and not part.problems and part.status is not Status.DEPLETED:
        yield f"nothing is reported about a document that is {part.status}"
    for problem in part.problems:
        yield from _of_problem(problem)


def _of_problem(problem: Problem) -> Iterator[str]:
    """What is wrong with a finding."""
    if not problem.message:
        yield f"{problem} has no message"
    if (problem.line is not None and problem.line < 1) or (problem.column is not None and problem.column < 1):
        yield f"{problem} has an impossible place"
    if problem.excerpt is not None and (len(problem.excerpt) > EXCERPT or "\n" in problem.excerpt):
        yield f"{problem} has an impossible excerpt"


def _of_lines(lines: bytes, blank: bytes) -> Iterator[str]:
    """What is wrong with the triples given."""
    try:
        list(pyoxigraph.parse(_NO_IRIS.sub("x", lines.decode()), format=RdfFormat.N_TRIPLES))
        triples = list(pyoxigraph.parse(lines, format=RdfFormat.N_TRIPLES, lenient=True))
    except SyntaxError as error:
        yield f"what was given is no N-Triples: {error}"
        return
    if pyoxigraph.serialize((quad.triple for quad in triples), format=RdfFormat.N_TRIPLES) != lines:
        yield "what was given is not canonical"
    marked = sum(isinstance(term, BlankNode) for quad in triples for term in (quad.subject, quad.object))
    if marked != len(re.findall(rb"(?:^| )_:d\d+-", blank, re.MULTILINE)) or bool(marked) != bool(blank):
        yield "blank nodes are where they do not belong, or have no mark of their document"


def _invented(data: bytes, part: Part, lines: bytes) -> Iterator[str]:
    """Triples that no line of a document of N-Triples or N-Quads holds."""
    encoding = part.content.encoding if part.content else None
    if encoding is None or data.startswith((b"\x1f\x8b", b"BZh", b"PK", b"7z")):
        return
    format = RdfFormat.N_TRIPLES if part.format == "N-Triples" else RdfFormat.N_QUADS
    text = data.decode(encoding, "replace").encode(errors="replace").decode().lstrip("\ufeff")
    held = {triple for line in _ENDS.split(text) for triple in _triples(line, format)}
    given = {_plain(quad.triple) for quad in pyoxigraph.parse(lines, format=RdfFormat.N_TRIPLES, lenient=True)}
    for triple in given - held:
        yield f"no line holds {triple}"


def _triples(line: str, format: RdfFormat) -> Iterator[Triple]:
    """The triples of a line before what is bad in it."""
    try:
        for quad in pyoxigraph.parse(line.encode(), format=format):
            yield quad.triple
    except SyntaxError:
        return


def _plain(triple: Triple) -> Triple:
    """A triple without the marks that tell the blank nodes of documents apart."""
    subject, predicate, value = triple
    if isinstance(subject, BlankNode):
        subject = BlankNode(_MARK.sub("", subject.value, count=1))
    if isinstance(value, BlankNode):
        value = BlankNode(_MARK.sub("", value.value, count=1))
    return Triple(subject, predicate, value)


@dataclass(frozen=True, slots=True)
class Batch:
    """
    What came of some mutants.

    Attributes:
        washed: How many there were.
        wrong: The faults, with what each document was made of.
        slow: Seconds of processor time that documents took, for those beyond `SLOW_S`.
        kinds: How many parts were read in each format, and how many had problems of each kind.
    """

    washed: int
    wrong: list[str]
    slow: list[tuple[float, str]]
    kinds: Counter[str]


def batch(numbers: range) -> Batch:
    """What comes of the mutants of those numbers; each number is reported first, so that a crash has a name."""
    done = Batch(len(numbers), [], [], Counter())
    with TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        for number in numbers:
            report(number)
            sample = mutant(number)
            began = time.process_time()
            found, wrong = examined(sample, Path(folder))
            took = time.process_time() - began
            done.wrong.extend(f"{sample.origin}: {fault}" for fault in wrong)
            if took > SLOW_S:
                done.slow.append((took, sample.origin))
            for part in found:
                done.kinds.update((part.format or "no format", *part.counts))
    return done
