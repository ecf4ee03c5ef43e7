"""The event stream of a real instance, over HTTP: walked by its relations, as a client of TREE does."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
from rdflib import Dataset, Literal, Namespace, URIRef
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID as DEFAULT
from rdflib.namespace import DCTERMS, PROV, RDF

from sparql.web import ldes
from sparql.web.stream_reading import StreamChange, changed
from tests.harvested import Harvested, harvested

TREE, LDES, AS = Namespace(ldes.TREE), Namespace(ldes.LDES), Namespace(ldes.ACTIVITY)
Statements = frozenset[tuple[str, str, str]]


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Harvested]:
    with harvested(tmp_path_factory.mktemp("instance")) as served:
        yield served


def get(url: str, **headers: str) -> requests.Response:
    answer = requests.get(url, headers=headers, timeout=240)
    assert answer.status_code in (200, 304), answer.text
    return answer


def walked(url: str) -> Dataset:
    """All pages that a view leads to, as one dataset."""
    every, waiting, seen = Dataset(), [url], {url}
    while waiting:
        page = Dataset().parse(data=get(waiting.pop()).text, format="nquads")
        every.addN((s, p, o, every.graph(g)) for s, p, o, g in page.quads())
        for node in page.graph(DEFAULT).objects(None, TREE.node):
            if str(node) not in seen:
                seen.add(str(node))
                waiting.append(str(node))
    return every


def members(stream: Dataset) -> Iterator[tuple[str, str, str, Statements]]:
    """Time, entity, kind and statements of each member."""
    default = stream.graph(DEFAULT)
    [source] = default.subjects(RDF.type, LDES.EventStream)
    assert set(default.objects(source, LDES.timestampPath)) == {PROV.generatedAtTime}
    assert set(default.objects(source, LDES.versionOfPath)) == {DCTERMS.isVersionOf}
    for member in default.objects(source, TREE.member):
        assert isinstance(member, URIRef)
        [entity] = default.objects(member, DCTERMS.isVersionOf)
        [at] = default.objects(member, PROV.generatedAtTime)
        [kind] = default.objects(member, RDF.type)
        assert isinstance(at, Literal)
        said = frozenset((s.n3(), p.n3(), o.n3()) for s, p, o in stream.graph(member))
        assert {s for s, _, _ in said} <= {entity.n3()}
        yield str(at), str(entity), str(kind).removeprefix(ldes.ACTIVITY), said


def test_the_newest_members_are_the_graph(instance: Harvested) -> None:
    """After each version; what was removed is a deletion, what is new a creation."""
    found = sorted(members(walked(f"{instance.url}/providers/p/ldes")))
    times = sorted({at for at, *_ in found})
    assert len(times) == 3
    there: dict[str, Statements] = {}
    for n, time in enumerate(times, 1):
        for at, entity, kind, said in found:
            if at == time:
                assert kind == ("Delete" if not said else "Update" if there.get(entity) else "Create")
                there[entity] = said
        expected = Dataset().parse(data=get(f"{instance.url}/providers/p/versions/{n}.nq").text, format="nquads")
        lines = {(s.n3(), p.n3(), o.n3()) for s, p, o, _ in expected.quads()}
        assert {line for said in there.values() for line in said} == lines != set()


def test_pages_never_change(instance: Harvested) -> None:
    """They say so, have an ETag, and are the same in both formats; the stream itself is asked for again."""
    address = f"{instance.url}/providers/p/ldes"
    page = get(f"{address}/1/1")
    assert page.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert page.headers["Content-Type"] == "application/n-quads"
    trig = get(f"{address}/1/1", Accept="application/trig")
    assert (trig.headers["Content-Type"], trig.content) == ("application/trig", page.content)
    assert get(f"{address}/1/1", **{"If-None-Match": page.headers["ETag"]}).status_code == 304
    stream = get(address)
    assert stream.headers["Cache-Control"] == "no-cache"
    assert get(address, **{"If-None-Match": stream.headers["ETag"]}).status_code == 304
    assert requests.head(f"{address}/1/1", timeout=240).headers["ETag"] == page.headers["ETag"]


@pytest.mark.parametrize("path", ["0/1", "9/1", "1/0", "1/2", "from-1/1", "x/1", "1/x"])
def test_pages_that_are_not_there(instance: Harvested, path: str) -> None:
    """The answer is 404 with a reason."""
    answer = requests.get(f"{instance.url}/providers/p/ldes/{path}", timeout=240)
    assert answer.status_code == 404


def test_subjects_of_a_change_come_in_the_order_of_a_version(tmp_path: Path) -> None:
    """Removals stand before additions in a change; a name may begin another one."""
    file = tmp_path / "change.nqud.gz"
    lines = ["-<a> <p> <o> .", "-<c> <p> <o> .", "+<a-b> <p> <o> .", "+<a> <p> <n> .", "+<a> <p> <o2> ."]
    file.write_bytes(gzip.compress("\n".join(sorted(lines[:2]) + sorted(lines[2:])).encode() + b"\n"))
    assert list(changed(file)) == [
        StreamChange(b"<a-b> ", 1, 0),
        StreamChange(b"<a> ", 2, 1),
        StreamChange(b"<c> ", 0, 1),
    ]
