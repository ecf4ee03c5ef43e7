"""A snapshot is sorted, unique and counted, whatever comes in, and a failure leaves nothing behind."""

from __future__ import annotations

import gzip
import hashlib
import io
import random
import resource
import shutil
import warnings
import zipfile
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pyoxigraph
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harvest.errors import StorageError
from harvest.model import Document, Snapshot
from harvest.wash import process, sorting
from harvest.wash.canonical import Washed, wash
from harvest.wash.launder import launder
from harvest.wash.leaves import Terms
from harvest.wash.unpacking.volume import Volume
from tests.realdata import realdata
from tests.wash.documents import BASE, document

GRAPH = "http://example.org/graph/a"
MEMORY = 64 << 20
LINES = [f'<http://example.org/{n}> <http://example.org/p> "{n * 7919 % 1000}" .\n' for n in range(2000)]


def in_graph(line: str) -> bytes:
    """A line of N-Triples as one of N-Quads."""
    return f"{line[:-3]} <{GRAPH}> .\n".encode()


def washed(folder: Path, *sources: Document, memory: int = MEMORY) -> Washed:
    """Wash in a folder of its own, and see to it that the snapshot is right and stands there alone."""
    room = folder / "room"
    room.mkdir()
    done = wash(sources, GRAPH, room / "snapshot.nq", memory)
    assert [path.name for path in room.iterdir()] == ["snapshot.nq"]
    check(done.snapshot)
    return done


def check(snapshot: Snapshot) -> None:
    """A snapshot is what `Snapshot` says of it."""
    data = snapshot.path.read_bytes()
    lines = data.splitlines(keepends=True)
    assert lines == sorted(set(lines))
    assert all(line.endswith(f" <{GRAPH}> .\n".encode()) for line in lines)
    assert snapshot.triples == len(lines)
    assert snapshot.digest == hashlib.sha256(data).hexdigest()


def fails(folder: Path, kind: type[Exception], *sources: Document) -> Exception:
    """The error of washing that fails; nothing is left."""
    room = folder / "room"
    room.mkdir(exist_ok=True)
    with pytest.raises(kind) as caught:
        wash(sources, GRAPH, room / "snapshot.nq", MEMORY)
    assert list(room.iterdir()) == []
    return caught.value


def test_a_snapshot_holds_every_line_once_in_order(tmp_path: Path) -> None:
    """Sorted by bytes, in the provider's graph, with the count and the digest of what is in the file."""
    shuffled = random.Random(1).sample(LINES, len(LINES))
    done = washed(tmp_path, document(tmp_path, "".join(shuffled + shuffled[:500]).encode(), "a.nt"))
    assert done.snapshot.path.read_bytes() == b"".join(sorted(map(in_graph, LINES)))
    assert [[part.format for part in its] for its in done.documents] == [["N-Triples"]]
    assert done.blank_nodes == 0


def test_several_documents_are_one_input(tmp_path: Path) -> None:
    """What two dumps share stands once, whatever their formats and compressions."""
    one, other = "".join(LINES[:1500]).encode(), "".join(LINES[500:]).encode()
    turtle = pyoxigraph.serialize(
        pyoxigraph.parse(other, format=pyoxigraph.RdfFormat.N_TRIPLES), format=pyoxigraph.RdfFormat.TURTLE
    )
    assert turtle is not None
    sources = document(tmp_path, gzip.compress(one), "a.nt.gz"), document(tmp_path, turtle, "b.ttl")
    done = washed(tmp_path, *sources)
    assert done.snapshot.triples == len(LINES)
    assert [its[0].format for its in done.documents] == ["N-Triples", "Turtle"]


def test_the_same_statements_give_the_same_bytes(tmp_path: Path) -> None:
    """The digest names the version, so order, escapes and format must not show."""
    start = "<http://example.org/s> <http://example.org/p> "
    spellings = {
        "a.nt": start + '"caf\\u00E9\\u000A\\u0009"^^<http://www.w3.org/2001/XMLSchema#string>.\n',
        "a.ttl": "PREFIX : <http://example.org/> :s :p '''café\n\t''' .",
        "a.trig": f'GRAPH <http://elsewhere.example/> {{ {start} "café\\n\\t" }}',
    }
    digests = set()
    for name, data in spellings.items():
        folder = tmp_path / name
        folder.mkdir()
        digests.add(washed(folder, document(folder, data.encode(), name)).snapshot.digest)
    assert len(digests) == 1


def test_the_graph_of_the_document_gives_way_to_the_providers(tmp_path: Path) -> None:
    """The fourth term is always the provider's graph."""
    quads = "".join(line[:-2] + f"<http://elsewhere.example/{n % 3}> .\n" for n, line in enumerate(LINES))
    done = washed(tmp_path, document(tmp_path, quads.encode(), "a.nq"))
    assert done.snapshot.path.read_bytes() == b"".join(sorted(map(in_graph, LINES)))


def test_a_text_that_ends_like_a_statement_stays_as_it_is(tmp_path: Path) -> None:
    """The graph is put before the dot that ends the line, and before no other."""
    odd = [f"<http://example.org/s> <http://example.org/p> {text} .\n" for text in ('"a ."', '" .\\n"', '" .\\n ."')]
    done = washed(tmp_path, document(tmp_path, "".join(odd).encode(), "a.nt"))
    assert done.snapshot.path.read_bytes() == b"".join(sorted(map(in_graph, odd)))


def test_no_documents_and_empty_ones_give_an_empty_snapshot(tmp_path: Path) -> None:
    """What that means is for the pipeline to say."""
    for number, sources in enumerate(
        [[], [document(tmp_path, b"", "a.ttl")], [document(tmp_path, b"# none\n", "a.nt")]]
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        done = washed(folder, *sources)
        assert (done.snapshot.triples, done.snapshot.digest) == (0, hashlib.sha256(b"").hexdigest())


def test_blank_nodes_become_skolem_iris_of_the_graph(tmp_path: Path) -> None:
    """Nodes of two dumps that share a label are two nodes."""
    one = b"<http://example.org/s> <http://example.org/p> _:b .\n_:b <http://example.org/q> '1' .\n"
    done = washed(tmp_path, document(tmp_path, one, "a.ttl"), document(tmp_path, one.replace(b"'1'", b"'2'"), "b.ttl"))
    data = done.snapshot.path.read_bytes()
    assert done.blank_nodes == 2
    assert data.count(b"\n") == 4
    assert b"_:" not in data
    assert data.count(f"<{GRAPH}/.well-known/genid/".encode()) == 4


def test_every_release_that_parses_becomes_a_snapshot_of_the_expected_size(tmp_path: Path) -> None:
    """The counts of the real series, as EXPECTED-DIFFS.tsv has them."""
    rows = [line.split("\t") for line in (realdata() / "EXPECTED-DIFFS.tsv").read_text("utf-8").splitlines()[1:]]
    rows = [row for row in rows if row[1] != "BROKEN" and "periodo" not in row[0]]
    assert len(rows) > 40
    for number, row in enumerate(rows):
        folder = tmp_path / str(number)
        folder.mkdir()
        done = washed(folder, Document(realdata() / row[0], BASE + row[0]))
        assert done.snapshot.triples == int(row[1]), row[0]
        shutil.rmtree(folder)


lines = st.lists(
    st.builds(
        "<http://example.org/{}> <http://example.org/p> {} .\n".format,
        st.integers(0, 9),
        st.sampled_from(
            ['""', '"."', '" ."', '" .\\n"', '"é"', "<http://example.org/o>", '"a"@en', '"' + "x" * 50 + '"']
        ),
    ),
    max_size=20,
)


@given(lines, st.integers(1, 200))
@settings(max_examples=60)
def test_where_a_chunk_ends_makes_no_difference(said: list[str], chunk: int) -> None:
    """A chunk may end within a line, within its ending, or within a character."""
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as folder:
        patch.setattr(sorting, "_CHUNK", chunk)
        patch.setattr(sorting, "FEW", 0)
        done = washed(Path(folder), document(Path(folder), "".join(said).encode(), "a.nt"))
        assert done.snapshot.path.read_bytes() == b"".join(sorted(map(in_graph, set(said))))


def test_more_than_the_memory_holds_is_sorted_on_disk(tmp_path: Path) -> None:
    """With one MiB for sorting, twenty are spilled and merged, and the spills are gone afterwards."""
    number = 200_000
    order = random.Random(2).sample(range(number), number)
    data = "".join(
        f"<http://example.org/{n:06d}> <http://example.org/predicate> <http://example.org/object> .\n" for n in order
    )
    done = washed(tmp_path, document(tmp_path, data.encode(), "a.nt"), memory=1 << 20)
    assert done.snapshot.triples == number


BROKEN = b"<http://example.org/s> <http://example.org/p> ; .\n"


def test_what_is_broken_in_one_document_costs_the_others_nothing(tmp_path: Path) -> None:
    """The bad statement is left out and reported with its place; whether that is too much, the pipeline decides."""
    good = "".join(LINES).encode() + b"_:a <http://example.org/p> _:b .\n"
    sources = document(tmp_path, good + BROKEN, "broken.ttl"), document(tmp_path, good, "good.ttl")
    done = washed(tmp_path, *sources)
    (broken,), (whole,) = done.documents
    assert (broken.statements, broken.dropped, whole.dropped) == (len(LINES) + 1, 1, 0)
    assert [(p.kind, p.line, p.column) for p in broken.problems] == [("syntax", len(LINES) + 2, 47)]
    assert done.snapshot.triples == len(LINES) + 2


def test_each_part_of_an_archive_has_a_clean_document_of_its_own(tmp_path: Path) -> None:
    """A seed's clean documents are told apart by their graphs, and blank nodes of two entries never melt into one."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.ttl", "<http://example.org/s> <http://example.org/p> [] .")
        archive.writestr("b/b.ttl", "<http://example.org/s> <http://example.org/p> [] .")
        archive.writestr("readme.txt", "Nothing to see here, move along.")
    room = tmp_path / "room"
    room.mkdir()
    terms = Terms(Volume(), tmp_path)
    done = launder(document(tmp_path, packed.getvalue(), "a.zip"), "http://g/{}".format, room, MEMORY, terms)
    clean = {"/".join(part.names): part.clean for part in done}
    assert set(clean) == {"a.ttl", "b/b.ttl", "readme.txt", ""}
    assert clean["readme.txt"] is clean[""] is None
    one, other = clean["a.ttl"], clean["b/b.ttl"]
    assert one is not None
    assert other is not None
    assert one.path.read_bytes().endswith(b" <http://g/('a.ttl',)> .\n")
    assert not set(one.path.read_bytes().split()) & set(other.path.read_bytes().split()) - {
        b"<http://example.org/s>", b"<http://example.org/p>", b".",
    }  # fmt: skip
    assert sorted(path.name for path in room.iterdir()) == sorted([one.path.name, other.path.name])


def test_a_document_that_cannot_be_read_is_trouble_of_storage(tmp_path: Path) -> None:
    """The filed bytes are ours to keep; that they are gone is no fault of the provider."""
    error = fails(tmp_path, StorageError, Document(tmp_path / "gone", BASE + "gone.nt"))
    assert str(tmp_path / "gone") in str(error)


def test_a_folder_that_is_not_there_is_trouble_of_storage(tmp_path: Path) -> None:
    """The error is a StorageError, not a crash that nobody can read."""
    with pytest.raises(StorageError):
        wash([document(tmp_path, "".join(LINES).encode())], GRAPH, tmp_path / "none" / "snapshot.nq", MEMORY)


def wash_on_a_small_disk(sources: Sequence[Document], target: Path, limit_bytes: int) -> None:
    """Wash where no file can be larger than that."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, limit_bytes))
    wash(sources, GRAPH, target, 1 << 20)


@pytest.mark.parametrize(
    ("what", "count", "limit_bytes"),
    [
        ("http", 20_000, 1_500_000),  # the snapshot, after sorting went well
        ("http", 60_000, 100_000),  # what sort spills
        ("_", 20_000, 100_000),  # lines with blank nodes, before they get names
        ("_", 1_000, 60_000),  # and after
    ],
    ids=["snapshot", "sorting", "blank nodes", "skolem IRIs"],
)
def test_a_full_disk_is_trouble_of_storage(tmp_path: Path, what: str, count: int, limit_bytes: int) -> None:
    """It is retriable, says so, and leaves nothing that would fill the disk further."""
    term = "<http://example.org/{}>" if what == "http" else "_:b{}"
    data = "".join(
        f"{term.format(n * 7919 % count)} <http://example.org/p> <http://example.org/o> .\n" for n in range(count)
    )
    source = document(tmp_path, data.encode(), "a.nt")
    room = tmp_path / "room"
    room.mkdir()
    with pytest.raises(StorageError) as caught:
        process.call(wash_on_a_small_disk, process.Bounds(240, source.url), [source], room / "snapshot.nq", limit_bytes)
    assert caught.value.retriable
    assert list(room.iterdir()) == []


def test_entries_of_one_name_have_clean_documents_of_their_own(tmp_path: Path) -> None:
    """Also where the name that the second one gets is that of a third."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive, warnings.catch_warnings(action="ignore"):
        for number, name in enumerate(("a.nt", "a.nt", "a.nt (2)", "b.nt")):
            archive.writestr(name, f"<http://example.org/{number}> <http://example.org/p> <http://example.org/o> .\n")
    room = tmp_path / "room"
    room.mkdir()
    terms = Terms(Volume(), tmp_path)
    done = launder(document(tmp_path, packed.getvalue(), "a.zip"), "http://g/{}".format, room, MEMORY, terms)
    clean = [part.clean.path.read_bytes() for part in done if part.clean]
    assert len({part.names for part in done}) == 5
    assert [line.split(b"> ")[0] for line in clean] == [b"<http://example.org/%d" % number for number in range(4)]
