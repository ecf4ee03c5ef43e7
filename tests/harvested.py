"""A whole instance with something of everything in it, and its web front on loopback; nothing harvests meanwhile."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from harvest.config.loader import load_settings
from harvest.service.serve import Front
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_semantics import A1, A2, B1, C1, release, ttl
from tests.ports import free_port
from tests.provider import serving

LABEL = '<http://x/a> <http://www.w3.org/2000/01/rdf-schema#label> "Stra\\u00DFe"@de'
TYPE = "<http://x/a> a <http://x/Thing>"


@dataclass(frozen=True, slots=True)
class Harvested:
    """
    What a test may ask for.

    Attributes:
        url: Address of the front; graphs are below it.
        folder: Of the instance.
        seed: Hash of a seed that is an archive.
        download: Hash of its download.
        clean: Hash of a clean document.
        content: Digest of filed bytes.
    """

    url: str
    folder: Path
    seed: str
    download: str
    clean: str
    content: str


@contextmanager
def harvested(folder: Path) -> Iterator[Harvested]:
    """
    Serve an instance with the providers `p` (three versions), `bad` (fails) and `new` (never harvested), and two seeds.
    """
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    file = folder / "harvest.yaml"
    file.write_text(
        f"base_url: {url}\nbind: 127.0.0.1:{port}\ngraph_base: {url}/graph/\ndata_dir: var\nexports_dir: exports\n"
        "http: {allow_loopback: true}\nquery: {workers: 2, timeout_s: 5}\n"
    )
    found = _filled(folder, url)
    front = Front(load_settings(file, {}))
    front.start()
    try:
        yield found
    finally:
        front.stop()


def _filled(folder: Path, url: str) -> Harvested:
    instance = TemporaryInstance(folder)
    instance.settings = replace(instance.settings, base_url=url, graph_base=f"{url}/graph/")
    try:
        with serving() as provider:
            instance.register(
                f"p:\n  void: {provider.url}/void.ttl\n  removals: mirror\nbad:\n  void: {provider.url}/none.ttl\n"
                f"new:\n  void: {provider.url}/later.ttl\n"
            )
            for day, triples in enumerate(((A1, B1), (A2, B1, LABEL, TYPE), (A2, C1, LABEL, TYPE)), start=1):
                release(provider, day, *triples)
                instance.tick("p")
            instance.tick("bad")
            provider.put("/a.zip", _archive(), "application/zip")
            [(seed, _), _] = instance.harvester.instance.ledger.seeds.add_all(
                [f"{provider.url}/a.zip", f"{provider.url}/gone.nt"], instance.clock(), 86400.0
            )
            instance.harvester.seeding.run([])
            instance.harvester.seeding.load(seed)
            instance.harvester.export()
        documents = instance.harvester.instance.ledger.documents
        [download] = documents.of_seed(seed)
        [clean] = [entry.clean for entry in documents.entries(download.hash, 10, 0) if entry.clean]
        assert download.sha256 is not None
        return Harvested(url, folder, seed, download.hash, clean, download.sha256)
    finally:
        instance.close()


def _archive() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("good.ttl", ttl(A1, B1) + "this is no statement .\n" + ttl(C1))
        archive.writestr("picture.txt", "no RDF at all")
    return packed.getvalue()
