"""curl, with every way that it has to send a query."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.clients.conftest import STRICT_ROWS
from tests.clients.instance import ENDLESS, LARGE, LONG, PREFIXES, ROWS
from tests.clients.programs import curl, run
from tests.web.instance import Server

QUERY = f'{PREFIXES} SELECT ?p {{ ?s ?p "Grüße"@de-at }}'
ANSWER = "p\r\nhttp://example.org/language\r\n"
DIRECT = "Content-Type: application/sparql-query"
CSV = ("-H", "Accept: text/csv")
STATUS = ("-w", "%{http_code}")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The query, as people keep it."""
    path = tmp_path / "query.rq"
    path.write_text(QUERY, "utf-8")
    return path


def endpoint(served: Server) -> str:
    return f"{served.url}/sparql"


@pytest.mark.parametrize(
    "words",
    [
        ("-G", "--data-urlencode", f"query={QUERY}"),
        ("--data-urlencode", f"query={QUERY}"),
        ("--data-urlencode", f"query={QUERY}", "-H", "Content-Type: application/x-www-form-urlencoded; charset=UTF-8"),
        ("--data-raw", f"query={quote(QUERY)}"),
        ("--data-binary", QUERY, "-H", DIRECT),
        ("--data-binary", QUERY, "-H", f"{DIRECT}; charset=utf-8"),
        ("--data-binary", QUERY, "-H", f'{DIRECT};charset="UTF-8"'),
        ("--data-binary", QUERY, "-H", DIRECT, "-H", "Transfer-Encoding: chunked"),
        ("--data-binary", QUERY, "-H", DIRECT, "-H", "Expect: 100-continue", "--expect100-timeout", "60"),
        ("--data-urlencode", f"query={QUERY}", "-H", "Expect: 100-continue", "--expect100-timeout", "60"),
        ("--data-urlencode", f"query={QUERY}", "--http1.0"),
        ("--data-urlencode", f"query={QUERY}", "--compressed"),
        ("--data-urlencode", f"query={QUERY}", "--range", "0-3"),
        ("--data-urlencode", f"query={QUERY}", "--data", "format=csv", "-H", "Accept: application/json"),
        ("--data-urlencode", f"query={QUERY}", "--http2"),
    ],
)
def test_a_query_comes_through(served: Server, words: tuple[str, ...]) -> None:
    """However it is sent, and whatever is asked of the connection, the answer is the same."""
    assert curl(endpoint(served), *words, *(() if "Accept: application/json" in words else CSV)) == ANSWER


def test_a_query_comes_from_a_file(served: Server, file: Path) -> None:
    """curl sends the file as a parameter, as the body, and streamed."""
    assert curl(endpoint(served), "--data-urlencode", f"query@{file}", *CSV) == ANSWER
    assert curl(endpoint(served), "--data-binary", f"@{file}", "-H", DIRECT, *CSV) == ANSWER
    assert curl(endpoint(served), "-X", "POST", "-T", file, "-H", DIRECT, *CSV) == ANSWER


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (("-F", f"query={QUERY}"), 415, "'multipart/form-data' cannot be read; send application/x-www-form"),
        (("--json", json.dumps({"query": QUERY})), 415, "'application/json' cannot be read"),
        (("--data-binary", QUERY, "-H", "Content-Type:"), 415, "without a Content-Type"),
        (("--data-binary", QUERY, "-H", f"{DIRECT}; charset=iso-8859-1"), 415, "'iso-8859-1'; send it in UTF-8"),
        (("--data-binary", QUERY, "-H", DIRECT, "-H", "Content-Encoding: gzip"), 415, "compressed (gzip)"),
        (("--data-binary", QUERY), 400, "as the body with Content-Type: application/sparql-query"),
        (("--data-urlencode", "query=SELEC"), 400, "does not parse near line 1, column 6"),
        (("-d", "update=CLEAR ALL"), 403, "updates are refused"),
        (("--data-binary", "CLEAR ALL", "-H", "Content-Type: application/sparql-update"), 403, "updates are refused"),
        (("-X", "PUT", "-d", "x"), 405, "PUT is not a method of this address"),
        (("--data-urlencode", f"query={ENDLESS}", "-d", "timeout=0.3"), 503, "longer than 0.3 s"),
    ],
)
def test_a_refusal_says_why(served: Server, words: tuple[str, ...], status: int, message: str) -> None:
    """The output of curl is the reason and what to send instead, then the status."""
    output = curl(endpoint(served), *words, *STATUS)
    assert output.endswith(str(status))
    assert message in output


def test_a_body_that_is_too_large_is_refused(served: Server, tmp_path: Path) -> None:
    """The reason comes although curl is still sending."""
    path = tmp_path / "large.rq"
    path.write_text("#" * (9 << 20), "ascii")
    output = curl(endpoint(served), "--data-binary", f"@{path}", "-H", DIRECT, *STATUS)
    assert output == "A request body of more than 8,388,608 bytes is not taken.\n413"


def test_head_is_get_without_its_body(served: Server) -> None:
    """HEAD has the same headers as GET, but for those of the moment."""
    words = ("-G", endpoint(served), "--data-urlencode", f"query={QUERY}", *CSV)
    head = curl("--head", *words).splitlines()
    got = curl("--dump-header", "-", "-o", "/dev/null", *words).splitlines()
    passing = ("date:", "x-cache:")
    assert [line for line in head if not line.startswith(passing)] == [
        line for line in got if not line.startswith(passing)
    ]
    assert f"content-length: {len(ANSWER)}" in head


def test_two_requests_share_a_connection(served: Server) -> None:
    """Also where the first was refused, and where it was long and came in chunks."""
    for first in ("SELEC", LONG, QUERY):
        url = f"{endpoint(served)}?query="
        words = ("-o", "/dev/null", url + quote(first), "-o", "/dev/null", url + quote(QUERY))
        assert curl(*words, "-w", "%{num_connects} ").split() == ["1", "0"]


def test_what_is_kept_is_not_sent_again(served: Server, tmp_path: Path) -> None:
    """curl keeps the ETag in a file, and gets 304 with it."""
    words = ("-G", endpoint(served), "--data-urlencode", f"query={QUERY}", *CSV, *STATUS)
    etag = tmp_path / "etag"
    assert curl(*words, "--etag-save", etag) == f"{ANSWER}200"
    assert curl(*words, "--etag-compare", etag) == "304"


@pytest.mark.parametrize("version", ["--http1.0", "--http1.1"])
def test_a_long_result_is_complete(served: Server, version: str) -> None:
    """In chunks over HTTP/1.1, with its length over HTTP/1.0."""
    assert curl(endpoint(served), version, "--data-urlencode", f"query={LONG}", *CSV).count("\r\n") == ROWS + 1


def test_a_truncated_result_is_marked_or_broken_off(strict: Server) -> None:
    """A line in CSV and N-Triples, curl's own error for JSON and Turtle, a status over HTTP/1.0, which has no end."""
    words = ("-sS", endpoint(strict), "--data-urlencode", f"query={LONG}")
    lines = run("curl", *words, *CSV, package="curl").stdout.splitlines()
    assert lines[-1].startswith(f"# truncated: The result has more than {STRICT_ROWS:,} rows")
    broken = run("curl", *words, package="curl")
    assert broken.returncode == 18, "a partial file, as curl calls it"
    assert run("curl", *words, *CSV, *STATUS, "--http1.0", package="curl").stdout.endswith("413")
    words = ("-sS", endpoint(strict), "--data-urlencode", f"query={LARGE}", "-d")
    lines = run("curl", *words, "format=nt", package="curl").stdout.splitlines()
    assert lines[-1].startswith(f"# truncated: The result has more than {STRICT_ROWS:,} rows")
    assert run("curl", *words, "format=ttl", package="curl").returncode == 18


def test_a_graph_is_downloaded(served: Server, tmp_path: Path) -> None:
    """In the format that is named, under the name that is given."""
    path = tmp_path / "names.nt"
    curl(f"{served.url}/graph/names?format=nt", "--fail", "-o", path)
    assert len(path.read_text("utf-8").splitlines()) == 4
    assert run("curl", "-sf", f"{served.url}/graph/none", package="curl").returncode == 22
