"""The parts of the benchmark that ask queries: loads, clients, and what is known of processes."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from bench import clients, suite, wrk
from bench.asking import ask, timed
from bench.clients import Crowd
from bench.errors import BenchError, Disagreement
from bench.family import family, left, processor_s, watched
from bench.ground import Ground, Scale

PRINTED = """Running 1s test @ http://127.0.0.1:1/sparql
  1 threads and 8 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     4.76ms    3.21ms  43.10ms   88.16%
    Req/Sec     1.78k   217.58     2.09k    70.00%
  Latency Distribution
     50%  950.00us
     75%    5.37ms
     90%    7.98ms
     99%    1.20s
  1773 requests in 1.00s, 1.61MB read
"""


class Answer(BaseHTTPRequestHandler):
    """Answers all with one status and body, or breaks a chunked body off."""

    protocol_version = "HTTP/1.1"
    status = 200
    body = b""
    broken = False

    def do_GET(self) -> None:
        self.send_response(self.status)
        if self.broken:
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.write(b"4\r\nhalf\r\n")
            self.close_connection = True
            return
        self.send_header("Content-Length", str(len(self.body)))
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, format: str, *args: object) -> None:
        """Requests are not logged."""


@contextmanager
def answering(status: int = 200, body: bytes = b"", broken: bool = False) -> Iterator[str]:
    handler = type("Handler", (Answer,), {"status": status, "body": body, "broken": broken})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/sparql"
        finally:
            server.shutdown()
            thread.join()


def test_what_wrk_prints_is_read() -> None:
    """Its units differ from line to line, and a microsecond taken for a millisecond would be a wonder."""
    found = wrk.read(PRINTED + "Requests/sec:   1772.59\nTransfer/sec:      1.61MB\n", "")
    assert (found.rate, found.median_s, found.p99_s, found.requests, found.errors) == (1772.59, 0.00095, 1.2, 1773, 0)


def test_requests_that_failed_are_counted_of_all_kinds() -> None:
    """Refusals are answered faster than anything else; a server that refuses must not win."""
    failures = "  Socket errors: connect 1, read 20, write 0, timeout 3\n  Non-2xx or 3xx responses: 400\n"
    assert wrk.read(f"{PRINTED}{failures}Requests/sec:   1772.59\n", "").errors == 424


def test_wrk_that_fails_is_reported() -> None:
    """Figures of a load that never ran would be zero requests a second, or a crash of the bench."""
    with pytest.raises(BenchError, match="unable to connect"):
        wrk.read("Running 1s test", "unable to connect to 127.0.0.1:1 Connection refused")


def test_without_wrk_the_row_says_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is a package of the system that `make setup` does not install."""
    monkeypatch.setenv("PATH", str(tmp_path))
    rows = list(suite.rows(Ground(tmp_path, Scale(8_000), lambda _: None, None), ["lookup"]))
    assert [row.notes for row in rows] == [
        ["not measured: BenchError: `wrk` is not installed, which makes the load; on Debian: apt-get install wrk"]
    ]
    assert list(tmp_path.iterdir()) == []


def test_a_cheap_query_counts_only_with_its_own_item() -> None:
    """A server that answers quickly with somebody else's rows has failed."""
    with answering(body=b'{"label": "number 100001, edition 0"}]}}') as url:
        tally = Crowd(url, 100_000, (0.0,) * 2, 0).ask(0.2)
    assert tally.cheap_s == []
    assert set(tally.failed) == {"200 with other contents"}


def test_a_right_answer_counts() -> None:
    """The check for the item must not refuse what is right."""
    with answering(body=b'{"label": "number 0, edition 0"}]}}') as url:
        tally = Crowd(url, 1, (0.0,) * 2, 0).ask(0.2)
    assert len(tally.cheap_s) > 1
    assert tally.failed == Counter()
    assert 0 < tally.p99_s < 5


def test_a_refused_cheap_query_has_failed_and_a_refused_pathological_one_has_not() -> None:
    """Refusing is right for the one and wrong for the other."""
    with answering(status=503) as url:
        tally = Crowd(url, 1, (0.0, 1.0), 0).ask(0.2)
    assert set(tally.failed) == {"503"}
    assert tally.heavy.total() > 0
    assert clients.unexpected(tally.heavy) == []
    assert clients.unexpected({"endless path: 500": 1}) == ["endless path: 500"]


def test_an_answer_that_is_broken_off_is_no_answer() -> None:
    """Half a million rows come in half the time."""
    with answering(broken=True) as url:
        with pytest.raises(Disagreement, match="broken off"):
            timed(url, "ASK {}")
        with pytest.raises(Disagreement, match="broke off"):
            ask(url, "ASK {}")


def test_a_family_has_its_descendants_and_what_is_left_is_found() -> None:
    """Workers are children of children, and one that outlives its server is what is looked for."""
    child = "import sys; print('up', flush=True); sum(range(3_000_000)); sys.stdin.read()"
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    command = [sys.executable, "-c", parent]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdin is not None
        assert process.stdout.readline() == "up\n"
        with watched(process.pid) as memory:
            found = family(process.pid)
        assert len(found) == 2
        assert memory.seen == found
        assert min(memory.fronts) > 1_000_000
        assert processor_s(process.pid) > 0
        assert len(left(found, 0)) == 2
        process.stdin.close()
    assert left(found, 5) == []


@pytest.mark.long
def test_the_load_test_measures_every_part(tmp_path: Path) -> None:
    """Whether the targets are met is for the benchmark; that each is measured is seen here."""
    ground = Ground(tmp_path, Scale(8_000, None, 400, 800, 5, 1, 1, 1, 3, judged=False), lambda _: None, None)
    rows = list(suite.rows(ground, ["load"]))
    assert [row.notes for row in rows if isinstance(row, suite.Failed)] == []
    parts = Counter(row.case for row in rows)
    assert parts == {
        "load, cheap queries that failed": 2,
        "load, p99 of cheap queries": 2,
        "load, memory of the front, after and before": 2,
        "load, memory of the workers, after and before": 2,
        "load, workers beyond those wanted": 2,
        "load, processes left over after the end": 1,
    }
    assert rows[-1].ours == 0
    assert all(row.peer for row in rows if row.case == "load, p99 of cheap queries")
