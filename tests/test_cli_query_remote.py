"""`harvest query --endpoint`: another endpoint answers, in the formats and with the exit codes of the local command."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import parse_qs, urlsplit

import pytest
from click.testing import CliRunner, Result

from harvest.cli.main import main
from harvest.cli.remote import LONGEST_GET, kind_of
from sparql.errors import ForbiddenError, RequestError, SparqlError
from sparql.worker.limits import QueryLimits
from tests.clients.instance import PREFIXES, front, skies
from tests.fetch.server import WAIT_S, Answer, Request, Server, broken, reply
from tests.web.instance import Server as Front

STAR = f"{PREFIXES} SELECT ?m {{ star:vega star:magnitude ?m }}"
MAGNITUDE = '"0.03"^^<http://www.w3.org/2001/XMLSchema#double>'
JSON_ROWS = json.dumps(
    {"head": {"vars": ["n"]}, "results": {"bindings": [{"n": {"type": "uri", "value": "http://x.example/ü"}}]}}
).encode()
JSON_TYPE = "application/sparql-results+json"

Odd = Callable[..., str]


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Front]:
    server = front(tmp_path_factory.mktemp("remote"), QueryLimits(workers=1, timeout_s=20, wait_s=240), skies)
    yield server
    server.stop()


@pytest.fixture
def odd() -> Iterator[Odd]:
    """Start a server that gives one answer; gives the address of its endpoint."""
    servers: list[Server] = []

    def start(answer: Answer) -> str:
        servers.append(Server((answer,)))
        return servers[-1].url("/sparql")

    yield start
    for server in servers:
        server.close()


def halts(begun: bytes) -> Answer:
    """An answer that never comes to its end."""

    def answer(request: Request) -> Iterator[bytes]:
        yield begun
        request.ended.wait(WAIT_S)

    return answer


def ask(endpoint: str, query: str, *words: str) -> Result:
    return CliRunner().invoke(main, ["query", "--endpoint", endpoint, *words, query])


def failure(endpoint: str, query: str = "ASK {}", *words: str) -> str:
    """The one line of a failure, which has the address in it."""
    result = ask(endpoint, query, *words)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"harvest: {endpoint} ") and result.stderr.count("\n") == 1
    return result.stderr


def test_a_table_comes_as_of_the_instance_itself(instance: Front, tmp_path: Path) -> None:
    """TSV unless another format is wanted; neither settings nor data are needed."""
    result = ask(f"{instance.url}/sparql", STAR)
    assert (result.exit_code, result.stdout) == (0, f"?m\n{MAGNITUDE}\n"), result.output
    file = tmp_path / "stars.rq"
    file.write_text(STAR, "utf-8-sig")
    assert ask(f"{instance.url}/sparql", f"@{file}", "--format", "csv").stdout == "m\n0.03\n"


def test_every_format_of_the_local_command_is_there(instance: Front) -> None:
    """SELECT and ASK as json, xml, csv and tsv; CONSTRUCT as nt, ttl and rdf, Turtle by default."""
    endpoint = f"{instance.url}/sparql"
    found = json.loads(ask(endpoint, STAR, "--format", "json").stdout)
    assert found["results"]["bindings"][0]["m"]["value"] == "0.03"
    assert "<literal" in ask(endpoint, STAR, "--format", "xml").stdout
    assert ask(endpoint, "ASK {}").stdout.strip() == "true"
    construct = f"{PREFIXES} CONSTRUCT WHERE {{ star:vega star:magnitude ?m }}"
    line = "<http://stars.example/vega> <http://stars.example/magnitude> "
    assert ask(endpoint, construct).stdout.startswith(line)
    assert ask(endpoint, construct, "--format", "nt").stdout.startswith(line)
    assert "<rdf:RDF" in ask(endpoint, construct, "--format", "rdf").stdout


def test_a_long_query_is_posted(instance: Front) -> None:
    """One of 100 kB is too long for an address, and arrives whole."""
    wanted = " ".join(f"<http://stars.example/{number}>" for number in range(4000))
    query = f"{PREFIXES} SELECT ?m {{ VALUES ?s {{ {wanted} star:vega }} ?s star:magnitude ?m }}"
    assert len(query) > 50 * LONGEST_GET
    assert ask(f"{instance.url}/sparql", query, "--format", "csv").stdout == "m\n0.03\n"


def test_another_format_is_written_again() -> None:
    """A server that has JSON alone still fills a table, and its own parameters reach it."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.send_header("Content-Type", f"{JSON_TYPE}; charset=utf-8")
            self.end_headers()
            self.wfile.write(JSON_ROWS)

        def log_message(self, format: str, *args: object) -> None:
            """The tests' output stays clean."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        result = ask(f"http://127.0.0.1:{server.server_port}/sparql?key=a%26b", "SELECT ?n {}")
        server.shutdown()
        thread.join()
    assert result.stdout == "?n\n<http://x.example/ü>\n"
    assert parse_qs(urlsplit(asked[0]).query) == {"key": ["a&b"], "query": ["SELECT ?n {}"]}


def test_a_graph_in_another_format_is_written_again(odd: Odd) -> None:
    """The graph's relative IRIs are resolved against the endpoint."""
    endpoint = odd(reply(b"<#a> <#b> <#c> .", Content_Type="text/turtle"))
    output = ask(endpoint, "CONSTRUCT WHERE { ?a ?b ?c }", "--format", "nt").stdout
    assert output == f"<{endpoint}#a> <{endpoint}#b> <{endpoint}#c> .\n"


def test_a_refusal_is_printed_in_the_servers_words(instance: Front, odd: Odd) -> None:
    """The instance names line and column; from a page of HTML its text is shown, not its tags."""
    message = failure(f"{instance.url}/sparql", "SELECT nonsense")
    assert "HTTP 400: " in message and "line 1, column" in message
    page = b"<html><head><title>x</title></head><body><h1>Bad</h1>\n<p>No \xc3\xbc here</p></body></html>"
    assert "HTTP 400: Bad No ü here\n" in failure(odd(reply(page, "400 Bad Request", Content_Type="text/html")))


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        ("401 Unauthorized", b"", "HTTP 401: Unauthorized; it wants a password"),
        ("404 Not Found", b"no such page", "HTTP 404: no such page; look whether the address is right"),
        ("500 Internal Server Error", b"out of memory", "HTTP 500: out of memory\n"),
        ("503 Service Unavailable", b"", "HTTP 503: Service Unavailable\n"),
        ("503 Service Unavailable", b"word " * 1000, "word ...\n"),
    ],
)
def test_an_error_has_its_status_and_what_to_do(odd: Odd, status: str, body: bytes, message: str) -> None:
    """Those that the library knows as classes, and those that it does not."""
    assert message in failure(odd(reply(body, status, Content_Type="text/plain")))


def test_a_server_that_is_not_there_is_reported() -> None:
    """The port is bound and not listened at, so that nobody else takes it."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        message = failure(f"http://127.0.0.1:{bound.getsockname()[1]}/sparql")
    assert "refused the connection; look whether the server runs" in message


def test_a_server_that_says_nothing_is_given_up(odd: Odd) -> None:
    """The message says the time and how to give the server more; before the headers, and in the middle of a result."""
    advice = "sent nothing for 1 s; ask for less, for example with LIMIT, or give it longer with --timeout"
    whole = reply(JSON_ROWS, Content_Type=JSON_TYPE)
    for begun in (b"", whole[:-9]):
        assert advice in failure(odd(halts(begun)), "SELECT ?n {}", "--timeout", "1")


@pytest.mark.parametrize("form", ["json", "tsv"])
def test_a_result_that_is_cut_off_is_no_result(odd: Odd, form: str) -> None:
    """Whether it is passed on as it comes or written again; the exit code says that rows are missing."""
    result = ask(odd(broken(reply(JSON_ROWS, Content_Type=JSON_TYPE), 20)), "SELECT ?n {}", "--format", form)
    assert result.exit_code == 1
    assert "broke off" in result.stderr or "no whole answer" in result.stderr


@pytest.mark.parametrize(
    ("media_type", "body", "message"),
    [
        ("text/html", b"<h1>Welcome</h1>", "answered text/html, which is no result"),
        ("text/csv", b"n\r\nx\r\n", "answered text/csv, which is no result that can be read for SELECT as tsv"),
        (JSON_TYPE, b'{"head"', "sent json that cannot be read"),
    ],
)
def test_what_is_no_result_is_refused(odd: Odd, media_type: str, body: bytes, message: str) -> None:
    """The commonest mistake is the address of a page about the endpoint."""
    assert message in failure(odd(reply(body, Content_Type=media_type)), "SELECT ?n {}")


@pytest.mark.parametrize("url", ["file:///etc/passwd", "localhost:8080/sparql", "ftp://127.0.0.1/x", "http:///x"])
def test_an_address_that_is_not_of_http_is_refused(url: str) -> None:
    """The library would open files, too."""
    assert "is no endpoint: give its address with http:// or https://" in failure(url)


def test_a_time_limit_belongs_to_an_endpoint() -> None:
    """Wrong use, with the usage."""
    result = CliRunner().invoke(main, ["query", "--timeout", "5", "ASK {}"])
    assert result.exit_code == 2 and "--timeout goes with --endpoint" in result.stderr


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("SELECT * {}", "SELECT"),
        ("# DELETE\nPREFIX add: <http://x.example/insert#>\nBASE <http://y.example/>ask{}", "ASK"),
        ("prefix : <http://x.example/> construct where { ?a ?b ?c }", "CONSTRUCT"),
        ('DEFINE input:inference "rules" PREFIX a:<http://x.example/>DESCRIBE a:b', "DESCRIBE"),
    ],
)
def test_the_kind_is_read_behind_the_prologue(text: str, kind: str) -> None:
    """Names and comments may hold any keyword, and some servers know more than the standard."""
    assert kind_of(text) == kind


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("INSERT DATA { <a:a> <a:b> 1 }", ForbiddenError, "an update (INSERT)"),
        ("# SELECT\nPREFIX a: <b:c> with <a:g> delete { ?a ?b ?c } where {}", ForbiddenError, "an update (WITH)"),
        ("", RequestError, "this is no SPARQL query"),
        ("PREFIX a: <b:c> nonsense", RequestError, "but with 'nonsense'"),
    ],
)
def test_what_is_no_question_is_never_sent(text: str, kind: type[SparqlError], message: str, odd: Odd) -> None:
    """An update least of all; the library would send it."""
    with pytest.raises(kind):
        kind_of(text)
    result = ask("http://127.0.0.1:9/sparql", text)
    assert result.exit_code == 1 and message in result.stderr and result.stderr.startswith("harvest: ")


def test_a_format_that_does_not_fit_is_refused_before_asking() -> None:
    """The same line as of the local command."""
    result = ask("http://127.0.0.1:9/sparql", "SELECT * {}", "--format", "ttl")
    assert result.exit_code == 1 and "this result cannot be written as ttl" in result.stderr
