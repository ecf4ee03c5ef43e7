"""Every request that gives something new or fails is in a log, once, whatever ends the process."""

from __future__ import annotations

import hashlib
import itertools
import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from pyoxigraph import Literal, NamedNode, Triple
from warcio.archiveiterator import ArchiveIterator

from harvest.archive.copying import copy
from harvest.archive.history import Archive
from harvest.archive.index import PREVIOUS_VERSION, Index
from harvest.archive.layout import HashName
from harvest.archive.provenance import new_activity
from harvest.archive.verify import verify
from harvest.archive.warc.cdx import read_lines
from harvest.errors import FetchError, StatusError
from harvest.ledger.downloads import DownloadRecord
from harvest.model import Download
from harvest.pipeline.crawl import Crawl
from tests.archive.preston import unpacked
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_semantics import A1, B1, release, ttl
from tests.provider import VOID, ProviderServer, dataset

REPOSITORY = Path(__file__).resolve().parents[2]


def crawl_of(instance: TemporaryInstance) -> Crawl:
    if not instance.settings.registry.exists():
        instance.register("{}\n")
    return instance.harvester.instance.crawl


def archive_of(instance: TemporaryInstance) -> Archive:
    return Archive(instance.settings.data_dir / "content")


def log_digests(instance: TemporaryInstance) -> list[str]:
    return [log.digest for log in instance.harvester.instance.ledger.downloads.logs()]


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def state(instance: TemporaryInstance) -> dict[str, tuple[int, int]]:
    """Size and time of every file that harvesting writes; RocksDB tidies up by itself, and SQLite when it is read."""
    folder = instance.settings.data_dir
    files = {str(p.relative_to(folder)): p for p in folder.rglob("*")}
    steady = {name: p.stat() for name, p in files.items() if not re.match("store(/|$)|.*-shm$", name) and p.is_file()}
    return {name: (s.st_size, s.st_mtime_ns) for name, s in steady.items()}


def test_a_harvest_is_written_to_one_log(
    instance: TemporaryInstance, provider: ProviderServer, registered: Callable[..., None]
) -> None:
    """The log holds the description and what it led to, from the request to the bytes that are filed."""
    registered()
    release(provider, 1, A1, B1)
    instance.tick("p")
    assert len(log_digests(instance)) == 2  # what `look` did, then what `work` did
    archive = archive_of(instance)
    dump, description = archive.versions()
    assert description.url == f"{provider.url}/void.ttl" and description.media_type == "text/turtle"
    assert dump.at == instance.clock.now
    assert dump.name is not None and archive.path(dump.name).is_file()
    informed = [str(q.object) for q in archive.statements() if q.predicate.value.endswith("wasInformedBy")]
    assert f"<{description.activity}>" in informed
    assert {check.verdict for check in verify(archive)} == {"OK"}


def test_an_unchanged_provider_writes_nothing(
    instance: TemporaryInstance, provider: ProviderServer, registered: Callable[..., None]
) -> None:
    """It is asked every minute, for years."""
    registered()
    release(provider, 1, A1)
    instance.tick("p")
    before = state(instance)
    for _ in range(3):
        instance.clock.forward(minutes=1)
        instance.tick("p")
    assert state(instance) == before


def test_the_same_bytes_from_a_server_without_validators_write_nothing(
    instance: TemporaryInstance, provider: ProviderServer
) -> None:
    """Some never answer 304; the archive knows the bytes that they gave last."""
    url = provider.put("/a.nt", "<http://a> <http://b> <http://c> .")
    crawl = crawl_of(instance)
    first = crawl.get(url)
    crawl.seal()
    before = state(instance)
    again = crawl.get(url)
    assert again.path == first.path and again.capture.digest == first.capture.digest
    assert crawl.seal() == []
    assert state(instance) == before


class Redirecting(BaseHTTPRequestHandler):
    """Leads from /a to an address with another signature each time, as stores of files do; without validators."""

    count = itertools.count()

    def do_GET(self) -> None:
        if self.path == "/a":
            self.send_response(302)
            self.send_header("Location", f"/signed?signature={next(self.count)}")
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            self.send_response(200)
            self.send_header("Content-Length", "5")
            self.end_headers()
            self.wfile.write(b"bytes")

    def log_message(self, format: str, *args: object) -> None:
        """The tests' output stays clean."""


def test_another_signature_in_a_redirect_is_nothing_new(instance: TemporaryInstance) -> None:
    """It would make a log a minute for a file that never changes."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Redirecting) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/a"
        captures = [crawl_of(instance).get(url).capture for _ in range(3)]
        server.shutdown()
    assert len({capture.final_url for capture in captures}) == 3
    assert len(crawl_of(instance).ledger.downloads.history(url)) == 1


def test_bytes_that_come_back_are_logged_again(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """What a URL gave at a time must be right also where it goes back to what it was."""
    crawl = crawl_of(instance)
    for text in ("one", "two", "one"):
        instance.clock.forward(minutes=1)
        crawl.get(provider.put("/a", text))
    crawl.seal()
    url = f"{provider.url}/a"
    assert [v.name for v in archive_of(instance).versions(url)] == [HashName(sha256(t)) for t in ("one", "two", "one")]
    records = instance.harvester.instance.ledger.downloads.history(url)
    assert [r.download.capture.digest for r in records if r.download.capture] == [
        sha256(t) for t in ("one", "two", "one")
    ]
    assert len({record.log for record in records}) == 1


def test_a_failure_is_logged_with_its_reason(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """Why nothing came from a URL is as much an answer as what came."""
    crawl = crawl_of(instance)
    with pytest.raises(StatusError):
        crawl.get(f"{provider.url}/gone")
    crawl.seal()
    [version] = archive_of(instance).versions(f"{provider.url}/gone")
    assert version.name is None and "404" in str(version.reason)
    text = archive_of(instance).path(HashName(log_digests(instance)[0])).read_text("utf-8")
    assert "<http://h.example/.well-known/genid/" in text and 'ns#status> "404"' in text


def test_of_several_dumps_the_one_that_failed_is_logged(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """The others were thrown away, so the log must not say that they are there."""
    urls = [provider.put(f"/{n}.nt", f"<http://a> <http://b> <http://{n}> .") for n in range(3)]
    crawl = crawl_of(instance)
    with pytest.raises(StatusError):
        crawl.download_all([*urls, f"{provider.url}/gone.nt"])
    crawl.seal()
    assert [(v.url, v.name) for v in archive_of(instance).versions()] == [(f"{provider.url}/gone.nt", None)]
    assert {check.verdict for check in verify(archive_of(instance))} == {"OK"}
    crawl.download_all(urls)
    crawl.seal()
    assert {v.url for v in archive_of(instance).versions() if v.name} == set(urls)


def test_a_password_is_not_logged(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """Logs are open to everybody at /content/."""
    provider.put("/a", "text")
    crawl = crawl_of(instance)
    crawl.get(f"{provider.url}/a".replace("http://", "http://user:secret@"))
    with pytest.raises(StatusError):
        crawl.get(f"{provider.url}/gone".replace("http://", "http://user:secret@"))
    crawl.seal()
    logs = [archive_of(instance).path(HashName(digest)).read_text("utf-8") for digest in log_digests(instance)]
    assert "secret" not in "".join(logs)
    assert {v.url for v in archive_of(instance).versions()} == {f"{provider.url}/a", f"{provider.url}/gone"}


def test_logs_are_chained_and_found_by_the_index(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """The way that Preston goes from the first to the last, and back by what each log says."""
    crawl = crawl_of(instance)
    written = []
    for n in range(3):
        crawl.get(provider.put("/a", str(n)))
        written += crawl.seal()
    assert [name.digest for name in Index(archive_of(instance).root).chain()] == written
    assert [name.digest for name in archive_of(instance).logs()] == written[::-1] == log_digests(instance)
    assert crawl.seal() == []


def test_a_note_is_in_the_next_log(instance: TemporaryInstance) -> None:
    """Also when nothing was downloaded."""
    activity = new_activity()
    fact = Triple(NamedNode("http://h/p"), NamedNode("http://h/version"), Literal(3))
    crawl_of(instance).note(activity, [fact])
    assert len(crawl_of(instance).seal()) == 1
    found = [q for q in archive_of(instance).statements() if q.subject == fact.subject]
    assert [(q.object, q.graph_name) for q in found] == [(fact.object, NamedNode(activity))]
    assert crawl_of(instance).seal() == []


def test_what_was_recorded_is_sealed_by_the_next_start(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """A process that was killed leaves rows, and no log."""
    crawl_of(instance).get(provider.put("/a", "text"))
    instance.close()
    assert len(log_digests(instance)) == 1
    instance.close()
    assert len(log_digests(instance)) == 1


def test_work_side_by_side_gives_one_log(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """A tick looks at a thousand providers at once; a log for each would be a thousand logs a minute."""
    crawl = crawl_of(instance)
    together = threading.Barrier(8)

    def look(number: int) -> None:
        with crawl.working():
            together.wait()
            crawl.get(provider.put(f"/{number}", str(number)))
            together.wait()

    threads = [threading.Thread(target=look, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(log_digests(instance)) == 1
    assert len(list(archive_of(instance).versions())) == 8


def test_a_log_that_cannot_be_written_stops_nothing(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """What was recorded is safe in the ledger, and waits for the next time."""
    crawl = crawl_of(instance)
    with crawl.working():
        crawl.get(provider.put("/a", "1"))
    [first] = log_digests(instance)
    index = Index(archive_of(instance).root)
    index.put(PREVIOUS_VERSION, HashName(first).uri, HashName("f" * 64))  # names a log that is not there
    with crawl.working():
        crawl.get(provider.put("/a", "2"))
    assert log_digests(instance) == [first]
    assert len(instance.harvester.instance.ledger.downloads.unlogged().downloads) == 1


KILLED = """
    import os, signal, sys
    from pathlib import Path
    from harvest.archive import content, index
    from harvest.ledger.downloads import Downloads
    from tests.pipeline.conftest import TemporaryInstance
    instance, where, url = TemporaryInstance(Path(sys.argv[1])), sys.argv[2], sys.argv[3]
    crawl = instance.harvester.instance.crawl
    crawl.get(url)

    def die(*_):
        os.kill(os.getpid(), signal.SIGKILL)

    if where == "filing":
        content.sync_folder = die
    elif where == "index":
        index.Index.put = die
    elif where == "linking":
        index.sync_folder = die
    elif where == "ledger":
        Downloads.sealed = die
    crawl.seal()
    die()
"""


@pytest.mark.sampled(4)
@pytest.mark.parametrize("earlier", [False, True], ids=["first log", "later log"])
@pytest.mark.parametrize("where", ["filing", "index", "linking", "ledger", "after"])
def test_a_kill_while_sealing_neither_doubles_nor_breaks(
    where: str, earlier: bool, instance: TemporaryInstance, provider: ProviderServer
) -> None:
    """Killed at any step of sealing: the next start logs once what was recorded, and goes on with the chain."""
    if earlier:
        crawl_of(instance).get(provider.put("/before", "before"))
        crawl_of(instance).seal()
    crawl_of(instance)
    instance.close()
    url = provider.put("/a", "text")
    killed = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(KILLED), str(instance.folder), where, url],
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert len(log_digests(instance)) == 1 + earlier
    crawl_of(instance).get(provider.put("/b", "more"))
    crawl_of(instance).seal()
    archive = archive_of(instance)
    assert [v.url.rsplit("/", 1)[1] for v in archive.versions()] == ["b", "a", "before"][: 2 + earlier]
    assert [name.digest for name in archive.logs()] == log_digests(instance)
    assert {check.verdict for check in verify(archive)} == {"OK"}
    records = instance.harvester.instance.ledger.downloads.history(url)
    assert [record.log for record in records] == [log_digests(instance)[1]]
    content = [path for path in archive.root.glob("??/??/*") if path.stat().st_size > 200]
    assert len(content) == len(log_digests(instance))


def test_a_lost_ledger_is_made_again_from_the_logs(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """The logs say what each URL gave, and hold the notes; the next log follows the last one."""
    url = provider.put("/a.ttl", "<a> <b> <c> .")
    crawl_of(instance).get(url)
    with pytest.raises(StatusError):
        crawl_of(instance).get(f"{provider.url}/gone")
    fact = Triple(NamedNode("http://h/p"), NamedNode("http://h/uses"), NamedNode(f"hash://sha256/{'7' * 64}"))
    crawl_of(instance).note(new_activity(), [fact])
    crawl_of(instance).seal()
    downloads = instance.harvester.instance.ledger.downloads
    before = [downloads.history(url), downloads.history(f"{provider.url}/gone"), downloads.logs(), downloads.needed()]
    instance.close()
    for path in instance.settings.data_dir.glob("ledger.sqlite*"):
        path.unlink()
    downloads = crawl_of(instance).ledger.downloads
    after = [downloads.history(url), downloads.history(f"{provider.url}/gone"), downloads.logs(), downloads.needed()]
    assert before[0] == [replace(r, id=before[0][0].id, download=with_time(r, before[0][0])) for r in after[0]]
    assert before[1] == [replace(r, id=before[1][0].id) for r in after[1]]
    assert before[2:] == after[2:] and "7" * 64 in after[3]
    crawl_of(instance).get(provider.put("/a.ttl", "<a> <b> <d> ."))
    crawl_of(instance).seal()
    assert [name.digest for name in archive_of(instance).logs()] == log_digests(instance)
    assert len(log_digests(instance)) == 2


def with_time(record: DownloadRecord, other: DownloadRecord) -> Download:
    """The download of `record` with the exact time of its answer, of which logs hold the milliseconds."""
    assert record.download.capture and other.download.capture
    assert abs(record.download.capture.at - other.download.capture.at) < timedelta(milliseconds=1)
    return replace(record.download, capture=replace(record.download.capture, at=other.download.capture.at))


def test_an_archive_that_preston_began_is_gone_on_with(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """The logs of that archive become ours, with what they say; our next log names its last one."""
    source = unpacked("data-two-versions", instance.folder)
    list(copy(source, instance.settings.data_dir / "content"))
    crawl_of(instance).get(provider.put("/a", "ours"))
    [ours] = crawl_of(instance).seal()
    theirs = [name.digest for name in Archive(source).logs()]
    assert [name.digest for name in archive_of(instance).logs()] == [ours, *theirs] == log_digests(instance)
    records = instance.harvester.instance.ledger.downloads.history("https://example.org")
    assert [record.log for record in records] == theirs
    assert {check.verdict for check in verify(archive_of(instance))} == {"OK"}


def test_what_a_shutdown_ends_is_no_failure_of_the_url(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """The log would blame the provider for what we did."""
    url = provider.put("/a", "text")
    crawl_of(instance)
    running = instance.harvester.instance
    running.give_up()
    with pytest.raises(FetchError):
        running.crawl.get(url)
    assert not running.ledger.downloads.waits()


def test_a_note_of_a_version_is_sealed_when_the_work_ends(
    instance: TemporaryInstance, provider: ProviderServer, registered: Callable[..., None]
) -> None:
    """The ledger files it with the version, also where nothing was downloaded."""
    registered()
    release(provider, 1, A1)
    instance.tick("p")
    database = instance.harvester.instance.ledger.database
    fact = "<http://h/p> <http://h/n> <http://h/1> .\n"
    database.write(
        "INSERT INTO note (activity, at, facts) VALUES (?, ?, ?)", new_activity(), "2026-01-01T00:00:00Z", fact
    )
    instance.harvester.work("p")
    assert not instance.harvester.instance.ledger.downloads.waits()
    assert any(quad.subject == NamedNode("http://h/p") for quad in archive_of(instance).statements())


def test_a_hash_uri_is_answered_from_the_archive(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """Without network and without a row; with the media type and base that the bytes came with."""
    crawl = crawl_of(instance)
    first = crawl.get(provider.put("/a.ttl", "<a> <b> <c> .")).capture
    assert first.digest is not None
    asked = len(provider.requests)
    again = crawl.get(HashName(first.digest).uri)
    assert again.capture.status == 200 and again.capture.digest == first.digest and again.path is not None
    assert (again.capture.media_type, again.capture.final_url) == ("text/turtle", f"{provider.url}/a.ttl")
    assert crawl.get(HashName(first.digest).uri, again.capture.validators).capture.digest is None
    assert [f.capture.digest for f in crawl.download_all([HashName(first.digest).uri, first.url])] == [first.digest] * 2
    assert len(provider.requests) == asked + 1
    assert len(instance.harvester.instance.ledger.downloads.unlogged().downloads) == 1


def test_a_hash_uri_that_is_not_there_is_an_error(instance: TemporaryInstance) -> None:
    """Such a URI fails as a document that is not found does."""
    with pytest.raises(StatusError, match="is not filed in this archive") as raised:
        crawl_of(instance).get(f"hash://sha256/{'0' * 64}")
    assert raised.value.status == 404 and not raised.value.retriable
    assert not instance.harvester.instance.ledger.downloads.unlogged().downloads


def test_a_provider_may_be_registered_by_hash(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """The description and its dump from the archive alone: what was harvested once can be harvested again."""
    crawl = crawl_of(instance)
    dump = crawl.get(provider.put("/a.nt", f"{A1} .\n{B1} .\n", "application/n-triples")).capture.digest
    assert dump is not None
    text = VOID + dataset("http://x/d", "2026-01-01T00:00:00Z", [HashName(dump).uri])
    description = crawl.get(provider.put("/void.ttl", text)).capture.digest
    assert description is not None
    provider.pages.clear()
    asked = len(provider.requests)
    instance.register(f"p:\n  void: {HashName(description).uri}\n")
    assert [result.outcome for result in instance.tick("p")] == ["committed"]
    assert instance.graph("p") == {A1, B1}
    before = state(instance)
    assert instance.tick("p") == []
    assert state(instance) == before
    assert len(provider.requests) == asked
    instance.register(f"p:\n  dump: {HashName(dump).uri}\n")
    assert [result.outcome for result in instance.tick("p", forced=True)] == ["unchanged"]


def test_recording_is_quick(instance: TemporaryInstance) -> None:
    """One row a download; a thousand of them are sealed well within a second."""
    crawl = crawl_of(instance)
    now = instance.clock.now
    for n in range(1000):
        crawl.ledger.downloads.add(Download(new_activity(), f"http://x/{n}", now, now, None, 404, "not there"))
    began = time.process_time()
    assert len(crawl.seal()) == 1
    assert time.process_time() - began < 30


def test_exchanges_are_written_to_warc_files(
    instance: TemporaryInstance, provider: ProviderServer, registered: Callable[..., None]
) -> None:
    """Where the settings say so: description and dump of two releases, and nothing of the look that brought nothing."""
    instance.settings = replace(instance.settings, warc=True)
    registered()
    release(provider, 1, A1)
    instance.tick("p")
    instance.tick("p")
    release(provider, 2, A1, B1)
    instance.tick("p")
    instance.close()
    lines = [line for path in instance.settings.layout.warc.glob("*.cdx") for line in read_lines(path)]
    paths = [urlsplit(line.url).path for line in sorted(lines, key=lambda line: line.offset)]
    assert paths == ["/void.ttl", "/1.ttl", "/void.ttl", "/2.ttl"]
    [path] = instance.settings.layout.warc.glob("*.warc.gz")
    with path.open("rb") as stream:
        bodies = [each.content_stream().read() for each in ArchiveIterator(stream) if each.rec_type == "response"]
    assert bodies[1] == ttl(A1).encode() and bodies[3] == ttl(A1, B1).encode()
    instance.settings = replace(instance.settings, warc=False)
    release(provider, 3, B1)
    instance.tick("p")
    assert list(instance.settings.layout.warc.glob("*.warc.gz")) == [path]
