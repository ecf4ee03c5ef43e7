"""The document of the HTTP interface against its standard, the routes, and what a real instance answers."""

from __future__ import annotations

import copy
import html
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import jsonschema
import pytest
import requests
from schemathesis.specs.openapi.definitions import OPENAPI_31

from sparql.web import endpoint, entities, graphs, openapi
from sparql.web.app import create_pages
from sparql.web.catalog import Catalog, Site
from sparql.web.site import Context
from sparql.worker.limits import QueryLimits
from tests.debian import require
from tests.harvested import Harvested, harvested

HERE = Path(__file__).resolve().parent
ASGI = {endpoint.PATH, graphs.PATH, entities.PATH, "/graph/{name}"}
"""What is answered before Flask is asked; the last stands for the graphs' own addresses."""
FOR_PEOPLE = {"/", "/api", "/providers/{name}/", "/static/{filename}", "/assets/{filename}"}
"""Pages that have no data behind them, and what pages are made of."""
DOCUMENT = openapi.document("http://127.0.0.1", "Test")
ENDLESS = "SELECT (COUNT(*) AS ?n) { GRAPH ?t { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?o ?p . ?q ?r ?s } }"
GETS = [path for path, methods in DOCUMENT["paths"].items() if "get" in methods]


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Harvested]:
    with harvested(tmp_path_factory.mktemp("instance")) as served:
        yield served


def routes() -> set[str]:
    """The addresses of the front, with `{}` around what varies."""
    unused = cast(Catalog, None)  # no page is asked for
    app = create_pages(Context(unused, Site("http://localhost"), QueryLimits(), lambda: 0))
    return {re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule) for rule in app.url_map.iter_rules()}


def closed(schema: Any) -> Any:
    """A schema in which no object has a property that is not described."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: closed(value) for key, value in schema.items()}
    if isinstance(found.get("properties"), dict) and "type" in found:
        found.setdefault("additionalProperties", False)
    return found


def problems(value: Any, schema: dict[str, Any]) -> list[str]:
    """What is wrong with a JSON value, by the schemas of the document."""
    root = {**closed(schema), "components": {"schemas": closed(DOCUMENT["components"]["schemas"])}}
    validator = jsonschema.Draft202012Validator(root)
    return [f"{error.json_path}: {error.message[:300]}" for error in validator.iter_errors(value)]


def real(instance: Harvested, path: str) -> str:
    """A path of the document with something of the instance in it."""
    document = instance.clean if path.endswith(".nq") else instance.download
    values = {
        "name": "p",
        "n": "2",
        "file": "all.nq.gz",
        "hash": document,
        "sha256": instance.content,
        "id": "1",
        "number": "0",
        "part": "2",
        "page": "1",
    }
    if "/receipts/" in path:
        runs = requests.get(f"{instance.url}/providers/p/runs.json", timeout=240).json()["runs"]
        values["sha256"] = runs[0]["dumps"][0]["sha256"]
    values["document"] = "changelist.xml" if "{name}" in path else "sourceDescription.xml"
    return re.sub(r"{(\w+)}", lambda match: values[match[1]], path)


def ask(instance: Harvested, path: str, **headers: str) -> requests.Response:
    iri = {"iri": "http://x/a"} if path == "/entity" else {}
    graph = {"graph": f"{instance.url}/graph/p"} if path == "/graphs" else {}
    query = {"query": "SELECT * { ?s ?p ?o } LIMIT 2"} if path == "/sparql" else {}
    return requests.get(
        instance.url + real(instance, path),
        params=iri | graph | query,
        headers=headers,
        timeout=240,
        allow_redirects=False,
    )


def test_the_document_is_openapi_3_1() -> None:
    """Generators of clients and test tools read it."""
    validator = jsonschema.Draft202012Validator(OPENAPI_31)
    assert [f"{error.json_path}: {error.message[:200]}" for error in validator.iter_errors(DOCUMENT)] == []
    wrong = copy.deepcopy(DOCUMENT)
    wrong["paths"]["/status"]["get"]["responses"]["200"]["contents"] = {}
    assert list(validator.iter_errors(wrong))


def test_every_route_is_described_and_none_invented() -> None:
    """A route that nobody knows is not used, and one that is not there is asked for in vain."""
    assert set(DOCUMENT["paths"]) == (routes() - FOR_PEOPLE) | ASGI


def test_operations_are_named_apart_and_stand_on_the_page() -> None:
    """Generated clients have a function for each; a tag without a group would hide what has it."""
    described = [operation for group in openapi.groups("http://127.0.0.1", {}) for operation in group.operations]
    assert len({operation.id for operation in described}) == len(described)
    assert len(described) == sum(method in item for item in DOCUMENT["paths"].values() for method in openapi.METHODS)


def test_every_reference_leads_somewhere_and_every_component_is_used() -> None:
    """What is written twice, and then once, leaves a rest."""
    text = json.dumps(DOCUMENT)
    used = set(re.findall(r'"#/components/(\w+/[\w-]+)"', text))
    there = {f"{kind}/{name}" for kind, items in DOCUMENT["components"].items() for name in items}
    assert used == there


def _examples(item: Any, path: str = "") -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Yield the place, the value and the schema of every example."""
    if isinstance(item, dict):
        if "schema" in item and "example" in item:
            yield path, item["example"], item["schema"]
        if "properties" in item:
            yield from ((path, example, item) for example in item.get("examples", ()))
        for key, value in item.items():
            yield from _examples(value, f"{path}/{key}")
    elif isinstance(item, list):
        for place, value in enumerate(item):
            yield from _examples(value, f"{path}/{place}")


def test_every_example_is_what_it_is_an_example_of() -> None:
    """People copy examples before they read."""
    found = list(_examples(DOCUMENT))
    assert len(found) > 10
    assert {place: wrong for place, value, schema in found if (wrong := problems(value, schema))} == {}


@pytest.mark.sampled(16)
@pytest.mark.parametrize("path", GETS)
def test_an_address_answers_as_described_in_every_type(instance: Harvested, path: str) -> None:
    """Statuses, media types and required headers; of JSON every field, and none that is not described."""
    operations = [operation for group in openapi.groups("", {}) for operation in group.operations]
    definition = next(each for each in operations if (each.path, each.method) == (path, "GET")).definition
    types = list(definition["responses"].get("200", {}).get("content", {})) or ["*/*"]
    if path in ("/sparql", "/exports/{file}", "/resourcesync/{name}/{document}"):
        types = types[:1]  # by the kind of query, and by the file
    if path == "/documents/{hash}":
        assert ask(instance, path, Accept="application/n-quads").status_code == 200
    for media_type in types:
        answer = ask(instance, path, Accept=media_type)
        status = "200" if media_type != "*/*" else "303"
        assert str(answer.status_code) == status, (media_type, answer.text)
        response = definition["responses"][status]
        missing = [name for name, header in response["headers"].items() if header.get("required")]
        assert all(name in answer.headers for name in missing)
        if media_type == "*/*":
            continue
        assert answer.headers["Content-Type"].split(";")[0] == media_type
        schema = response["content"][media_type].get("schema")
        if schema is not None and path != "/openapi.json":
            assert problems(answer.json(), schema) == []


def test_the_records_of_seeds_entries_and_clean_documents_are_as_described(instance: Harvested) -> None:
    """One address, four kinds of record."""
    record = {"$ref": "#/components/schemas/Record"}
    seed = requests.get(f"{instance.url}/documents/{instance.seed}.json", timeout=240).json()
    clean = requests.get(f"{instance.url}/documents/{instance.clean}.json", timeout=240).json()
    entry = requests.get(f"{instance.url}/documents/{clean['dirty']}.json", timeout=240).json()
    assert [found["type"] for found in (seed, clean, entry)] == ["seed", "clean", "entry"]
    assert entry["problems"]
    for found in (seed, clean, entry):
        assert problems(found, record) == []
    assert problems({**seed, "surprise": 1}, record)


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/nowhere", 404),
        ("/providers/none", 404),
        ("/documents/?page=0", 400),
        ("/entity?iri=none", 400),
        ("/entity?iri=http://x/nothing&format=ttl", 404),
        ("/graphs", 400),
        ("/graph/none", 404),
        ("/sparql?query=nothing", 400),
        ("/sparql?query=INSERT+DATA+{}", 400),
        ("/sparql?update=INSERT+DATA+{}", 403),
        (f"/sparql?query={ENDLESS}&timeout=0.2", 503),
    ],
)
def test_an_error_has_one_form_everywhere(instance: Harvested, path: str, status: int) -> None:
    """Whichever part of the front says it."""
    answer = requests.get(instance.url + path, headers={"Accept": "application/json"}, timeout=240)
    assert answer.status_code == status
    assert problems(answer.json(), {"$ref": "#/components/schemas/Error"}) == []
    assert answer.json()["status"] == status
    assert answer.json()["retriable"] is ("Retry-After" in answer.headers) is (status == 503)


def test_the_instance_serves_the_document_with_its_own_address(instance: Harvested) -> None:
    """A client made from it asks here."""
    answer = requests.get(f"{instance.url}/openapi.json", timeout=240)
    assert answer.json() == openapi.document(instance.url, "SPARQL Harvest")
    assert answer.json()["servers"] == [{"url": instance.url}]
    assert requests.get(answer.url, headers={"If-None-Match": answer.headers["ETag"]}, timeout=240).status_code == 304


def test_every_line_of_the_api_page_runs(instance: Harvested) -> None:
    """The examples on the page are of what this instance has."""
    require("curl")
    page = requests.get(f"{instance.url}/api", headers={"Accept": "text/html"}, timeout=240).text
    lines = [html.unescape(line) for line in re.findall(r"<pre[^>]*>(.*?)</pre>", page, re.DOTALL)]
    assert len(lines) == sum(len(group.operations) for group in openapi.groups("", {}))
    statuses = {}
    for line in lines:
        words = shlex.split(line)
        assert words[0] == "curl"
        done = subprocess.run(
            [*words, "--silent", "--output", os.devnull, "--write-out", "%{http_code}"],
            capture_output=True,
            text=True,
            timeout=240,
            check=True,
        )
        statuses[line] = done.stdout
    # The seed of the instance is an archive, which is no clean document itself.
    refused = [statuses.pop(line) for line in list(statuses) if "Bearer TOKEN" in line]
    assert refused == ["403", "403"]  # of the operator alone, whose token the page does not know
    odd = {line.rsplit("/", 1)[1]: status for line, status in statuses.items() if status != "200"}
    assert odd.pop("resourcesync'") == "303"
    assert list(odd.values()) == ["404"] and all(name.endswith(".nq'") for name in odd)


def test_every_anchor_of_the_api_page_is_there(instance: Harvested) -> None:
    """Types lead to what they are made of."""
    page = requests.get(f"{instance.url}/api", timeout=240).text
    there = re.findall(r' id="([^"]+)"', page)
    assert len(there) == len(set(there))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(there)


@pytest.mark.long
@pytest.mark.timeout(1000)
def test_schemathesis_finds_nothing(instance: Harvested, tmp_path: Path) -> None:
    """Requests that the document allows and that it forbids, in every way that a tool can think of; some 20 s."""
    document = openapi.document(instance.url, "Test")
    document = copy.deepcopy(document)
    for name, value in (("name", "p"), ("hash", instance.clean)):
        document["components"]["parameters"][name]["example"] = value
    document["paths"]["/content/{sha256}"]["get"]["parameters"][0]["example"] = instance.content
    document["paths"]["/graph/{name}"]["get"]["parameters"][0]["example"] = "p"
    (tmp_path / "openapi.json").write_text(json.dumps(document), "utf-8")
    done = subprocess.run(
        [
            str(Path(sys.executable).with_name("schemathesis")),
            "--config-file",
            str(HERE / "schemathesis.toml"),
            "run",
            str(tmp_path / "openapi.json"),
            "--url",
            instance.url,
            "--no-color",
        ],
        cwd=tmp_path,
        env={**os.environ, "SCHEMATHESIS_HOOKS": "tests.schemathesis_formats", "PYTHONPATH": str(HERE.parent)},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-20000:] + done.stderr[-2000:]
    assert "0 failed" not in done.stdout
    assert int(re.findall(r"(\d+) generated", done.stdout)[0]) > 300
