"""Documents as nobody meant them: whatever they are, washing them ends, and what comes out is sound."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import active_children
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harvest.errors import WashError
from harvest.wash.process import Bounds, call
from tests.wash.mutation import MEDIA_TYPES, TOKENS, mutant
from tests.wash.originals import Sample, originals
from tests.wash.soundness import KINDS, MEMORY, Batch, batch, examined

FEW, MANY = 2_000, 200_000
BATCH = 1_000
SIDE_BY_SIDE = 2
DOCUMENT_S = 20
"""Seconds that one document of some kB may take; what takes longer grows with the square of its size, or worse."""

FORMATS = {"N-Triples", "N-Quads", "Turtle", "TriG", "N3", "RDF/XML", "JSON-LD", "HTML", "no format"}
RARE = {"too-large"}
"""Kinds of problems that few mutants have."""


def fuzzed(numbers: range) -> list[Batch]:
    """What comes of the mutants of those numbers; what ends its process is a fault, and its document is saved."""
    heard: list[object] = []
    done: list[Batch] = []
    while numbers:
        try:
            done.append(call(batch, Bounds(DOCUMENT_S * 10, "the mutants", on_report=heard.append), numbers))
            return done
        except WashError as error:
            number = next((value for value in reversed(heard) if isinstance(value, int)), numbers.start)
            path = Path(gettempdir(), f"mutant-{number}")
            path.write_bytes(mutant(number).data)
            wrong = f"{mutant(number).origin}: {error.message}; the document is in {path}"
            done.append(Batch(number + 1 - numbers.start, [wrong], [], Counter()))
            numbers = range(number + 1, numbers.stop)
    return done


def all_of(count: int, size: int) -> Batch:
    """What comes of that many mutants, some processes side by side."""
    batches = (range(start, min(count, start + size)) for start in range(0, count, size))
    with ThreadPoolExecutor(SIDE_BY_SIDE) as threads:
        return joined(part for parts in threads.map(fuzzed, batches) for part in parts)


def joined(batches: Iterable[Batch]) -> Batch:
    """All that came of several batches."""
    total, wrong, slow, kinds = 0, [], [], Counter[str]()
    for each in batches:
        total += each.washed
        wrong += each.wrong
        slow += each.slow
        kinds += each.kinds
    return Batch(total, wrong, sorted(slow, reverse=True), kinds)


def test_a_mutant_is_the_same_whenever_it_is_made() -> None:
    """The number of a mutant is all that a report has to name."""
    assert [mutant(number) for number in range(50)] == [mutant(number) for number in range(50)]
    assert len({mutant(number).data for number in range(50)}) >= 45
    assert sum(map(len, originals())) >= 1_000


def test_a_mutant_that_ends_its_process_is_reported_and_the_others_are_washed() -> None:
    """What finds nothing must be able to."""
    with ThreadPoolExecutor(1) as threads:
        found = threads.submit(fuzzed, range(400))
        while not (washing := active_children()):
            time.sleep(0.001)
        washing[0].kill()
        done = joined(found.result())
    assert done.washed == 400
    [fault] = done.wrong
    number, place = int(fault.partition(":")[0]), Path(fault.rpartition(" ")[2])
    assert "exit status -9" in fault
    assert place.read_bytes() == mutant(number).data
    place.unlink()


@pytest.mark.long
def test_two_thousand_mutants_are_washed_without_harm() -> None:
    """No exception, no crash, sound records, valid lines; among them every format, and most kinds of problems."""
    found = all_of(FEW, FEW // SIDE_BY_SIDE)
    assert found.wrong == []
    assert found.washed == FEW
    assert all(took < DOCUMENT_S for took, _ in found.slow), found.slow[:5]
    assert found.kinds.keys() >= FORMATS
    assert found.kinds.keys() - FORMATS >= KINDS - RARE


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_two_hundred_thousand_mutants_are_washed_without_harm() -> None:
    """Those that are seldom met; it takes some ten minutes on two cores."""
    began = time.monotonic()
    found = all_of(MANY, BATCH)
    took = time.monotonic() - began
    print(f"{found.washed:,} documents in {took:.0f} s, {found.washed / took:.0f} a second")  # shown with -s
    print(f"slowest: {found.slow[:10]}; read as and with problems: {dict(found.kinds)}")
    assert found.wrong == []
    assert found.washed == MANY
    assert all(taken < DOCUMENT_S for taken, _ in found.slow), found.slow[:5]
    assert found.kinds.keys() >= FORMATS | KINDS


def check(data: bytes, media_type: str | None, name: str) -> None:
    """Wash a document, and find nothing wrong with what comes of it."""
    with TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        _, wrong = examined(Sample(name, data, media_type), Path(folder))
    assert wrong == []


NAMES = st.sampled_from(("dump", "dump.ttl", "dump.nt", "dump.nq", "dump.trig", "dump.rdf", "dump.jsonld", "dump.html"))
DECLARED = st.sampled_from(MEDIA_TYPES)


@settings(max_examples=200)
@given(st.binary(max_size=200), DECLARED, NAMES)
def test_any_bytes_are_washed_without_harm(data: bytes, media_type: str | None, name: str) -> None:
    """Under whatever media type and name they come."""
    check(data, media_type, name)


@settings(max_examples=200)
@given(st.text(max_size=100), st.sampled_from(("utf-8", "utf-16", "utf-32-be")), DECLARED, NAMES)
def test_any_text_is_washed_without_harm(text: str, encoding: str, media_type: str | None, name: str) -> None:
    """Lone surrogates included, which no encoding has."""
    check(text.encode(encoding, "surrogatepass"), media_type, name)


@settings(max_examples=150)
@given(st.lists(st.sampled_from(TOKENS), max_size=12).map(b"".join), DECLARED, NAMES)
def test_any_marks_are_washed_without_harm(data: bytes, media_type: str | None, name: str) -> None:
    """What means something to a format, in a row that means nothing."""
    check(data, media_type, name)
