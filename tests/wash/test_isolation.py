"""A document that is made to do harm ends itself and nothing else: not the other entries, not the other providers."""

from __future__ import annotations

import bz2
import gzip
import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from harvest.errors import WashCrash
from harvest.model import Document, Outcome, Part, Status
from harvest.pipeline.harvest.washing import CRASHES, separately
from harvest.wash.leaves import Progress
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_semantics import A1
from tests.provider import VOID, ProviderServer, dataset, serving
from tests.wash.documents import BASE
from tests.wash.packed import zipped

GOOD = b'<http://x/a> <http://p> "1" .\n'
RDF = b'<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:x="http://x/">'
DEEP = 20_000


def entity_bomb() -> bytes:
    """Ten levels of ten entities: 30 GB of text."""
    levels = b"".join(b'<!ENTITY e%d "%s">' % (n, b"&e%d;" % (n - 1) * 10) for n in range(1, 11))
    declared = b'<?xml version="1.0"?><!DOCTYPE r [<!ENTITY e0 "lol">' + levels + b"]>"
    return declared + RDF + b'<r:Description r:about="http://x/a"><x:p>&e10;</x:p></r:Description></r:RDF>'


@cache
def zeros() -> bytes:
    """A statement, and 80 MB of nothing."""
    return gzip.compress(GOOD + bytes(80 << 20))


HARMFUL: dict[str, Callable[[], bytes]] = {
    "entities.rdf": entity_bomb,
    "zeros.nt.gz": zeros,
    "zeros.nt.bz2.gz": lambda: gzip.compress(bz2.compress(zeros() * 100)),
    "zeros.zip": lambda: zipped((("good.nt", GOOD), ("zeros.nt.gz", zeros()), ("more.nt.gz", zeros()))),
    "arrays.jsonld": lambda: b"[" * DEEP + b"]" * DEEP,
    "objects.jsonld": lambda: b'{"http://p/":' * DEEP + b"1" + b"}" * DEEP,
    "terms.nt": lambda: GOOD + b"<http://x/b> <http://p> " + b"<<( <http://a> <http://b> " * DEEP,
    "terms.nq": lambda: GOOD + b"<http://x/b> <http://p> " + b"<<( <http://a> <http://b> " * DEEP,
    "terms.ttl": lambda: GOOD + b"<http://x/b> <http://p> " + b"<<( <http://a> <http://b> " * DEEP,
    "reified.ttl": lambda: b"<< <http://a> <http://b> " * DEEP,
    "nodes.ttl": lambda: b"<http://x/b> <http://p> " + b"[ <http://p> " * DEEP,
    "graphs.trig": lambda: b"<http://x/g> { " * DEEP,
    "formulas.n3": lambda: b"<http://x/b> => " + b"{ <http://a> <http://b> " * DEEP,
    "elements.rdf": lambda: RDF + b"<r:Description><x:p>" * DEEP,
    "elements.txt": lambda: b"<!DOCTYPE html><body vocab='http://x/'>" + b"<div property='p'>" * 1000,
    "quotes.ttl": lambda: b'<http://x/b> <http://p> """' + b'" ' * DEEP,
    "nothing.ttl": lambda: b"",
    "rubbish.ttl": lambda: os.urandom(DEEP),
}
"""What is to do harm, by the name that it is published under."""


@pytest.fixture
def provider() -> Iterator[ProviderServer]:
    with serving() as server:
        yield server


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[TemporaryInstance]:
    made = TemporaryInstance(tmp_path)
    yield made
    made.close()


def published(provider: ProviderServer, name: str, dump: bytes) -> str:
    """Publish a dump and its description; the line that registers the provider."""
    provider.put(f"/{name}", dump, "application/octet-stream")
    description = VOID + dataset(f"{provider.url}/{name}#d", None, [f"{provider.url}/{name}"])
    void = provider.put(f"/{name}/void.ttl", description)
    return f"{key(name)}:\n  void: {void}\n"


def key(name: str) -> str:
    """The provider that publishes a file."""
    return name.replace(".", "")


def test_harmful_dumps_fail_with_a_finding_and_the_others_are_harvested(
    instance: TemporaryInstance, provider: ProviderServer
) -> None:
    """Providers before, between and behind them do not notice."""
    good = ["first.nt", "middle.nt", "last.nt"]
    names = [good[0], *HARMFUL, good[-1]]
    names.insert(len(names) // 2, good[1])
    instance.register("".join(published(provider, name, HARMFUL.get(name, lambda: GOOD)()) for name in names))
    for name in names:
        [result] = instance.tick(key(name))
        if name in good:
            assert result.outcome is Outcome.COMMITTED, result
            continue
        assert result.outcome is Outcome.FAILED, name
        assert result.finding is not None and result.finding.kind not in ("fault", "storage"), result
        assert result.finding.url == f"{provider.url}/{name}"
        run = instance.harvester.instance.ledger.runs(key(name))[0]
        assert run.outcome == "failed" and run.ended is not None
        assert instance.graph(key(name)) == set()
    assert [instance.graph(key(name)) for name in good] == [{A1}] * 3


def kill_washing() -> int:
    """Kill every process that washes, as the kernel does when memory is short; how many there were."""
    washing = multiprocessing.active_children()
    for process in washing:
        process.kill()
    return len(washing)


def large(lines: int) -> bytes:
    """N-Triples that take some time to read."""
    return b"".join(b"<http://x/%d> <http://p> <http://x/%d> .\n" % (n, n + 1) for n in range(lines))


def test_a_process_that_is_killed_fails_its_provider_alone(
    instance: TemporaryInstance, provider: ProviderServer
) -> None:
    """As when the kernel is out of memory: the run has a finding, and the next attempt goes through."""
    instance.register(published(provider, "large.nt", large(50_000)) + published(provider, "good.nt", GOOD))
    washing, done = threading.Event(), threading.Event()
    instance.at_step = lambda name, step: washing.set() if step == "wash" else None

    def kill() -> None:
        washing.wait(60)
        while not done.wait(0.01):
            kill_washing()

    killer = threading.Thread(target=kill)
    killer.start()
    [result] = instance.tick("largent")
    done.set()
    killer.join()
    assert result.outcome is Outcome.FAILED
    assert result.finding is not None and "exit status -9" in result.finding.message
    assert [result.outcome for result in instance.tick("goodnt")] == [Outcome.COMMITTED]
    instance.clock.forward(days=1)
    assert [result.outcome for result in instance.tick("largent")] == [Outcome.COMMITTED]


def test_a_document_that_takes_for_ever_fails_its_provider_alone(
    instance: TemporaryInstance, provider: ProviderServer
) -> None:
    """1,500 elements that HTML opens again in each of 9,000 paragraphs."""
    page = b"<!DOCTYPE html><body>" + b"".join(b"<b title=%d>" % n for n in range(1500)) + b"<p>" * 9000
    instance.settings = replace(instance.settings, wash=replace(instance.settings.wash, timeout_s=3))
    instance.register(published(provider, "page.txt", page) + published(provider, "good.nt", GOOD))
    [result] = instance.tick("pagetxt")
    assert result.outcome is Outcome.FAILED
    assert result.finding is not None and "longer than 3 s" in result.finding.message
    assert [result.outcome for result in instance.tick("goodnt")] == [Outcome.COMMITTED]


def in_graph(names: tuple[str, ...]) -> str:
    """The graph of a part."""
    return "http://g/" + "/".join(names)


def laundered(instance: TemporaryInstance, folder: Path, deadly: set[str]) -> tuple[Part, ...]:
    """The parts of an archive of six entries, of which some end their process while they are read."""
    instance.register("{}\n")
    path = folder / "archive"
    path.write_bytes(zipped((f"{n}.nt", large(200_000) if f"{n}.nt" in deadly else GOOD) for n in range(6)))
    room = folder / "room"
    room.mkdir()

    def hear(progress: Progress) -> None:
        if progress.status is Status.PARSING and progress.names[-1] in deadly:
            kill_washing()

    return separately(instance.harvester.instance, Document(path, BASE + "archive.zip"), in_graph, room, hear)


@pytest.mark.parametrize("deadly", [{"0.nt"}, {"2.nt"}, {"5.nt"}, {"0.nt", "3.nt"}], ids=sorted)
def test_an_entry_that_ends_its_process_costs_no_other(
    instance: TemporaryInstance, tmp_path: Path, deadly: set[str]
) -> None:
    """The archive is washed again without that entry, which is reported as cut off."""
    parts = {part.names: part for part in laundered(instance, tmp_path, deadly)}
    assert parts.keys() == {(f"{n}.nt",) for n in range(6)} | {()}
    assert parts[()].status is Status.DEPLETED and not parts[()].problems
    for names, part in parts.items():
        if names and names[0] in deadly:
            assert (part.status, part.whole, part.counts, part.clean) == (Status.PARSING, False, {"cut-off": 1}, None)
        elif names:
            assert part.clean is not None
            assert part.clean.path.read_bytes() == GOOD.replace(b" .", b" <" + in_graph(names).encode() + b"> .")


def test_an_archive_of_many_deadly_entries_is_given_up(instance: TemporaryInstance, tmp_path: Path) -> None:
    """Each costs a process, and all before it are washed again."""
    with pytest.raises(WashCrash, match="ended its process"):
        laundered(instance, tmp_path, {f"{n}.nt" for n in range(CRASHES + 1)})
