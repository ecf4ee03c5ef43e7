"""Dumps that are N-Quads unified diffs: applied as the changes that they are, over HTTP, in a real store."""

from __future__ import annotations

import gzip
from collections.abc import Callable

import pytest

from sparql.rdf import NQUD
from sparql.reports import RunReport
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_semantics import A1, A2, B1, C1, release, ttl
from tests.provider import VOID, ProviderServer, dataset

DumpRecords = Callable[..., None]
A_OTHER_GRAPH = '<http://x/a> <http://p> "1"^^<http://www.w3.org/2001/XMLSchema#string> <http://elsewhere/g>'


def diff(*lines: str) -> str:
    return "--- old.nq\n+++ new.nq\n@@ -1 +1 @@\n" + "".join(f"{line} .\n" for line in lines)


def change(provider: ProviderServer, day: int, *lines: str, packed: bool = False) -> None:
    """Publish a change and a description of that day."""
    text = diff(*lines).encode()
    provider.put(f"/{day}.nqud", gzip.compress(text) if packed else text, "text/plain")
    provider.describe("/void.ttl", f"2026-01-{day:02d}T00:00:00Z", [f"/{day}.nqud"])


def outcome(instance: TemporaryInstance) -> str:
    [result] = instance.tick("p")
    return result.outcome.value


def last(instance: TemporaryInstance) -> RunReport:
    return instance.harvester.instance.ledger.runs("p")[0]


def kinds(instance: TemporaryInstance) -> dict[str, str]:
    return {finding.kind: finding.message for finding in last(instance).findings}


@pytest.mark.parametrize("packed", [False, True])
def test_a_change_is_applied_to_the_graph_alone(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords, packed: bool
) -> None:
    """What it removes goes, what it adds comes; a subject that it names keeps all else, whatever graph it says."""
    registered()
    release(provider, 1, A1, '<http://x/a> <http://q> "kept"', B1)
    instance.tick("p")
    change(provider, 2, "-" + A_OTHER_GRAPH, "+" + A2, "+" + C1, packed=packed)
    assert outcome(instance) == "committed"
    assert instance.graph("p") == {A2, '<http://x/a> <http://q> "kept"', B1, C1}
    run = last(instance)
    assert (run.added, run.removed, run.findings) == (2, 1, ())
    version = instance.harvester.instance.ledger.versions("p")[-1]
    assert (version.n, version.coverage, version.triples) == (2, "partial", 4)
    assert instance.proven("p")


def test_a_history_of_changes_from_empty_is_made_again_from_the_archive(
    instance: TemporaryInstance, provider: ProviderServer
) -> None:
    """A registered `dump:` may be a change; each version comes out the same from the filed bytes."""
    instance.register(f"p:\n  dump: {provider.url}/feed.nqud\n")
    for lines in (["+" + A1, "+" + B1], ["-" + A1, "+" + A2], ["+ " + C1, "-\t" + B1]):
        provider.put("/feed.nqud", diff(*lines), "application/octet-stream")
        assert outcome(instance) == "committed"
        instance.clock.forward(days=2)
    assert instance.graph("p") == {A2, C1}
    assert [version.same for version in instance.harvester.rebuild("p", check=True)] == [True, True, True]
    assert instance.proven("p")


def test_the_media_type_makes_a_change_of_any_address(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """A dump of which only the server says what it is; with `removals: mirror` it is no mirror all the same."""
    registered("removals: mirror")
    release(provider, 1, A1, B1)
    instance.tick("p")
    provider.put("/latest", diff("-" + A1, "+" + C1), f"{NQUD}; charset=utf-8")
    provider.describe("/void.ttl", "2026-01-02T00:00:00Z", ["/latest"])
    assert outcome(instance) == "committed"
    assert instance.graph("p") == {B1, C1}
    provider.describe("/void.ttl", "2026-01-02T00:00:00Z", ["/latest"], iri=None)
    assert instance.tick("p") == []
    assert instance.proven("p")


def test_several_changes_are_applied_in_their_order(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """One version: what the first adds the second may remove, and the other way round."""
    registered()
    release(provider, 1, B1)
    instance.tick("p")
    provider.put("/1.nqud", diff("+" + A1, "-" + B1))
    provider.put("/2.nqud", diff("-" + A1, "+" + B1, "+" + C1))
    provider.describe("/void.ttl", "2026-01-02T00:00:00Z", ["/1.nqud", "/2.nqud"])
    assert outcome(instance) == "committed"
    assert instance.graph("p") == {B1, C1}
    assert (last(instance).added, last(instance).removed, kinds(instance)) == (1, 0, {})
    assert all(version.same for version in instance.harvester.rebuild("p", check=True))


def test_what_is_so_already_is_reported_and_no_error(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """Removals of what is not there, additions of what is, and what one change both removes and adds."""
    registered()
    release(provider, 1, A1, B1)
    instance.tick("p")
    change(provider, 2, "-" + A2, "-" + C1, "+" + B1, "-" + A1, "+" + A_OTHER_GRAPH, '+<http://x/d> <http://p> "new"')
    assert outcome(instance) == "committed"
    assert instance.graph("p") == {A1, B1, '<http://x/d> <http://p> "new"'}
    assert kinds(instance) == {
        "change-absent": "2 statements that the change removes were not there",
        "change-present": "1 statement that the change adds was there already",
        "change-twice": "1 statement that the change both removes and adds; the graph has them afterwards",
    }
    change(provider, 3, "+" + B1)
    assert outcome(instance) == "unchanged"
    assert kinds(instance).keys() == {"change-present"}


def test_an_empty_diff_changes_nothing(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """`diff` of two equal files prints nothing; that is no broken dump."""
    registered()
    release(provider, 1, A1)
    instance.tick("p")
    provider.put("/2.nqud", "")
    provider.describe("/void.ttl", "2026-01-02T00:00:00Z", ["/2.nqud"])
    assert outcome(instance) == "unchanged"
    assert instance.graph("p") == {A1}


def test_the_guard_holds_a_change_that_removes_much(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """As any harvest; an approval lets it through."""
    instance.guard(1, 0.2)
    registered()
    release(provider, 1, A1, B1, C1)
    instance.tick("p")
    change(provider, 2, "-" + A1, "-" + B1)
    assert outcome(instance) == "held"
    assert instance.graph("p") == {A1, B1, C1}
    assert [result.outcome.value for result in instance.harvester.approve("p")] == ["committed"]
    assert instance.graph("p") == {C1}
    assert instance.proven("p")


@pytest.mark.parametrize(
    ("text", "said", "line"),
    [
        (diff("+" + A2, '+<http://x/a> <http://p> "open', "-" + A1), "cannot be parsed", 5),
        ("<html><body>Not found</body></html>\n", "no N-Quads unified diff", None),
        (ttl(A1, A2), "no N-Quads unified diff", None),
        (gzip.compress(diff("+" + A2).encode(), mtime=0)[:-9], "cut off or damaged", None),
    ],
)
def test_a_broken_change_changes_nothing_and_says_where(
    instance: TemporaryInstance,
    provider: ProviderServer,
    registered: DumpRecords,
    text: str | bytes,
    said: str,
    line: int | None,
) -> None:
    """A page under the address of a change, a dump, a broken statement, half a file: the next good one is applied."""
    registered()
    release(provider, 1, A1)
    instance.tick("p")
    provider.put("/2.nqud", text)
    provider.describe("/void.ttl", "2026-01-02T00:00:00Z", ["/2.nqud"])
    assert outcome(instance) == "failed"
    finding = last(instance).findings[0]
    assert said in finding.message and finding.url == f"{provider.url}/2.nqud" and finding.fatal
    assert finding.line == line
    assert instance.graph("p") == {A1}
    provider.put("/2.nqud", diff("+" + A2))
    instance.clock.forward(days=1)
    assert outcome(instance) == "committed"
    assert instance.graph("p") == {A1, A2}


def test_dumps_and_changes_of_one_dataset_are_refused(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """Whether the change is in the dump already cannot be known."""
    registered()
    provider.put("/a.ttl", ttl(A1))
    provider.put("/1.nqud", diff("+" + B1))
    provider.describe("/void.ttl", "2026-01-01T00:00:00Z", ["/a.ttl", "/1.nqud"])
    assert outcome(instance) == "failed"
    assert "a dataset has either dumps or changes" in kinds(instance)["wash"]


def test_a_dataset_of_dumps_stands_beside_one_of_changes(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """One graph: the dump replaces its subjects, the change touches its statements."""
    registered()
    provider.put("/a.ttl", ttl(A1))
    provider.put("/1.nqud", diff("+" + B1))
    provider.put(
        "/void.ttl",
        VOID
        + dataset("http://x/dumps", "2026-01-01T00:00:00Z", [f"{provider.url}/a.ttl"])
        + dataset("http://x/changes", "2026-01-02T00:00:00Z", [f"{provider.url}/1.nqud"]),
    )
    assert [result.outcome.value for result in instance.tick("p")] == ["committed", "committed"]
    assert instance.graph("p") == {A1, B1}


def skolem(graph: set[str]) -> set[str]:
    return {line for line in graph if "/.well-known/genid/" in line}


def test_blank_nodes_that_a_change_adds_are_nodes_of_their_own(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """A label says nothing outside its file: the same path from the same subject is another node than the one there."""
    registered()
    release(provider, 1, "<http://x/a> <http://p> [ <http://q> 1 ]")
    instance.tick("p")
    before = skolem(instance.graph("p"))
    change(provider, 2, "+<http://x/a> <http://p> _:b0", '+_:b0 <http://q> "2"')
    assert outcome(instance) == "committed"
    after = skolem(instance.graph("p"))
    assert before < after and len(after) == 4
    nodes = {line.split()[0] for line in after if "<http://q>" in line}
    assert len(nodes) == 2
    change(provider, 3, "+<http://x/a> <http://p> _:other", '+_:other <http://q> "2"')
    assert outcome(instance) == "unchanged"
    assert kinds(instance) == {"change-present": "2 statements that the change adds were there already"}
    assert all(version.same for version in instance.harvester.rebuild("p", check=True))
    assert instance.proven("p")


def test_blank_nodes_go_where_the_change_describes_them(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """A removed description that the graph has word for word is found; its place may be taken by another."""
    registered()
    release(provider, 1, A1, '<http://x/a> <http://r> [ <http://q> "1" ]')
    instance.tick("p")
    change(
        provider,
        2,
        "-<http://x/a> <http://r> _:b0",
        '-_:b0 <http://q> "1"',
        "+<http://x/a> <http://r> _:b9",
        '+_:b9 <http://q> "2"',
    )
    assert outcome(instance) == "committed"
    graph = instance.graph("p")
    assert len(graph) == 3 and any('<http://q> "2"' in line for line in graph)
    assert kinds(instance) == {}
    assert instance.proven("p")


def test_a_removed_blank_node_that_cannot_be_found_is_a_finding(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """A label alone leads nowhere; the other statements of the change count all the same."""
    registered()
    release(provider, 1, A1, '<http://x/a> <http://r> [ <http://q> "1" ]')
    instance.tick("p")
    before = instance.graph("p")
    change(provider, 2, '-_:b7 <http://q> "1"', "+" + B1)
    assert outcome(instance) == "committed"
    assert instance.graph("p") == before | {B1}
    assert "1 statement with blank nodes that the change removes could not be found" in kinds(instance)["change-blank"]
