"""
The literal algorithm of the GeoLink document, end to end, as the peer of the delta.

Download, wash, list the subjects, delete all their triples by SPARQL, insert those of the input by SPARQL, publish.
Download, washing and publication are our own, so only the two ways of writing differ.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.instance import settings_in
from bench.measure import Sample, clocked
from bench.provider import catalogue
from harvest.fetch.client import Client
from harvest.model import Document, Snapshot
from harvest.revise import lines
from harvest.wash import process
from harvest.wash.canonical import Washed, wash
from sparql.store.base import Store, StoreChange
from sparql.store.embedded import EmbeddedStore
from sparql.store.generations import Generations

_MASK = 0xFFFFFFFFFFFFFFFF


class Twin:
    """
    A store beside an instance that is given the same dumps, and takes them literally.

    Attributes:
        store: What is written.
        graph: The graph in it.
    """

    def __init__(self, folder: Path, name: str, client: Client) -> None:
        settings = settings_in(folder)
        self.store: Store = EmbeddedStore(folder / "store")
        self.graph = settings.graph(name)
        self._generations = Generations(folder / "store")
        self._memory = settings.wash.memory
        self._folder = folder
        self._client = client

    def begin(self, url: str) -> None:
        """Load the first dump, quickly."""
        with TemporaryDirectory(dir=self._folder) as room:
            snapshot = self._washed(url, Path(room))
            self.store.apply(self.graph, StoreChange(None, snapshot.path, 0, snapshot.triples))
        self._generations.publish(self.store)

    def replace(self, url: str) -> Sample:
        """Replace every subject of the dump."""
        began = [("fetch and wash", time.monotonic())]
        with TemporaryDirectory(dir=self._folder) as room, clocked() as sample:
            snapshot = self._washed(url, Path(room))
            began.append(("replace", time.monotonic()))
            subjects = (subject[1:-1].decode() for subject in lines.subjects(snapshot.path))
            self.store.replace_subjects(self.graph, subjects, snapshot.path)
            began.append(("publish", time.monotonic()))
            self._generations.publish(self.store)
        ended = [*(start for _, start in began[1:]), time.monotonic()]
        sample.steps = {name: end - start for (name, start), end in zip(began, ended, strict=True)}
        return sample

    def _washed(self, url: str, room: Path) -> Snapshot:
        fetched = self._client.get(url, into=room)
        assert fetched.path is not None
        document = Document(fetched.path, url, fetched.capture.media_type, dataset=catalogue(url))
        washed: Washed = process.call(
            wash, process.Bounds(3600, url), [document], self.graph, room / "input.nq", self._memory
        )
        return washed.snapshot


@contextmanager
def twin(folder: Path, name: str) -> Iterator[Twin]:
    """A twin that keeps everything in `folder`, which is made; closed with the block."""
    folder.mkdir()
    settings = settings_in(folder)
    with Client(settings.http, settings.base_url) as client:
        made = Twin(folder, name, client)
        try:
            yield made
        finally:
            made.store.close()


def fingerprint(statements: Iterable[bytes]) -> tuple[int, int]:
    """How many lines there are, and a sum over them that depends on each and not on their order."""
    count, total = 0, 0
    for line in statements:
        count += 1
        total = total + int.from_bytes(blake2b(line, digest_size=8).digest(), "little") & _MASK
    return count, total
