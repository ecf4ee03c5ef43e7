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


@pytest.fixture
def recorded() -> Path:
    return realdata() / "platforms"


def manifest_of(folder: Path, page: str, bodies: Mapping[str, object]) -> Manifest:
    """What a landing page leads to, with these bodies of JSON by URL."""
    empty = folder / "page.html"
    empty.touch()
    landing, answers = Landing(Answer(page, 200, page, empty)), dict[str, Answer]()
    while True:
        found = step(landing, answers, registered(), {})
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
