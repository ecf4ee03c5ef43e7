"""The seed list and its documents in the ledger: states, staleness, trees of entries, clean documents."""

from __future__ import annotations

import time
from datetime import timedelta
from pathlib import Path

import pytest

from harvest.ledger import Clean, Ledger, hashes_of
from harvest.model import Capture, Content, Hop, Part, Problem, Snapshot, Status
from harvest.model.seeds import download_hash, entry_hash, seed_hash
from tests.ledger.samples import NOW, capture, later, ledger

URI = "http://example.org/dump.tar"
DAY = 86400.0
CONTENT = Content(120, 110, 7, "LF", "utf-8")
PROBLEM = Problem("syntax", "a dot is missing", 3, 14, "<a> <b> <c>")
HOP = Hop(URI, 200, (1, 1), (("content-type", "text/turtle"),), 0.25)
BYTES = Capture(URI, URI, NOW, 200, "b" * 64, 999, "text/turtle")


@pytest.fixture
def made(tmp_path: Path) -> Ledger:
    return ledger(tmp_path)


def part(*names: str, status: Status = Status.PARSED, problems: tuple[Problem, ...] = ()) -> Part:
    counts = {problem.kind: 12 for problem in problems}
    return Part(names, status, NOW, later(1), CONTENT, "Turtle", 10, 2, True, problems, counts)


def archive(*names: str) -> Part:
    return Part(names, Status.DEPLETED, NOW, later(1))


def filed(made: Ledger, uri: str = URI, minutes: float = 0) -> str:
    """A registered seed that was downloaded; the hash of the download."""
    seed, _ = made.seeds.add(uri, NOW, DAY)
    download = made.documents.downloading(seed, later(minutes))
    made.documents.filed(download, BYTES, (HOP,), later(minutes + 1))
    made.seeds.processed(seed, later(minutes + 1))
    return download


def test_a_seed_is_registered_once_under_its_normalised_uri(made: Ledger) -> None:
    """Other spellings are the same seed, with the URI and the dates of the first one."""
    hash, new = made.seeds.add("HTTP://Example.org/a/../b", NOW, DAY)
    assert (hash, new) == (seed_hash("http://example.org/b"), True)
    assert made.seeds.add("http://example.org/b", later(5), 2 * DAY) == (hash, False)
    seed = made.seeds.get(hash)
    assert seed is not None
    assert (seed.uri, seed.added, seed.interval) == ("HTTP://Example.org/a/../b", NOW, DAY)
    assert (seed.status, seed.relative, seed.processed, seed.download) == ("added", False, None, None)
    assert made.seeds.count() == 1
    assert made.seeds.get("0" * 32) is None


def test_a_seed_is_stale_when_processed_and_interval_are_past(made: Ledger) -> None:
    """Never processed is stale; to the microsecond, `processed + interval < now`, and not at that moment yet."""
    hash, _ = made.seeds.add(URI, NOW, DAY)
    assert [seed.hash for seed in made.seeds.stale(NOW)] == [hash]
    made.seeds.processed(hash, NOW)
    edge = NOW + timedelta(seconds=DAY)
    assert made.seeds.stale(later(1)) == []
    assert made.seeds.stale(edge) == []
    assert [seed.hash for seed in made.seeds.stale(edge + timedelta(microseconds=1))] == [hash]
    whole = NOW.replace(microsecond=0)
    made.seeds.processed(hash, whole)
    edge = whole + timedelta(seconds=DAY)
    assert made.seeds.stale(edge) == []
    assert [seed.hash for seed in made.seeds.stale(edge + timedelta(microseconds=1))] == [hash]
    made.seeds.set_interval([hash], 2 * DAY)
    assert made.seeds.stale(edge + timedelta(microseconds=1)) == []


def test_relative_seeds_are_counted_and_never_stale(made: Ledger) -> None:
    """So that it is known how often a dataset is wrongly named by one."""
    hash, _ = made.seeds.add("dumps/data.ttl", NOW, DAY)
    made.seeds.add(URI, NOW, DAY)
    seed = made.seeds.get(hash)
    assert seed is not None and seed.relative
    assert [found.uri for found in made.seeds.stale(later(9))] == [URI]
    assert made.seeds.counts() == {"added": 2, "relative": 1}


def test_a_providers_document_is_no_seed_of_the_list_until_somebody_lists_it(made: Ledger) -> None:
    """Its provider decides when it is downloaded; its record is the same."""
    hash, new = made.seeds.add(URI, NOW, DAY, listed=False, provider="p")
    assert new and made.seeds.stale(later(1)) == [] and made.seeds.count() == 0
    assert made.seeds.count(listed=False) == 1
    assert made.seeds.add(URI, NOW, DAY, listed=False, provider="p") == (hash, False)
    assert made.seeds.add(URI, later(1), 3 * DAY) == (hash, True)
    assert [(seed.provider, seed.interval) for seed in made.seeds.stale(later(2))] == [("p", 3 * DAY)]
    assert made.seeds.remove(hash)
    assert made.seeds.stale(later(2)) == [] and made.seeds.get(hash) is not None


def test_a_seed_that_fails_waits_longer_each_time_and_stays_stale(made: Ledger) -> None:
    """A dead address is asked ever more seldom, but never less often than its interval says."""
    hash, _ = made.seeds.add(URI, NOW, DAY)
    waits = []
    for _ in range(15):
        made.seeds.tried(hash, NOW)
        seed = made.seeds.get(hash)
        assert seed is not None and seed.retry_at is not None
        waits.append((seed.retry_at - NOW) / timedelta(minutes=1))
    assert waits[:4] == [1, 2, 4, 8] and waits[-1] == 24 * 60
    assert made.seeds.due(later(1), 10) == [] and len(made.seeds.stale(later(1))) == 1
    assert [found.hash for found in made.seeds.due(later(24 * 60), 10)] == [hash]
    made.seeds.processed(hash, later(1))
    seed = made.seeds.get(hash)
    assert seed is not None and (seed.failures, seed.retry_at) == (0, None)


def test_what_is_due_is_bounded_and_the_longest_stale_comes_first(made: Ledger) -> None:
    """One tick takes what it can do; none is overtaken for ever."""
    hashes = [made.seeds.add(f"http://example.org/{n}", NOW, DAY)[0] for n in range(5)]
    made.seeds.processed(hashes[0], later(-3 * 24 * 60))
    made.seeds.processed(hashes[1], later(-2 * 24 * 60))
    assert [seed.hash for seed in made.seeds.due(NOW, 4)] == [*hashes[2:], hashes[0]]


def test_a_download_goes_through_its_states(made: Ledger) -> None:
    """Of the document: downloading, filed, unarchiving, ..., parsed; the seed has the state of its latest download."""
    seed, _ = made.seeds.add(URI, NOW, DAY)
    download = made.documents.downloading(seed, NOW)
    assert download == download_hash(seed, NOW)

    def states() -> tuple[str, str]:
        document, owner = made.documents.get(download), made.seeds.get(seed)
        assert document is not None and owner is not None and owner.download == download
        return document.status, owner.status

    assert states() == ("downloading", "downloading")
    made.documents.filed(download, BYTES, (HOP,), later(1))
    assert states() == ("filed", "filed")
    for status in (Status.UNARCHIVING, Status.UNARCHIVED, Status.GUESSING, Status.GUESSED, Status.PARSING):
        made.documents.advance(download, status)
        assert states() == (status, status)
    made.documents.record(download, [part(problems=(PROBLEM,))])
    assert states() == ("parsed", "parsed")
    document = made.documents.get(download)
    assert document is not None
    assert (document.parent, document.began, document.ended, document.sha256) == (seed, NOW, later(1), "b" * 64)
    assert (document.bytes, document.chars, document.lines, document.newline) == (999, 110, 7, "LF")
    assert (document.format, document.statements, document.dropped, document.whole) == ("Turtle", 10, 2, True)
    assert document.counts == {"syntax": 12}
    assert document.http == (
        {
            "headers": {"content-type": "text/turtle"},
            "status": 200,
            "uri": URI,
            "version": {"major": 1, "minor": 1},
            "walltime": 0.25,
        },
    )
    assert made.documents.problems(download) == (PROBLEM,)


def test_a_failed_download_keeps_its_state_and_says_why(made: Ledger) -> None:
    """Pattern (3) of the document: what is known of the exchange, and no content."""
    seed, _ = made.seeds.add(URI, NOW, DAY)
    download = made.documents.downloading(seed, NOW)
    made.documents.failed(download, (HOP,), Problem("download", "404"), later(1))
    document = made.documents.get(download)
    assert document is not None
    assert (document.status, document.ended, document.sha256) == ("downloading", later(1), None)
    assert (len(document.http), document.counts) == (1, {"download": 1})
    assert made.documents.problems(download) == (Problem("download", "404"),)


def test_entries_hang_below_their_archives(made: Ledger) -> None:
    """Each entry is named by its archive and its own name; an archive without a part of its own is depleted."""
    download = filed(made)
    parts = [
        archive(),
        part("a.ttl"),
        part("in.zip", "b.ttl", problems=(PROBLEM,)),
        part("in.zip", "deep.zip", "c.ttl"),
    ]
    made.documents.record(download, parts)
    inner = entry_hash(download, "in.zip")
    assert [(entry.name, entry.status) for entry in made.documents.entries(download)] == [
        ("a.ttl", "parsed"),
        ("in.zip", "depleted"),
    ]
    assert [entry.hash for entry in made.documents.entries(inner)] == [
        entry_hash(inner, "b.ttl"),
        entry_hash(inner, "deep.zip"),
    ]
    deep = made.documents.get(entry_hash(entry_hash(inner, "deep.zip"), "c.ttl"))
    assert deep is not None
    assert (deep.parent, deep.download, deep.bytes, deep.began) == (entry_hash(inner, "deep.zip"), download, 120, NOW)
    assert made.documents.problems(entry_hash(inner, "b.ttl")) == (PROBLEM,)
    assert made.documents.count_entries(download) == 2
    assert [entry.name for entry in made.documents.entries(download, 1, 1)] == ["in.zip"]
    owner = made.seeds.get(seed_hash(URI))
    assert owner is not None and owner.status == "depleted"


def test_recording_again_replaces_what_was_recorded(made: Ledger) -> None:
    """After a crash the same download is washed once more."""
    download = filed(made)
    made.documents.record(download, [archive(), part("a.ttl", problems=(PROBLEM,)), part("gone.ttl")])
    made.documents.record(download, [archive(), part("a.ttl")])
    assert [entry.name for entry in made.documents.entries(download)] == ["a.ttl"]
    assert made.documents.problems(entry_hash(download, "a.ttl")) == ()


def test_entries_of_the_same_name_are_told_apart(made: Ledger) -> None:
    """Archives may hold a name twice, and each of the two files was washed."""
    download = filed(made)
    parts = [part("a"), archive(), part("a"), part("a", status=Status.GUESSING)]
    made.documents.record(download, parts)
    found = made.documents.entries(download)
    assert [entry.name for entry in found] == ["a", "a", "a"]
    assert len({entry.hash for entry in found}) == 3
    assert found[0].hash == entry_hash(download, "a")
    assert hashes_of(download, parts) == (found[0].hash, download, found[1].hash, found[2].hash)


def test_ten_thousand_entries_are_recorded_at_once(made: Ledger) -> None:
    """An archive of an Open Data portal has so many; recording them must not hold up the ledger."""
    download = filed(made)
    parts = [archive(), *(part(f"{n}.ttl", problems=(PROBLEM,)) for n in range(10_000))]
    began = time.process_time()
    made.documents.record(download, parts)
    assert time.process_time() - began < 30
    assert made.documents.count_entries(download) == 10_000


def test_a_clean_document_is_named_by_its_bytes(made: Ledger) -> None:
    """Its record has its content and its dirty document, which knows it too."""
    download = filed(made)
    made.documents.record(download, [part()])
    clean = Snapshot(Path("x"), 8, "c" * 64)
    made.documents.record(
        download, [part()], [Clean(download, clean, CONTENT, "http://h.example/graph/seed-1", later(2))]
    )
    found, dirty = made.documents.get("c" * 64), made.documents.get(download)
    assert found is not None and dirty is not None
    assert (found.status, found.parent, found.statements, found.bytes) == ("cleaned", download, 8, 120)
    assert (found.graph, found.loaded, found.sha256) == ("http://h.example/graph/seed-1", False, "c" * 64)
    assert (dirty.status, dirty.clean) == ("parsed", "c" * 64)
    assert [document.hash for document in made.documents.tree(download)] == [download, "c" * 64]


def test_the_same_clean_document_belongs_to_the_newest_download(made: Ledger) -> None:
    """A later download of the same data gives no second one; the older download still leads to it."""
    clean, graph = Snapshot(Path("x"), 8, "c" * 64), "http://h.example/graph/seed-1"
    first = filed(made)
    made.documents.record(first, [part()], [Clean(first, clean, CONTENT, graph, later(2))])
    made.documents.load(["c" * 64])
    second = filed(made, minutes=60)
    made.documents.record(second, [part()], [Clean(second, clean, CONTENT, graph, later(62))])
    found, old = made.documents.get("c" * 64), made.documents.get(first)
    assert found is not None and old is not None
    assert (found.parent, found.loaded, old.clean) == (second, True, "c" * 64)
    assert [document.hash for document in made.documents.of_seed(seed_hash(URI))] == [second, first]


def test_a_graph_holds_one_clean_document(made: Ledger) -> None:
    """The newer one takes the place of the older."""
    graph, download = "http://h.example/graph/seed-1", filed(made)
    for digest in ("c", "d"):
        made.documents.record(
            download, [part()], [Clean(download, Snapshot(Path("x"), 8, digest * 64), CONTENT, graph, later(2))]
        )
        made.documents.load([digest * 64])
    assert [document.hash for document in made.documents.loaded()] == ["d" * 64]
    made.documents.unload(["d" * 64])
    assert made.documents.loaded() == []


def test_a_new_clean_document_takes_the_place_of_a_loaded_one_with_its_record(made: Ledger) -> None:
    """In one transaction: killed behind it, the next start fills the graph with the new one."""
    graph, first = "http://h.example/graph/seed-1", filed(made)
    old, new = (Snapshot(Path("x"), 8, digest * 64) for digest in "cd")
    assert made.documents.record(first, [part()], [Clean(first, old, CONTENT, graph, later(2))]) == []
    made.documents.load([old.digest])
    made.documents.filled([old.digest])
    second = filed(made, minutes=60)
    assert made.documents.record(second, [part()], [Clean(second, new, CONTENT, graph, later(62))]) == [old.digest]
    assert [document.hash for document in made.documents.unfilled()] == [new.digest]
    assert [document.hash for document in made.documents.loaded()] == [new.digest]


def test_what_a_crash_cut_short_is_found(made: Ledger) -> None:
    """A download that began is reported as interrupted; a filed one that was not washed is taken up."""
    seed, _ = made.seeds.add("http://example.org/x", NOW, DAY)
    cut = made.documents.downloading(seed, NOW)
    download = filed(made)
    made.documents.advance(download, Status.UNARCHIVING)
    assert made.documents.abandon(later(5)) == 1
    assert made.documents.abandon(later(6)) == 0
    document = made.documents.get(cut)
    assert document is not None and document.ended == later(5)
    assert [problem.kind for problem in made.documents.problems(cut)] == ["download"]
    assert [found.hash for found in made.documents.unwashed(later(5), 10)] == [download]
    made.seeds.tried(seed_hash(URI), later(5))
    assert made.documents.unwashed(later(5), 10) == []
    made.documents.record(download, [part(status=Status.GUESSING)])
    assert made.documents.unwashed(later(600), 10) == []


def test_a_seed_leaves_the_list_and_its_documents_stay(made: Ledger) -> None:
    """What was downloaded is history; a seed that never was leaves no trace."""
    download = filed(made)
    bare, _ = made.seeds.add("http://example.org/never", NOW, DAY)
    assert made.seeds.remove(seed_hash(URI)) and made.seeds.remove(bare)
    assert made.seeds.get(bare) is None
    assert made.documents.get(download) is not None
    assert made.seeds.count() == 0 and not made.seeds.remove(bare)


def test_a_long_list_is_registered_in_seconds(made: Ledger) -> None:
    """In one transaction each 5,000, and looked up by hash."""
    began = time.process_time()
    found = made.seeds.add_all((f"http://example.org/%7Edata/{n}" for n in range(20_000)), NOW, DAY)
    assert time.process_time() - began < 30
    assert len({hash for hash, new in found if new}) == 20_000
    assert len(made.seeds.page(limit=10, offset=19_995)) == 5


def test_the_capture_of_a_provider_is_filed_as_it_is(made: Ledger) -> None:
    """Providers' dumps come with a capture, redirects and all; what it says of the body is kept for washing."""
    seed, _ = made.seeds.add("http://example.org/é.nt", NOW, DAY, listed=False, provider="a")
    download = made.documents.downloading(seed, NOW)
    made.documents.filed(download, capture(), (), NOW)
    document = made.documents.get(download)
    assert document is not None
    assert (document.final_url, document.media_type) == ("http://example.org/final.nt", "application/n-triples")
    assert (document.bytes, document.sha256) == (12345, "0" * 64)
