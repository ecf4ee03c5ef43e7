"""Answers that were recorded from repositories give manifests with the right files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from harvest.discover.platforms.platform import Answer, Landing, Wanted
from harvest.discover.platforms.step import registered, step
from harvest.errors import FilesetError
from harvest.model import Manifest
from tests.realdata import realdata

NONE: Mapping[str, str] = {}


@pytest.fixture
def recorded() -> Path:
    return realdata() / "platforms"


def manifest_of(
    folder: Path, page: str, bodies: Mapping[str, object], hosts: Mapping[str, str] = NONE, *, latest: bool = False
) -> Manifest:
    """What a landing page without text leads to, with these bodies of JSON by URL."""
    empty = folder / "page.html"
    empty.touch()
    return led_to(folder, Landing(Answer(page, 200, page, empty), latest), bodies, hosts)


def led_to(folder: Path, landing: Landing, bodies: Mapping[str, object], hosts: Mapping[str, str] = NONE) -> Manifest:
    """What a landing page leads to, with these bodies of JSON by URL."""
    answers = dict[str, Answer]()
    while True:
        found = step(landing, answers, registered(), hosts)
        if isinstance(found, Manifest):
            return found
        assert isinstance(found, Wanted)
        for url in found.urls:
            answers[url] = Answer(url, 404, url)
            if url in bodies:
                path = folder / f"{len(answers)}.json"
                path.write_text(json.dumps(bodies[url]))
                answers[url] = Answer(url, 200, url, path)


def hit(path: Path) -> dict[str, Any]:
    """The first record of a search."""
    found: dict[str, Any] = json.loads(path.read_bytes())["hits"]["hits"][0]
    return found


@pytest.mark.parametrize("number", [3459420, 7078768, 7078725, 7097299])
def test_zenodo_before_its_move(recorded: Path, tmp_path: Path, number: int) -> None:
    """Records of 2019 and 2022: the bytes are at `links.self`."""
    record = json.loads((recorded / f"zenodo/legacy-record-{number}.json").read_bytes())
    at = f"https://zenodo.org/api/records/{number}"
    manifest = manifest_of(tmp_path, f"https://zenodo.org/record/{number}", {at: record})
    assert manifest.files
    assert [(f.path, f.size, f"md5:{f.md5}", f.platform_url) for f in manifest.files] == [
        (each["key"], each["size"], each["checksum"], each["links"]["self"]) for each in record["files"]
    ]
    assert (manifest.platform_id, manifest.doi) == (str(number), record["doi"])
    assert manifest.creators == tuple(each["name"] for each in record["metadata"]["creators"])


@pytest.mark.parametrize("name", ["transition-search-2023-10-20", "transition-search-record-5173799"])
def test_zenodo_of_the_weeks_after_its_move(recorded: Path, tmp_path: Path, name: str) -> None:
    """Files had other keys and a checksum without its algorithm; the bytes are at `links.download`."""
    record = hit(recorded / f"zenodo/{name}.json")
    number = record["id"]
    at = f"https://zenodo.org/api/records/{number}"
    manifest = manifest_of(tmp_path, f"https://zenodo.org/records/{number}", {at: record})
    assert manifest.files
    assert [(f.path, f.size, f.md5, f.platform_url) for f in manifest.files] == [
        (each["filename"], each["filesize"], each["checksum"], each["links"]["download"]) for each in record["files"]
    ]


def test_zenodo_of_today(recorded: Path, tmp_path: Path) -> None:
    """The native form has its files in a list of their own."""
    record = json.loads((recorded / "zenodo/rdm-native-4924875-details.json").read_bytes())
    files = json.loads((recorded / "zenodo/rdm-native-4924875-files.json").read_bytes())
    at = "https://zenodo.org/api/records/4924875"
    manifest = manifest_of(tmp_path, "https://zenodo.org/records/4924875", {at: record, f"{at}/files": files})
    assert [(f.path, f.size, f.md5, f.mimetype, f.platform_url) for f in manifest.files] == [
        ("store.zip", 780, "7008231125631739b64720d1526619ae", "application/zip", f"{at}/files/store.zip/content"),
        ("tiny-data.txt", 59, "70e2afd3fd7e336ae478b1e740a5f08e", "text/plain", f"{at}/files/tiny-data.txt/content"),
    ]
    assert (manifest.version, manifest.doi) == ("1", "10.5281/zenodo.4924875")
    assert manifest.title == "Test data for the Pooch library"


def test_a_restricted_record_of_zenodo(recorded: Path, tmp_path: Path) -> None:
    """It lists its file elsewhere, which nobody may have."""
    record = hit(recorded / "zenodo/rdm-search-13505983.json")
    at = "https://zenodo.org/api/records/13505983"
    with pytest.raises(FilesetError) as caught:
        manifest_of(tmp_path, "https://zenodo.org/records/13505983", {at: record})
    assert caught.value.status == "platform-restricted"


def dataverse(folder: Path, said: object, pid: str, host: str = "https://dataverse.harvard.edu") -> Manifest:
    """The manifest of a dataset of Dataverse."""
    page = f"{host}/dataset.xhtml?persistentId={pid}"
    return manifest_of(folder, page, {f"{host}/api/datasets/:persistentId?persistentId={pid}": said})


def test_dataverse_with_folders(recorded: Path, tmp_path: Path) -> None:
    """`directoryLabel` is the folder of a file; MD5 sums and sizes are those of the files."""
    said = json.loads((recorded / "dataverse/dataset-DVN-Q5PV4U-hierarchy.json").read_bytes())
    manifest = dataverse(tmp_path, said, "doi:10.7910/DVN/Q5PV4U")
    entries = said["data"]["latestVersion"]["files"]
    plain = [each for each in entries if "originalFileName" not in each["dataFile"]]
    expected = {
        "/".join(filter(None, [each.get("directoryLabel"), each["label"]])): (
            each["dataFile"]["filesize"],
            each["dataFile"]["md5"],
            f"https://dataverse.harvard.edu/api/access/datafile/{each['dataFile']['id']}",
        )
        for each in plain
    }
    assert len(manifest.files) == len(entries)
    found = {f.path: (f.size, f.md5, f.platform_url) for f in manifest.files if "ingested" not in f.extra}
    assert found == expected
    assert any("/" in path for path in expected)
    assert (manifest.version, manifest.doi) == ("1.1", "10.7910/DVN/Q5PV4U")


def test_dataverse_with_a_table(recorded: Path, tmp_path: Path) -> None:
    """The original is taken, with its own size; the checksum is of what Dataverse made of it."""
    said = json.loads((recorded / "dataverse/dataset-DVN-RLMYMR.json").read_bytes())
    manifest = dataverse(tmp_path, said, "doi:10.7910/DVN/RLMYMR")
    assert len(manifest.files) == len(said["data"]["latestVersion"]["files"])
    table = manifest.files[0]
    assert (table.path, table.size, table.md5) == ("Karnataka_DD&FS_Data-1.xlsx", 700840, None)
    assert table.platform_url == "https://dataverse.harvard.edu/api/access/datafile/3315157?format=original"
    assert table.extra["ingested"]["size"] == 2321
    assert table.extra["ingested"]["md5"] == "ca9dea905295ac52db4ea3c7c8bf00e9"


def test_dataverse_of_other_years_and_stations(recorded: Path, tmp_path: Path) -> None:
    """2015 has `datafile`; a station of DANS has SHA-1; an answer may be the version itself."""
    old = json.loads((recorded / "dataverse/v4-2015-native-root_provider.json").read_bytes())
    files = dataverse(tmp_path, old["native_dataset_metadata"], "doi:10.5072/FK2/1").files
    assert [(f.path, f.md5) for f in files] == [
        (each["datafile"]["name"], each["datafile"]["md5"]) for each in old["native_dataset_metadata"]["data"]["files"]
    ]
    station = json.loads((recorded / "dataverse/dataset-latest-version.json").read_bytes())
    [file] = dataverse(tmp_path, station, "doi:10.5072/DAR/LDIU4X").files
    assert (file.sha1, file.size) == ("ffd6367ccc699d21437254094a2f698dab69251b", 193417)
    version = json.loads((recorded / "dataverse/dataset-version-md5-in-files.json").read_bytes())
    files = dataverse(tmp_path, version, "doi:10.80227/test-FUB0OA").files
    assert [(f.path, f.size, f.md5) for f in files] == [
        (
            "/".join(filter(None, [each.get("directoryLabel"), each["label"]])),
            each["dataFile"]["filesize"],
            each["dataFile"]["md5"],
        )
        for each in version["data"]["files"]
    ]


def test_the_doi_of_a_file_is_out_of_scope(recorded: Path, tmp_path: Path) -> None:
    """It leads to file.xhtml."""
    exchange = json.loads((recorded / "dataverse/redirect-file-doi.exchange.json").read_bytes())
    page = {name.lower(): value for name, value in exchange["response"]["headers"].items()}["location"]
    with pytest.raises(FilesetError) as caught:
        manifest_of(tmp_path, page, {})
    assert caught.value.status == "platform-scope"


def test_figshare_of_today(recorded: Path, tmp_path: Path) -> None:
    """Names, sizes, MD5 sums and where the bytes are."""
    article = json.loads((recorded / "figshare/today-14763051-article-details.json").read_bytes())
    bodies = {"https://api.figshare.com/v2/articles/14763051": article}
    manifest = manifest_of(tmp_path, article["figshare_url"], bodies, latest=True)
    assert [(f.path, f.size, f.md5, f.mimetype, f.platform_url) for f in manifest.files] == [
        (each["name"], each["size"], each["computed_md5"], each["mimetype"], each["download_url"])
        for each in article["files"]
    ]
    assert (manifest.version, manifest.doi) == ("1", "10.6084/m9.figshare.14763051.v1")


def test_figshare_of_2016_and_2019(recorded: Path, tmp_path: Path) -> None:
    """A file without `download_url` is where files are by their number; an empty checksum is none."""
    old = json.loads((recorded / "figshare/article-2016-root_provider.json").read_bytes())
    public = json.loads((recorded / "figshare/article-dataset-public-and-private.json").read_bytes())
    lacking = json.loads((recorded / "figshare/errors-missing-download-url.json").read_bytes())
    articles = [old["file_article_metadata"], old["folder_article_metadata"], *public.values()]
    for article in (*articles, lacking["file_article_metadata_missing_download_url"]):
        page = f"https://figshare.com/articles/_/{article['id']}"
        bodies = {f"https://api.figshare.com/v2/articles/{article['id']}": article}
        files = manifest_of(tmp_path, page, bodies, latest=True).files
        assert [(f.path, f.size, f.md5, f.platform_url) for f in files] == [
            (
                each["name"],
                each["size"],
                each["computed_md5"] or None,
                f"https://ndownloader.figshare.com/files/{each['id']}",
            )
            for each in article["files"]
        ]
        assert files


def test_an_item_of_archive_org(recorded: Path, tmp_path: Path) -> None:
    """The originals of it, not what was derived, and not its metadata."""
    said = json.loads((recorded / "archive_org/metadata-nasa.json").read_bytes())
    manifest = manifest_of(tmp_path, "https://archive.org/details/nasa", {"https://archive.org/metadata/nasa": said})
    assert [(f.path, f.size, f.md5, f.sha1) for f in manifest.files] == [
        (each["name"], int(each["size"]), each["md5"], each["sha1"])
        for each in said["files"]
        if each["source"] == "original"
    ]
    assert manifest.files[1].platform_url == "https://archive.org/download/nasa/globe_west_540.jpg"
    assert manifest.archiveorg_item_name == "nasa"


def test_ckan(recorded: Path, tmp_path: Path) -> None:
    """Resources by name; names that stand twice are told apart."""
    for name, host in (("bolsa-familia", "https://legado.dados.gov.br"), ("localhost", "http://localhost:5000")):
        said = json.loads((recorded / f"ckan/package_show-{name}.json").read_bytes())
        hosts = {host.partition("//")[2]: "ckan"}
        bodies = {f"{host}/api/3/action/package_show?id=x": said}
        manifest = manifest_of(tmp_path, f"{host}/dataset/x", bodies, hosts)
        resources = said["result"]["resources"]
        assert [f.extra.get("platform_path", f.path) for f in manifest.files] == [each["name"] for each in resources]
        assert [f.size for f in manifest.files] == [each["size"] for each in resources]
        assert len({f.path for f in manifest.files}) == len(resources)
    missing = json.loads((recorded / "ckan/package_show-404.json").read_bytes())
    with pytest.raises(FilesetError) as caught:
        manifest_of(tmp_path, f"{host}/dataset/x", {f"{host}/api/3/action/package_show?id=x": missing}, hosts)
    assert caught.value.status == "platform-404"


def test_a_page_of_pangaea(recorded: Path, tmp_path: Path) -> None:
    """Its JSON-LD names distributions; without it, the Link header names the item."""
    page = recorded / "schemaorg-signposting/pangaea-902845-landing.html"
    exchange = json.loads((page.with_name(page.name + ".exchange.json")).read_bytes())
    headers = tuple((name.lower(), value) for name, value in exchange["response"]["headers"].items())
    said = json.loads(page.with_name("pangaea-902845.jsonld").read_bytes())
    url = exchange["request"]["uri"]
    expected = [said["distribution"]["contentUrl"]]
    manifest = led_to(tmp_path, Landing(Answer(url, 200, url, page, "text/html", headers)), {})
    assert (manifest.platform_name, manifest.doi) == ("schemaorg", "10.1594/PANGAEA.902845")
    assert [f.platform_url for f in manifest.files] == expected
    bare = tmp_path / "bare.html"
    bare.write_text("<title>A page</title>")
    manifest = led_to(tmp_path, Landing(Answer(url, 200, url, bare, "text/html", headers)), {})
    assert (manifest.platform_name, manifest.doi) == ("signposting", "10.1594/PANGAEA.902845")
    assert [(f.platform_url, f.mimetype) for f in manifest.files] == [(f"{url}?format=zip", "application/zip")]


def test_signposting_in_a_page_and_in_a_linkset(recorded: Path, tmp_path: Path) -> None:
    """Level 1 by `link` elements, level 2 by a linkset that the header names."""
    folder = recorded / "schemaorg-signposting"
    url = "https://w3id.org/a2a-fair-metrics/02-html-full/"
    manifest = led_to(tmp_path, Landing(Answer(url, 200, url, folder / "a2a-02-html-full.html", "text/html")), {})
    assert [(f.path, f.mimetype) for f in manifest.files] == [("test-apple-data.csv", "text/csv")]
    assert manifest.licence == "https://creativecommons.org/licenses/by/4.0/"
    linkset = json.loads((folder / "a2a-27-http-linkset-json-only.json").read_bytes())
    url, at = linkset["linkset"][0]["anchor"], "https://s11.no/linkset.json"
    bare = tmp_path / "bare.html"
    bare.touch()
    headers = (("link", f'<{at}>; rel="linkset"; type="application/linkset+json"'),)
    manifest = led_to(tmp_path, Landing(Answer(url, 200, url, bare, "text/html", headers)), {at: linkset})
    assert [f.platform_url for f in manifest.files] == [linkset["linkset"][0]["item"][0]["href"]]


def test_json_ld_of_schema_org(recorded: Path, tmp_path: Path) -> None:
    """Checksums by SPDX, each by its algorithm."""
    said = json.loads((recorded / "schemaorg-signposting/sos-full.jsonld").read_bytes())
    page, url = tmp_path / "page.html", "https://www.example-data-repository.org/dataset/3300"
    page.write_text(f'<script type="application/ld+json">{json.dumps(said)}</script>')
    [file] = led_to(tmp_path, Landing(Answer(url, 200, url, page, "text/html")), {}).files
    assert (file.path, file.mimetype) == ("larval-krill.tsv", "text/tab-separated-values")
    assert file.md5 == "65d3616852dbf7b1a6d4b53b00626032"
    assert file.sha256 == "39ae639d33cea4a287198bbcdca5e6856e6607a7c91dc4c54348031be2ad4c51"
