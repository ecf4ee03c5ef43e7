"""Exchanges as WARC files: the bytes of the wire, and what the tools of web archives read in them."""

from __future__ import annotations

import gzip
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from io import BytesIO
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.recordloader import ArcWarcRecord

from harvest.archive.warc.cdx import CdxLine, read_lines, url_key
from harvest.archive.warc.files import MOST_AGE, WarcFiles
from harvest.errors import FetchError, StorageError
from tests.fetch.conftest import NOW, Bench
from tests.fetch.server import broken, chunks, moved, reply

BODY = b'<http://example.org/s> <http://example.org/p> "o" .\n' * 5000


class Folder:
    """A folder of WARC files, and what stands in it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.now = NOW
        self.files = self.opened()

    def opened(self) -> WarcFiles:
        return WarcFiles(self.path, "tests/1", self.clock)

    def clock(self) -> datetime:
        return self.now

    @property
    def lines(self) -> list[CdxLine]:
        """The index lines of all files, in the order of their records."""
        found = [line for path in sorted(self.path.glob("*.cdx")) for line in read_lines(path)]
        return sorted(found, key=lambda line: (line.file, line.offset))

    def record(self, line: CdxLine) -> tuple[ArcWarcRecord, bytes]:
        """What stands where a line leads, read alone: the record and its block."""
        with (self.path / line.file).open("rb") as stream:
            stream.seek(line.offset)
            member = stream.read(line.length)
        whole = gzip.decompress(member)
        [record] = ArchiveIterator(BytesIO(member), no_record_parse=True)
        _head, _, block = whole.partition(b"\r\n\r\n")
        return record, block.removesuffix(b"\r\n\r\n")

    def tool(self, *words: str) -> subprocess.CompletedProcess[bytes]:
        """What the command `warcio` says of the files."""
        call = "from warcio.cli import main; main()"
        return subprocess.run([sys.executable, "-c", call, *words], capture_output=True, check=False, timeout=180)

    def checked(self) -> None:
        """Every digest in every file is right."""
        for path in self.path.glob("*.warc.gz"):
            done = self.tool("check", "-v", str(path))
            assert done.returncode == 0 and b"digest failed" not in done.stdout, done.stdout + done.stderr


def iter_bytes(data: bytes) -> object:
    return BytesIO(data)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Folder]:
    folder = Folder(tmp_path / "warc")
    yield folder
    folder.files.close()


def test_records_hold_what_went_over_the_wire(bench: Bench, folder: Folder) -> None:
    """Redirect, chunks and content-encoding as they were, the request beside its answer, each line at its record."""
    packed = gzip.compress(BODY, mtime=0)
    coding = {"Content_Encoding": "gzip", "Transfer_Encoding": "chunked", "Content_Length": None}
    last = reply(chunks(packed[:100], packed[100:]) + b"0\r\n\r\n", **coding)
    server = bench.serve(moved("/d.nt"), last)
    bench.client(recorder=folder.files.add).get(server.url("/old"), into=bench.into)
    folder.files.close()
    first, second = folder.lines
    assert (first.status, first.redirect, first.url) == ("302", "/d.nt", server.url("/old"))
    assert folder.record(first)[1] == moved("/d.nt")
    record, block = folder.record(second)
    assert block == last
    assert record.rec_headers.get_header("WARC-Date") == "2026-03-01T12:00:00Z"
    folder.checked()
    [path] = folder.path.glob("*.warc.gz")
    with path.open("rb") as stream:
        kinds = [each.rec_type for each in ArchiveIterator(stream)]
    assert kinds == ["warcinfo", "request", "response", "request", "response"]
    payload = folder.tool("extract", "--payload", str(path), str(second.offset)).stdout
    assert payload == BODY


def test_bytes_that_are_there_are_a_revisit(bench: Bench, folder: Folder) -> None:
    """Also under another URL, in other chunks, and after a restart; it names the record that has them."""
    in_chunks = reply(chunks(BODY) + b"0\r\n\r\n", Transfer_Encoding="chunked", Content_Length=None)
    server = bench.serve(reply(BODY, ETag='"1"'), in_chunks, reply(BODY, ETag='"3"'))
    bench.client(recorder=folder.files.add).get(server.url("/a.nt"), into=bench.into)
    bench.client(recorder=folder.files.add).get(server.url("/b.nt"), into=bench.into)
    folder.files.close()
    folder.files = folder.opened()
    bench.client(recorder=folder.files.add).get(server.url("/a.nt"), into=bench.into)
    folder.files.close()
    first, second, third = folder.lines
    assert (first.mimetype, second.mimetype, third.mimetype) == ("unk", "warc/revisit", "warc/revisit")
    assert first.digest == second.digest == third.digest
    for line in (second, third):
        headers = folder.record(line)[0].rec_headers
        assert headers.get_header("WARC-Refers-To-Target-URI") == server.url("/a.nt")
        assert headers.get_header("WARC-Refers-To-Date") == "2026-03-01T12:00:00Z"
    assert b'ETag: "3"' in folder.record(third)[1] and BODY not in folder.record(third)[1]
    folder.checked()


def test_an_answer_that_was_cut_off_says_so(bench: Bench, folder: Folder) -> None:
    """Nothing refers to it, and what came at the next try is a record of its own."""
    whole = reply(BODY, ETag='"1"')
    rest = reply(
        BODY[1000:], "206 Partial Content", ETag='"1"', Content_Range=f"bytes 1000-{len(BODY) - 1}/{len(BODY)}"
    )
    server = bench.serve(broken(whole, 1000), rest)
    bench.client(recorder=folder.files.add).get(server.url("/d.nt"), into=bench.into)
    folder.files.close()
    first, second = folder.lines
    assert (first.status, second.status) == ("200", "206")
    record, block = folder.record(first)
    assert record.rec_headers.get_header("WARC-Truncated") == "disconnect"
    assert block == whole[: whole.index(b"\r\n\r\n") + 4 + 1000]
    assert folder.record(second)[0].rec_headers.get_header("WARC-Truncated") is None
    folder.checked()


def test_failures_are_kept_and_answers_without_news_are_not(bench: Bench, folder: Folder) -> None:
    """A 404 with its page is what there was; a 304 says that nothing changed."""
    server = bench.serve(
        reply(b"no such page", "404 Not Found"), reply(BODY, ETag='"1"'), reply(b"", "304 Not Modified")
    )
    client = bench.client(recorder=folder.files.add, retries=0)
    with pytest.raises(FetchError):
        client.get(server.url("/gone"), into=bench.into)
    known = client.get(server.url("/d.nt"), into=bench.into).capture.validators
    assert client.get(server.url("/d.nt"), known, into=bench.into).capture.status == 304
    folder.files.close()
    assert [line.status for line in folder.lines] == ["404", "200"]
    assert folder.record(folder.lines[0])[1].endswith(b"no such page")


def test_credentials_are_not_kept(bench: Bench, folder: Folder) -> None:
    """WARC files are made to be given away."""
    server = bench.serve(reply(BODY))
    address = server.url("/d.nt").replace("://", "://user:hunter2@")
    bench.client(recorder=folder.files.add).get(address, into=bench.into)
    folder.files.close()
    assert server.requests[0].headers["authorization"].startswith("Basic ")
    [path] = folder.path.glob("*.warc.gz")
    content = gzip.decompress(path.read_bytes()).lower()
    assert b"user-agent: " in content
    assert b"authorization" not in content and b"hunter2" not in content and b"basic " not in content


def test_many_threads_write_one_file(bench: Bench, folder: Folder) -> None:
    """Each line leads to the record of its own URL."""
    server = bench.serve(lambda request: (reply(request.target.encode() * 100),))
    client = bench.client(recorder=folder.files.add)
    urls = [server.url(f"/{n}") for n in range(40)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda url: client.get(url, into=bench.into), urls))
    folder.files.close()
    assert sorted(line.url for line in folder.lines) == sorted(urls)
    for line in folder.lines:
        assert folder.record(line)[1].endswith(line.url[len(server.url("")) :].encode() * 100)
    [lines] = folder.path.glob("*.cdx")
    assert lines.read_text().splitlines() == sorted(lines.read_text().splitlines())


@pytest.mark.parametrize("left", [b"", b"\x1f\x8b half a member"])
def test_what_a_crash_left_open_is_finished(bench: Bench, folder: Folder, left: bytes) -> None:
    """What no line leads to is cut off; nothing that was written whole is lost."""
    server = bench.serve(reply(BODY), reply(b"second"))
    client = bench.client(recorder=folder.files.add)
    client.get(server.url("/a.nt"), into=bench.into)
    client.get(server.url("/b.nt"), into=bench.into)
    [path] = folder.path.glob("*.warc.gz.open")
    with path.open("ab") as stream:
        stream.write(left)
    with path.with_name(path.name.replace(".warc.gz", ".cdx")).open("a") as lines:
        lines.write("org,example)/half 2026")
    folder.files = folder.opened()
    assert [line.url for line in folder.lines] == [server.url("/a.nt"), server.url("/b.nt")]
    folder.checked()
    assert {each.suffix for each in folder.path.iterdir()} == {".gz", ".cdx"}


def test_a_file_is_finished_after_a_day(bench: Bench, folder: Folder) -> None:
    """A finished file can be copied elsewhere."""
    server = bench.serve(reply(b"1"), reply(b"2"))
    client = bench.client(recorder=folder.files.add)
    client.get(server.url("/a"), into=bench.into)
    folder.now += MOST_AGE + timedelta(seconds=1)
    client.get(server.url("/b"), into=bench.into)
    assert [line.url for line in folder.lines] == [server.url("/a")]
    assert len(list(folder.path.glob("*.open"))) == 2


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    """At the start, with the path."""
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match=r"file.* cannot be written"):
        WarcFiles(tmp_path / "file" / "warc", "tests/1", lambda: NOW)


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://www.Example.org/", "org,example)/"),
        ("https://example.org:443/A/b/?q=2&a=1", "org,example)/a/b?a=1&q=2"),
        ("http://example.org:8080/x", "org,example:8080)/x"),
        ("http://127.0.0.1:80/x?", "127.0.0.1)/x"),
        ("http://[::1]:8080/", "::1:8080)/"),
    ],
)
def test_keys_put_the_lines_of_a_site_together(url: str, key: str) -> None:
    """As the tools that read them look for them."""
    assert url_key(url) == key
