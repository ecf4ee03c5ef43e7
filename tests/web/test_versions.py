"""Pages of versions, and changes read by subject."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyoxigraph import NamedNode

from sparql.rdf import GENID
from sparql.web import changes, sections
from sparql.web.changes import LINES, SUBJECTS, ChangePage, Row, paired
from sparql.web.sections import Section, added_part, grouped, named_first, rank, removed_part
from sparql.web.terms import Value, value
from sparql.worker.limits import QueryLimits
from tests.query.stores import BASE, PublishedStore, items
from tests.web.instance import Server, serve
from tests.web.records import ENDED, RUN, file_records, provider, version
from tests.web.test_pages import HTML
from tests.web.test_pages import Page as Parsed

NAME = f"{BASE}name"
LONG = "word " * 400


def line(subject: int | str, predicate: str, literal: str) -> bytes:
    """A canonical line."""
    subject = (
        f"{BASE}{'a' + GENID if subject < 0 else 'item/'}{abs(subject):04}" if isinstance(subject, int) else subject
    )
    return f"<{subject}> <{predicate}> {literal} <{BASE}graph/a> .\n".encode()


def filed(folder: Path, removed: set[bytes], added: set[bytes]) -> Path:
    """A change, as it is filed."""
    path = folder / "change.nqud.gz"
    text = b"".join([*(b"-" + x for x in sorted(removed)), *(b"+" + x for x in sorted(added))])
    path.write_bytes(gzip.compress(text, 1))
    return path


def pages(path: Path) -> Iterator[ChangePage]:
    """Yield all pages of a change, in order."""
    page = changes.read(path)
    yield page
    while page.after is not None:
        page = changes.read(path, page.after)
        yield page


LINE = st.builds(line, st.integers(-150, 150), st.sampled_from([NAME, f"{BASE}x"]), st.sampled_from(['"a"', '"b"@en']))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.sets(LINE, max_size=400), st.sets(LINE, max_size=400), st.sampled_from([64, 300, 5000]))
def test_pages_hold_every_line_once_and_lead_back(
    tmp_path: Path, removed: set[bytes], added: set[bytes], size: int
) -> None:
    """Whatever the chunks cut, nothing is lost or shown twice, and the way back is the way there."""
    path = filed(tmp_path, removed, added)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sections, "CHUNK", size)
        all_pages = list(pages(path))
    subjects = [subject for page in all_pages for subject in page.subjects]
    names = [subject.iri for subject in subjects]
    every = sorted({x[1 : x.index(b">")].decode() for x in removed | added})
    assert names == [n for n in every if GENID not in n] + [n for n in every if GENID in n]
    assert sum(subject.removed for subject in subjects) == len(removed)
    assert sum(subject.added for subject in subjects) == len(added)
    assert sum(len([r for r in s.rows if r.old]) for s in subjects) == len(removed)
    assert sum(len([r for r in s.rows if r.new]) for s in subjects) == len(added)
    assert all_pages[0].before is None
    starts = ["", *(page.after for page in all_pages[:-1])]
    assert [page.before for page in all_pages[1:]] == starts[:-1]


@given(st.lists(LINE, unique=True), st.lists(LINE, unique=True))
def test_lines_are_grouped_as_a_dictionary_would(removed: list[bytes], added: list[bytes]) -> None:
    """The merge of two sorted series is held against the plain way."""

    def subject(x: bytes) -> bytes:
        return x[: x.index(b" ")]

    def of(lines: list[bytes], term: bytes) -> list[bytes]:
        return [x for x in sorted(lines) if x.startswith(term + b" ")]

    series = [
        [(subject(x), x) for x in sorted(lines, key=lambda x: (*rank(subject(x)), x))] for lines in (removed, added)
    ]
    found = [(term, list(gone), list(come)) for term, gone, come in grouped(*series)]
    terms = sorted({term for lines in series for term, _ in lines}, key=rank)
    assert found == [(term, of(removed, term), of(added, term)) for term in terms]


VALUES = st.builds(
    lambda text, language: Value("literal", text, language), st.sampled_from("abc"), st.sampled_from(["", "en", "nl"])
)
PROPERTIES = st.lists(st.tuples(st.sampled_from("pq"), VALUES), max_size=8)


@given(PROPERTIES, PROPERTIES)
def test_pairing_keeps_every_value_and_pairs_only_what_is_clear(
    removed: list[tuple[str, Value]], added: list[tuple[str, Value]]
) -> None:
    """A table that drops a value, or makes one of two, would be wrong about the data."""
    rows = paired(removed, added)
    assert Counter((r.predicate, r.old) for r in rows if r.old) == Counter(removed)
    assert Counter((r.predicate, r.new) for r in rows if r.new) == Counter(added)
    for predicate in "pq":
        gone = [v for p, v in removed if p == predicate]
        come = [v for p, v in added if p == predicate]
        if len(gone) == len(come) == 1:
            assert [r for r in rows if r.predicate == predicate] == [Row(predicate, gone[0], come[0])]


def test_values_of_one_language_stand_side_by_side() -> None:
    """A name that is corrected in two languages is two corrections, whatever their order."""
    old = [("p", Value("literal", "Zug", "de")), ("p", Value("literal", "tran", "en")), ("p", Value("iri", "http://x"))]
    new = [("p", Value("literal", "train", "en")), ("p", Value("literal", "Bahn", "de"))]
    rows = {(r.old and r.old.text, r.new and r.new.text) for r in paired(old, new)}
    assert rows == {("Zug", "Bahn"), ("tran", "train"), ("http://x", None)}


def test_a_subject_with_many_lines_is_bounded(tmp_path: Path) -> None:
    """What is not shown is counted, and the next subject is found."""
    many = {line(1, NAME, f'"{number}"') for number in range(LINES + 50)}
    (page,) = pages(filed(tmp_path, {line(0, NAME, '"a"')}, many | {line(2, NAME, '"b"')}))
    assert [subject.added for subject in page.subjects] == [0, LINES + 50, 1]
    assert [subject.hidden for subject in page.subjects] == [0, 50, 0]
    assert len(page.subjects[1].rows) == LINES


def test_blank_nodes_come_after_what_has_a_name(tmp_path: Path) -> None:
    """Wherever their IRIs stand in the order of the file; a reader knows what is named, and what leads to the rest."""
    blank = {
        line(f"{base}{GENID}{n}", NAME, '"x"') for base in ("http://a.example", "http://z.example") for n in (1, 2)
    }
    named = {line(subject, NAME, f'"{GENID}"') for subject in ("http://b.example/", "http://y.example/", "urn:z")}
    names = [subject.iri for page in pages(filed(tmp_path, blank, named)) for subject in page.subjects]
    assert names[:3] == ["http://b.example/", "http://y.example/", "urn:z"]
    assert [name[7:8] for name in names[3:]] == ["a", "a", "z", "z"]


@pytest.mark.parametrize("size", [1, 100, 10_000])
def test_what_stands_after_blank_nodes_comes_once(size: int) -> None:
    """In chunks of lines that are blank nodes only, that hold some, and that name some as objects alone."""
    lines = [b"+<u:a> <p> <http://h.example/.well-known/genid/1> .\n"]
    lines += [b"+<u:b/.well-known/genid/%d> <p> <o> .\n" % n for n in range(10)]
    lines += [b"+<u:c> <p> <o> .\n"]
    text = b"".join(lines)
    whole = [text[: text.index(b"\n", min(size, len(text)) - 1) + 1]]
    whole.append(text[len(whole[0]) :])
    part = [chunk for chunk in whole if chunk]
    assert b"".join(named_first(lambda: part)) == b"".join([lines[0], lines[-1], *lines[1:-1]])


def test_lines_without_a_sign_are_passed_by() -> None:
    """The exchange protocol wants it so."""
    text = b"# a comment\n-<a> <p> <b> <g> .\n\n+<a> <p> <c> <g> .\nelse\n"
    assert b"".join(removed_part([text])) + b"".join(added_part([text])) == text
    assert next(Section([text], b"", 1).lines()) == (b"<a>", b"<a> <p> <b> <g> .\n")


def test_an_empty_change_is_a_page(tmp_path: Path) -> None:
    """A harvest may only have changed what the instance knows of it."""
    assert changes.read(filed(tmp_path, set(), set())) == ChangePage((), None, None)


@pytest.mark.long
def test_the_first_page_of_a_large_change_comes_at_once(tmp_path: Path) -> None:
    """Six hundred thousand lines are unpacked, not looked at; only a few are held."""
    path = tmp_path / "change.nqud.gz"
    with gzip.open(path, "wb", 1) as out:
        for sign in (b"-", b"+"):
            out.writelines(sign + line(f"{BASE}{n:07}", NAME, f'"{n}"') for n in range(300_000))
    page = changes.read(path)
    assert [subject.iri for subject in page.subjects] == [f"{BASE}{n:07}" for n in range(SUBJECTS)]
    last = changes.read(path, f"{BASE}0299949")
    assert (len(last.subjects), last.after, last.before) == (50, None, f"{BASE}0299899")


@pytest.fixture(scope="module")
def front(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with a provider of three versions, the last without its file, the first with a damaged one."""
    folder = tmp_path_factory.mktemp("versions")
    (folder / "changes").mkdir()
    known = [
        version(n, at=ENDED, added=2, removed=1, triples=9, coverage="partial", dataset=f"{BASE}dataset", run=n + 5)
        for n in (1, 2, 3)
    ]
    records = {"providers": [provider("a"), provider("b")], "versions": {"a": known}, "runs": {"a": [RUN]}}
    file_records(folder, records)
    removed = {line(n, NAME, f'"old {n}"') for n in range(1, 60)} | {line(300, NAME, '"lost <i>"')}
    added = {line(n, NAME, f'"new {n}"') for n in range(1, 60)} | {line(0, NAME, f'"{LONG}"')}
    filed(folder, removed, added).rename(folder / "changes" / "a-2.nqud.gz")
    (folder / "changes" / "a-1.nqud.gz").write_bytes(gzip.compress(b"+" + line(0, NAME, '"x"'))[:-12])
    published = PublishedStore(tmp_path_factory.mktemp("store"))
    published.add(items(3))
    server = serve(folder, published.root, QueryLimits(workers=1))
    yield server
    server.stop()


def read(front: Server, path: str, **headers: str) -> requests.Response:
    return requests.get(f"{front.url}{path}", headers=headers or HTML, timeout=240)


def unmarked(text: str) -> str:
    """A page without the marks on what differs."""
    return text.replace("<mark>", "").replace("</mark>", "")


def test_a_page_shows_old_and_new_side_by_side(front: Server) -> None:
    """With what made it, and in words where something only came or went."""
    answer = read(front, "/providers/a/versions/2")
    text = answer.text
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    parsed = Parsed(text)
    assert (parsed.inline, parsed.headings.count("h1")) == ([], 1)
    assert "<del><span" in text
    assert text.index("old 1</span>") < text.index("new 1</span>") < text.index("old 2</span>")
    assert text.count("statements added only") == 1
    assert f'title="{LONG[:1000].rstrip()}' in text
    assert "2\N{NARROW NO-BREAK SPACE}000 characters" in text
    for address in ("/changes/2.nqud", "/versions/2.nq", "/versions/1", "/versions/3", "/runs/7"):
        assert f"/providers/a{address}" in parsed.addresses
    for shown in ("partial", f"{BASE}dataset", "2026-03-01 10:00 UTC"):
        assert shown in text


def test_the_next_page_goes_on_and_leads_back(front: Server) -> None:
    """Pages of changes lead on and back by links that can be followed without a script."""
    first = unmarked(read(front, "/providers/a/versions/2").text)
    (address,) = [a for a in Parsed(first).addresses if "?after=" in a]
    second = unmarked(read(front, address).text)
    assert ("old 49<" in first, "old 50<" in first, "old 49<" in second, "old 50<" in second) == (
        True,
        False,
        False,
        True,
    )
    assert "statements removed only" in second
    assert "lost &lt;i&gt;" in second
    assert "/providers/a/versions/2#changes" in Parsed(second).addresses
    assert "Nothing more changed" in read(front, "/providers/a/versions/2?after=http://z.example/").text


def test_a_version_is_data_for_programs(front: Server) -> None:
    """The record that the list of versions has."""
    assert read(front, "/providers/a/versions/2", Accept="application/json").json()["n"] == 2


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("/providers/a/versions/4", 404, "it has versions 1 to 3"),
        ("/providers/b/versions/1", 404, "it has none yet"),
        ("/providers/zz/versions/1", 404, "no provider"),
        ("/providers/a/versions/3", 200, "is not there"),
        ("/providers/a/versions/1", 503, "is damaged"),
        (f"/providers/a/versions/2?after={'a' * 9000}", 400, "more than 8,000"),
    ],
)
def test_what_cannot_be_shown_is_answered_with_the_reason(front: Server, path: str, status: int, said: str) -> None:
    """The page says why, and what there is."""
    answer = read(front, path)
    assert (answer.status_code, said in answer.text) == (status, True)


def test_the_versions_of_a_provider_lead_to_their_pages(front: Server) -> None:
    """Nobody finds the pages of versions otherwise."""
    addresses = Parsed(read(front, "/providers/a").text).addresses
    assert {f"/providers/a/versions/{n}" for n in (1, 2, 3)} <= set(addresses)


def test_values_are_read_as_they_were_written(tmp_path: Path) -> None:
    """Escapes, languages and datatypes of N-Quads."""
    term = '"a \\"b\\"\\n\\u00E9"^^<http://www.w3.org/2001/XMLSchema#token>'
    page = changes.read(filed(tmp_path, set(), {line(0, NAME, term)}))
    shown = page.subjects[0].rows[0].new
    assert shown is not None
    assert (shown.text, shown.datatype[-5:]) == ('a "b"\né', "token")
    assert value(NamedNode(f"{BASE}a/.well-known/genid/1")).kind == "blank"


@pytest.mark.parametrize(
    ("old", "new", "differs"),
    [
        ("fünfzig", "fünfzig!", ("", "!")),
        ("the red ship", "the blue ship", ("red", "blue")),
        ("aaa", "aaaa", ("", "a")),
        ("quite another", "nothing alike", None),
        ("x" * 5000 + "A" + "y" * 5000, "x" * 5000 + "B" + "y" * 5000, ("A", "B")),
        ("", "new", None),
    ],
)
def test_what_differs_in_two_texts_is_found_and_shown(
    tmp_path: Path, old: str, new: str, differs: tuple[str, str] | None
) -> None:
    """However far into a text it stands: its begin alone would show twice the same."""
    path = tmp_path / "1.nqud.gz"
    lines = (f'{sign}<a:s> <a:p> "{text}"@de <a:g> .\n' for sign, text in (("-", old), ("+", new)))
    path.write_bytes(gzip.compress("".join(lines).encode()))
    [row] = changes.read(path).subjects[0].rows
    assert row.old is not None
    assert row.new is not None
    assert (row.old.length, row.new.length, row.old.language) == (len(old), len(new), "de")
    assert max(len(row.old.text), len(row.new.text)) <= 1000
    end = row.same + row.old_differs, row.same + row.new_differs
    if differs is None:
        assert (row.same, *end) == (0, 0, 0)
    else:
        assert (row.old.text[row.same : end[0]], row.new.text[row.same : end[1]]) == differs
        assert row.old.text[: row.same] == row.new.text[: row.same] == old[row.start : row.start + row.same]
