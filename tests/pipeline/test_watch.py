"""Dumps that no date covers: how they are asked for between harvests."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest

from harvest.model import State, Watch
from harvest.pipeline.harvest.watch import AGAIN_TRIES
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_dates import B1, describe
from tests.pipeline.test_semantics import A1, A2, outcomes, release, ttl
from tests.pipeline.test_when import state_of_disk
from tests.provider import ProviderServer, _Handler

DumpRecords = Callable[..., None]
FULL = [f'<http://x/{n}> <http://p> "1"' for n in range(20)]

HTML = '<html><script type="application/ld+json">{"@id": "http://x/page", "http://p": "1"}</script></html>'


def states(instance: TemporaryInstance) -> list[State]:
    """The state of each dataset of the description, in its order."""
    ledger = instance.harvester.instance.ledger
    known = {standing.iri: standing.state for standing in ledger.standings.of(["p"]).get("p", ())}
    return [known.get(now.dataset.iri, State.IDLE) for now in ledger.described.of("p")]


@dataclass
class Manner:
    """How a server answers: by Accept, with an ETag, with 304."""

    negotiates: bool = False
    tag: bool = True
    conditional: bool = True


def answer(server: ProviderServer, manner: Manner) -> None:
    """Have a server answer in this manner."""

    class Handler(_Handler):
        def do_GET(self) -> None:
            page = self.server.pages[self.path]
            body, kind = page.body, page.media_type
            if manner.negotiates and "n-triples" not in self.headers["Accept"]:
                body, kind = HTML.encode(), "text/html"
            tag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
            status = 304 if manner.conditional and self.headers.get("If-None-Match") == tag else page.status
            self.server.requests.append((self.path, status))
            self.send_response(status)
            if manner.tag:
                self.send_header("ETag", tag)
            self.send_header("Content-Type", kind)
            if status != 304:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(b"" if status == 304 else body)

    server.RequestHandlerClass = Handler


def minutes(instance: TemporaryInstance, count: int) -> list[str]:
    """The outcomes of so many ticks, a minute after each other."""
    found = []
    for _ in range(count):
        instance.clock.forward(minutes=1)
        found += outcomes(instance)
    return found


def lone(instance: TemporaryInstance, provider: ProviderServer, *keys: str) -> None:
    """Register a dump itself."""
    extra = "".join(f"  {key}\n" for key in keys)
    instance.register(f"p:\n  dump: {provider.url}/d.ttl\n{extra}")


def harvested(
    instance: TemporaryInstance, provider: ProviderServer, *statements: str, keys: Sequence[str] = ()
) -> None:
    """Publish a dump without a description, register it, and harvest it."""
    provider.put("/d.ttl", ttl(*statements))
    lone(instance, provider, *keys)
    assert outcomes(instance) == ["committed"]


def dated(instance: TemporaryInstance, provider: ProviderServer, date: str) -> list[str]:
    """Describe the dump `/a.ttl` with a date; the outcomes of a tick."""
    describe(provider, ("a", date, ["/a.ttl"]))
    return outcomes(instance)


def whole(provider: ProviderServer, path: str = "/d.ttl") -> int:
    """How often a document was sent whole."""
    return provider.asked(path).count(200)


def test_a_watched_dump_is_asked_for_as_it_is_downloaded(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """A server that negotiates gave RDF for the download, and its HTML page for `Accept: */*`."""
    answer(provider, Manner(negotiates=True))
    provider.put("/d.ttl", ttl(A1), "application/n-triples")
    lone(instance, provider)
    assert outcomes(instance) == ["committed"]
    assert minutes(instance, 3) == []
    assert provider.asked("/d.ttl") == [200, 304, 304, 304]
    assert instance.graph("p") == {A1}


def test_a_watched_dump_has_the_limits_of_its_provider(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """A dump that grew beyond them is not taken because it has no date."""
    harvested(instance, provider, A1, keys=["limits: {max_bytes: 1kB}"])
    provider.put("/d.ttl", ttl(A2, f'<http://x/a> <http://p> "{"x" * 2000}"'))
    assert minutes(instance, 1) == []
    assert instance.graph("p") == {A1}
    [now] = instance.harvester.instance.ledger.described.of("p")
    assert states(instance) == [State.FAILING]
    assert [finding.kind for finding in now.findings] == ["refused"]


def test_a_server_that_never_says_304_is_asked_more_and_more_rarely(
    instance: TemporaryInstance, provider: ProviderServer
) -> None:
    """Its dump would otherwise be downloaded whole every minute; a change is still found, and then soon again."""
    answer(provider, Manner(conditional=False))
    harvested(instance, provider, A1)
    assert minutes(instance, 60) == []
    assert 3 <= whole(provider) <= 7
    for _ in range(40):
        instance.clock.forward(hours=6)
        assert outcomes(instance) == []
    assert whole(provider) <= 7 + 6 + 10
    provider.put("/d.ttl", ttl(A2))
    instance.clock.forward(days=1)
    assert outcomes(instance) == ["committed"]


def test_a_server_that_gives_nothing_to_ask_by_is_asked_once_a_day(
    instance: TemporaryInstance, provider: ProviderServer
) -> None:
    """Same bytes make no run; other bytes are harvested."""
    answer(provider, Manner(tag=False))
    harvested(instance, provider, A1)
    for _ in range(8):
        instance.clock.forward(hours=6)
        assert outcomes(instance) == []
    assert whole(provider) == 3
    assert len(instance.harvester.instance.ledger.runs("p")) == 1
    provider.put("/d.ttl", ttl(A2))
    instance.clock.forward(days=1)
    assert outcomes(instance) == ["committed"]


def test_the_same_bytes_with_another_etag_are_asked_for_by_that(
    instance: TemporaryInstance, provider: ProviderServer
) -> None:
    """A dump that was uploaded again is sent whole once, not at every look from then on."""
    manner = Manner()
    answer(provider, manner)
    harvested(instance, provider, A1)
    ledger = instance.harvester.instance.ledger
    with ledger.database.transaction() as db:
        db.execute('UPDATE dataset SET captures = replace(captures, \'"etag": "\', \'"etag": "old\')')
    assert minutes(instance, 5) == []
    assert provider.asked("/d.ttl") == [200, 200, 304, 304, 304]


@pytest.mark.parametrize("what", ["broken", "held"])
def test_the_same_bad_bytes_are_downloaded_and_reported_once(
    instance: TemporaryInstance, provider: ProviderServer, what: str
) -> None:
    """A broken or held dump without a date is not downloaded and washed every minute, and is taken once mended."""
    instance.guard(2, 0.2)
    harvested(instance, provider, *FULL, keys=["removals: mirror"])
    provider.put("/d.ttl", "broken <" if what == "broken" else ttl(FULL[0]))
    assert set(minutes(instance, 8)) == {"failed" if what == "broken" else "held"}
    assert whole(provider) == 2
    assert len(instance.harvester.instance.ledger.runs("p")) == 2
    provider.put("/d.ttl", ttl(*FULL, B1))
    instance.clock.forward(hours=7)
    assert outcomes(instance) == ["committed"]


def test_a_dump_that_cannot_be_asked_for_stops_nothing_else(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """A dataset without a date whose dump is gone is failing by itself, backs off, is reported once, and comes back."""
    registered()
    provider.put("/a.ttl", ttl(A1))
    provider.put("/b.ttl", ttl(B1))
    describe(provider, ("a", None, ["/a.ttl"]), ("b", "2026-01-01", ["/b.ttl"]))
    outcomes(instance)
    provider.put("/a.ttl", "gone", status=404)
    describe(provider, ("a", None, ["/a.ttl"]), ("b", "2026-01-02", ["/b2.ttl"]))
    provider.put("/b2.ttl", ttl('<http://x/b> <http://p> "2"'))
    assert outcomes(instance) == ["committed"]
    assert minutes(instance, 30) == []
    assert states(instance) == [State.FAILING, State.IDLE]
    failing, _ = instance.harvester.instance.ledger.described.of("p")
    assert [finding.kind for finding in failing.findings] == ["status"]
    assert len(provider.asked("/a.ttl")) <= 7
    assert [run.outcome for run in instance.harvester.instance.ledger.runs("p")].count("failed") == 1
    provider.put("/a.ttl", ttl(A2))
    instance.clock.forward(hours=7)
    assert outcomes(instance) == ["committed"]
    assert states(instance) == [State.IDLE] * 2


def test_an_unchanged_dump_without_a_date_writes_nothing(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """One conditional request at each look, and every file of the instance stays as it is."""
    harvested(instance, provider, A1)
    before = state_of_disk(instance.folder)
    assert minutes(instance, 3) == []
    assert state_of_disk(instance.folder) == before


def test_a_dump_that_comes_after_its_description_is_harvested(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """Under the newer date the bytes are still the old ones: they are asked for again, without conditions."""
    registered()
    provider.put("/a.ttl", ttl(A1))
    dated(instance, provider, "2026-01-01")
    assert dated(instance, provider, "2026-01-02") == ["unchanged"]
    assert minutes(instance, 2) == []
    provider.put("/a.ttl", ttl(A2))
    assert minutes(instance, 4) == ["committed"]
    assert instance.graph("p") == {A2}
    assert provider.asked("/a.ttl") == [200, 304, 200, 200]
    assert minutes(instance, 60) == []
    assert provider.asked("/a.ttl") == [200, 304, 200, 200]


def test_a_dump_that_stays_the_same_under_a_newer_date_is_let_go(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """Some providers only touch the date: after some hours the dump is compared once a day, and that is reported."""
    registered()
    provider.put("/a.ttl", ttl(A1))
    for date in ("2026-01-01", "2026-01-02"):
        dated(instance, provider, date)
    for _ in range(12):
        instance.clock.forward(hours=2)
        assert outcomes(instance) == []
    assert whole(provider, "/a.ttl") == 1 + AGAIN_TRIES
    for _ in range(2):
        [now] = instance.harvester.instance.ledger.described.of("p")
        assert (now.watch, states(instance)) == (Watch.DAILY, [State.IDLE])
        assert [finding.kind for finding in now.findings] == ["same-bytes"]
        instance.clock.forward(days=1)
        assert outcomes(instance) == []
    describe(provider, ("a", "2026-01-03", ["/b.ttl"]))
    provider.put("/b.ttl", ttl(A2))
    assert outcomes(instance) == ["committed"]
    assert instance.harvester.instance.ledger.described.of("p")[0].findings == ()


def test_other_bytes_under_the_same_date_are_noticed_within_a_day(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """One conditional request a day and dataset finds them; they are harvested, and reported."""
    registered()
    release(provider, 1, A1)
    outcomes(instance)
    provider.put("/1.ttl", ttl(A2))
    assert minutes(instance, 5) == []
    instance.clock.forward(days=1)
    assert outcomes(instance) == ["committed"]
    assert instance.graph("p") == {A2}
    [run, _] = instance.harvester.instance.ledger.runs("p")
    assert [finding.kind for finding in run.findings] == ["same-date"]
    instance.clock.forward(days=1)
    assert outcomes(instance) == []
    assert provider.asked("/1.ttl") == [200, 200, 304]


def test_other_dumps_under_the_same_date_are_asked_for_within_a_day(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """A description that names another file has been edited; the same bytes under another name are no harvest."""
    registered()
    provider.put("/a.ttl", ttl(A1))
    provider.put("/moved.ttl", ttl(A1))
    provider.put("/b.ttl", ttl(A2))
    dated(instance, provider, "2026-01-01")
    describe(provider, ("a", "2026-01-01", ["/moved.ttl"]))
    assert outcomes(instance) == []
    instance.clock.forward(days=1)
    assert outcomes(instance) == []
    assert provider.asked("/moved.ttl") == [200]
    describe(provider, ("a", "2026-01-01", ["/b.ttl"]))
    instance.clock.forward(days=1)
    assert outcomes(instance) == ["committed"]
    assert instance.graph("p") == {A2}


def test_a_dated_dump_whose_server_gives_nothing_to_ask_by_is_not_asked_for(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """The dump would be downloaded whole every day for nothing; its date says when it is newer."""
    answer(provider, Manner(tag=False))
    registered()
    release(provider, 1, A1)
    outcomes(instance)
    for _ in range(4):
        instance.clock.forward(days=1)
        assert outcomes(instance) == []
    assert whole(provider, "/1.ttl") == 1
    release(provider, 2, A2)
    assert outcomes(instance) == ["committed"]


def test_a_newer_dump_takes_the_place_of_a_held_one(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """What is held without a date goes on being asked for; what comes then is looked at by the guard for itself."""
    instance.guard(2, 0.2)
    harvested(instance, provider, *FULL, keys=["removals: mirror"])
    provider.put("/d.ttl", ttl(FULL[0]))
    assert minutes(instance, 1) == ["held"]
    provider.put("/d.ttl", ttl(FULL[1]))
    assert minutes(instance, 1) == ["held"]
    provider.put("/d.ttl", ttl(*FULL, B1))
    assert minutes(instance, 1) == ["committed"]
    assert instance.harvester.instance.ledger.announcements.held("p") == []
