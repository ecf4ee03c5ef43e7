"""An operator's updates make versions of a graph, like harvests, and nothing else."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from harvest.archive.index import Index
from harvest.archive.layout import find
from harvest.config.settings import GuardSettings, QuerySettings
from harvest.errors import HarvestError, StorageError
from harvest.ledger.requests import UPDATE as COMMAND
from harvest.model import Outcome
from harvest.pipeline import STEPS
from harvest.pipeline.harvest import commit
from harvest.pipeline.update.updating import Written
from harvest.service.orders import execute
from sparql.errors import ForbiddenError, QueryTimeout, RequestError, SparqlError, UnknownGraph, UpdateUnanswered
from sparql.rdf import PROV
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.crash_update import GRAPH
from tests.pipeline.test_crash import published
from tests.provider import ProviderServer
from tests.selection import mostly_long

REPOSITORY = Path(__file__).resolve().parents[2]
GENID = re.compile(rf"<{GRAPH}/\.well-known/genid/[0-9a-f]{{32}}>")
REGISTRY = "notes:\n  updates: true\n"


@pytest.fixture
def notes(instance: TemporaryInstance) -> TemporaryInstance:
    """An instance with a graph that updates write."""
    instance.register(REGISTRY)
    return instance


def insert(triples: str) -> str:
    return f"INSERT DATA {{ GRAPH <{GRAPH}> {{ {triples} }} }}"


def updated(instance: TemporaryInstance, text: str) -> Written:
    instance.clock.forward(minutes=1)
    return instance.harvester.update(text)


def counts(written: Written) -> tuple[str, int, int, int, int]:
    return written.outcome.value, written.version, written.added, written.removed, written.triples


def log(instance: TemporaryInstance) -> str:
    """All provenance logs, one after the other."""
    root = instance.settings.data_dir / "content"
    paths = [find(root, name) for name in Index(root).chain()]
    return "".join(path.read_text() for path in paths if path)


def test_an_update_makes_a_version_of_a_graph_that_nobody_harvested(notes: TemporaryInstance) -> None:
    """With its change, its run, an export and a proof of all of them, and readers see it at once."""
    written = updated(notes, insert("<a> <p> 1 . <b> <p> 'x'"))
    assert written.graph == GRAPH and written.provider == "notes"
    assert counts(written) == ("committed", 1, 2, 0, 2)
    base = "http://h.example/"
    number = '"1"^^<http://www.w3.org/2001/XMLSchema#integer>'
    expected = {f"<{base}a> <{base}p> {number}", f'<{base}b> <{base}p> "x"'}
    assert notes.graph("notes") == expected
    graph = notes.settings.graph("notes")
    assert graph == GRAPH
    run = notes.harvester.instance.ledger.run(written.run or 0)
    assert run is not None and (run.outcome, run.version, run.findings) == ("committed", 1, ())
    assert [dump.url for dump in run.dumps] == [GRAPH]
    assert notes.proven("notes")


def test_a_second_update_changes_what_it_changes(notes: TemporaryInstance) -> None:
    """The change feed holds nothing else, also where there are blank nodes."""
    updated(notes, insert("<a> <p> [ <q> 1 ; <r> [ <s> 2 ] ] . <b> <p> 1"))
    before = notes.graph("notes")
    written = updated(notes, f"WITH <{GRAPH}> DELETE {{ ?s <p> 1 }} INSERT {{ ?s <p> 3 }} WHERE {{ ?s <p> 1 }}")
    assert counts(written) == ("committed", 2, 1, 1, 5)
    assert len(before - notes.graph("notes")) == len(notes.graph("notes") - before) == 1
    assert notes.proven("notes")


def test_blank_nodes_of_two_updates_are_different_nodes(notes: TemporaryInstance) -> None:
    """Washing, which names a node by where it stands, would take them for one."""
    updated(notes, insert("<a> <p> [ <q> 1 ]"))
    first = notes.graph("notes")
    written = updated(notes, insert("<a> <p> [ <q> 2 ]"))
    assert counts(written) == ("committed", 2, 2, 0, 4)
    assert first < notes.graph("notes")
    assert len({iri for line in notes.graph("notes") for iri in GENID.findall(line)}) == 2


def test_an_update_that_changes_nothing_makes_no_version_and_writes_nothing(notes: TemporaryInstance) -> None:
    """A job may send the same update each minute."""
    assert counts(updated(notes, insert(""))) == ("unchanged", 0, 0, 0, 0)
    updated(notes, insert("<a> <p> 01 , [ <q> 1.0 ]"))
    downloads = len(notes.harvester.instance.ledger.downloads.captured())
    for text in (insert("<a> <p> 1"), f"DELETE WHERE {{ GRAPH <{GRAPH}> {{ ?s <nothing> ?o }} }}"):
        written = updated(notes, text)
        assert counts(written) == ("unchanged", 1, 0, 0, 3)
        assert written.run is None
    assert len(notes.harvester.instance.ledger.downloads.captured()) == downloads
    assert len(notes.harvester.instance.ledger.runs("notes")) == 1


def test_a_graph_may_be_emptied_whatever_the_guard_says_and_filled_again(notes: TemporaryInstance) -> None:
    """An operator asks for it on purpose; a provider that sends an empty dump most likely does not."""
    notes.settings = replace(notes.settings, guard=GuardSettings(0, 0))
    updated(notes, insert("<a> <p> 1 , 2 , 3"))
    assert counts(updated(notes, f"CLEAR GRAPH <{GRAPH}>")) == ("committed", 2, 0, 3, 0)
    assert notes.graph("notes") == set()
    assert notes.proven("notes")
    assert counts(updated(notes, f"DROP GRAPH <{GRAPH}>")) == ("unchanged", 2, 0, 0, 0)
    assert counts(updated(notes, insert("<a> <p> 4"))) == ("committed", 3, 1, 0, 1)
    assert notes.proven("notes")
    assert [run.findings for run in notes.harvester.instance.ledger.runs("notes")] == [()] * 3


def test_the_archive_keeps_the_update_and_says_what_it_made(notes: TemporaryInstance) -> None:
    """Who asks later why a triple is there finds the text."""
    text = insert("<a> <p> 'ü'")
    updated(notes, text)
    (asked,) = notes.harvester.instance.ledger.downloads.history("http://h.example/providers/notes#update")
    (gave,) = notes.harvester.instance.ledger.downloads.history(GRAPH)
    capture = asked.download.capture
    assert capture is not None and capture.digest is not None and capture.media_type == "application/sparql-update"
    assert notes.harvester.instance.content.path(capture.digest).read_text() == text
    assert gave.download.informed == asked.download.activity
    made = gave.download.capture
    assert made is not None
    derived = f"<hash://sha256/{made.digest}> <{PROV}wasDerivedFrom> <hash://sha256/{capture.digest}>"
    informed = f"<{gave.download.activity}> <{PROV}wasInformedBy> <{asked.download.activity}>"
    assert derived in log(notes) and informed in log(notes)


def test_versions_are_made_again_from_the_archive(notes: TemporaryInstance) -> None:
    """Ledger, files and store lost: what is filed is enough."""
    for text in (insert("<a> <p> [ <q> 1 ]"), f"CLEAR GRAPH <{GRAPH}>", insert("<a> <p> [ <q> 2 ]")):
        updated(notes, text)
    before = notes.graph("notes")
    assert all(version.same for version in notes.harvester.rebuild("notes", check=True))
    notes.close()
    for name in ("store", "providers"):
        shutil.rmtree(notes.settings.data_dir / name)
    for path in notes.settings.data_dir.glob("ledger.sqlite*"):
        path.unlink()
    assert [version.same for version in notes.harvester.rebuild("notes")] == [True] * 3
    assert notes.graph("notes") == before
    assert notes.proven("notes")
    assert counts(updated(notes, insert("<b> <p> 1"))) == ("committed", 4, 1, 0, 3)
    assert notes.proven("notes")


def test_a_lost_store_has_the_graph_again_at_the_next_start(notes: TemporaryInstance) -> None:
    """It is made of snapshots, and this graph has one."""
    updated(notes, insert("<a> <p> [ <q> 1 ]"))
    before = notes.graph("notes")
    notes.close()
    shutil.rmtree(notes.settings.data_dir / "store")
    assert notes.graph("notes") == before


def test_an_update_reads_other_graphs_and_writes_none_of_them(
    notes: TemporaryInstance, provider: ProviderServer
) -> None:
    """GRAPH in WHERE reads what readers see; what an operation does to a copy stays there."""
    url = provider.put("/d.nt", "<http://x/a> <http://p> <http://x/b> .\n", "application/n-triples")
    notes.register(f"{REGISTRY}p:\n  dump: {url}\n")
    notes.tick("p")
    other = notes.settings.graph("p")
    written = updated(notes, f"INSERT {{ GRAPH <{GRAPH}> {{ ?o ?p ?s }} }} WHERE {{ GRAPH <{other}> {{ ?s ?p ?o }} }}")
    assert counts(written) == ("committed", 1, 1, 0, 1)
    assert notes.graph("notes") == {"<http://x/b> <http://p> <http://x/a>"}
    assert counts(updated(notes, f"ADD <{other}> TO <{GRAPH}>"))[1:] == (2, 1, 0, 2)
    assert notes.graph("p") == {"<http://x/a> <http://p> <http://x/b>"}
    # Without WITH or USING there is nothing to be read outside of GRAPH.
    assert counts(updated(notes, f"INSERT {{ GRAPH <{GRAPH}> {{ ?s <q> 1 }} }} WHERE {{ ?s ?p ?o }}"))[0] == "unchanged"


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("graph", "error", "said"),
    [
        ("http://h.example/graph/p", ForbiddenError, "made of what its provider publishes.*`dump`"),
        ("http://h.example/graph/off", ForbiddenError, "off is disabled"),
        ("http://h.example/graph/nope", UnknownGraph, "'nope' with `updates: true`"),
        ("http://h.example/graph/harvest-metadata", ForbiddenError, "written by the platform alone"),
        ("http://h.example/graph/seed-0123", ForbiddenError, "written by the platform alone"),
        ("http://h.example/graph/", UnknownGraph, "no graph of a provider"),
        ("http://h.example/graph/notes/x", UnknownGraph, "no graph of a provider"),
        ("http://elsewhere.example/notes", UnknownGraph, "those are http://h.example/graph/ and a name"),
    ],
)
def test_other_graphs_are_refused_by_name(
    notes: TemporaryInstance, graph: str, error: type[SparqlError], said: str
) -> None:
    """Before anything happens, and with what would have to be otherwise."""
    notes.register(f"{REGISTRY}p:\n  dump: http://127.0.0.1:1/d.nt\noff:\n  updates: true\n  enabled: false\n")
    with pytest.raises(error, match=said) as caught:
        notes.harvester.update(f"INSERT DATA {{ GRAPH <{graph}> {{ <a> <b> <c> }} }}")
    assert graph in caught.value.message
    assert notes.harvester.instance.store.count(graph) == 0 or graph.endswith("metadata")


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        (f"{insert('<a> <p> 2')} ; CREATE GRAPH <{GRAPH}>", RequestError, "already exists"),
        (
            f"CLEAR GRAPH <{GRAPH}> ; COPY <graph/typo> TO <{GRAPH}>",
            UnknownGraph,
            "has the graph <http://h.example/graph/typo>",
        ),
        (insert("<a> <p> ?x"), RequestError, "does not parse"),
        (insert("<a> <p> <<( <s> <p> <o> )>>"), RequestError, "triple term"),
        (f"WITH <{GRAPH}> INSERT {{ <a> <p> 2 }} WHERE {{ SERVICE <http://x/> {{}} }}", ForbiddenError, "SERVICE"),
    ],
)
def test_an_update_that_fails_changes_nothing(
    notes: TemporaryInstance, text: str, error: type[SparqlError], said: str
) -> None:
    """All operations of a request together, as the protocol asks for; nor is it a failed harvest."""
    updated(notes, insert("<a> <p> 1"))
    with pytest.raises(error, match=said):
        updated(notes, text)
    assert len(notes.graph("notes")) == 1
    assert len(notes.harvester.instance.ledger.runs("notes")) == 1
    assert not list((notes.settings.data_dir / "scratch").iterdir())


UNCHECKED = """
import sys
from pathlib import Path
from pyoxigraph import Store
from harvest.pipeline.update import evaluating
from sparql.protocol.update import read_update
room, update = Path(sys.argv[1]), read_update(sys.argv[2], "http://h.example/sparql")
Store(str(room / "generation")).flush()
evaluating.check = lambda update: None
print(evaluating.evaluated(evaluating.Evaluation(update, frozenset(), room / "generation", room, 1 << 20)))
"""


@pytest.mark.parametrize(("silent", "said"), [("", "Permission denied"), ("SILENT ", "Effect(changed=()")])
def test_what_is_not_seen_to_be_load_has_no_network(
    tmp_path: Path, provider: ProviderServer, silent: str, said: str
) -> None:
    """LOAD and SERVICE are refused by parsing; this holds if a spelling of theirs is not seen."""
    url = provider.put("/d.nt", "<http://x/a> <http://p> <http://x/b> .\n", "application/n-triples")
    done = subprocess.run(
        [sys.executable, "-c", UNCHECKED, str(tmp_path), f"LOAD {silent}<{url}> INTO GRAPH <{GRAPH}>"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert provider.requests == []
    assert said in done.stdout + done.stderr


@pytest.fixture
def two(notes: TemporaryInstance, provider: ProviderServer) -> TemporaryInstance:
    """A provider with a dump, and a second graph that updates write."""
    url = provider.put("/d.nt", '<http://x/a> <http://p> "q" .\n', "application/n-triples")
    notes.register(f"{REGISTRY}other:\n  updates: true\nq:\n  dump: {url}\n")
    notes.tick("q")
    updated(notes, insert("<http://x/a> <http://p> 1"))
    return notes


Q = "<http://h.example/graph/q>"
OTHER = "<http://h.example/graph/other>"


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("more", "error", "said"),
    [
        (f"CLEAR GRAPH {Q}", ForbiddenError, Q),
        ("DELETE WHERE { GRAPH ?g { ?s <http://p> 'q' } }", ForbiddenError, Q),
        ("CLEAR ALL", ForbiddenError, "harvest-metadata"),
        ("INSERT DATA { GRAPH <graph/new> { <a> <p> 1 } }", UnknownGraph, "'new' with `updates: true`"),
        ("INSERT DATA { <a> <p> 1 }", RequestError, "the default graph"),
        (f"INSERT DATA {{ GRAPH {OTHER} {{ <a> <p> 1 }} }}", RequestError, f"<{GRAPH}> and {OTHER}"),
    ],
)
def test_an_update_that_changes_another_graph_too_is_refused_with_its_name(
    two: TemporaryInstance, more: str, error: type[SparqlError], said: str
) -> None:
    """The graph that the update may change is not written either."""
    before = {name: two.graph(name) for name in ("notes", "other", "q")}
    with pytest.raises(error) as caught:
        updated(two, f"{insert('<a> <p> 1')} ; {more}")
    assert said in caught.value.message
    assert {name: two.graph(name) for name in before} == before
    assert {name: published(two, name) for name in before} == before
    assert len(two.harvester.instance.ledger.runs("notes")) == 1
    assert not list((two.settings.data_dir / "scratch").iterdir())


def test_a_graph_that_is_only_read_or_stays_as_it_was_is_no_hindrance(two: TemporaryInstance) -> None:
    """What counts is what is other than before; of two graphs that are named the one that changed is written."""
    q_again = f"INSERT DATA {{ GRAPH {Q} {{ <http://x/a> <http://p> 'q' }} }}"
    assert counts(updated(two, f"{q_again} ; {insert('<b> <p> 1')}"))[:3] == ("committed", 2, 1)
    written = updated(two, f"{insert('<b> <p> 1')} ; INSERT DATA {{ GRAPH {OTHER} {{ <b> <p> 2 }} }}")
    assert (written.provider, *counts(written)[:3]) == ("other", "committed", 1, 1)
    with pytest.raises(RequestError, match="changes nothing, and names no graph that updates may write"):
        updated(two, "DELETE WHERE { ?s ?p ?o }")


def test_an_update_without_end_is_ended(notes: TemporaryInstance) -> None:
    """Its process is killed, and nothing is left of it."""
    notes.settings = replace(notes.settings, query=QuerySettings(update_timeout_s=1))
    rows = " ".join(str(i) for i in range(300))
    loops = " ".join(f"VALUES ?v{i} {{ {rows} }}" for i in range(6))
    began = time.monotonic()
    with pytest.raises(QueryTimeout, match=r"longer than 1 s \(setting query\.update_timeout_s\)"):
        updated(notes, f"WITH <{GRAPH}> INSERT {{ <a> <p> ?n }} WHERE {{ SELECT (COUNT(*) AS ?n) {{ {loops} }} }}")
    assert time.monotonic() - began < 60
    assert not list((notes.settings.data_dir / "scratch").iterdir())
    notes.close()
    notes.settings = replace(notes.settings, query=QuerySettings())
    assert counts(updated(notes, insert("<a> <p> 1")))[0] == "committed"


def test_updates_at_once_are_carried_out_one_after_the_other(notes: TemporaryInstance) -> None:
    """Each sees what the one before it made: four that count give four."""
    updated(notes, insert("<a> <n> 0"))
    text = f"WITH <{GRAPH}> DELETE {{ ?s <n> ?n }} INSERT {{ ?s <n> ?m }} WHERE {{ ?s <n> ?n BIND(?n + 1 AS ?m) }}"
    threads = [threading.Thread(target=notes.harvester.update, args=(text,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (line,) = notes.graph("notes")
    assert '"4"^^' in line
    assert [v.n for v in notes.harvester.instance.ledger.versions("notes")] == [1, 2, 3, 4, 5]


def test_nothing_is_ever_fetched_for_the_graph_nor_written_to_the_registry(notes: TemporaryInstance) -> None:
    """A look finds nothing, `harvest run` says so, and the file stays as people wrote it."""
    updated(notes, insert("<a> <p> 1"))
    assert notes.tick("notes") == []
    for names in (["notes"], []):
        (result,) = execute(notes.harvester, "run", names)["results"]
        assert result["outcome"] == "nothing to fetch"
        assert "written by SPARQL updates" in result["finding"]["message"]
    assert notes.settings.registry.read_text() == REGISTRY
    assert len(notes.harvester.instance.ledger.runs("notes")) == 1


def test_a_graph_whose_entry_changes_is_written_no_more(notes: TemporaryInstance) -> None:
    """The registry that holds is the one at the moment of writing."""
    updated(notes, insert("<a> <p> 1"))
    for registry in ("notes:\n  updates: true\n  enabled: false\n", "{}\n"):
        notes.register(registry)
        with pytest.raises((ForbiddenError, UnknownGraph)):
            updated(notes, insert("<a> <p> 2"))
    assert len(notes.graph("notes")) == 1


def test_a_provider_that_is_given_up_may_be_written_and_harvested_again(
    notes: TemporaryInstance, provider: ProviderServer
) -> None:
    """The first update keeps what was harvested, and a description later what its rules keep."""
    dump = provider.put("/d.nt", '<http://x/a> <http://p> "01"^^<http://www.w3.org/2001/XMLSchema#integer> .\n')
    harvested = f"notes:\n  dump: {dump}\n  removals: mirror\n"
    notes.register(harvested)
    notes.tick("notes")
    notes.register(REGISTRY)
    assert counts(updated(notes, insert("<http://x/b> <http://p> 2")))[1:] == (2, 2, 1, 2)
    assert counts(updated(notes, "DELETE WHERE { GRAPH <graph/notes> { <http://x/a> ?p ?o } }"))[1:] == (3, 0, 1, 1)
    assert notes.proven("notes")
    notes.register(harvested)
    (result,) = notes.tick("notes", forced=True)
    assert result.outcome in (Outcome.COMMITTED, Outcome.UNCHANGED)
    assert notes.proven("notes")


def test_commands_carry_out_updates_and_say_what_is_wrong(notes: TemporaryInstance) -> None:
    """The answer is JSON, with the kind of the error for the web front."""
    done = execute(notes.harvester, COMMAND, [insert("<a> <p> 1")])
    assert done["ok"] and done["results"][0]["outcome"] == "committed"
    refused = execute(notes.harvester, COMMAND, ["CLEAR DEFAULT"])
    assert (refused["ok"], refused["kind"], refused["results"]) == (False, "RequestError", [])


def test_an_update_that_cannot_be_filed_is_not_tried_again(notes: TemporaryInstance) -> None:
    """Its sender sends it again, and must know that nothing will do so meanwhile."""
    updated(notes, insert("<a> <p> 1"))
    folder = notes.settings.data_dir / "providers" / "notes"
    (folder / "changes" / "000002.nqud.gz.tmp").mkdir()  # where the next change is written
    with pytest.raises((HarvestError, OSError)):
        updated(notes, insert("<a> <p> 2"))
    shutil.rmtree(folder / "changes" / "000002.nqud.gz.tmp")
    notes.clock.forward(days=1)
    assert notes.tick("notes") == []
    assert len(notes.graph("notes")) == 1
    assert counts(updated(notes, insert("<a> <p> 3"))) == ("committed", 2, 1, 0, 2)
    assert notes.proven("notes")


OLD = " . ".join(f"<http://x/{i}> <http://p> {i}" for i in range(1, 21))
KILLED = ["update", *STEPS[STEPS.index("check") : STEPS.index("commit") + 1], "load+"]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("step", mostly_long(KILLED, ("check", "load+", "publish")))
def test_an_update_killed_at_a_step_is_whole_or_not_there(notes: TemporaryInstance, step: str) -> None:
    """Once the graph is filed the next start ends it; before that nothing happened."""
    updated(notes, insert(OLD))
    old = notes.graph("notes")
    notes.close()
    killed = subprocess.run(
        [sys.executable, "-m", "tests.pipeline.crash_update", str(notes.folder), step],
        cwd=REPOSITORY,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    notes.clock.forward(days=20)
    notes.tick("notes")
    now = notes.graph("notes")
    assert published(notes, "notes") == now
    if step == "update":
        assert now == old
    else:
        assert len(now) == 20 and all("<http://q>" in line for line in now)
    assert notes.proven("notes")
    assert not [run for run in notes.harvester.instance.ledger.runs("notes") if run.ended is None]
    last = notes.harvester.instance.ledger.versions("notes")[-1].n
    assert counts(updated(notes, insert("<http://x/more> <http://p> 1")))[1:] == (last + 1, 1, 0, 21)


def test_an_update_whose_version_is_filed_but_not_loaded_is_not_reported_as_failed(
    notes: TemporaryInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ledger's disk was full after the version was filed: it is loaded later, so its sender must not send again."""

    def full(*given: object) -> None:
        raise StorageError("no space left for the ledger")

    with monkeypatch.context() as patched:
        patched.setattr(commit, "load", full)
        with pytest.raises(UpdateUnanswered, match="Do not send"):
            notes.harvester.update(insert("<http://n/a> <http://p> 1"))
    notes.harvester.work("notes")
    assert len(notes.graph("notes")) == 1
    assert [run.outcome for run in notes.harvester.instance.ledger.runs("notes")] == ["committed"]
