"""
Clients that ask one query after another, each from a loopback address of its own.

Nine in ten of their queries are cheap and are checked to the item they are about. The tenth is pathological: nobody
expects its answer, only that it takes nothing from the others.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from random import Random
from urllib.parse import quote, urlsplit

from bench.asking import JSON

PATIENCE_S = 60.0
"""Longer than any limit of the server: what takes longer hangs."""

_ITEM = "http://data.example.org/c/item/{item}"
_DC = "http://purl.org/dc/terms/"
_LABEL = "http://www.w3.org/2000/01/rdf-schema#label"

CHEAP = (
    f"SELECT ?p ?o {{{{ <{_ITEM}> ?p ?o }}}}",
    f"SELECT ?label ?day {{{{ <{_ITEM}> <{_LABEL}> ?label ; <{_DC}issued> ?day }}}}",
    f"SELECT ?label ?kind {{{{ <{_ITEM}> <{_DC}isPartOf> ?part ; a ?kind ; <{_LABEL}> ?label }}}}",
)
"""Each gives the label of its item."""

PATHOLOGICAL = {
    "cross product": "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . FILTER (STR(?c) < STR(?f)) }",
    "cross product, streamed": f"SELECT * {{ ?a <{_LABEL}> ?b . ?c <{_LABEL}> ?d }}",
    "huge ORDER BY": f"SELECT * {{ ?s ?p ?o . ?s <{_DC}isPartOf> ?c . ?t <{_DC}isPartOf> ?c }} ORDER BY DESC(?o) ?t",
    "regex over everything": "SELECT (COUNT(*) AS ?n) { ?s ?p ?o . ?t ?q ?r "
    'FILTER regex(STR(?o), "(v|e|w)*.*ed.*9$", "i") }',
    "endless path": f"SELECT (COUNT(*) AS ?n) {{ ?s (<{_DC}isPartOf>|^<{_DC}isPartOf>|<{_DC}creator>)* ?o }}",
    "path over all but one": "SELECT (COUNT(*) AS ?n) { ?s (!<urn:x>|^!<urn:x>)+ ?o }",
}

REFUSALS = (413, 429, 503, 504)
"""What a pathological query may be answered with beside 200."""


@dataclass(slots=True)
class Tally:
    """
    What came of the queries.

    Attributes:
        cheap_s: Seconds of each cheap one that had its right answer.
        failed: Why cheap ones had none, and how many.
        heavy: What pathological ones were answered with, and how many.
        heavy_s: Seconds of each pathological one.
    """

    cheap_s: list[float] = field(default_factory=list)
    failed: Counter[str] = field(default_factory=Counter)
    heavy: Counter[str] = field(default_factory=Counter)
    heavy_s: list[float] = field(default_factory=list)

    @property
    def p99_s(self) -> float:
        """The seconds that one cheap query in a hundred exceeded; 0 when there was no cheap query."""
        ordered = sorted(self.cheap_s)
        return ordered[int(len(ordered) * 0.99)] if ordered else 0.0


@dataclass(frozen=True, slots=True)
class Crowd:
    """
    Who asks what.

    Attributes:
        url: Where queries are answered.
        items: Items in the data.
        shares: Of the queries of each client, how many are pathological, from 0 to 1.
        seed: Decides which queries are asked: another crowd must not ask what this one has had answered.
    """

    url: str
    items: int
    shares: tuple[float, ...]
    seed: int

    def ask(self, seconds: float) -> Tally:
        """All clients ask for some seconds; then they go away, whatever they wait for."""
        return asyncio.run(self._ask(seconds))

    async def _ask(self, seconds: float) -> Tally:
        tally = Tally()
        clients = [_Client(self, number, tally) for number in range(len(self.shares))]
        tasks = [asyncio.create_task(client.live(time.monotonic() + seconds)) for client in clients]
        await asyncio.wait(tasks, timeout=seconds)
        # Cheap queries get the time to be answered; one that is not has failed.
        waiting = [task for task, client in zip(tasks, clients, strict=True) if client.cheap and not task.done()]
        if waiting:
            await asyncio.wait(waiting, timeout=PATIENCE_S)
        for task in tasks:
            task.cancel()
        for found in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(found, Exception):
                raise found
        return tally


class _Client:
    def __init__(self, crowd: Crowd, number: int, tally: Tally) -> None:
        self._crowd = crowd
        self._tally = tally
        self._random = Random(f"{crowd.seed} {number}")
        self._share = crowd.shares[number]
        self._address = f"127.0.0.{number + 2}"
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self.cheap = False

    async def live(self, end: float) -> None:
        """Ask until `end`."""
        try:
            while time.monotonic() < end:
                if self._random.random() < self._share:
                    await self._pathological()
                else:
                    self.cheap = True
                    await self._cheap()
                    self.cheap = False
        finally:
            self._leave()

    async def _cheap(self) -> None:
        number = self._random.randrange(self._crowd.items)
        query = self._random.choice(CHEAP).format(item=f"{number:08d}")
        began = time.monotonic()
        status, body = await self._answer(query)
        if status == "200" and f"number {number}, edition".encode() in body and body.endswith(b"]}}"):
            self._tally.cheap_s.append(time.monotonic() - began)
        else:
            self._tally.failed[status if status != "200" else "200 with other contents"] += 1

    async def _pathological(self) -> None:
        name, query = self._random.choice(list(PATHOLOGICAL.items()))
        # Another text each time, so that none is answered from the cache or by another's answer.
        query = f"{query} # {self._random.getrandbits(64):x}"
        began = time.monotonic()
        status, _ = await self._answer(query, keep=False)
        self._tally.heavy[f"{name}: {status}"] += 1
        self._tally.heavy_s.append(time.monotonic() - began)

    async def _answer(self, query: str, keep: bool = True) -> tuple[str, bytes]:
        """The status, or why there is none, and the body."""
        try:
            async with asyncio.timeout(PATIENCE_S):
                return await self._exchange(query, keep)
        except TimeoutError:
            self._leave()
            return f"no answer in {PATIENCE_S:g} s", b""
        except (OSError, EOFError, ValueError) as error:
            self._leave()
            return f"broken off, {type(error).__name__}", b""

    async def _exchange(self, query: str, keep: bool) -> tuple[str, bytes]:
        parts = urlsplit(self._crowd.url)
        if self._streams is None:
            self._streams = await asyncio.open_connection(
                parts.hostname, parts.port, local_addr=(self._address, 0), limit=1 << 20
            )
        reader, writer = self._streams
        head = f"GET {parts.path}?query={quote(query)} HTTP/1.1\r\nHost: {parts.netloc}\r\nAccept: {JSON}\r\n\r\n"
        writer.write(head.encode())
        answer = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        status = answer.split(" ", 2)[1]
        length = next((line[15:] for line in answer.split("\r\n") if line.startswith("content-length:")), None)
        if length is not None:
            return status, await reader.readexactly(int(length))
        return status, await _chunks(reader, keep)

    def _leave(self) -> None:
        if self._streams is not None:
            self._streams[1].transport.abort()
            self._streams = None


async def _chunks(reader: asyncio.StreamReader, keep: bool) -> bytes:
    kept: list[bytes] = []
    while size := int(await reader.readuntil(b"\r\n"), 16):
        chunk = await reader.readexactly(size + 2)
        if keep:
            kept.append(chunk[:-2])
    await reader.readexactly(2)
    return b"".join(kept)


def share(counts: Counter[str]) -> str:
    """Counts for people, the most frequent first."""
    return ", ".join(f"{name} {number}" for name, number in counts.most_common()) or "none"


def unexpected(counts: Iterable[str]) -> list[str]:
    """Answers to pathological queries that are neither results nor refusals."""
    known = {"200", *map(str, REFUSALS)}
    return [name for name in counts if name.rpartition(": ")[2] not in known and "broken off" not in name]
