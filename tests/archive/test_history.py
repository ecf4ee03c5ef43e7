"""Any archive in Preston's layout is read: its logs, and what each URL gave when."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from harvest.archive.history import Archive
from harvest.archive.layout import HashName, named, walk
from harvest.archive.statements import predecessors, statements
from harvest.errors import StorageError, UnknownName
from tests.archive.preston import made_by_preston, unpacked

ROOT = "<urn:uuid:0659a54f-b713-4f86-a917-5be166a14110> <http://purl.org/pav/hasVersion>"
DERIVED = "<http://www.w3.org/ns/prov#wasDerivedFrom>"


def history_of(archive: Archive) -> list[str]:
    """The statements of an archive's history, without the part that all hashes share."""
    return [str(quad).replace("hash://sha256/", "") for quad in archive.history()]


def test_a_history_by_index_reads_as_preston_prints_it() -> None:
    """Its own test for tracing descendants expects these statements."""
    archive = Archive(made_by_preston() / "cmd" / "history" / "dataindex")
    new, old = (
        "688a0a1bebf9266b310df9c121fea4c6977b10cf473705af0bdd154f8bc0aa34",
        "4a433c2a09146e4df5e860a26cf3ecd0d484ec372674b192b3963350e928d697",
    )
    assert history_of(archive) == [f"<{new}> {DERIVED} <{old}>", f"{ROOT} <{old}>"]


@pytest.mark.parametrize(
    "newest",
    [
        "hash://sha256/87d3b8e67b0148f98abd0ff65be720993400ffc465764794a9afcdc00fe1a2e9",
        "hash://md5/b1a9328ef8106189402f566a6100e39d",
    ],
    ids=["SHA-256", "MD5"],
)
def test_a_history_without_index_begins_at_a_named_log(newest: str) -> None:
    """Its own tests for tracing origins expect these statements, by MD5 too."""
    archive = Archive(made_by_preston() / "cmd" / "history" / "datacontent", named(newest))
    middle, first = (
        "824d332100a58b29ee41c792725b115617b50821ec76aa8fcc058c2e8cf5413b",
        "10b4f8ce7ed4faf6f3616cf12743ecc810bfe4db8cadf81f861d891b37c4ec29",
    )
    assert history_of(archive) == [
        f"<{newest.removeprefix('hash://sha256/')}> {DERIVED} <{middle}>",
        f"<{middle}> {DERIVED} <{first}>",
        f"{ROOT} <{first}>",
    ]


def test_an_archive_without_logs_has_no_history() -> None:
    """That is no fault: it may hold content alone."""
    archive = Archive(made_by_preston() / "cmd" / "history" / "datacontent")
    assert list(archive.history()) == [] == list(archive.statements())


def test_a_url_that_gave_the_same_twice_has_two_versions(tmp_path: Path) -> None:
    """Newest first, with the times of the log, from an archive that Preston made in 2024."""
    archive = Archive(unpacked("data-two-versions", tmp_path))
    content = HashName("ea8fac7c65fb589b0d53560f5251f74f9e9b243478dcb6b3ea79b5e36449c8d9")
    found = [(v.at, v.name) for v in archive.versions("https://example.org")]
    assert found == [
        (datetime(2024, 1, 24, 23, 16, 5, 802000, tzinfo=UTC), content),
        (datetime(2024, 1, 24, 23, 16, 3, 497000, tzinfo=UTC), content),
    ]
    assert b"Example Domain" in archive.path(content).read_bytes()


def test_a_time_between_two_versions_gives_the_older_one(tmp_path: Path) -> None:
    """What a URL gave at a time is what it had given last."""
    archive = Archive(unpacked("data-two-versions", tmp_path))
    assert archive.at("https://example.org", datetime(2024, 1, 24, 23, 16, 4, tzinfo=UTC))
    with pytest.raises(UnknownName, match=r"gave up to 2024-01-24T23:16:03\+00:00"):
        archive.at("https://example.org", datetime(2024, 1, 24, 23, 16, 3, tzinfo=UTC))
    with pytest.raises(UnknownName, match=r"nothing that https://example\.com gave"):
        archive.at("https://example.com")


def test_a_failed_download_is_a_version_without_bytes() -> None:
    """Preston's skolemised blank is not taken for content."""
    archive = Archive(made_by_preston() / "cmd" / "verify-data")
    failed = [v for v in archive.versions() if v.url.startswith("line:")]
    assert [(v.name, v.at) for v in failed] == [(None, datetime(2025, 1, 13, 23, 10, 46, 518000, tzinfo=UTC))]


def test_a_version_without_a_download_has_the_time_of_its_crawl() -> None:
    """Preston's `alias` writes a version and nothing about it."""
    archive = Archive(made_by_preston() / "cmd" / "verify-data")
    [alias, *_] = archive.versions("urn:example:myfinalpaper.txt")
    assert alias.at == datetime(2024, 8, 22, 13, 45, 2, 672000, tzinfo=UTC)
    assert alias.name is not None and alias.name.digest.startswith("f0c131eb")


def test_a_large_log_of_preston_is_read_whole() -> None:
    """Thirteen crawls in one file: every statement, every download, every predecessor."""
    path = made_by_preston() / "prov.nq"
    assert len(list(statements(path))) == 1120
    assert len(predecessors(path)) == 12


def test_a_log_of_2018_is_read(tmp_path: Path) -> None:
    """Triples without graph, bare UUIDs as IRIs, the time at the content; the format of the architecture document."""
    hash = "hash://sha256/" + "3" * 64
    log = (
        "<1d711945-d205-4663-b534-6d706b8b77b6> <http://www.w3.org/ns/prov#startedAtTime>"
        ' "2018-09-04T07:29:11.130Z"^^<http://www.w3.org/2001/XMLSchema#dateTime> .\n'
        "this is no statement\n"
        f"<http://x/a b> <http://purl.org/pav/hasVersion> <{hash}> .\n"
        f'<{hash}> <http://www.w3.org/ns/prov#generatedAtTime> "2018-09-05T00:00:00Z"'
        "^^<http://www.w3.org/2001/XMLSchema#dateTime> .\n"
        f"<http://x/c> <http://purl.org/pav/hasVersion> <hash://sha256/{'4' * 64}> .\n"
    )
    name = HashName("5" * 64)
    (tmp_path / name.digest).write_text(log)
    second, first = Archive(tmp_path, name).versions()
    assert (first.url, first.at) == ("http://x/a b", datetime(2018, 9, 5, tzinfo=UTC))
    assert second.at == datetime(2018, 9, 4, 7, 29, 11, 130000, tzinfo=UTC)


def test_files_without_folders_are_found(tmp_path: Path) -> None:
    """Preston can keep an archive flat; and its folder `data` may be meant by the one around it."""
    source = unpacked("data-two-versions", tmp_path)
    flat = tmp_path / "around" / "data"
    flat.mkdir(parents=True)
    for name, path in walk(source):
        (flat / name.digest).write_bytes(path.read_bytes())
    assert history_of(Archive(flat.parent)) == history_of(Archive(source))
    assert len(list(walk(flat))) == 5


def test_a_missing_log_is_reported_unless_the_index_knows_the_one_before(tmp_path: Path) -> None:
    """A history that ends early without a word would be taken for the whole."""
    source = unpacked("data-two-versions", tmp_path)
    [newest, oldest] = Archive(source).logs()
    Archive(source).path(newest).unlink()
    assert Archive(source).logs() == [newest, oldest]
    Archive(source).path(oldest).unlink()
    with pytest.raises(StorageError, match=f"the log {oldest.uri} is not in"):
        Archive(source).logs()


def test_a_folder_that_is_not_there_is_reported(tmp_path: Path) -> None:
    """The folder is not read as an empty archive."""
    with pytest.raises(UnknownName, match="there is no folder"):
        Archive(tmp_path / "none")
