"""A provenance log says what was downloaded as Preston would, and then what a rebuild needs."""

from __future__ import annotations

import hashlib
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode, RdfFormat, Triple, parse

from harvest.archive.history import versions_in
from harvest.archive.layout import HashName
from harvest.archive.provenance import facts_of, log_lines, new_activity
from harvest.archive.statements import predecessors
from harvest.model import Capture, CrawlLog, Download, Note, Validators
from tests.archive.preston import made_by_preston

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
DIGEST = "d" * 64
CAPTURE = Capture(
    "http://x/void.ttl",
    "http://x/b.ttl",
    NOW,
    200,
    DIGEST,
    5,
    "text/turtle",
    ("http://x/void.ttl",),
    Validators('"tag"', "Thu, 01 Jan 2026 00:00:00 GMT"),
)
GIVEN = Download(
    "urn:uuid:00000000-0000-4000-8000-000000000001", "http://x/void.ttl", NOW, NOW + timedelta(seconds=1), CAPTURE, 200
)
FAILED = Download(
    "urn:uuid:00000000-0000-4000-8000-000000000002",
    "http://x/gone.nt",
    NOW,
    NOW + timedelta(seconds=2),
    status=404,
    reason="http://x/gone.nt answered 404",
    informed=GIVEN.activity,
)
CRAWL = CrawlLog(
    "urn:uuid:00000000-0000-4000-8000-00000000000c", NOW, NOW + timedelta(seconds=2), "b" * 64, (GIVEN, FAILED)
)


def lines(crawl: CrawlLog = CRAWL) -> list[str]:
    return b"".join(log_lines(crawl, "https://h.example")).decode().splitlines()


def predicates(crawl_lines: list[str], graph: str) -> list[str]:
    return [line.split("> <")[1].split(">")[0] for line in crawl_lines if line.endswith(f"<{graph}> .")]


def real_downloads() -> list[list[str]]:
    """The predicates of each download in a log that Preston wrote."""
    text = (made_by_preston() / "prov.nq").read_text("utf-8").splitlines()
    groups: dict[str, list[str]] = {}
    for line in text:
        groups.setdefault(line.rsplit(" <", 1)[1], []).append(line.split("> <")[1].split(">")[0])
    return [group for group in groups.values() if group[-1].endswith("hasVersion")]


@pytest.mark.parametrize("download", [GIVEN, FAILED], ids=["given", "failed"])
def test_a_download_is_written_in_prestons_order(download: Download) -> None:
    """Programs that read Preston's logs line by line read ours; what Preston does not write comes after."""
    theirs = {tuple(group) for group in real_downloads()}
    assert len(theirs) == 1
    [order] = theirs
    assert tuple(predicates(lines(), download.activity)[: len(order)]) == order


def test_a_download_gives_its_bytes_and_a_failure_a_skolem_iri() -> None:
    """What failed is written too, with a blank that has a name: RDF 1.1, section 3.5."""
    given, failed = [line for line in lines() if "pav/hasVersion" in line]
    assert (
        given == f"<http://x/void.ttl> <http://purl.org/pav/hasVersion> <hash://sha256/{DIGEST}> <{GIVEN.activity}> ."
    )
    assert failed.startswith(
        "<http://x/gone.nt> <http://purl.org/pav/hasVersion> <https://h.example/.well-known/genid/"
    )


def test_a_download_says_what_led_to_it() -> None:
    """The description for a dump; else the crawl, as Preston has it."""
    informed = [line.split()[2] for line in lines() if "#wasInformedBy" in line]
    assert informed == [f"<{CRAWL.activity}>", f"<{GIVEN.activity}>"]


def test_a_log_names_the_one_before_and_nothing_else_as_used(tmp_path: Path) -> None:
    """Preston takes every hash that is prov:usedBy for a log."""
    path = tmp_path / "log"
    path.write_text("\n".join(lines()) + "\n")
    assert predecessors(path) == [HashName("b" * 64)]
    path.write_text("\n".join(lines(replace(CRAWL, previous=None))) + "\n")
    assert predecessors(path) == []


def test_a_log_says_who_crawled_from_when_to_when() -> None:
    """Agent, activity, start and end stand in the graph of the crawl."""
    text = "\n".join(line for line in lines() if line.endswith(f"<{CRAWL.activity}> ."))
    assert '#startedAtTime> "2026-01-01T12:00:00.000Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>' in text
    assert '#endedAtTime> "2026-01-01T12:00:02.000Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>' in text
    assert "prov#SoftwareAgent" in text and "prov#wasStartedBy" in text
    assert "(Version 0.1.0)" in text


def test_what_a_rebuild_needs_is_written_and_read_back(tmp_path: Path) -> None:
    """Base IRI and media type decide how the bytes are read; they are nowhere else when the ledger is lost."""
    path = tmp_path / "log"
    path.write_bytes(b"".join(log_lines(CRAWL, "https://h.example")))
    given, failed = versions_in(path, HashName("e" * 64))
    assert (given.url, given.at, given.name) == ("http://x/void.ttl", GIVEN.ended, HashName(DIGEST))
    assert (given.media_type, given.final_url, given.activity) == ("text/turtle", "http://x/b.ttl", GIVEN.activity)
    assert (failed.name, failed.reason, failed.at) == (None, "http://x/gone.nt answered 404", FAILED.ended)
    text = "\n".join(lines())
    for fact in (
        'ns#etag> "\\"tag\\""',
        'ns#lastModified> "Thu, 01',
        'ns#status> "200"',
        'ns#status> "404"',
        'ns#bytes> "5"',
    ):
        assert fact in text


def test_the_same_crawl_gives_the_same_bytes() -> None:
    """A log that a crash kept from being indexed is written over itself, and not beside itself."""
    assert lines() == lines()


@pytest.mark.parametrize(
    "url", ["http://x/a b", "http://x/[1]{2}", "http://x/%zz", "no scheme", "http://x/\udcff", "<>"]
)
def test_any_url_gives_a_log_that_is_n_quads(url: str) -> None:
    """One odd URL must not keep a log from being written ever after."""
    data = b"".join(
        log_lines(replace(CRAWL, downloads=(replace(GIVEN, url=url, reason="\udc80"),)), "https://h.example")
    )
    assert [quad for quad in parse(data, format=RdfFormat.N_QUADS) if quad.predicate.value.endswith("pav/hasVersion")]


def test_a_note_stands_in_a_graph_of_its_own() -> None:
    """The facts of two versions in one log do not mix."""
    fact = Triple(NamedNode("http://h/p"), NamedNode("http://h/version"), Literal(3))
    note = Note(new_activity(), NOW, facts_of([fact]))
    last = lines(replace(CRAWL, notes=(note,)))[-1]
    assert last == (
        f'<http://h/p> <http://h/version> "3"^^<http://www.w3.org/2001/XMLSchema#integer> <{note.activity}> .'
    )


@pytest.mark.parametrize("term", ["http://www.w3.org/ns/prov#usedBy", "http://purl.org/pav/hasVersion"])
def test_a_note_may_not_look_like_a_log_or_a_download(term: str) -> None:
    """A reader would follow it, and find that the bytes are missing."""
    with pytest.raises(ValueError, match=term):
        facts_of([Triple(NamedNode("http://a"), NamedNode(term), NamedNode("http://b"))])


def test_a_thousand_downloads_are_written_at_once() -> None:
    """A seed list downloads that many in a tick."""
    many = tuple(replace(GIVEN, activity=new_activity(), url=f"http://x/{n}") for n in range(1000))
    began = time.process_time()
    data = b"".join(log_lines(replace(CRAWL, downloads=many), "https://h.example"))
    assert time.process_time() - began < 30
    assert data.count(b"pav/hasVersion") == 1000
    assert hashlib.sha256(data).hexdigest()
