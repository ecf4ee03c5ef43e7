"""A registry provider's dumps go through the states of a seed, and are described like one."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable

from harvest.model import Status
from harvest.model.seeds import entry_hash, seed_hash
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.test_metadata import ask
from tests.pipeline.test_semantics import A1, B1, release, ttl
from tests.provider import ProviderServer

DumpRecords = Callable[..., None]


def test_a_dump_has_a_record_that_says_what_became_of_it(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """The provider can look its document up by the MD5 of its URL, as a seed's."""
    registered()
    release(provider, 1, A1, B1)
    instance.tick("p")
    ledger = instance.harvester.instance.ledger
    seed = ledger.seeds.get(seed_hash(provider.url + "/1.ttl"))
    assert seed is not None
    assert (seed.provider, seed.listed, seed.status) == ("p", False, "parsed")
    assert seed.processed == instance.clock.now
    record = ledger.documents.get(seed.download or "")
    assert record is not None
    assert (record.status, record.format, record.encoding, record.newline) == (Status.PARSED, "Turtle", "utf-8", "LF")
    assert (record.statements, record.dropped, record.lines, record.whole) == (2, 0, 2, True)
    assert record.sha256 == ledger.runs("p")[0].dumps[0].sha256
    assert [hop["status"] for hop in record.http] == [200]


def test_each_problem_is_a_row_and_a_fact(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """What was left out can be asked by SPARQL, with its place, although the harvest went on."""
    registered()
    good = ttl(*(f'<http://x/{n}> <http://p> "{n}"' for n in range(200)))
    provider.put("/1.ttl", good + "<http://x/bad> <http://p> ; .\n")
    provider.describe("/void.ttl", "2026-01-01T00:00:00Z", ["/1.ttl"])
    assert [result.outcome.value for result in instance.tick("p")] == ["committed"]
    found = ask(
        instance,
        "SELECT ?kind ?line { ?d harvest:problem [ harvest:kind ?kind ; harvest:line ?line ] }",
    )
    assert found == [("syntax", "201")]
    run = instance.harvester.instance.ledger.runs("p")[0]
    assert [(finding.kind, finding.line) for finding in run.findings] == [("syntax", 201), ("lost", None)]


def test_a_dump_that_cannot_be_had_says_why(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """Its state stays `downloading`, with what the server answered."""
    registered()
    provider.describe("/void.ttl", "2026-01-01T00:00:00Z", ["/gone.ttl"])
    instance.tick("p")
    documents, seeds = instance.harvester.instance.ledger.documents, instance.harvester.instance.ledger.seeds
    seed = seeds.get(seed_hash(provider.url + "/gone.ttl"))
    assert seed is not None
    assert seed.status == "downloading"
    (problem,) = documents.problems(seed.download or "")
    assert problem.kind == "download"
    assert "404" in problem.message
    record = documents.get(seed.download or "")
    assert record is not None
    assert [hop["status"] for hop in record.http] == [404]


def test_the_entries_of_an_archive_have_records_of_their_own(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """A dump may be a zip of many files, one of which is at fault."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.ttl", ttl(A1))
        archive.writestr("b/b.ttl", ttl(B1))
        archive.writestr("readme", "Words.")
    registered()
    provider.put("/1.zip", packed.getvalue(), "application/zip")
    provider.describe("/void.ttl", "2026-01-01T00:00:00Z", ["/1.zip"])
    assert [result.outcome.value for result in instance.tick("p")] == ["committed"]
    assert instance.graph("p") == {A1, B1}
    ledger = instance.harvester.instance.ledger
    seed = ledger.seeds.get(seed_hash(provider.url + "/1.zip"))
    assert seed is not None
    assert seed.download is not None
    assert seed.status == "depleted"
    entries = {entry.name: entry for entry in ledger.documents.entries(seed.download)}
    assert {name: entry.status for name, entry in entries.items()} == {
        "a.ttl": "parsed",
        "b/b.ttl": "parsed",
        "readme": "guessing",
    }
    assert entries["a.ttl"].hash == entry_hash(seed.download, "a.ttl")


def test_an_unchanged_provider_adds_no_record(
    instance: TemporaryInstance, provider: ProviderServer, registered: DumpRecords
) -> None:
    """A tick without news must not write anything anywhere."""
    registered()
    release(provider, 1, A1)
    instance.tick("p")
    ledger = instance.harvester.instance.ledger
    before = len(ledger.documents.of_seed(seed_hash(provider.url + "/1.ttl")))
    instance.clock.forward(hours=1)
    instance.tick("p")
    assert len(ledger.documents.of_seed(seed_hash(provider.url + "/1.ttl"))) == before == 1
