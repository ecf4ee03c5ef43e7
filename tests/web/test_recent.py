"""Answers from memory: the same to the byte, of the current data alone, and nothing that must not be repeated."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest
import requests

from sparql.cache.edition import Editions
from sparql.cache.recent import BOUND, LARGEST, Recent, Reply
from sparql.worker.limits import QueryLimits
from tests.query.stores import PublishedStore, items
from tests.web.instance import Server, serve

LOOKUP = "SELECT ?p ?o { <http://example.org/item/7> ?p ?o }"


@pytest.fixture
def published(tmp_path: Path) -> PublishedStore:
    published = PublishedStore(tmp_path / "store")
    published.add(items(100))
    return published


@pytest.fixture
def front(folder: Path, published: PublishedStore) -> Iterator[Server]:
    server = serve(folder, published.root, QueryLimits(workers=1, timeout_s=20, wait_s=240, cache_bytes=1 << 30))
    yield server
    server.stop()


def get(front: Server, query: str, method: str = "GET", **headers: str) -> requests.Response:
    return requests.request(method, f"{front.url}/sparql", params={"query": query}, headers=headers, timeout=240)


def test_a_lookup_is_remembered_as_it_was(front: Server) -> None:
    """Headers and body are those of the first answer; only `X-Cache` says which it is."""
    first, again = get(front, LOOKUP), get(front, LOOKUP)
    assert (first.headers["X-Cache"], again.headers["X-Cache"]) == ("miss", "hit")
    assert first.content == again.content
    for name in ("Content-Type", "ETag", "Cache-Control", "Vary", "Content-Length"):
        assert first.headers[name] == again.headers[name]


def test_another_format_is_another_answer(front: Server) -> None:
    """What is remembered for one Accept header must not be given to another."""
    assert get(front, LOOKUP, Accept="text/csv").text.startswith("p,o\r\n")
    assert get(front, LOOKUP, Accept="application/sparql-results+xml").text.startswith("<?xml")
    assert get(front, LOOKUP, Accept="text/csv").text.startswith("p,o\r\n")


def test_headers_in_pieces_are_not_taken_for_another(front: Server) -> None:
    """Two Accept headers, `text/c` and `sv`, are not `text/csv`: who asks for that must not get the answer to those."""
    address = urlsplit(front.url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port or 0, timeout=240)
    connection.putrequest("GET", f"/sparql?{urlencode({'query': LOOKUP})}")
    for piece in ("text/c", "sv, */*;q=0.1"):
        connection.putheader("Accept", piece)
    connection.endheaders()
    assert connection.getresponse().getheader("Content-Type") == "application/sparql-results+json"
    connection.close()
    assert get(front, LOOKUP, Accept="text/csv, */*;q=0.1").headers["Content-Type"].startswith("text/csv")


def test_a_new_generation_is_answered_anew(front: Server, published: PublishedStore) -> None:
    """The right answer always: a harvest that is done is seen by the next request."""
    count = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"
    assert {get(front, count, Accept="text/csv").text for _ in range(3)} == {"n\r\n300\r\n"}
    published.add(items(100, first=100))
    assert {get(front, count, Accept="text/csv").text for _ in range(3)} == {"n\r\n600\r\n"}


def test_what_is_another_one_each_time_is_not_remembered(front: Server) -> None:
    """RAND, NOW and UUID."""
    answers = {get(front, "SELECT (UUID() AS ?id) {}").text for _ in range(3)}
    assert len(answers) == 3


def test_errors_are_not_remembered(front: Server) -> None:
    """An error may be of the moment, so that the next request is answered anew."""
    assert [get(front, "SELECT nonsense").status_code for _ in range(2)] == [400, 400]
    assert "X-Cache" not in get(front, "SELECT nonsense").headers


def test_a_conditional_request_is_answered_with_304_and_a_head_without_a_body(front: Server) -> None:
    """Conditions and HEAD hold for a remembered answer too."""
    first = get(front, LOOKUP)
    get(front, LOOKUP)
    assert get(front, LOOKUP, **{"If-None-Match": first.headers["ETag"]}).status_code == 304
    head = get(front, LOOKUP, method="HEAD")
    assert (head.status_code, head.content) == (200, b"")


def test_memory_is_bounded(published: PublishedStore) -> None:
    """However many queries come; the last ones stay, and what is large is not taken at all."""
    editions = Editions(published.root)
    recent, edition = Recent(editions), editions.current()
    assert edition is not None
    body = b"x" * LARGEST
    count = 3 * BOUND // LARGEST
    for number in range(count):
        recent.keep("", b"%d" % number, Reply([], body), edition)
    kept = [number for number in range(count) if recent.find("", b"%d" % number, edition)]
    assert kept == list(range(kept[0], count))
    assert BOUND // 2 < len(kept) * LARGEST <= BOUND
    recent.keep("", b"large", Reply([], body + b"x"), edition)
    assert recent.find("", b"large", edition) is None


def test_an_answer_of_data_that_are_gone_is_not_taken(published: PublishedStore) -> None:
    """A slow answer may come when the next generation is there already."""
    editions = Editions(published.root)
    recent, before = Recent(editions), editions.current()
    assert before is not None
    published.add(items(10, first=500))
    recent.keep("", b"query", Reply([], b"old"), before)
    assert recent.find("", b"query", before) is None
