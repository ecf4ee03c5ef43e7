"""What handlers find is asked for in turn, filed, and written to one log."""

from __future__ import annotations

import gzip
import hashlib
import io
import shutil
import tarfile
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode

from harvest.archive.history import Archive
from harvest.archive.layout import name_of
from harvest.archive.verify import verify
from harvest.errors import StoppedError, StorageError, UnknownName
from harvest.pipeline.track.tracking import Plan, Tracked, as_json, track
from sparql.rdf import HARVEST, PROV
from tests.archive.preston import unpacked
from tests.packages import install
from tests.pipeline.conftest import TemporaryInstance
from tests.provider import VOID, ProviderServer, dataset
from tests.realdata import realdata

TTL = "<http://x/a> <http://x/p> <http://x/b> .\n"
SITEMAP = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{}</urlset>'
INDEX = '<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{}</sitemapindex>'


@pytest.fixture(autouse=True)
def registry(instance: TemporaryInstance) -> None:
    """No providers."""
    instance.register("{}\n")


def tracked(instance: TemporaryInstance, *urls: str, **options: object) -> Tracked:
    return track(instance.harvester.instance, Plan(urls, **options))  # type: ignore[arg-type]  # each test gives the right ones


def asked(found: Tracked) -> list[tuple[str, int, str | None]]:
    return [(answer.url, answer.question.depth, answer.question.handler) for answer in found.answers]


def archive_of(instance: TemporaryInstance) -> Archive:
    return Archive(instance.settings.data_dir / "content")


def zipped(**files: str | bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, body in files.items():
            archive.writestr(name.replace("_", "."), body)
    return out.getvalue()


def sha256(body: str | bytes) -> str:
    return hashlib.sha256(body.encode() if isinstance(body, str) else body).hexdigest()


def test_dumps_of_a_description_are_asked_for(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """Of every dataset in it, each once; a dump that leads nowhere ends the way."""
    a, b = provider.put("/a.ttl", TTL), provider.put("/b.nt", TTL, "application/n-triples")
    text = VOID + dataset("http://x/1", None, [a]) + dataset("http://x/2", None, [a, b])
    url = provider.put("/void.ttl", text)
    found = tracked(instance, url)
    assert asked(found) == [(url, 0, None), (a, 1, "void"), (b, 1, "void")]
    assert [answer.version.digest for answer in found.answers if answer.version][1:] == [sha256(TTL)] * 2
    assert found.findings == () and as_json(found)["ok"]
    assert sorted(provider.requests) == [("/a.ttl", 200), ("/b.nt", 200), ("/void.ttl", 200)]


def test_one_log_describes_a_crawl(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """Each download names the one that led to it, a note which handler asked; questions stand in no log."""
    dump = provider.put("/a.ttl", TTL)
    url = provider.put("/void.ttl", VOID + dataset("http://x/1", None, [dump]))
    found = tracked(instance, url)
    archive = archive_of(instance)
    assert [log.digest for log in archive.logs()] == [found.log]
    second, first = archive.versions()
    assert (first.url, second.url) == (url, dump)
    assert first.activity and second.activity
    quads = list(archive.statements())
    informed = {(q.subject.value, q.object.value) for q in quads if q.predicate.value == PROV + "wasInformedBy"}
    assert (second.activity, first.activity) in informed
    [note] = [q for q in quads if q.predicate.value == HARVEST + "askedBy"]
    assert note.object == Literal("void") and isinstance(note.graph_name, NamedNode)
    assert {(note.graph_name.value, first.activity), (second.activity, note.graph_name.value)} <= informed
    assert not [q for q in quads if q.predicate.value.endswith("hasVersion") and not isinstance(q.object, NamedNode)]
    assert {check.verdict for check in verify(archive)} == {"OK"}


def test_nothing_new_writes_nothing(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """The second run asks conditionally, gets the same answers, and makes no log."""
    packed = zipped(a_ttl=TTL)
    dump = provider.put("/a.zip", packed, "application/zip")
    url = provider.put("/void.ttl", VOID + dataset("http://x/1", None, [dump]))
    first = tracked(instance, url)
    logs = archive_of(instance).logs()
    instance.clock.forward(days=1)
    again = tracked(instance, url)
    assert asked(again) == asked(first) and len(again.answers) == 3
    assert [a.version for a in again.answers] == [a.version for a in first.answers]
    assert (again.log, [answer.is_new for answer in again.answers]) == (None, [False] * 3)
    assert archive_of(instance).logs() == logs
    assert provider.asked("/a.zip") == [200, 304]


def test_sitemaps_lead_to_what_looks_like_rdf(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """From robots.txt by the index and a compressed sitemap to the dump; pages are passed over."""
    dump = provider.put("/a.ttl", TTL)
    inner = SITEMAP.format(f"<url><loc>{dump}</loc></url><url><loc>{provider.url}/page</loc></url>")
    packed = provider.put("/1.xml.gz", gzip.compress(inner.encode()), "application/gzip")
    index = provider.put("/index.xml", INDEX.format(f"<sitemap><loc>{packed}</loc></sitemap>"), "application/xml")
    robots = provider.put("/robots.txt", f"User-agent: *\nDisallow:\nSitemap: {index}\n", "text/plain")
    found = tracked(instance, robots)
    assert asked(found) == [(robots, 0, None), *((u, n, "sitemap") for n, u in enumerate((index, packed, dump), 1))]


def test_entries_of_archives_become_content(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """Each by the name that Preston gives it; an archive in an archive by its own hash; all from one reading."""
    inner = zipped(b_ttl=TTL + TTL)
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, body in (("x/a b.ttl", TTL.encode()), ("inner.zip", inner), ("x", None)):
            info = tarfile.TarInfo(name)
            info.type, info.size = (tarfile.DIRTYPE, 0) if body is None else (tarfile.REGTYPE, len(body))
            archive.addfile(info, io.BytesIO(body or b""))
    url = provider.put("/a.tar.gz", out.getvalue(), "application/gzip")
    found = tracked(instance, url)
    outer = f"hash://sha256/{sha256(out.getvalue())}"
    names = [f"tar:gz:{outer}!/x/a%20b.ttl", f"tar:gz:{outer}!/inner.zip", f"zip:hash://sha256/{sha256(inner)}!/b.ttl"]
    assert asked(found) == [(url, 0, None), *zip(names, (1, 1, 2), ["archive"] * 3, strict=True)]
    content = instance.harvester.instance.content
    assert [content.path(a.version.digest).read_bytes() for a in found.answers[1:] if a.version] == [
        TTL.encode(),
        inner,
        (TTL + TTL).encode(),
    ]
    logged = {version.url: version.name for version in archive_of(instance).versions()}
    assert logged[names[2]] == name_of(sha256(TTL + TTL))
    assert {check.verdict for check in verify(archive_of(instance))} == {"OK"}
    assert instance.harvester.instance.crawl.get(f"hash://sha256/{sha256(TTL)}").capture.final_url == names[0]


def test_a_description_in_an_archive_leads_on(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """Handlers are given entries like any other document."""
    dump = provider.put("/a.ttl", TTL)
    url = provider.put("/d.zip", zipped(void_ttl=VOID + dataset("http://x/1", None, [dump])), "application/zip")
    assert asked(tracked(instance, url))[-1] == (dump, 2, "void")


def test_depth_and_number_are_bounded(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """A site that always names another page would never end."""
    for n in range(6):
        provider.put(f"/{n}.xml", INDEX.format(f"<sitemap><loc>{provider.url}/{n + 1}.xml</loc></sitemap>"), "text/xml")
    first = f"{provider.url}/0.xml"
    assert len(tracked(instance, first, depth=0).answers) == 1
    assert [depth for _, depth, _ in asked(tracked(instance, first, depth=2))] == [0, 1, 2]
    few = tracked(instance, first, most=2)
    assert (len(few.answers), few.left) == (2, 1)
    packed = provider.put("/a.zip", zipped(**{f"{n}_ttl": TTL for n in range(10)}), "application/zip")
    some = tracked(instance, packed, most=4)
    assert (len(some.answers), some.left) == (4, 7)


def test_circles_end(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """Each URL is asked for once, however it is spelt."""
    locs = "".join(f"<sitemap><loc>{provider.url}/{name}</loc></sitemap>" for name in ("a.xml", "a.xml#x", "b.xml"))
    for name in "ab":
        provider.put(f"/{name}.xml", INDEX.format(locs), "text/xml")
    found = tracked(instance, f"{provider.url}/a.xml", f"{provider.url}/a.xml", depth=9)
    assert [url for url, _, _ in asked(found)] == [f"{provider.url}/{name}.xml" for name in "ab"]


def test_what_fails_is_reported_and_stops_nothing(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """The failure stands in the report and in the log, as any download that failed."""
    dump = provider.put("/a.ttl", TTL)
    gone = f"{provider.url}/gone.ttl"
    url = provider.put("/void.ttl", VOID + dataset("http://x/1", None, [gone, dump]))
    found = tracked(instance, url)
    _, failed, good = found.answers
    assert failed.version is None and "404" in (failed.reason or "") and failed.is_new
    assert good.version is not None and not as_json(found)["ok"]
    reasons = {version.url: version.reason for version in archive_of(instance).versions()}
    assert "404" in (reasons[gone] or "")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("zip:{0}!/none.ttl", "has no such entry"),
        ("tar:{0}!/a.ttl", "cannot be read as tar: it is zip"),
        ("zip:hash://sha256/" + "0" * 64 + "!/a.ttl", "is not filed"),
        ("hash://sha256/" + "0" * 64, "is not filed"),
        ("ftp://x.example/a", "not an http"),
        ("zip:http://x.example/a.zip!/a", "not an http"),
    ],
)
def test_what_cannot_be_had_is_reported(
    instance: TemporaryInstance, provider: ProviderServer, name: str, reason: str
) -> None:
    """Handlers may ask for anything."""
    body = zipped(a_ttl=TTL)
    found = tracked(instance, provider.put("/a.zip", body, "application/zip"), depth=0)
    assert found.answers[0].version is not None
    [answer] = tracked(instance, name.format(f"hash://sha256/{sha256(body)}"), depth=0).answers
    assert answer.version is None and reason in (answer.reason or "")


def test_a_bomb_costs_one_finding(instance: TemporaryInstance, provider: ProviderServer, tmp_path: Path) -> None:
    """The limits of washing hold for entries, too."""
    instance.settings = replace(instance.settings, wash=replace(instance.settings.wash, max_bytes=1000))
    url = provider.put("/a.zip", zipped(a_ttl=TTL, b_ttl="x" * 2000, c_ttl=TTL), "application/zip")
    _, small, large, after = tracked(instance, url).answers
    assert small.version is not None
    assert large.version is None and "max_bytes" in (large.reason or "")
    assert after.version is None and "max_bytes" in (after.reason or "")
    assert list(instance.harvester.instance.scratch.iterdir()) == []


def test_a_package_adds_a_handler(
    instance: TemporaryInstance, provider: ProviderServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The handler is found by its entry point, given every version, and asked like our own."""
    source = """
        def lines(version):
            if version.url.endswith(".list"):
                print("this is no answer")
                yield from version.path.read_text().split()
    """
    install(tmp_path / "site", monkeypatch, "lister", {"list": "lister:lines"}, source)
    dump = provider.put("/a.ttl", TTL)
    url = provider.put("/a.list", f"{dump} {dump}", "text/plain")
    assert asked(tracked(instance, url)) == [(url, 0, None), (dump, 1, "list")]
    assert asked(tracked(instance, url, handlers=("void",))) == [(url, 0, None)]


def test_a_broken_handler_is_reported_once_and_stops_nothing(
    instance: TemporaryInstance, provider: ProviderServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The finding names the package to look at; our own handlers go on."""
    points = {"gone": "broken:nothing", "void": "broken:void", "zero": "broken:zero"}
    install(tmp_path / "site", monkeypatch, "broken", points, "zero = 0\n")
    install(tmp_path / "site", monkeypatch, "worse", {"worse": "worse:f"}, "import there_is_no_such_module\n")
    dump = provider.put("/a.ttl", TTL)
    url = provider.put("/void.ttl", VOID + dataset("http://x/1", None, [dump]))
    found = tracked(instance, url)
    assert asked(found) == [(url, 0, None), (dump, 1, "void")]
    messages = sorted(finding.message for finding in found.findings)
    assert {finding.kind for finding in found.findings} == {"handler-broken"} and len(messages) == 4
    assert "handler gone of broken 1.2 cannot be loaded: AttributeError" in messages[0]
    assert "handler void of broken 1.2 is left out" in messages[1]
    assert "handler worse of worse 1.2 cannot be loaded: ModuleNotFoundError" in messages[2]
    assert "broken:zero is no function" in messages[3]


def test_a_handler_that_fails_costs_one_finding(
    instance: TemporaryInstance, provider: ProviderServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether it raises, dies or gives nonsense; what it asked for before counts."""
    source = """
        import os, sys

        def raises(version):
            yield version.url + "/asked-before"
            raise RuntimeError("boom")

        def dies(version):
            os._exit(3)

        def exits(version):
            sys.exit(4)

        def numbers(version):
            return [1]

        def nothing(version):
            return None
    """
    names = ("raises", "dies", "exits", "numbers", "nothing")
    install(tmp_path / "site", monkeypatch, "bad", {f"a-{name}": f"bad:{name}" for name in names}, source)
    url = provider.put("/a.zip", zipped(a_ttl=TTL), "application/zip")
    chosen = (*(f"a-{name}" for name in names), "archive")
    found = tracked(instance, url, handlers=chosen, depth=1, handler_s=60.0)
    assert [handler for _, _, handler in asked(found)] == [None, "a-raises", "archive"]
    messages = {finding.message.split()[2]: finding.message for finding in found.findings}
    assert list(messages) == [f"a-{name}" for name in names]
    assert "of bad 1.2 failed over" in messages["a-raises"] and "RuntimeError: boom" in messages["a-raises"]
    assert "ended its process" in messages["a-dies"]
    assert "SystemExit: 4" in messages["a-exits"]
    assert "asked for 1, which is no text" in messages["a-numbers"]
    assert "TypeError" in messages["a-nothing"]


def test_a_handler_that_hangs_is_ended(
    instance: TemporaryInstance, provider: ProviderServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It costs its time limit and one finding."""
    install(tmp_path / "site", monkeypatch, "bad", {"a": "bad:hangs"}, "import time\ndef hangs(_): time.sleep(600)\n")
    url = provider.put("/a.nt", "<http://x/a> <http://x/p> <http://x/b> .")
    [finding] = tracked(instance, url, handlers=("a",), depth=1, handler_s=0.5).findings
    assert "took longer than 0.5 s" in finding.message


def test_a_log_is_replayed(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """Handlers are given what the log names, as if it came now; nothing that it names is downloaded again."""
    dump = provider.put("/a.ttl", TTL)
    url = provider.put("/void.ttl", VOID + dataset("http://x/1", None, [dump, f"{provider.url}/b.ttl"]))
    first = tracked(instance, url, depth=0)
    provider.requests.clear()
    found = tracked(instance, replay=first.log)
    assert asked(found) == [(url, 0, None), (dump, 1, "void"), (f"{provider.url}/b.ttl", 1, "void")]
    assert provider.asked("/void.ttl") == []
    provider.requests.clear()
    assert found.log is not None
    assert len(tracked(instance, replay=found.log).answers) == 1 and provider.requests == []
    with pytest.raises(UnknownName, match="holds nothing named"):
        tracked(instance, replay="0" * 64)


def test_a_log_of_preston_is_replayed(instance: TemporaryInstance, provider: ProviderServer, tmp_path: Path) -> None:
    """An instance may go on with an archive that Preston began; its activities need not be IRIs."""
    shutil.copytree(unpacked("data-two-versions", tmp_path / "preston"), instance.settings.data_dir / "content")
    log = archive_of(instance).logs()[0]
    found = tracked(instance, replay=log.uri, depth=1)
    assert [answer.url for answer in found.answers] == ["https://example.org"]
    assert found.answers[0].version is not None and found.findings == ()
    text = found.answers[0].version.digest
    with pytest.raises(UnknownName, match="is no log with versions"):
        tracked(instance, replay=text)


def test_what_is_filed_is_tracked_by_its_hash(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """Without network."""
    body = zipped(a_ttl=TTL)
    tracked(instance, provider.put("/a.zip", body, "application/zip"), depth=0)
    provider.requests.clear()
    uri = f"hash://sha256/{sha256(body)}"
    assert asked(tracked(instance, uri)) == [(uri, 0, None), (f"zip:{uri}!/a.ttl", 1, "archive")]
    spelt = f"zip:{uri}!/%61.ttl"
    assert asked(tracked(instance, spelt, depth=0)) == [(f"zip:{uri}!/a.ttl", 0, None)]
    assert provider.requests == []


def test_an_archive_that_cannot_be_read_costs_its_entries_alone(
    instance: TemporaryInstance, provider: ProviderServer
) -> None:
    """A bad sector under one file is no reason to ask for nothing else."""
    body = zipped(a_ttl=TTL)
    tracked(instance, provider.put("/a.zip", body, "application/zip"), depth=0)
    place = instance.harvester.instance.content.path(sha256(body))
    place.unlink()
    place.symlink_to("/proc/self/mem")  # a file whose first byte gives EIO
    uri = f"hash://sha256/{sha256(body)}"
    bad, good = tracked(instance, f"zip:{uri}!/a.ttl", provider.put("/b.ttl", TTL), depth=0).answers
    assert bad.version is None
    assert bad.reason == (
        f"{uri} is filed, but cannot be read: Input/output error; `harvest archive verify` says what else is damaged"
    )
    assert good.version is not None and good.reason is None


def test_a_disk_that_takes_nothing_ends_it(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """It would take nothing of the others either, and every one of them would be asked for in vain."""
    body = zipped(a_ttl=TTL)
    url = provider.put("/a.zip", body, "application/zip")
    first = tracked(instance, url, depth=0)
    assert first.answers[0].version is not None
    digest = sha256(TTL)
    (instance.settings.data_dir / "content" / digest[:2] / digest[2:4] / digest / "in the way").mkdir(parents=True)
    with pytest.raises(StorageError, match="cannot be filed"):
        tracked(instance, url)


def test_a_lost_ledger_knows_it_all_from_the_log(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """Entries and notes too; the next run finds nothing new."""
    entries = {"a.ttl": TTL, "gr\u00fcn [1].ttl": TTL + TTL}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as packed:
        for name, body in entries.items():
            packed.writestr(name, body)
    url = provider.put("/a.zip", out.getvalue(), "application/zip")
    first = tracked(instance, url)
    instance.close()
    for path in instance.settings.data_dir.glob("ledger.sqlite*"):
        path.unlink()
    again = tracked(instance, url)
    assert [answer.is_new for answer in again.answers] == [False] * 3
    assert [a.version and a.version.digest for a in again.answers] == [
        a.version and a.version.digest for a in first.answers
    ]
    assert again.log is None and len(archive_of(instance).logs()) == 1


def test_unknown_handlers_and_shutdowns_end_it(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """The first with the nearest name that there is."""
    url = provider.put("/a.ttl", TTL)
    with pytest.raises(UnknownName, match=r"'voids'; the nearest known handler is 'void'"):
        tracked(instance, url, handlers=("voids",))
    instance.harvester.instance.stopping.set()
    with pytest.raises(StoppedError):
        tracked(instance, url)


def test_passwords_are_not_written(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """A password stands neither in the report nor in the log."""
    provider.put("/a.ttl", TTL)
    url = provider.url.replace("//", "//me:secret@") + "/a.ttl"
    found = tracked(instance, url)
    assert found.answers[0].version is not None
    assert "secret" not in repr(as_json(found))
    assert "secret" not in "".join(map(str, archive_of(instance).statements()))


def test_a_real_archive_gives_its_entries(instance: TemporaryInstance, provider: ProviderServer) -> None:
    """As published, by way of a real archive."""
    packed = realdata() / "messy" / "SEMICeu__DCAT-AP__releases_1.1_shacl-201608.zip"
    url = provider.put("/a.zip", packed.read_bytes(), "application/zip")
    found = tracked(instance, url)
    assert [a.url.rsplit("/", 1)[-1] for a in found.answers[1:]] == [
        ".gitignore",
        "dcat-ap-mandatory-classes.shapes.ttl",
        "dcat-ap-mdr-vocabularies.shapes.ttl",
        "dcat-ap.shapes.ttl",
    ]
    assert all(answer.version for answer in found.answers) and found.findings == ()
