"""Change lists of a ResourceSync source: of files, and of N-Quads unified diffs."""

from __future__ import annotations

from pathlib import Path

import pytest

from harvest.ledger import described
from harvest.pipeline import Look
from sparql.rdf import NQUD
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_resourcesync import AT, message, registered
from tests.pipeline.test_semantics import A1, A2, B1, C1, outcomes, ttl
from tests.provider import ProviderServer
from tests.resourcesync import capabilities, document, index, item, link, sha256

PATCH = "http://www.openarchives.org/rs/terms/patch"


def day(n: int) -> str:
    return f"2025-06-{n:02d}T00:00:00Z"


def lists(provider: ProviderServer, resources: str | None, changes: str | None) -> None:
    """Put a capability list with these lists."""
    named = {}
    for name, body in (("resourcelist", resources), ("changelist", changes)):
        if body is not None:
            named[name] = provider.put(f"/{name}.xml", body, "application/xml")
    provider.put("/caps.xml", capabilities(**named), "application/xml")


def test_changes_of_files_are_applied(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """Created, updated and deleted since the resource list was made; what is deleted goes, though removals stay."""
    files = {name: provider.put(f"/{name}.ttl", ttl(line)) for name, line in (("a", A1), ("b", B1))}
    resources = document("resourcelist", *(item(url, lastmod=AT) for url in files.values()), at=AT)
    lists(provider, resources, document("changelist", since=AT))
    registered(instance, provider)
    assert outcomes(instance) == ["committed"]
    assert instance.graph("p") == {A1, B1}
    provider.put("/a.ttl", ttl(A2))
    made = provider.put("/c.ttl", ttl(C1))
    del provider.pages["/b.ttl"]
    changes = (
        item(files["b"], change="created", datetime="2025-05-01T00:00:00Z"),
        item(files["a"], change="updated", datetime=day(2), hash=sha256(ttl(A2))),
        item(made, change="created", datetime=day(3)),
        item(files["b"], change="deleted", datetime=day(4)),
    )
    lists(provider, resources, document("changelist", *changes, since=AT))
    assert outcomes(instance) == ["committed"]
    assert instance.graph("p") == {A2, C1}
    assert instance.harvester.look("p") == Look()
    assert instance.proven("p")


def test_a_time_that_no_list_speaks_of_stops_the_sync(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """What changed in it is not known; the sync goes on when a list covers it."""
    file = provider.put("/a.ttl", ttl(A1))
    resources = document("resourcelist", item(file, lastmod=AT), at=AT)
    lists(provider, resources, document("changelist", since=day(2)))
    registered(instance, provider)
    assert "what changed between is not known" in message(instance)
    parts = [document("changelist", since=AT, until=day(2)), document("changelist", since=day(3))]
    urls = [provider.put(f"/part{n}.xml", part, "application/xml") for n, part in enumerate(parts)]
    lists(provider, resources, index("changelist", *map(item, urls), since=AT))
    instance.clock.forward(hours=7)
    assert "part1.xml begins at" in message(instance)
    provider.put("/part1.xml", document("changelist", since=day(2)), "application/xml")
    instance.clock.forward(hours=7)
    assert outcomes(instance) == ["committed"]


class Feed:
    """A source with a dataset file and a change list of N-Quads unified diffs."""

    def __init__(self, provider: ProviderServer, *, with_file: bool = True) -> None:
        self.provider = provider
        self.with_file = with_file
        self.lines: set[str] = set()
        self.entries: list[str] = []

    def change(self, *lines: str) -> str:
        """Add a change that leads to these lines, and publish it; returns the address of its diff."""
        number, after = len(self.entries), set(lines)
        diff = "".join(f"-{each} .\n" for each in sorted(self.lines - after))
        diff += "".join(f"+{each} .\n" for each in sorted(after - self.lines))
        url = self.provider.put(f"/changes/changes{number}.nqud", diff, "text/plain")
        patch = link(PATCH, url, type=NQUD, hash=sha256(diff), length=len(diff))
        kind = "updated" if number else "created"
        self.entries.append(item("/dataset.nq", patch, change=kind, datetime=day(number + 1)))
        self.lines = after
        self.publish()
        return url

    def publish(self, entries: list[str] | None = None) -> None:
        """Put the lists; `entries` in the place of those of the change list."""
        body = ttl(*sorted(self.lines))
        self.provider.put("/dataset.nq", body, "application/n-quads")
        at = day(len(self.entries))
        dataset = item("/dataset.nq", lastmod=at, hash=sha256(body), length=len(body))
        resources = document("resourcelist", dataset, at=at) if self.with_file else None
        lists(self.provider, resources, document("changelist", *(self.entries if entries is None else entries)))


@pytest.fixture
def feed(instance: TemporaryInstance, provider: ProviderServer) -> Feed:
    """A feed with two changes, which is registered."""
    made = Feed(provider)
    made.change(A1)
    made.change(A1, B1)
    registered(instance, provider)
    return made


def asked_for(provider: ProviderServer) -> list[str]:
    """The diffs that were asked for, by their numbers; several are asked for at once."""
    asked = (path for path, _ in provider.requests if path.startswith("/changes/"))
    return sorted(path.removeprefix("/changes/changes") for path in asked)


def test_a_feed_begins_with_the_dataset_and_goes_on_with_its_diffs(
    instance: TemporaryInstance, provider: ProviderServer, feed: Feed
) -> None:
    """Each diff is asked for once; none is, where nothing was added."""
    assert outcomes(instance) == ["committed"]
    assert instance.graph("p") == {A1, B1} and asked_for(provider) == []
    assert instance.harvester.look("p") == Look()
    feed.change(A2, B1)
    assert outcomes(instance) == ["committed"]
    assert instance.graph("p") == {A2, B1}
    feed.change(A2, C1)
    feed.change(C1)
    assert outcomes(instance) == ["committed"]
    assert instance.graph("p") == {C1}
    assert asked_for(provider) == ["2.nqud", "3.nqud", "4.nqud"]
    assert outcomes(instance) == [] and instance.harvester.look("p") == Look()
    assert [run.outcome for run in instance.harvester.instance.ledger.runs("p")] == ["committed"] * 3
    assert [made.same for made in instance.harvester.rebuild("p", check=True)] == [True] * 3
    assert instance.proven("p")


def test_a_feed_without_a_dataset_file_is_replayed(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """From the diff that created the dataset."""
    made = Feed(provider, with_file=False)
    for lines in ((A1,), (A1, B1), (A2, B1)):
        made.change(*lines)
    registered(instance, provider)
    assert outcomes(instance) == ["committed"]
    assert instance.graph("p") == {A2, B1} and asked_for(provider) == ["0.nqud", "1.nqud", "2.nqud"]
    made.change(B1)
    assert outcomes(instance) == ["committed"]
    assert instance.graph("p") == {B1}
    assert instance.proven("p")


def test_a_diff_that_is_not_as_listed_stops_what_comes_behind(
    instance: TemporaryInstance, provider: ProviderServer, feed: Feed
) -> None:
    """Nothing of a broken step is applied, and nothing is left out when it is mended."""
    assert outcomes(instance) == ["committed"]
    url = feed.change(A2, B1)
    feed.change(A2, C1)
    path = url.removeprefix(provider.url)
    whole = provider.pages[path].body
    provider.put(path, f"-{A1} .\n", "text/plain")
    [failed] = instance.tick("p")
    assert failed.finding is not None and failed.finding.kind == "mismatch"
    assert instance.graph("p") == {A1, B1}
    provider.put(path, whole, "text/plain")
    feed.change(A2, B1, C1)
    instance.clock.forward(hours=7)
    assert outcomes(instance) == ["committed"]
    assert instance.graph("p") == {A2, B1, C1}


def without(entries: list[str], n: int) -> list[str]:
    return [entry for number, entry in enumerate(entries) if number != n]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("broken", ["hole", "gone", "twice", "order", "rewritten", "bare"])
def test_a_sequence_that_is_broken_is_not_applied(
    instance: TemporaryInstance, provider: ProviderServer, feed: Feed, broken: str
) -> None:
    """A finding says where; the sync goes on from where it was when the list is mended, and skips nothing."""
    assert outcomes(instance) == ["committed"]
    for lines in ((A2, B1), (A2, C1), (C1,)):
        feed.change(*lines)
    entries = feed.entries
    given, said = {
        "hole": (without(entries, 3), "changes2.nqud and it is missing"),
        "gone": (entries[:1], "changes1.nqud, which was applied last, is not in the list any more"),
        "twice": ([*entries[:4], entries[3], entries[4]], "it is listed twice"),
        "order": ([*entries[:3], entries[4], entries[3]], "is before"),
        "rewritten": ([entries[0], entries[1].replace("sha-256:", "sha-256:" + "0" * 64 + " x:")], "its hash was"),
        "bare": (
            [*entries[:3], item("/dataset.nq", change="updated", datetime=day(3)), *entries[3:]],
            "without a link",
        ),
    }[broken]
    feed.publish(given)
    assert said in message(instance)
    assert instance.graph("p") == {A1, B1}
    feed.publish()
    instance.clock.forward(hours=7)
    assert outcomes(instance) == ["committed"]
    assert instance.graph("p") == {C1} and asked_for(provider) == ["2.nqud", "3.nqud", "4.nqud"]


def test_a_feed_that_begins_later_is_begun_anew(
    instance: TemporaryInstance, provider: ProviderServer, feed: Feed
) -> None:
    """Changes that were let go are in the dataset file, which becomes the graph; left alone where none is missing."""
    assert outcomes(instance) == ["committed"]
    feed.change(A2, B1)
    feed.publish(feed.entries[2:])
    assert outcomes(instance) == ["committed"]
    assert instance.graph("p") == {A2, B1} and asked_for(provider) == ["2.nqud"]
    feed.change(A2, C1)
    feed.change(C1)
    feed.publish(feed.entries[4:])
    assert outcomes(instance) == ["committed"]
    assert instance.graph("p") == {C1} and asked_for(provider) == ["2.nqud"]
    findings = instance.harvester.instance.ledger.findings("p")
    assert [finding.kind for finding in findings] == ["new-baseline"]


def test_a_change_that_would_remove_much_is_held(
    instance: TemporaryInstance, provider: ProviderServer, feed: Feed
) -> None:
    """The guard looks at a diff as at any dump; what comes behind waits for the decision."""
    instance.guard(0, 0.1)
    assert outcomes(instance) == ["committed"]
    feed.change(C1)
    assert outcomes(instance) == ["held"]
    assert instance.graph("p") == {A1, B1}
    assert instance.harvester.look("p") == Look()
    assert [result.outcome.value for result in instance.harvester.approve("p")] == ["committed"]
    assert instance.graph("p") == {C1}


def test_what_was_announced_twice_is_applied_once(
    instance: TemporaryInstance, provider: ProviderServer, feed: Feed, tmp_path: Path
) -> None:
    """An announcement that comes to its turn when its state is not the committed one any more is dropped."""
    assert outcomes(instance) == ["committed"]
    feed.change(A2, B1)
    [first] = instance.harvester.look("p").announced
    ledger = instance.harvester.instance.ledger
    announcement = ledger.announcements.get(first)
    assert announcement is not None
    assert [result.outcome.value for result in instance.harvester.work("p")] == ["committed"]
    feed.change(A1, B1)
    assert outcomes(instance) == ["committed"]
    ledger.announcements.add("p", announcement.dataset, instance.clock())
    instance.harvester.work("p")
    assert instance.graph("p") == {A1, B1}
    assert ledger.announcements.open("p") == []


class Killed(BaseException):
    """The process ends here."""


@pytest.mark.sampled(2)
@pytest.mark.parametrize("step", ["announce", "download", "file", "commit"])
def test_a_break_neither_skips_nor_repeats_a_diff(
    instance: TemporaryInstance, provider: ProviderServer, feed: Feed, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """Which diff was applied last is filed in the transaction that commits its version, wherever the process ends."""
    assert outcomes(instance) == ["committed"]
    feed.change(A2, B1)
    feed.change(A2, C1)

    def die(*values: object, **named: object) -> None:
        raise Killed

    place: dict[str, tuple[object, str]] = {
        "announce": (described, "announce"),
        "download": (instance.harvester.instance.ledger.announcements, "fetched"),
        "file": (instance.harvester.instance.ledger, "file_version"),
        "commit": (instance.harvester.instance.ledger, "commit_version"),
    }
    monkeypatch.setattr(*place[step], die)
    with pytest.raises(Killed):
        instance.tick("p")
    monkeypatch.undo()
    instance.close()
    instance.tick("p")
    assert instance.graph("p") == {A2, C1}
    feed.change(B1, C1)
    assert outcomes(instance) == ["committed"]
    assert instance.graph("p") == {B1, C1}
    applied = [dump.url for run in instance.harvester.instance.ledger.runs("p") for dump in run.dumps if run.version]
    assert len(applied) == len(set(applied)) == 4
    assert instance.harvester.look("p") == Look() and instance.proven("p")
