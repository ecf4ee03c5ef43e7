"""Updates over HTTP, with a real `harvest serve`: who may send them, in what form, and what is answered."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

import jsonschema
import pytest
import requests
from rdflib import Graph, Literal, URIRef
from rdflib.plugins.stores.sparqlstore import SPARQLUpdateStore
from SPARQLWrapper import SPARQLWrapper

from harvest.service.serve import free_port
from sparql.protocol.request import FORM, NO_UPDATES, UPDATE
from sparql.web import openapi

ROOT = Path(__file__).resolve().parents[2]
TOKEN = "Aa0-._~+/=" * 3
WAIT_S = 240
DEEP = 20_000


@dataclass
class Served:
    """
    A running instance.

    Attributes:
        folder: Its settings and data.
        url: Its address, without a slash at the end.
        process: It.
    """

    folder: Path
    url: str
    process: subprocess.Popen[str]

    @property
    def graph(self) -> str:
        """The graph that updates write."""
        return f"{self.url}/graph/notes"

    def send(self, text: str, *, token: str | None = TOKEN, **headers: str) -> requests.Response:
        """Send an update as the body."""
        given = {"Content-Type": UPDATE, **headers} | ({"Authorization": f"Bearer {token}"} if token else {})
        return requests.post(f"{self.url}/sparql", data=text.encode(), headers=given, timeout=WAIT_S)

    def insert(self, triples: str) -> str:
        """An update that inserts."""
        return f"INSERT DATA {{ GRAPH <{self.graph}> {{ {triples} }} }}"

    def endless(self) -> str:
        """An update that takes for ever."""
        rows = " ".join(str(i) for i in range(300))
        loops = " ".join(f"VALUES ?v{i} {{ {rows} }}" for i in range(6))
        return f"WITH <{self.graph}> INSERT {{ <a> <p> ?n }} WHERE {{ SELECT (COUNT(*) AS ?n) {{ {loops} }} }}"

    def count(self, pattern: str = "?s ?p ?o") -> int:
        """How many triples queries see."""
        query = f"SELECT (COUNT(*) AS ?n) {{ GRAPH <{self.graph}> {{ {pattern} }} }}"
        answer = requests.get(f"{self.url}/sparql", {"query": query, "format": "csv"}, timeout=WAIT_S)
        return int(answer.text.split()[1])


def start(folder: Path, token: str, timeout_s: int = 240, more: str = "") -> Served:
    """Start an instance, and wait until it answers."""
    port = free_port()
    (folder / "harvest.yaml").write_text(
        f"base_url: http://127.0.0.1:{port}\nbind: 127.0.0.1:{port}\ngraph_base: http://127.0.0.1:{port}/graph/\n"
        "data_dir: var\nexports_dir: exports\nschedule: {update: 1}\n"
        f"query: {{workers: 1, update_timeout_s: {timeout_s}}}\n{more}"
    )
    (folder / "registry.yaml").write_text("notes:\n  updates: true\noff:\n  updates: true\n  enabled: false\n")
    process = command(folder, "serve", token=token)
    served = Served(folder, f"http://127.0.0.1:{port}", process)
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end and process.poll() is None:
        try:
            if requests.get(f"{served.url}/healthz", timeout=5).status_code == 200:
                return served
        except (requests.ConnectionError, requests.Timeout):
            pass
        time.sleep(0.05)
    process.kill()
    raise AssertionError(process.communicate()[0])


def command(folder: Path, *words: str, token: str = "") -> subprocess.Popen[str]:
    """Call `harvest`; the token comes by the environment, as a secret should."""
    return subprocess.Popen(
        [
            sys.executable,
            "-c",
            "from harvest.cli.main import main; main()",
            *words,
            "--config",
            str(folder / "harvest.yaml"),
        ],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT), "HARVEST_QUERY__OPERATOR_TOKEN": token},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """An instance whose settings have a token; what it printed must not have it."""
    running = start(tmp_path_factory.mktemp("instance"), TOKEN)
    try:
        assert running.send(running.insert("<first> <p> 1")).status_code == 200  # now there is a metadata graph, too
        yield running
    finally:
        running.process.terminate()
        said, _ = running.process.communicate(timeout=WAIT_S)
    assert TOKEN not in said
    data = (path for path in running.folder.rglob("*") if path.is_file())
    assert not [path for path in data if TOKEN.encode() in path.read_bytes()]


def test_an_update_is_seen_by_the_next_query(served: Served) -> None:
    """The answer to an update comes when the version is published, and says what the version is."""
    before = served.count()
    answer = served.send(served.insert("<seen> <p> 1 , [ <q> 'ü' ]"))
    assert answer.status_code == 200, answer.text
    assert served.count() == before + 3
    updated = answer.json()
    assert (updated["provider"], updated["graph"], updated["outcome"]) == ("notes", served.graph, "committed")
    assert (updated["added"], updated["removed"], updated["triples"]) == (3, 0, before + 3)
    document = openapi.document(served.url, "Test")
    schema = {"$ref": "#/components/schemas/Updated", "components": document["components"]}
    jsonschema.validate(updated, schema)
    assert set(updated) == set(document["components"]["schemas"]["Updated"]["properties"])
    assert answer.headers["Cache-Control"] == "no-store"
    run = requests.get(f"{served.url}/providers/notes/runs/{updated['run']}.json", timeout=WAIT_S).json()
    assert (run["outcome"], run["version"]) == ("committed", updated["version"])


def test_both_forms_of_post_are_taken(served: Served) -> None:
    """Source: SPARQL 1.1 Protocol, sections 2.2.1 and 2.2.2; raw, as curl sends them."""
    body = urlencode({"update": served.insert("<form> <p> 1")}).encode()
    headers = {"Content-Type": FORM, "Authorization": f"bearer  {TOKEN}"}
    form = requests.post(f"{served.url}/sparql", data=body, headers=headers, timeout=WAIT_S)
    direct = served.send(served.insert("<direct> <p> 1"), **{"Content-Type": f"{UPDATE}; charset=utf-8"})
    assert (form.status_code, direct.status_code) == (200, 200)
    assert served.count(f"<{served.url}/form> ?p 1") == served.count(f"<{served.url}/direct> ?p 1") == 1


def test_clients_send_updates(served: Served) -> None:
    """SPARQLWrapper as a form, rdflib's store as a body; both with the token as a header."""
    wrapper = SPARQLWrapper(f"{served.url}/sparql")
    wrapper.addCustomHttpHeader("Authorization", f"Bearer {TOKEN}")
    wrapper.setMethod("POST")
    wrapper.setReturnFormat("json")
    wrapper.setQuery(served.insert("<wrapper> <p> 1"))
    assert wrapper.queryAndConvert()["outcome"] == "committed"
    headers = {"Authorization": f"Bearer {TOKEN}"}
    store = SPARQLUpdateStore(f"{served.url}/sparql", f"{served.url}/sparql", headers=headers)
    graph = Graph(store, URIRef(served.graph))
    graph.add((URIRef("http://x/rdflib"), URIRef("http://x/p"), Literal("ü")))
    assert (URIRef("http://x/rdflib"), URIRef("http://x/p"), Literal("ü")) in graph
    graph.remove((URIRef("http://x/rdflib"), None, None))
    assert served.count("<http://x/rdflib> ?p ?o") == 0
    assert served.count(f"<{served.url}/wrapper> ?p ?o") == 1


def test_what_changes_nothing_makes_no_version(served: Served) -> None:
    """200 and the version that is there."""
    first = served.send(served.insert("<same> <p> 1")).json()
    again = served.send(served.insert("<same> <p> 1"))
    assert again.status_code == 200
    assert again.json() == first | {"outcome": "unchanged", "added": 0, "run": None}


@pytest.mark.parametrize(
    ("authorization", "said"),
    [
        (None, "send the operator token as `Authorization: Bearer TOKEN`"),
        ("", "send the operator token"),
        ("Bearer", "send the operator token"),
        (f"Basic {TOKEN}", "send the operator token"),
        (TOKEN, "send the operator token"),
        (f"Bearer {TOKEN[:-1]}", "not the operator token of this instance"),
        (f"Bearer {TOKEN}x", "not the operator token of this instance"),
        (f"Bearer {TOKEN} {TOKEN}", "not the operator token of this instance"),
        ("Bearer \xe4\xff", "not the operator token of this instance"),
    ],
)
def test_without_the_token_an_update_is_refused(served: Served, authorization: str | None, said: str) -> None:
    """Valid or not, and never with a word on how near the token was."""
    headers = {"Authorization": authorization.encode("latin-1")} if authorization is not None else {}
    for text in (served.insert("<a> <b> <c>"), "nonsense"):
        for content_type, body in ((UPDATE, text.encode()), (FORM, urlencode({"update": text}).encode())):
            sent = {"Content-Type": content_type.encode(), **headers}
            answer = requests.post(f"{served.url}/sparql", data=body, headers=sent, timeout=WAIT_S)
            assert answer.status_code == 403
            assert said in answer.text and TOKEN not in answer.text


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("text", "status", "said"),
    [
        ("CLEAR ALL", 403, "by the platform alone"),
        ("INSERT DATA { <a> <b> <c> }", 400, "default graph"),
        ("INSERT DATA {\n GRAPH <graph/notes> { <a> <b> } }", 400, "line 2, column"),
        ("LOAD <http://x/> INTO GRAPH <graph/notes>", 403, "LOAD is refused"),
        ("WITH <graph/notes> INSERT { <a> <b> <c> } WHERE { SERVICE <http://x/> {} }", 403, "SERVICE is refused"),
        ("CLEAR GRAPH <graph/off>", 403, "off is disabled"),
        ("CLEAR GRAPH <graph/harvest-metadata>", 403, "by the platform alone"),
        ("CLEAR GRAPH <graph/other>", 404, "an entry 'other' with `updates: true`"),
        ("COPY <graph/other> TO <graph/notes>", 404, "an entry 'other' with `updates: true`"),
        ("CREATE GRAPH <graph/notes> ; CREATE GRAPH <graph/notes>", 400, "already exists"),
        (
            f"WITH <graph/notes> INSERT {{ <a> <b> 1 }} WHERE {{{'{' * DEEP}{'}' * DEEP}}}",
            400,
            "nested more than 1,000 deep",
        ),
    ],
)
def test_an_update_that_may_not_be_is_refused(served: Served, text: str, status: int, said: str) -> None:
    """As text, and as JSON to those who read JSON; nothing is changed."""
    before = served.count()
    answer = served.send(text)
    assert (answer.status_code, said in answer.text) == (status, True), answer.text[:500]
    error = served.send(text, Accept="application/json").json()
    assert (error["status"], said in error["message"], error["retriable"]) == (status, True, False)
    assert served.count() == before


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("?using-graph-uri=http://x/g", "write USING"),
        ("?update=CLEAR+ALL", "by POST"),
        ("?query=ASK+{}", "`query` came"),
    ],
)
def test_parameters_beside_an_update_are_refused(served: Served, address: str, said: str) -> None:
    """To pass over one that says which graphs are meant would be to do something else."""
    headers = {"Content-Type": UPDATE, "Authorization": f"Bearer {TOKEN}"}
    answer = requests.post(f"{served.url}/sparql{address}", data=b"CLEAR ALL", headers=headers, timeout=WAIT_S)
    assert (answer.status_code, said in answer.text) == (400, True), answer.text


def test_an_update_past_its_time_is_ended(tmp_path: Path) -> None:
    """503, and the next one is carried out."""
    running = start(tmp_path, TOKEN, timeout_s=6)
    try:
        end = time.monotonic() + WAIT_S
        while (answer := running.send(running.endless())).status_code == 504:  # nothing was heard of it in time
            assert time.monotonic() < end
        assert answer.status_code == 503 and "query.update_timeout_s" in answer.text
        assert answer.headers["Retry-After"]
        end = time.monotonic() + WAIT_S
        while running.send(running.insert("<after> <p> 1")).status_code == 503:  # 6 s can be short on a busy machine
            assert time.monotonic() < end
        assert running.count() == 1
    finally:
        running.process.terminate()
        running.process.communicate(timeout=WAIT_S)


def test_the_command_writes_beside_the_instance_without_a_token(served: Served) -> None:
    """Whoever has the data directory is the operator."""
    process = command(served.folder, "update", "-", "--json")
    said, _ = process.communicate(served.insert("<command> <p> 'ü'"), timeout=WAIT_S)
    assert process.returncode == 0, said
    (result,) = json.loads(said)["results"]
    assert (result["outcome"], result["added"]) == ("committed", 1)
    (served.folder / "bad.ru").write_text("INSERT DATA { <a> <b> <c> }")
    process = command(served.folder, "update", str(served.folder / "bad.ru"))
    said, _ = process.communicate(timeout=WAIT_S)
    assert process.returncode == 1 and "default graph" in said
    assert served.count(f"<{served.url}/command> ?p ?o") == 1


def test_the_page_of_the_graph_says_who_writes_it(served: Served) -> None:
    """The page says it in place of a link to a description."""
    served.send(served.insert("<page> <p> 1"))
    page = requests.get(f"{served.url}/providers/notes", headers={"Accept": "text/html"}, timeout=WAIT_S).text
    assert "SPARQL updates of the operator" in page and "Removals" not in page
    record = requests.get(f"{served.url}/providers/notes.json", timeout=WAIT_S).json()
    assert (record["source"], record["url"], record["next_check"], record["state"]) == ("updates", None, None, "idle")
    assert requests.get(f"{served.url}/providers/off.json", timeout=WAIT_S).json()["state"] == "disabled"
    listed = requests.get(f"{served.url}/providers/", headers={"Accept": "text/html"}, timeout=WAIT_S)
    assert listed.status_code == 200 and "notes" in listed.text


@pytest.mark.long
def test_an_instance_that_is_stopped_ends_the_update_and_answers(tmp_path: Path) -> None:
    """Its sender learns that nothing was changed, and nobody waits for the limit."""
    running = start(tmp_path, TOKEN, timeout_s=600)
    try:
        with ThreadPoolExecutor(1) as thread:
            sending = thread.submit(running.send, running.endless())
            end = time.monotonic() + WAIT_S
            while not list((tmp_path / "var" / "scratch").glob("*/copy")):  # until it is evaluated
                assert time.monotonic() < end and not sending.done()
                time.sleep(0.05)
            began = time.monotonic()
            running.process.terminate()
            answer = sending.result(WAIT_S)
        assert (answer.status_code, "nothing was changed" in answer.text) == (503, True), answer.text
        said, _ = running.process.communicate(timeout=WAIT_S)
        assert running.process.returncode == 0, said
        assert time.monotonic() - began < WAIT_S  # the limit of the update is ten times that
    finally:
        running.process.kill()
        running.process.communicate()


def test_without_a_token_in_the_settings_every_update_is_refused(tmp_path: Path) -> None:
    """The default; an empty token opens nothing."""
    running = start(tmp_path, "")
    try:
        for token in (None, TOKEN, ""):
            answer = running.send(running.insert("<a> <b> <c>"), token=token)
            assert (answer.status_code, answer.text.strip()) == (403, NO_UPDATES)
        answer = running.send(running.insert("<a> <b> <c>"), token=None, Authorization="Bearer ")
        assert answer.status_code == 403
    finally:
        running.process.terminate()
        running.process.communicate(timeout=WAIT_S)
