"""Stale seeds are downloaded and filed; what is known of them can be asked; clean documents go into graphs."""

from __future__ import annotations

import hashlib
import io
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from harvest.config.settings import ScheduleSettings, SeedSettings
from harvest.errors import HarvestError, UnknownName
from harvest.ledger import Ledger
from harvest.model.seeds import entry_hash
from sparql.reports import to_json
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_metadata import ask
from tests.pipeline.test_semantics import A1, release
from tests.provider import ProviderServer
from tests.test_schedule import scheduled, until

DAY = 86400.0
DUMP = "<http://x/a> <http://x/p> <http://x/b> .\n"
GRAPH = "http://h.example/graph/seed-"


@pytest.fixture(autouse=True)
def registry(instance: TemporaryInstance) -> None:
    """No providers."""
    instance.register("{}\n")


def listed(instance: TemporaryInstance, *uris: str) -> list[str]:
    """Registers seeds; their hashes."""
    found = instance.harvester.instance.ledger.seeds.add_all(uris, instance.clock(), DAY)
    return [hash for hash, _ in found]


def the_ledger(instance: TemporaryInstance) -> Ledger:
    return instance.harvester.instance.ledger


def test_a_stale_seed_is_downloaded_and_filed(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """Its bytes are under their digest; it is stale again once its interval is past, and not before."""
    url = provider.put("/a.nt", DUMP, "application/n-triples")
    [hash] = listed(instance, url)
    [found] = to_json(instance.harvester.seeding.run([]))
    assert (found["hash"], found["problem"], found["processed"]) == (hash, None, "2026-01-01T00:00:00Z")
    [download] = the_ledger(instance).documents.of_seed(hash)
    digest = hashlib.sha256(DUMP.encode()).hexdigest()
    assert (download.sha256, download.bytes, download.media_type) == (digest, len(DUMP), "application/n-triples")
    assert [exchange["status"] for exchange in download.http] == [200]
    assert instance.harvester.instance.content.path(digest).read_text() == DUMP
    assert instance.harvester.seeding.run([]) == []
    instance.clock.forward(seconds=DAY)
    assert instance.harvester.seeding.run([]) == []
    instance.clock.forward(seconds=0.000001)
    assert len(instance.harvester.seeding.run([])) == 1
    assert len(the_ledger(instance).documents.of_seed(hash)) == 2


def test_a_relative_seed_is_never_asked_for(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """Not by a run, not by name."""
    listed(instance, "a.nt", "//127.0.0.1/a.nt")
    assert instance.harvester.seeding.run([]) == []
    with pytest.raises(HarvestError, match="relative"):
        instance.harvester.seeding.run(["a.nt"])
    assert provider.requests == []


def test_a_seed_that_fails_stops_no_other(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """What was answered and why it failed is filed with it; it stays stale, and waits before the next try."""
    good = provider.put("/good.nt", DUMP)
    gone, odd = provider.url + "/gone.nt", "ftp://x.example/a"
    hashes = listed(instance, gone, odd, good)
    results = to_json(instance.harvester.seeding.run([]))
    assert [result["hash"] for result in results] == hashes
    assert "404" in results[0]["problem"] and "not an http" in results[1]["problem"]
    assert results[2]["problem"] is None
    documents = the_ledger(instance).documents
    [failed] = documents.of_seed(hashes[0])
    assert (failed.status, failed.counts, failed.http[0]["status"]) == ("downloading", {"download": 1}, 404)
    assert failed.ended is not None
    assert [seed.hash for seed in the_ledger(instance).seeds.stale(instance.clock())] == hashes[:2]
    assert instance.harvester.seeding.due() == []
    instance.clock.forward(minutes=1)
    assert instance.harvester.seeding.due() == hashes[:2]


def test_a_seed_is_downloaded_by_name_whatever_its_dates(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """Any spelling of it; what is not in the list is refused, with what to do."""
    url = provider.put("/a.nt", DUMP)
    listed(instance, url)
    instance.harvester.seeding.run([])
    instance.clock.forward(minutes=1)
    assert len(instance.harvester.seeding.run([url.replace("http", "HTTP") + "/../a.nt"])) == 1
    assert len(provider.asked("/a.nt")) == 2
    with pytest.raises(UnknownName, match="seeds add"):
        instance.harvester.seeding.run(["http://x.example/unknown"])


def test_what_is_known_of_seeds_can_be_asked(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """By SPARQL in the metadata graph: a seed, its latest download, and why another one failed."""
    url, gone = provider.put("/a.nt", DUMP), provider.url + "/gone.nt"
    listed(instance, url, gone)
    instance.harvester.seeding.run([])
    rows = ask(
        instance,
        """SELECT ?uri ?status ?code { ?seed a harvest:Seed ; harvest:uri ?uri ; harvest:lastDownload ?download .
           ?download harvest:status ?status ; prov:wasDerivedFrom ?seed ; harvest:http [ harvest:statusCode ?code ] }
           ORDER BY ?uri""",
    )
    assert [(uri, code) for uri, _, code in rows] == [(url, "200"), (gone, "404")]
    why = ask(instance, "SELECT ?kind ?why { ?d harvest:problem [ harvest:kind ?kind ; rdfs:comment ?why ] }"
              .replace("rdfs:comment", "<http://www.w3.org/2000/01/rdf-schema#comment>"))  # fmt: skip
    assert why[0][0] == "download" and "404" in why[0][1]


def test_a_download_that_a_crash_cut_short_begins_anew(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """The old download is reported as interrupted, and the seed waits a little: it may have caused the crash."""
    [hash] = listed(instance, provider.put("/a.nt", DUMP))
    ledger = the_ledger(instance)
    ledger.seeds.tried(hash, instance.clock())
    cut = ledger.documents.downloading(hash, instance.clock())
    instance.close()
    found = the_ledger(instance).documents.problems(cut)
    assert "stopped during this download" in found[0].message
    assert instance.harvester.seeding.due() == []
    instance.clock.forward(minutes=1)
    assert instance.harvester.seeding.due() == [hash]


def test_a_clean_document_has_a_graph_of_its_own(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """It is loaded by its hash, by its seed's or its download's, and taken out again; the page says which it is."""
    [hash] = listed(instance, provider.put("/a.nt", DUMP))
    instance.harvester.seeding.run([])
    seed = the_ledger(instance).seeds.get(hash)
    assert seed is not None and seed.download is not None
    [digest] = [found.hash for found in the_ledger(instance).documents.tree(seed.download) if found.status == "cleaned"]
    count = f"SELECT ?o {{ GRAPH <{GRAPH}{hash}> {{ ?s ?p ?o }} }}"
    loaded = "SELECT ?loaded { ?d a harvest:CleanDocument ; harvest:loaded ?loaded }"
    for name in (digest, hash, seed.download):
        assert instance.harvester.seeding.load(name) == [GRAPH + hash]
        assert (ask(instance, count), ask(instance, loaded)) == ([("http://x/b",)], [("true",)])
        assert instance.harvester.seeding.unload(name) == [GRAPH + hash]
        assert (ask(instance, count), ask(instance, loaded)) == ([], [("false",)])
    with pytest.raises(UnknownName, match="is loaded"):
        instance.harvester.seeding.unload(hash)
    [other] = listed(instance, provider.put("/readme.txt", "hello"))
    instance.harvester.seeding.run([])
    with pytest.raises(UnknownName, match="no clean document"):
        instance.harvester.seeding.load(other)


def test_a_loaded_graph_is_kept_over_a_crash_and_a_lost_store(
    instance: TemporaryInstance, provider: ProviderServer
) -> None:
    """A loading that was cut short is finished, a graph that is not loaded is removed, and the store can be lost."""
    hashes = listed(instance, provider.put("/a.nt", DUMP), provider.put("/b.nt", DUMP))
    instance.harvester.seeding.run([])
    for hash in hashes:
        instance.harvester.seeding.load(hash)
    ledger, store = the_ledger(instance), instance.harvester.instance.store
    [first, second] = sorted(ledger.documents.loaded(), key=lambda document: hashes.index(document.seed))
    ledger.documents.load([first.hash])  # as a crash leaves it: said, not done
    store.drop(GRAPH + hashes[0])
    ledger.documents.unload([second.hash])  # likewise
    instance.close()
    store = instance.harvester.instance.store
    assert [graph for graph in store.graphs() if graph.startswith(GRAPH)] == [GRAPH + hashes[0]]
    assert the_ledger(instance).documents.unfilled() == []
    instance.close()
    for path in sorted((instance.settings.data_dir / "store").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
    assert instance.harvester.instance.store.count(GRAPH + hashes[0]) == 1


def test_a_rebuilt_store_keeps_loaded_graphs(
    instance: TemporaryInstance, provider: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large removal from a provider's graph makes a new store, of which seeds must not be lost."""
    from sparql.store import embedded

    [hash] = listed(instance, provider.put("/a.nt", DUMP))
    instance.harvester.seeding.run([])
    instance.harvester.seeding.load(hash)
    monkeypatch.setattr(embedded, "cheaper_to_rebuild", lambda *figures: True)
    instance.register(f"p:\n  void: {provider.url}/void.ttl\n")
    release(provider, 1, A1)
    instance.tick("p")
    assert instance.harvester.instance.store.count(GRAPH + hash) == 1
    assert instance.graph("p") == {A1}


def test_a_loaded_graph_follows_the_downloads_of_its_seed(
    instance: TemporaryInstance, provider: ProviderServer
) -> None:
    """One that is not loaded stays out; one that turned into something else stays as it was."""
    url = provider.put("/a.nt", DUMP)
    [hash] = listed(instance, url)
    instance.harvester.seeding.run([])
    asked = f"SELECT ?o {{ GRAPH <{GRAPH}{hash}> {{ ?s ?p ?o }} }}"
    assert ask(instance, asked) == []
    instance.harvester.seeding.load(hash)
    for body, objects in ((DUMP.replace("/b", "/new"), [("http://x/new",)]), ("gone", [("http://x/new",)])):
        provider.put("/a.nt", body)
        instance.clock.forward(minutes=1)
        instance.harvester.seeding.run([url])
        assert ask(instance, asked) == objects
    documents = the_ledger(instance).documents
    assert [len(documents.tree(download.hash)) for download in documents.of_seed(hash)] == [1, 2, 2]
    loaded = ask(instance, "SELECT ?loaded { ?d a harvest:CleanDocument ; harvest:loaded ?loaded } ORDER BY ?loaded")
    assert loaded == [("false",), ("true",)]


def archive(**files: str) -> bytes:
    """A zip archive."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as opened:
        for name, body in files.items():
            opened.writestr(name.replace("_", "."), body)
    return made.getvalue()


def test_an_archive_is_unpacked_into_its_entries(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """Each with its state, its problems, and a clean document and graph of its own where it holds RDF."""
    body = archive(a_nt=DUMP, b_ttl="<http://x/c> a <http://x/D> .\n<http://x/e> <odd .\n", readme_txt="hello")
    [hash] = listed(instance, provider.put("/all.zip", body, "application/zip"))
    [result] = to_json(instance.harvester.seeding.run([]))
    assert (result["status"], result["problem"], result["clean"]) == ("depleted", None, 2)
    documents = the_ledger(instance).documents
    [download] = documents.of_seed(hash)
    entries = {entry.name: entry for entry in documents.entries(download.hash)}
    assert {name: entry.status for name, entry in entries.items()} == {
        "a.nt": "parsed", "b.ttl": "parsed", "readme.txt": "guessing",
    }  # fmt: skip
    assert entries["b.ttl"].counts and entries["readme.txt"].counts == {"no-rdf": 1}
    [problem] = documents.problems(entries["b.ttl"].hash)
    assert problem.line == 2
    clean = documents.get(entries["a.nt"].clean or "")
    assert clean is not None and clean.graph == GRAPH + entry_hash(hash, "a.nt")
    filed = instance.harvester.instance.content.path(clean.hash).read_text()
    assert filed == DUMP.replace(" .\n", f" <{clean.graph}> .\n")
    assert (clean.bytes, clean.chars, clean.lines, clean.parent) == (len(filed), len(filed), 1, entries["a.nt"].hash)
    assert instance.harvester.seeding.load(entries["a.nt"].hash) == [clean.graph]
    assert len(instance.harvester.seeding.load(hash)) == 2
    rows = ask(
        instance,
        """SELECT ?name ?kind ?number { ?d a harvest:Entry ; dcterms:title ?name ;
           harvest:count [ harvest:kind ?kind ; harvest:number ?number ] } ORDER BY ?name""",
    )
    assert [(name, number) for name, _, number in rows] == [("b.ttl", "1"), ("readme.txt", "1")]


def test_a_seed_passes_through_the_states_of_the_document(
    instance: TemporaryInstance, provider: ProviderServer
) -> None:
    """The states have their order, and each is filed as it is passed: a page says what is done with a dump now."""
    database = the_ledger(instance).database
    database.write("CREATE TABLE passed (status TEXT)")
    database.write(
        "CREATE TRIGGER passing AFTER UPDATE OF status ON seed BEGIN INSERT INTO passed VALUES (new.status); END"
    )
    listed(instance, provider.put("/a.nt", DUMP))
    instance.harvester.seeding.run([])
    assert [row["status"] for row in database.rows("SELECT status FROM passed ORDER BY rowid")] == [
        "downloading", "filed", "unarchiving", "unarchived", "guessing", "guessed", "parsing", "parsed",
    ]  # fmt: skip


def test_a_download_that_was_filed_and_not_washed_is_washed_later(
    instance: TemporaryInstance, provider: ProviderServer
) -> None:
    """After a crash; it is not downloaded once more."""
    [hash] = listed(instance, provider.put("/a.nt", DUMP))
    instance.harvester.seeding.run([])
    ledger = the_ledger(instance)
    ledger.database.write("UPDATE document SET whole = NULL, status = 'parsing' WHERE hash = download")
    instance.close()
    assert instance.harvester.seeding.due() == [hash]
    assert [result["status"] for result in to_json(instance.harvester.seeding.run([]))] == ["parsed"]
    assert len(provider.requests) == 1
    assert instance.harvester.seeding.due() == []


def test_a_document_that_cannot_be_washed_in_time_says_so(
    instance: TemporaryInstance, provider: ProviderServer
) -> None:
    """The document keeps the state that it did not get beyond, and is not tried again before its interval is past."""
    instance.settings = replace(instance.settings, wash=replace(instance.settings.wash, timeout_s=0.0))
    [hash] = listed(instance, provider.put("/a.nt", DUMP))
    [result] = to_json(instance.harvester.seeding.run([]))
    assert "wash.timeout_s" in result["problem"]
    [download] = the_ledger(instance).documents.of_seed(hash)
    assert (download.counts, download.whole) == ({"cut-off": 1}, False)
    instance.clock.forward(hours=1)
    assert instance.harvester.seeding.due() == []


def test_the_schedule_takes_stale_seeds(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """At its first tick, beside the providers; what became of them can be asked after the next."""
    instance.settings = replace(instance.settings, schedule=ScheduleSettings(update=0.2))
    query = "SELECT ?s { ?s a harvest:Seed ; harvest:status 'parsed' }"
    with scheduled(instance) as (harvester, _):
        uris = [provider.put("/a.nt", DUMP), provider.url + "/gone", "relative.ttl"]
        hash = harvester.instance.ledger.seeds.add_all(uris, harvester.instance.clock(), DAY)[0][0]
        until(lambda: ask(instance, query) == [(f"http://h.example/documents/{hash}",)], "the seed is described")
    assert sorted(path for path, _ in provider.requests) == ["/a.nt", "/gone"]


def test_a_tick_does_not_wait_for_a_long_load(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """Providers are looked at though a graph of millions is being written; seeds are described at a later tick."""
    listed(instance, provider.put("/a.nt", DUMP))
    seeding, query = instance.harvester.seeding, "SELECT ?s { ?s a harvest:Seed }"
    seeding.work(seeding.due()[0])
    with ThreadPoolExecutor(1) as other:
        other.submit(instance.harvester.instance.writing.acquire).result()
        seeding.publish_now_or_later()
        other.submit(instance.harvester.instance.writing.release).result()
    assert ask(instance, query) == []
    seeding.publish_now_or_later()
    assert len(ask(instance, query)) == 1


def test_seeds_are_worked_on_side_by_side(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """A slow server holds up its own seed; no more than the setting are asked at once."""
    instance.settings = replace(instance.settings, seeds=SeedSettings(max_parallel=3))
    hashes = listed(instance, *(provider.put(f"/{n}.nt", DUMP) for n in range(7)))
    assert [result["hash"] for result in to_json(instance.harvester.seeding.run([]))] == hashes
    assert len(provider.requests) == 7


def test_one_thread_works_on_a_seed(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """A command beside the schedule downloads nothing twice."""
    from threading import Thread

    [hash] = listed(instance, provider.put("/a.nt", DUMP))
    provider.gate.clear()
    thread = Thread(target=instance.harvester.seeding.work, args=(hash,))
    thread.start()
    while hash in instance.harvester.seeding.due():
        pass
    assert instance.harvester.seeding.work(hash, forced=True) is None
    provider.gate.set()
    thread.join()
    assert len(provider.requests) == 1
