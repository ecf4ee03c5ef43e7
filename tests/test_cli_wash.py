"""`harvest wash`: one document to clean N-Quads, in anybody's pipeline."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.provider import serving

GOOD = b'<http://x/a> <http://x/p> "1" .\n<http://x/b> <http://x/p> "\\u00e9" .\n'
BAD = b"<http://x/c> <not an IRI> <http://x/d> .\n"


def wash(*words: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-c", "from harvest.cli.main import main; main()", "wash", *words]
    return subprocess.run(command, input=stdin, capture_output=True, check=False, timeout=240)


def test_a_good_file_comes_out_canonical(tmp_path: Path) -> None:
    """Sorted, unique, escapes undone, in the graph of the file's own IRI; the report does not mix with the data."""
    path = tmp_path / "a.nt"
    path.write_bytes(GOOD + GOOD)
    done = wash(str(path))
    assert done.returncode == 0, done.stderr
    graph = path.as_uri().encode()
    assert done.stdout == b'<http://x/a> <http://x/p> "1" <%b> .\n<http://x/b> <http://x/p> "\xc3\xa9" <%b> .\n' % (
        graph,
        graph,
    )
    assert b"clean: 2 triples from 4 statements" in done.stderr


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("stdin", "words", "code", "outcome"),
    [
        (GOOD, (), 0, "clean"),
        (GOOD * 200 + BAD, (), 3, "dropped"),
        (GOOD + BAD, (), 1, "failed"),
        (GOOD + BAD, ("--threshold", "0.5"), 3, "dropped"),
        (gzip.compress(GOOD * 5000)[:-9], (), 1, "failed"),
        (b"%PDF-1.7 \x00\x01\x02", (), 1, "failed"),
    ],
    ids=["clean", "few bad", "many bad", "own threshold", "cut off", "no RDF"],
)
def test_the_exit_code_is_that_of_the_outcome(stdin: bytes, words: tuple[str, ...], code: int, outcome: str) -> None:
    """A shell script must know whether it may go on; what is good is written in any case."""
    done = wash("-", "--json", *words, stdin=stdin)
    assert done.returncode == code
    report = json.loads(done.stderr)
    assert (report["exit_code"], report["outcome"]) == (code, outcome)
    assert done.stdout.count(b"\n") == report["triples"] == (0 if stdin.startswith(b"%PDF") else 2)


def test_problems_have_their_places(tmp_path: Path) -> None:
    """The report says what to mend, in the archive's entry that has it."""
    path = tmp_path / "dump.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data/a.nt", GOOD + BAD)
        archive.writestr("read.me", "Just some words.")
    done = wash(str(path), "--json")
    parts = {"/".join(part["names"]): part for part in json.loads(done.stderr)["parts"]}
    assert set(parts) == {"data/a.nt", "read.me", ""}
    (problem,) = parts["data/a.nt"]["problems"]
    assert (problem["kind"], problem["line"], problem["excerpt"]) == ("invalid-iri", 3, BAD.decode().rstrip())
    assert parts["read.me"]["counts"] == {"no-rdf": 1}
    output = wash(str(path)).stderr.decode()
    assert "dump.zip!/data/a.nt  N-Triples, utf-8, 2 statements, 1 invalid-iri" in output
    assert "line 3, column 14: invalid-iri" in output


def test_base_graph_and_media_type_can_be_given() -> None:
    """Standard input has no name, and a file may have a wrong one."""
    words = ("-", "--base", "http://b.example/d/", "--graph", "http://g.example/g", "--media-type", "text/turtle")
    done = wash(*words, stdin=b"<s> <p> [] .")
    assert done.stdout.startswith(
        b"<http://b.example/d/s> <http://b.example/d/p> <http://g.example/g/.well-known/genid/"
    )
    assert done.stdout.endswith(b"> <http://g.example/g> .\n")


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    """Whoever reads the output file must never find half of it."""
    target = tmp_path / "clean.nq"
    assert wash("-", "--output", str(target), stdin=GOOD).returncode == 0
    assert target.read_bytes().count(b"\n") == 2
    assert [path.name for path in tmp_path.iterdir()] == ["clean.nq"]
    assert wash("-", "-o", str(tmp_path / "none" / "clean.nq"), stdin=GOOD).returncode == 1


def test_a_url_is_fetched_with_the_guard() -> None:
    """Loopback is refused unless allowed, as everywhere; a remote JSON-LD context is fetched with the document."""
    with serving() as server:
        context = server.put("/c.jsonld", '{"@context": {"p": "http://x/p"}}', "application/ld+json")
        url = server.put("/a", json.dumps({"@context": context, "@id": "http://x/a", "p": "1"}), "application/ld+json")
        refused = wash(url)
        assert refused.returncode == 1
        assert b"loopback" in refused.stderr
        done = wash(url, "--allow-loopback")
    assert done.returncode == 0, done.stderr
    assert done.stdout == b'<http://x/a> <http://x/p> "1" <%b> .\n' % url.encode()


def test_filed_bytes_are_washed_by_their_hash(tmp_path: Path) -> None:
    """hash://sha256/... works wherever a URL does, out of the archive of the instance."""
    import hashlib

    digest = hashlib.sha256(GOOD).hexdigest()
    place = tmp_path / "var" / "content" / digest[:2] / digest[2:4]
    place.mkdir(parents=True)
    (place / digest).write_bytes(GOOD)
    (tmp_path / "harvest.yaml").write_text("data_dir: var\n")
    done = wash(f"hash://sha256/{digest}", "--config", str(tmp_path / "harvest.yaml"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(f"<hash://sha256/{digest}>".encode()) == 2
    gone = wash(f"hash://sha256/{'0' * 64}", "--config", str(tmp_path / "harvest.yaml"))
    assert gone.returncode == 1
    assert b"no content with SHA-256" in gone.stderr


def test_wrong_use_is_reported_in_a_line() -> None:
    """A slip must not look like an empty document."""
    assert wash().returncode == 2
    missing = wash("/no/such/file.ttl")
    assert missing.returncode == 1
    assert missing.stderr.decode().splitlines() == [
        "harvest: /no/such/file.ttl is no file, and no http, https or hash://sha256/ URL"
    ]
