"""`harvest ingest` mirrors files to an item of archive.org, which a local server plays."""

from __future__ import annotations

import hashlib
import json
import threading
from base64 import b64decode
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from click.testing import CliRunner

from harvest.cli.main import main
from harvest.model import Manifest
from harvest.pipeline.filesets.mirror import KEYS, authorization, item_of
from tests.provider import ProviderServer, serving
from tests.repositories import archiveorg, bundled, zenodo, zipped

ONE = {"a.ttl": "<http://x/a> a <http://x/A> ."}
TWO = ONE | {"data/b&c.csv": "1,2\n"}
ITEM = "127.0.0.1-7"
CUT = 0
SECRET = "s3cret-of-the-test"


class ItemServer(ThreadingHTTPServer):
    """
    Plays the S3-like API and the metadata API.

    Attributes:
        files: Bodies by item and path, as in `item/path`.
        puts: (target, headers in lower case, status) of each upload, in order.
        answers: Statuses of the next uploads, CUT for a connection that ends within the body; 201 beyond them.
        cuts: Connections that were ended so.
        damaged: Whether the metadata show other checksums.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files: dict[str, bytes] = {}
        self.puts: list[tuple[str, dict[str, str], int]] = []
        self.answers: list[int] = []
        self.cuts = 0
        self.damaged = False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ItemServer

    def do_GET(self) -> None:
        item = self.path.removeprefix("/metadata/") + "/"
        files = [
            {
                "name": name.removeprefix(item),
                "size": str(len(body)),
                "md5": "0" * 32 if self.server.damaged else hashlib.md5(body, usedforsecurity=False).hexdigest(),
            }
            for name, body in self.server.files.items()
            if name.startswith(item)
        ]
        self._answer(200 if self.path.startswith("/metadata/") else 404, {"files": files} if files else {})

    def do_PUT(self) -> None:
        if self.server.answers[:1] == [CUT]:
            self.server.answers.pop(0)
            self.rfile.read(1)
            self.close_connection = True
            self.server.cuts += 1
            return
        body = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name.lower(): said for name, said in self.headers.items()}
        status = self.server.answers.pop(0) if self.server.answers else 201
        if headers["authorization"] != f"LOW access:{SECRET}":
            status = 403
        if b64decode(headers["content-md5"]) != hashlib.md5(body, usedforsecurity=False).digest():
            status = 400
        self.server.puts.append((self.path, headers, status))
        if status == 201:
            self.server.files[unquote(self.path.removeprefix("/s3/"))] = body
        self._answer(status, {})

    def _answer(self, status: int, said: object) -> None:
        body = json.dumps(said).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """The tests' output stays clean."""


@pytest.fixture
def items() -> Iterator[ItemServer]:
    server = ItemServer()
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def provider() -> Iterator[ProviderServer]:
    with serving() as server:
        yield server


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in zip(KEYS, ("access", SECRET), strict=True):
        monkeypatch.setenv(name, value)


def ingested(
    folder: Path, provider: ProviderServer, items: ItemServer, page: str, retries: int = 0, platform: str = "zenodo"
) -> list[Any]:
    """The results of an ingest whose files are all too large for a capture; its output and folder have no key."""
    filesets = {
        "platform_hosts": {provider.url.removeprefix("http://"): platform},
        "preferred_file_size": 1,
        "archiveorg": f"{items.url}/",
        "archiveorg_s3": f"{items.url}/s3/",
    }
    config = folder / "harvest.yaml"
    config.write_text(json.dumps({"http": {"retries": retries, "allow_loopback": True}, "filesets": filesets}))
    done = CliRunner().invoke(main, ["ingest", page, "--into", str(folder / "into"), "--config", str(config)])
    assert SECRET not in done.output
    assert all(SECRET.encode() not in path.read_bytes() for path in folder.rglob("*") if path.is_file())
    return [json.loads(line) for line in done.stdout.splitlines()]


def downloads(provider: ProviderServer) -> int:
    return sum(path.endswith("/content") for path, _ in provider.requests)


@pytest.mark.usefixtures("key")
def test_a_single_file_is_mirrored(tmp_path: Path, provider: ProviderServer, items: ItemServer) -> None:
    """The item has the very bytes, with the documented headers; a second ingest finds it there."""
    page = zenodo(provider, 7, ONE)
    result, file = ingested(tmp_path, provider, items, page)
    assert (result["status"], result["ingest_strategy"]) == ("success-file", "archiveorg-file")
    assert result["archiveorg_item_name"] == ITEM
    assert file["request"]["ingest_type"] == "dataset-file"
    assert items.files == {f"{ITEM}/a.ttl": ONE["a.ttl"].encode()}
    [(target, headers, _)] = items.puts
    assert target == f"/s3/{ITEM}/a.ttl"
    assert (headers["x-archive-auto-make-bucket"], headers["x-archive-queue-derive"]) == ("1", "0")
    assert (headers["x-archive-meta-title"], headers["x-archive-meta01-creator"]) == (
        "uri(Letters)",
        "uri(Doe%2C%20Jo)",
    )
    [again] = ingested(tmp_path, provider, items, page)
    assert (again["hit"], again["status"], len(items.puts)) == (True, "success-existing", 1)


@pytest.mark.usefixtures("key")
def test_an_upload_that_broke_off_goes_on(tmp_path: Path, provider: ProviderServer, items: ItemServer) -> None:
    """Files that are filed are not downloaded again, and those that the item has are not uploaded again."""
    page = zenodo(provider, 7, TWO)
    items.answers = [201, 500]
    [result] = ingested(tmp_path, provider, items, page)
    assert (result["hit"], result["status"]) == (False, "archiveorg-error")
    assert (list(items.files), downloads(provider)) == ([f"{ITEM}/a.ttl"], 2)
    [result] = ingested(tmp_path, provider, items, page)
    assert (result["status"], result["ingest_strategy"]) == ("success", "archiveorg-fileset")
    assert [file["status"] for file in result["manifest"]] == ["exists", "exists"]
    assert {name: body.decode() for name, body in items.files.items()} == {f"{ITEM}/{n}": b for n, b in TWO.items()}
    assert ([status for *_, status in items.puts], downloads(provider)) == ([201, 500, 201], 2)


@pytest.mark.usefixtures("key")
def test_a_bundle_is_mirrored_as_it_is(tmp_path: Path, provider: ProviderServer, items: ItemServer) -> None:
    """The item has the archive; its members are compared with the manifest before, and filed here."""
    body = zipped(TWO)
    page = bundled(provider, TWO, body)
    [result] = ingested(tmp_path, provider, items, page)
    assert (result["status"], result["ingest_strategy"]) == ("success", "archiveorg-fileset-bundled")
    assert result["fileset_bundle"]["archiveorg_bundle_path"] == "7.zip"
    assert items.files == {f"{ITEM}/7.zip": body}
    assert [file["status"] for file in result["manifest"]] == ["exists", "exists"]
    [again] = ingested(tmp_path, provider, items, page)
    assert (again["hit"], len(items.puts)) == (True, 1)


@pytest.mark.usefixtures("key")
def test_a_busy_server_is_asked_again(tmp_path: Path, provider: ProviderServer, items: ItemServer) -> None:
    """503 SlowDown is no failure while there are tries."""
    items.answers = [503]
    result, _ = ingested(tmp_path, provider, items, zenodo(provider, 7, ONE), retries=1)
    assert (result["status"], [status for *_, status in items.puts]) == ("success-file", [503, 201])


@pytest.mark.usefixtures("key")
def test_a_connection_that_ends_within_an_upload(tmp_path: Path, provider: ProviderServer, items: ItemServer) -> None:
    """The file is sent again, from its begin; it is more than the buffers of a connection hold."""
    items.answers = [CUT]
    result, _ = ingested(tmp_path, provider, items, zenodo(provider, 7, {"a.nt": "# large\n" * (1 << 20)}), retries=1)
    assert (result["status"], items.cuts, [len(body) for body in items.files.values()]) == (
        "success-file",
        1,
        [8 << 20],
    )


@pytest.mark.usefixtures("key")
def test_other_bytes_in_the_item(tmp_path: Path, provider: ProviderServer, items: ItemServer) -> None:
    """What the item shows afterwards is compared."""
    items.damaged = True
    [result] = ingested(tmp_path, provider, items, zenodo(provider, 7, ONE))
    assert (result["hit"], result["status"], len(items.puts)) == (False, "mismatch-md5", 1)


def test_a_key_that_is_refused(
    tmp_path: Path, provider: ProviderServer, items: ItemServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The result says which variables to look at; the upload is not tried again."""
    monkeypatch.setenv(KEYS[0], "other")
    monkeypatch.setenv(KEYS[1], SECRET)
    [result] = ingested(tmp_path, provider, items, zenodo(provider, 7, ONE), retries=2)
    assert (result["status"], len(items.puts)) == ("archiveorg-error", 1)
    assert all(name in result["error_message"] for name in ("403", *KEYS))


@pytest.mark.usefixtures("key")
def test_what_is_an_item_already_is_not_uploaded(tmp_path: Path, provider: ProviderServer, items: ItemServer) -> None:
    """An item of archive.org is not changed, also where its owner ingests it; its files are captured."""
    [result] = ingested(tmp_path, provider, items, archiveorg(provider, ONE | {"b.csv": "1"}), platform="archiveorg")
    assert (result["status"], result["ingest_strategy"], items.puts) == ("success", "archiveorg-fileset", [])


@pytest.mark.parametrize("secret", ["", "a\nb", "ä"])
def test_what_can_be_no_key(secret: str) -> None:
    """It is as if there were none, so that no header is split."""
    assert authorization({KEYS[0]: "access", KEYS[1]: secret}) is None


def test_names_of_items() -> None:
    """They have the characters and the length that archive.org takes, and stay distinct."""
    names = [item_of(Manifest("x", "x.org", said, (), "http://x/")) for said in ("doi:1/2", "doi:1-2", "1" * 200, "7")]
    assert names[-1] == "x.org-7"
    assert len(set(names)) == 4
    assert all(len(name) <= 100 and set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789.-") for name in names)
