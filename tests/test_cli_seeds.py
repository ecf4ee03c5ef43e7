"""The `harvest seeds` commands, as people call them."""

from __future__ import annotations

import io
import json
import time
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harvest.cli.main import main
from harvest.model.seeds import seed_hash
from tests.provider import serving

SETTINGS = "base_url: http://h.example\ngraph_base: http://h.example/graph/\ndata_dir: var\nexports_dir: exports\n"


class Command:
    """Calls `harvest seeds` with the settings of a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, *words: str, input: bytes | None = None) -> Result:
        settings = str(self.folder / "harvest.yaml")
        return CliRunner().invoke(main, ["seeds", *words, "--config", settings], input=input)


@pytest.fixture
def seeds(tmp_path: Path) -> Command:
    (tmp_path / "harvest.yaml").write_text(f"{SETTINGS}http: {{allow_loopback: true, retries: 0}}\n")
    (tmp_path / "registry.yaml").write_text("{}\n")
    return Command(tmp_path)


def test_seeds_are_added_listed_downloaded_and_removed(seeds: Command) -> None:
    """A whole session; each command shows what the one before did."""
    with serving() as provider:
        url = provider.put("/a.nt", "<http://x/a> <http://x/p> <http://x/b> .\n")
        added = seeds("add", url, f"{provider.url}/gone", "data.ttl", "--interval", "2.5")
        assert (added.exit_code, "3 added, 0 known, 1 relative, 0 refused" in added.stdout) == (0, True)
        assert "argument 3 is relative" in added.stdout
        listed = seeds("list")
        assert listed.exit_code == 0 and "3 seeds, 1 of them relative" in listed.stdout
        assert f"{seed_hash(url)}  added" in listed.stdout and "data.ttl (relative)" in listed.stdout
        ran = seeds("run")
        assert ran.exit_code == 1 and "answered 404" in ran.stdout
        found = {item["uri"]: item for item in json.loads(seeds("list", "--json").stdout)}
        assert (found[url]["interval"], found[url]["stale"]) == (2.5 * 86400, False)
        assert found[url]["processed"] is not None
        assert (found[f"{provider.url}/gone"]["status"], found["data.ttl"]["relative"]) == ("downloading", True)
        assert [item["uri"] for item in json.loads(seeds("list", "--state", "added", "--json").stdout)] == ["data.ttl"]
        assert seeds("run", url).exit_code == 0 and len(provider.asked("/a.nt")) == 2
        assert seeds("remove", url.upper().replace("/A.NT", "/a.nt")).exit_code == 0
        assert "2 seeds" in seeds("list").stdout
        again = seeds("remove", url)
        assert again.exit_code == 1 and "is not in the seed list" in again.stderr


def test_a_file_is_imported_with_the_numbers_of_its_odd_lines(seeds: Command) -> None:
    """Comments and blank lines are nothing; a byte order mark, Windows line ends and other encodings are lived with."""
    lines = [
        b"\xef\xbb\xbf# our dumps", b"", b"http://x.example/a", b"  HTTP://X.example/./a  ", b"b.ttl", b"no uri",
        b"http://x.example/caf\xe9", b"http://x.example/b#part",
    ]  # fmt: skip
    (seeds.folder / "list.txt").write_bytes(b"\r\n".join(lines))
    report = json.loads(seeds("import", str(seeds.folder / "list.txt"), "--json").stdout)
    assert [report[name] for name in ("added", "known", "relative", "refused")] == [3, 1, 1, 2]
    assert report["relatives"] == [{"number": 5, "uri": "b.ttl"}]
    assert [item["number"] for item in report["refusals"]] == [6, 7]
    result = seeds("import", "-", input=b"\r\n".join(lines))
    assert result.exit_code == 1
    assert "line 6 refused: it holds ' '" in result.stdout and "0 added, 4 known" in result.stdout


def test_a_long_list_takes_seconds(seeds: Command) -> None:
    """What is odd in the list is printed up to a hundred times, then counted."""
    data = b"".join(b"http://x.example/%d\nd/%d\n" % (n, n) for n in range(10_000))
    began = time.process_time()
    result = seeds("import", "-", input=data)
    assert time.process_time() - began < 30
    assert "20,000 added, 0 known, 10,000 relative" in result.stdout
    assert result.stdout.count("is relative") == 100 and "and 9,900 more relative" in result.stdout


def test_an_interval_is_kept_until_another_is_given(seeds: Command) -> None:
    """Importing the same list again must not undo what somebody set for one of its seeds."""

    def interval() -> float:
        [seed] = json.loads(seeds("list", "--json").stdout)
        return float(seed["interval"]) / 86400

    seeds("add", "http://x.example/a")
    assert interval() == 100
    seeds("add", "http://x.example/a", "--interval", "7")
    assert interval() == 7
    seeds("add", "http://x.example/a")
    assert interval() == 7


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("load", "0" * 64), "no clean document"),
        (("unload", "0" * 64), "no clean document"),
        (("run", "http://x.example/unknown"), "harvest seeds add"),
        (("run", "rel.ttl"), "harvest seeds add"),
    ],
)
def test_what_cannot_be_done_is_reported(seeds: Command, words: tuple[str, ...], reason: str) -> None:
    """One line, and exit code 1."""
    result = seeds(*words)
    assert result.exit_code == 1 and reason in result.stderr
    assert seeds("add", "http://x.example/", "--interval", "0").exit_code == 2
    assert seeds("list", "--state", "washed").exit_code == 2


def test_the_list_can_be_edited_beside_a_running_instance(seeds: Command) -> None:
    """The ledger takes several writers; only what needs the store is handed over."""
    from harvest.config.loader import load_settings
    from harvest.pipeline import Harvester, opened

    with serving() as provider, opened(load_settings(seeds.folder / "harvest.yaml", {})) as running:
        url = provider.put("/a.nt", "")
        assert seeds("add", url).exit_code == 0
        assert Harvester(running).seeding.due() == [seed_hash(url)]
        assert len(Harvester(running).seeding.run([])) == 1
        assert seeds("remove", url).exit_code == 0


def test_entries_of_archives_count(seeds: Command) -> None:
    """Those of the latest download alone, at any depth, with `--state` those in it."""
    with serving() as provider:
        inner = archive({"b.nt": "<http://x/b> <http://x/p> <http://x/b> .\n"})
        url = provider.put("/all.zip", archive({"a.nt": "<http://x/a> <http://x/p> <http://x/b> .\n", "in.zip": inner}))
        assert seeds("add", url).exit_code == 0
        for _ in range(2):
            assert seeds("run", url).exit_code == 0
            assert "1 seed, 0 of them relative, 0 from sitemaps\n3 entries of archives" in seeds("list").stdout
        assert "2 entries of archives" in seeds("list", "--state", "parsed").stdout
        assert "1 entry of archives" in seeds("list", "--state", "depleted").stdout
        assert seeds("remove", url).exit_code == 0
        assert "0 entries of archives" in seeds("list").stdout


def archive(files: dict[str, str | bytes]) -> bytes:
    """A ZIP file of these."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as writer:
        for name, content in files.items():
            writer.writestr(name, content)
    return made.getvalue()


def test_a_sitemap_fills_the_list(seeds: Command) -> None:
    """Its `changefreq` is the interval, and a later `lastmod` makes a seed stale that was downloaded."""
    page = "<url><loc>{}</loc><lastmod>{}</lastmod><changefreq>weekly</changefreq></url>"
    head = (
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
        ' xmlns:sc="http://sw.deri.org/2007/07/sitemapextension/scschema.xsd">'
    )
    with serving() as provider:
        url = provider.put("/a.nt", "<http://x/a> <http://x/p> <http://x/b> .\n")
        dump = f"<sc:dataset><sc:dataDumpLocation>{provider.url}/d.nt</sc:dataDumpLocation></sc:dataset>"
        sitemap = provider.put("/s.xml", f"{head}{page.format(url, '2020-01-01')}{dump}</urlset>", "text/xml")
        index = f"<sitemapindex><sitemap><loc>{sitemap}</loc></sitemap></sitemapindex>"
        index = provider.put("/index.xml", index, "text/xml")
        result = seeds("import", "--sitemap", index)
        assert (result.exit_code, "2 added, 0 known" in result.stdout) == (0, True)
        found = {item["uri"]: item["interval"] for item in json.loads(seeds("list", "--json").stdout)}
        assert found == {url: 7 * 86400, f"{provider.url}/d.nt": 100 * 86400}
        listed = seeds("list").stdout
        assert "2 seeds, 0 of them relative, 2 from sitemaps" in listed and "\n0 entries of archives" in listed
        assert f"added        -                 {url} (stale) (from {index})" in listed
        assert f"sitemap {index}: read 20" in listed and "; 2 entries, 0 vanished" in listed
        assert {item["sitemap"] for item in json.loads(seeds("list", "--json").stdout)} == {index}
        assert seeds("run", url).exit_code == 0
        assert json.loads(seeds("import", "--sitemap", sitemap, "--json").stdout)["outdated"] == 0
        provider.put("/s.xml", f"{head}{page.format(url, '2099-01-01')}</urlset>", "text/xml")
        assert json.loads(seeds("import", "--sitemap", sitemap, "--json").stdout)["outdated"] == 1
        assert {item["uri"]: item["stale"] for item in json.loads(seeds("list", "--json").stdout)}[url] is True
        assert f"{provider.url}/d.nt (stale) (no more in {sitemap})" in seeds("list").stdout
        assert seeds("remove", index).exit_code == 0 and f"sitemap {index}" not in seeds("list").stdout
        assert seeds("remove", index).exit_code == 1
        provider.put("/s.xml", f"{head}{page.format(url, '2099-01-01')}", "text/xml")
        broken = seeds("import", "--sitemap", sitemap)
        assert broken.exit_code == 1 and "cannot be read on at line 1" in broken.stderr
    assert seeds("import").exit_code == 2
