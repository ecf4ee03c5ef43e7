"""One instance for all tests of the front that leave it as it is."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from sparql.worker.limits import QueryLimits
from tests.query.stores import PublishedStore, items
from tests.web.instance import Server, export, serve
from tests.web.records import RECORDS, file_records

DIFF = b'-<a:s> <a:p> "old" <a:g> .\n+<a:s> <a:p> "new" <a:g> .\n' * 500
VERSION = b'<a:s> <a:p> "new" <a:g> .\n' * 500
FILED = b"<script>alert(1)</script>"
QUADS = b'<http://example.org/item/1> <http://example.org/value> "1" <http://example.org/graph/a> .\n'


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A catalog with files of every kind."""
    folder = tmp_path_factory.mktemp("instance")
    file_records(folder, RECORDS)
    (folder / "a.ttl").write_text("<http://example.org/graph/a> <http://purl.org/dc/terms/title> 'ä' .\n", "utf-8")
    for name in ("changes", "versions", "content"):
        (folder / name).mkdir()
    (folder / "changes" / "a-2.nqud.gz").write_bytes(gzip.compress(DIFF))
    (folder / "versions" / "a-1.nq").write_bytes(VERSION)
    (folder / "versions" / "a-2.nq").write_bytes(VERSION * 100 + b"BREAK\n")
    (folder / "content" / hashlib.sha256(FILED).hexdigest()).write_bytes(FILED)
    for name in ("a", "all"):
        export(folder / "exports", f"{name}.nq.gz", gzip.compress(QUADS * 10_000))
    (folder / "exports" / "void.ttl").write_text("<> a <http://rdfs.org/ns/void#Dataset> .\n", "utf-8")
    (folder / "exports" / "index.json").write_text("{}", "utf-8")
    (folder / "exports" / ".all.nq.gz.tmp").write_text("half", "utf-8")
    (folder / "secret.nq.gz").write_text("secret", "utf-8")
    return folder


@pytest.fixture(scope="session")
def front(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server over that catalog and a store of two graphs of 1,000 items."""
    published = PublishedStore(tmp_path_factory.mktemp("store"))
    published.add([*items(1000, "a"), *items(1000, "b", 1000)])
    server = serve(folder, published.root, QueryLimits(workers=2, timeout_s=20, wait_s=240))
    yield server
    server.stop()
