"""Exports, changes, versions and filed bytes."""

from __future__ import annotations

import base64
import gzip
import hashlib
import os
from pathlib import Path

import pytest
import requests

from tests.web.conftest import DIFF, FILED, QUADS, VERSION
from tests.web.instance import Server, export


def get(front: Server, path: str, **headers: str) -> requests.Response:
    return requests.get(f"{front.url}{path}", headers=headers, timeout=240)


def test_an_export_comes_with_what_a_mirror_needs(front: Server) -> None:
    """Length, digest, tag and date."""
    answer = get(front, "/exports/all.nq.gz", **{"Accept-Encoding": "identity"})
    assert gzip.decompress(answer.content) == QUADS * 10_000
    assert answer.headers["Content-Type"] == "application/gzip"
    assert "Content-Encoding" not in answer.headers
    assert int(answer.headers["Content-Length"]) == len(answer.content)
    digest = base64.b64encode(hashlib.sha256(answer.content).digest()).decode()
    assert answer.headers["Repr-Digest"] == f"sha-256=:{digest}:"
    assert answer.headers["Accept-Ranges"] == "bytes"
    assert answer.headers["ETag"].startswith('"')
    head = requests.head(f"{front.url}/exports/all.nq.gz", timeout=240)
    assert (head.status_code, head.content) == (200, b"")
    for name in ("Content-Length", "ETag", "Repr-Digest", "Last-Modified"):
        assert head.headers[name] == answer.headers[name]
    assert get(front, "/exports/all.nq.gz.sha256").text.split() == [
        hashlib.sha256(answer.content).hexdigest(),
        "all.nq.gz",
    ]


@pytest.mark.parametrize(
    ("asked", "status", "part"),
    [
        ("bytes=0-9", 206, slice(0, 10)),
        ("bytes=100-", 206, slice(100, None)),
        ("bytes=-7", 206, slice(-7, None)),
        ("bytes=5-99999999", 206, slice(5, None)),
        ("bytes=0-3, 7-9", 200, slice(None)),
        ("lines=1-2", 200, slice(None)),
        ("bytes=99999999-", 416, None),
    ],
)
def test_a_part_of_an_export_can_be_had(
    front: Server, folder: Path, asked: str, status: int, part: slice | None
) -> None:
    """A download that broke off goes on where it was. Source: RFC 9110, section 14."""
    whole = (folder / "exports" / "all.nq.gz").read_bytes()
    answer = get(front, "/exports/all.nq.gz", Range=asked, **{"Accept-Encoding": "identity"})
    assert answer.status_code == status
    if part is not None:
        assert answer.content == whole[part]
    if status == 206:
        assert answer.headers["Content-Range"].endswith(f"/{len(whole)}")


def test_a_download_goes_on_only_in_the_same_file(front: Server) -> None:
    """If-Range with an earlier tag gives the whole new one."""
    etag = get(front, "/exports/all.nq.gz").headers["ETag"]
    same = get(front, "/exports/all.nq.gz", **{"Range": "bytes=5-", "If-Range": etag})
    other = get(front, "/exports/all.nq.gz", **{"Range": "bytes=5-", "If-Range": '"other"'})
    assert (same.status_code, other.status_code) == (206, 200)
    assert get(front, "/exports/all.nq.gz", **{"If-None-Match": etag}).status_code == 304


def test_a_download_that_runs_while_its_export_is_replaced_is_whole(front: Server, folder: Path) -> None:
    """The file that was open stays what it was."""
    before, after = os.urandom(8 << 20), os.urandom(1000)
    export(folder / "exports", "moving.nq.gz", before)
    with requests.get(f"{front.url}/exports/moving.nq.gz", stream=True, timeout=240) as answer:
        chunks = answer.raw.stream(1 << 16, decode_content=False)
        received = next(chunks)
        export(folder / "exports", "moving.nq.gz", after)
        received += b"".join(chunks)
    assert received == before
    assert get(front, "/exports/moving.nq.gz").content == after
    for suffix in ("", ".sha256"):
        (folder / "exports" / f"moving.nq.gz{suffix}").unlink()


def test_a_digest_of_an_earlier_file_is_not_sent(front: Server, folder: Path) -> None:
    """Between the two renamings of an export, none is better than a wrong one."""
    path = folder / "exports" / "torn.nq.gz"
    export(path.parent, path.name, b"old")
    path.write_bytes(b"new")
    assert "Repr-Digest" not in get(front, "/exports/torn.nq.gz").headers
    path.unlink()
    (path.parent / "torn.nq.gz.sha256").unlink()


@pytest.mark.parametrize(
    "name",
    [
        "index.json",
        ".all.nq.gz.tmp",
        "none.nq.gz",
        "..%2Fsecret.nq.gz",
        "../secret.nq.gz",
        "%2e%2e/secret.nq.gz",
        "a.nq.gz%00",
        "a.nq.gz/",
        "a.nq",
    ],
)
def test_only_exports_can_be_had(front: Server, name: str) -> None:
    """Whatever the name tries."""
    request = requests.Request("GET", f"{front.url}/exports/x").prepare()
    request.url = f"{front.url}/exports/{name}"
    with requests.Session() as session:
        assert session.send(request, timeout=240).status_code == 404


def test_exports_are_listed_for_programs(front: Server, folder: Path) -> None:
    """With size and digest; digests and what is half written are no exports."""
    listed = get(front, "/exports/", Accept="application/json").json()
    assert [item["name"] for item in listed] == ["a.nq.gz", "all.nq.gz", "void.ttl"]
    whole = (folder / "exports" / "a.nq.gz").read_bytes()
    assert listed[0]["bytes"] == len(whole)
    assert listed[0]["sha256"] == hashlib.sha256(whole).hexdigest()
    assert listed[0]["url"] == f"{front.url}/exports/a.nq.gz"


def test_the_description_of_the_exports_is_well_known(front: Server) -> None:
    """Source: VoID, section 7.2."""
    answer = get(front, "/.well-known/void")
    assert answer.headers["Content-Type"] == "text/turtle; charset=utf-8"
    assert answer.content == get(front, "/exports/void.ttl").content


def test_the_digest_of_the_description_can_be_had(front: Server, folder: Path) -> None:
    """As that of the data, for whoever downloads the folder."""
    digest = folder / "exports" / "void.ttl.sha256"
    digest.write_text(f"{'0' * 64}  void.ttl\n")
    assert get(front, "/exports/void.ttl.sha256").text == digest.read_text()
    digest.unlink()


def test_a_change_comes_packed_or_not_as_the_client_likes(front: Server) -> None:
    """A change lies packed on the disk, and is unpacked for clients that accept no gzip."""
    packed = get(front, "/providers/a/changes/2.nqud", **{"Accept-Encoding": "gzip"})
    plain = get(front, "/providers/a/changes/2.nqud", **{"Accept-Encoding": "identity"})
    assert packed.headers["Content-Encoding"] == "gzip"
    assert "Content-Encoding" not in plain.headers
    assert packed.content == plain.content == DIFF
    for answer in (packed, plain):
        assert answer.headers["Content-Type"] == "application/vnd.timbuctoo-rdf.nquads_unified_diff"
        assert "Accept-Encoding" in answer.headers["Vary"]


def test_a_version_comes_whole(front: Server) -> None:
    """A version is not made again for a client that has it."""
    answer = get(front, "/providers/a/versions/1.nq")
    assert (answer.content, answer.headers["Content-Type"]) == (VERSION, "application/n-quads")
    assert get(front, "/providers/a/versions/1.nq", **{"If-None-Match": answer.headers["ETag"]}).status_code == 304
    assert requests.head(f"{front.url}/providers/a/versions/1.nq", timeout=240).status_code == 200


def test_a_version_that_fails_on_its_way_never_looks_whole(front: Server) -> None:
    """The disk may fail while it is read."""
    with pytest.raises(requests.exceptions.ChunkedEncodingError):
        get(front, "/providers/a/versions/2.nq")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/providers/a/changes/9.nqud", "a has no version 9: it has versions 1 to 2."),
        ("/providers/a/versions/0.nq", "a has no version 0"),
        ("/providers/new/versions/1.nq", "it has none yet"),
        ("/providers/zz/versions/1.nq", "There is no provider 'zz'"),
        ("/content/abc", "No bytes"),
        (f"/content/{'0' * 64}", "No bytes"),
    ],
)
def test_what_is_not_there_is_404_with_what_there_is(front: Server, path: str, message: str) -> None:
    """The message says which versions there are, or that there is no such provider or content."""
    answer = get(front, path)
    assert answer.status_code == 404
    assert message in answer.text


def test_filed_bytes_are_never_run_by_a_browser(front: Server) -> None:
    """Others wrote them, and they come from our address."""
    digest = hashlib.sha256(FILED).hexdigest()
    answer = get(front, f"/content/{digest}")
    assert answer.content == FILED
    assert answer.headers["Content-Type"] == "application/octet-stream"
    assert answer.headers["Content-Disposition"] == "attachment"
    assert "sandbox" in answer.headers["Content-Security-Policy"]
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "immutable" in answer.headers["Cache-Control"]
    assert answer.headers["ETag"] == f'"{digest}"'


def test_an_index_entry_is_sent_with_its_own_digest(front: Server, folder: Path) -> None:
    """Preston asks for it by the hash of its question; a digest of that name would be a false promise."""
    entry, name = b"hash://sha256/" + b"a" * 64, hashlib.sha256(b"question").hexdigest()
    (folder / "content" / name).write_bytes(entry)
    answer = get(front, f"/content/{name}")
    assert answer.content == entry
    digest = base64.b64encode(hashlib.sha256(entry).digest()).decode()
    assert answer.headers["Repr-Digest"] == f"sha-256=:{digest}:"
    assert "immutable" in answer.headers["Cache-Control"]
