"""The ledger knows what each URL gave, which log holds it, and which bytes something leads to."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from harvest.ledger import Database, Ledger, RunFacts
from harvest.ledger.downloads import Downloads, LogRecord
from harvest.model import Announcement, Capture, Coverage, Dataset, Download, Note, Validators
from sparql.reports import DumpReport

START = datetime(2026, 1, 1, tzinfo=UTC)
LOG = LogRecord("f" * 64, "urn:uuid:crawl", START, START)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(Database(tmp_path / "ledger.sqlite"))


@pytest.fixture
def downloads(ledger: Ledger) -> Downloads:
    return ledger.downloads


def capture(url: str, digest: str) -> Capture:
    return Capture(url, url, START, 200, digest * 64, 3, "text/turtle", ("http://x/r",), Validators('"e"'))


def download(n: int, digest: str | None, url: str = "http://x/a") -> Download:
    at = START + timedelta(days=n)
    given = capture(url, digest) if digest else None
    return Download(f"urn:uuid:{n}", url, at, at, given, 200 if digest else 404, None if digest else "gone")


def test_a_download_comes_back_as_it_was_filed(downloads: Downloads) -> None:
    """With its capture, and with the log once there is one."""
    downloads.add(download(1, "a"))
    downloads.add(download(2, None))
    assert [(r.download, r.log) for r in downloads.history("http://x/a")] == [
        (download(2, None), None),
        (download(1, "a"), None),
    ]
    downloads.sealed(LOG, downloads.unlogged())
    assert {r.log for r in downloads.history("http://x/a")} == {LOG.digest}
    assert downloads.logs() == [LOG] == [downloads.last_log()]
    assert not downloads.waits()


def test_what_a_url_gave_at_a_time_is_what_it_had_given_last(downloads: Downloads) -> None:
    """A failure gives nothing, so what came before it counts."""
    for n, digest in ((1, "a"), (2, "b"), (3, None)):
        downloads.add(download(n, digest))
    assert downloads.last("http://x/a") == download(3, None)
    assert downloads.at("http://x/a", None) == download(2, "b")
    assert downloads.at("http://x/a", START + timedelta(days=2)) == download(2, "b")
    assert downloads.at("http://x/a", START + timedelta(days=1, hours=23)) == download(1, "a")
    assert downloads.at("http://x/a", START) is None
    assert downloads.of_digest("a" * 64) == download(1, "a")


def test_a_log_is_adopted_with_what_it_says(downloads: Downloads) -> None:
    """Rows that wait are marked, those that are not there are made, those of other logs stay theirs."""
    earlier = LogRecord("e" * 64, "urn:uuid:earlier", START, START)
    downloads.add(download(1, "a"))
    downloads.sealed(earlier, downloads.unlogged())
    downloads.add(download(2, "b"))
    note = Note("urn:uuid:n", START, "<http://a> <http://b> <http://c> .\n")
    downloads.note(note)
    downloads.adopted(LOG, [download(n, digest) for n, digest in ((1, "a"), (2, "b"), (3, "c"))], [note])
    logs = {r.download.activity: r.log for r in downloads.history("http://x/a")}
    assert logs == {"urn:uuid:1": earlier.digest, "urn:uuid:2": LOG.digest, "urn:uuid:3": LOG.digest}
    assert not downloads.waits()
    assert downloads.database.rows("SELECT count(*) FROM note")[0][0] == 1


@pytest.mark.parametrize("state", ["seen", "fetched", "held"])
def test_bytes_of_open_announcements_are_needed(ledger: Ledger, state: str) -> None:
    """And those that their datasets name by hash; of a settled one neither."""
    ledger.enrol("p", "http://h/p")
    pinned = f"hash://sha256/{'9' * 64}"
    dataset = Dataset("http://x/d", (pinned,), Coverage.FULL)
    id = ledger.announcements.add("p", dataset, START)
    ledger.announcements.fetched(id, (capture("http://x/a", "a"),))
    ledger.announcements.settle(id, state)
    assert {"a" * 64, "9" * 64} <= ledger.downloads.needed()
    ledger.announcements.settle(id, "superseded")
    assert ledger.downloads.needed() == set()


def test_bytes_that_were_harvested_are_needed(ledger: Ledger) -> None:
    """Those of a run that committed or changed nothing, and not those of one that failed."""
    ledger.enrol("p", "http://h/p")
    announcement = Announcement("p", Dataset("http://x/d", ("http://x/a",)), START)
    for outcome, digest in (("committed", "a"), ("unchanged", "b"), ("failed", "c")):
        run = ledger.start_run("p", START, announcement)
        dump = DumpReport("http://d.example/a.nt", digest * 64, 7, None)
        ledger.end_run(run, outcome, START, RunFacts(dumps=(dump,)))
    assert ledger.downloads.needed() == {"a" * 64, "b" * 64}


def test_bytes_that_notes_name_are_needed_unless_they_say_that_they_went(downloads: Downloads) -> None:
    """A version is made again from what its note names."""
    downloads.note(Note("urn:uuid:1", START, f"<http://v> <http://uses> <hash://sha256/{'a' * 64}> .\n"))
    gone = f'<hash://sha256/{"b" * 64}> <http://www.w3.org/ns/prov#invalidatedAtTime> "2026" .\n'
    downloads.note(Note("urn:uuid:2", START, gone))
    assert downloads.needed() == {"a" * 64}
