"""`harvest ingest` of filesets that a platform hands over as one archive, and of files whose bytes are known."""

from __future__ import annotations

import hashlib
import json

import pytest

from tests.provider import ProviderServer
from tests.repositories import bundled, tarred, zenodo, zipped
from tests.test_ingest import FILES, Ingest, ingest, provider

__all__ = ["ingest", "provider"]


@pytest.mark.parametrize(
    "body", [zipped(FILES), zipped(FILES, "zenodo-7/"), tarred(FILES)], ids=["zip", "folder", "tgz"]
)
def test_a_bundle_is_opened_and_its_members_are_compared(ingest: Ingest, provider: ProviderServer, body: bytes) -> None:
    """One download; each file is filed by itself, and the second time nothing is downloaded."""
    page = bundled(provider, FILES, body)
    [result] = ingest(page)
    assert (result["status"], result["ingest_strategy"]) == ("success", "web-fileset-bundled")
    assert [(file["path"], file["status"]) for file in result["manifest"]] == [(name, "exists") for name in FILES]
    for file in result["manifest"]:
        digest = hashlib.sha256(FILES[file["path"]].encode()).hexdigest()
        assert file["sha256"] == digest
        path = ingest.into / "content" / digest[:2] / digest[2:4] / digest
        assert path.read_text() == FILES[file["path"]]
    bundle = result["fileset_bundle"]
    assert bundle["file_meta"]["sha256hex"] == hashlib.sha256(body).hexdigest()
    assert bundle["terminal"]["terminal_url"].endswith("/files-archive")
    assert bundle["cdx"]["url"].endswith("/files-archive")
    assert bundle["unlisted"] == []
    assert ingest(page)[0]["status"] == "success-existing"
    assert provider.asked("/api/records/7/files-archive") == [200]


def test_members_that_differ_have_statuses(ingest: Ingest, provider: ProviderServer) -> None:
    """One is missing, one has another checksum, one too many is there; what is good is filed."""
    three = FILES | {"c.txt": "c"}
    body = zipped({"a.ttl": FILES["a.ttl"], "b.csv": "1,3\n", "notes.txt": "n"})
    [result] = ingest(bundled(provider, three, body))
    assert result["status"] == "mismatch-md5"
    assert [file["status"] for file in result["manifest"]] == ["exists", "mismatch-md5", "not-in-bundle"]
    assert result["fileset_bundle"]["unlisted"] == ["notes.txt"]


@pytest.mark.parametrize(
    ("body", "said"),
    [(b"no archive", "is no archive"), (zipped(FILES)[:60], "cannot be read"), (b"", "is no archive")],
    ids=["text", "cut off", "empty"],
)
def test_a_bundle_that_cannot_be_opened(ingest: Ingest, provider: ProviderServer, body: bytes, said: str) -> None:
    """The status says so, and the message where and why."""
    [result] = ingest(bundled(provider, FILES, body))
    assert result["status"] == "bundle-error"
    assert said in result["error_message"]
    assert "/files-archive" in result["error_message"]


def test_a_bundle_that_is_not_there(ingest: Ingest, provider: ProviderServer) -> None:
    """A platform may name one that it does not have."""
    page = bundled(provider, FILES, b"")
    provider.put("/api/records/7/files-archive", "no", "text/plain", 404)
    [result] = ingest(page)
    assert result["status"] == "bundle-error"
    assert "404" in result["error_message"]


def test_a_zip_among_the_files_is_a_file(ingest: Ingest, provider: ProviderServer) -> None:
    """Not every archive is a bundle."""
    page = zenodo(provider, 7, {"data.zip": "no archive at all", "b.csv": "1\n"})
    [result] = ingest(page)
    assert (result["status"], result["ingest_strategy"]) == ("success", "web-fileset")


def test_bytes_that_are_known_by_sha1_are_not_downloaded(ingest: Ingest, provider: ProviderServer) -> None:
    """Another dataset has the same file; MD5 alone is not enough for that."""
    first = zenodo(provider, 7, FILES)
    assert ingest(first)[0]["status"] == "success"
    second = zenodo(provider, 8, FILES)
    said = json.loads(provider.pages["/api/records/8"].body)
    digest = hashlib.sha1(FILES["a.ttl"].encode(), usedforsecurity=False).hexdigest()
    said["files"][0]["checksum"] = f"sha1:{digest}"
    provider.put("/api/records/8", json.dumps(said), "application/json")
    [result] = ingest(second)
    assert result["status"] == "success"
    assert [file["status"] for file in result["manifest"]] == ["exists", "exists"]
    assert provider.asked("/api/records/8/files/a.ttl/content") == []
    assert provider.asked("/api/records/8/files/b.csv/content") == [200]
    assert result["manifest"][0]["terminal_url"].endswith("/7/files/a.ttl/content")
