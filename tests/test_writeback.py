"""`modified` is written back into the registry by replacing that scalar alone."""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from harvest.config.registry import load_registry
from harvest.config.writeback import write_modified
from harvest.errors import RegistryError, StorageError

OLD = datetime(2015, 10, 1, tzinfo=UTC)
NEW = datetime(2015, 11, 5, 10, tzinfo=UTC)
WRITTEN = "2015-11-05T10:00:00Z"


@pytest.fixture(params=["CSafeLoader", "SafeLoader"], autouse=True)
def loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both loaders of PyYAML, whose marks differ in small things."""
    monkeypatch.setattr("harvest.config.places.LOADER", getattr(yaml, request.param))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where the registry of a test stands."""
    return tmp_path / "registry.yaml"


def rewritten(file: Path, text: str, modified: datetime = NEW, expected: datetime | None = OLD) -> str:
    """The text of a registry after a write-back for the provider `a`."""
    file.write_bytes(text.encode())
    assert write_modified(file, "a", modified, expected)
    return file.read_bytes().decode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a:\n  modified: 2015-10-01\n  void: x\n", "a:\n  modified: {}\n  void: x\n"),
        ("a:\n  modified: 2015-10-01  # by hand\n  void: x", "a:\n  modified: {}  # by hand\n  void: x"),
        ("a:\r\n  void: x\r\n  modified: 2015-10-01\r\nb: {}\r\n", "a:\r\n  void: x\r\n  modified: {}\r\nb: {{}}\r\n"),
        ("a:\n  modified: '2015-10-01 00:00:00.0'\n  void: x\n", "a:\n  modified: '{}'\n  void: x\n"),
        ('a: {"modified":"2015-10-01","void":"x"}\n', 'a: {{"modified":"{}","void":"x"}}\n'),
        ("a: {modified: 2015-10-01, void: x}", "a: {{modified: {}, void: x}}"),
        ("a: {modified: 2015-10-01T00:00:00Z}", "a: {{modified: {}}}"),
        ("a:\n  modified: 2015-10-01 00:00:00.0\n", "a:\n  modified: {}\n"),
        ("a:\n  modified:\n    2015-10-01\n  void: x\n", "a:\n  modified:\n    {}\n  void: x\n"),
        ("a:\n  modified: >-\n    2015-10-01\n\n  # c\n  void: x\n", "a:\n  modified: {}\n\n  # c\n  void: x\n"),
        ("a:\n  ? modified\n  : 2015-10-01\n  void: x\n", "a:\n  ? modified\n  : {}\n  void: x\n"),
        ("a:\n  modified: !!str 2015-10-01\n  void: x\n", "a:\n  modified: {}\n  void: x\n"),
        ("\ufeff# ü 😀\n'a':\n  modified: 2015-10-01 # ü\n", "\ufeff# ü 😀\n'a':\n  modified: {} # ü\n"),
        (
            "b: {modified: 2015-10-01}\na: {modified: 2015-10-01}\n",
            "b: {{modified: 2015-10-01}}\na: {{modified: {}}}\n",
        ),
    ],
)
def test_the_date_alone_is_replaced(file: Path, before: str, after: str) -> None:
    """Comments, quotes, order and line ends are their writer's."""
    assert rewritten(file, before) == after.format(WRITTEN)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a:\n  void: x\n", "a:\n  modified: {}\n  void: x\n"),
        ("a:\r\n    void: x # c\r\nb: {}\r\n", "a:\r\n    modified: {}\r\n    void: x # c\r\nb: {{}}\r\n"),
        ("a:\n  # c\n  void: x", "a:\n  # c\n  modified: {}\n  void: x"),
        ("a: {void: x}\n", "a: {{modified: {}, void: x}}\n"),
        ("a: {\n  void: x\n}\n", "a: {{\n  modified: {}, void: x\n}}\n"),
        ("a: {}\n", "a: {{modified: {}}}\n"),
        ("a:\n  modified:\n  void: x\n", "a:\n  modified: {}\n  void: x\n"),
        ("a:\n  modified: # never\n  void: x\n", "a:\n  modified: {} # never\n  void: x\n"),
        ("a:\n  modified: ~ # never\n  void: x\n", "a:\n  modified: {} # never\n  void: x\n"),
        ("a:\n  void: x\n  modified:", "a:\n  void: x\n  modified: {}"),
        ("a:\n  void: x\n  modified: ''\n", "a:\n  void: x\n  modified: '{}'\n"),
        ("a: {modified: , void: x}\n", "a: {{modified: {}, void: x}}\n"),
        ("a: {modified, void: x}\n", "a: {{modified: {}, void: x}}\n"),
        ("a: {void: x, modified: }\n", "a: {{void: x, modified: {}}}\n"),
    ],
)
def test_a_date_is_put_where_there_was_none(file: Path, before: str, after: str) -> None:
    """A new provider is registered without one."""
    assert rewritten(file, before, expected=None) == after.format(WRITTEN)


@pytest.mark.parametrize(
    ("old", "new", "written"),
    [
        ("2015-10-01", datetime(2015, 11, 5, tzinfo=UTC), "2015-11-05"),
        ("", datetime(2015, 11, 5, tzinfo=UTC), "2015-11-05"),
        ("2015-10-01T00:00:00Z", datetime(2015, 11, 5, tzinfo=UTC), "2015-11-05T00:00:00Z"),
        ("2015-10-01", datetime(2015, 11, 5, 10, 0, 0, 1, UTC), "2015-11-05T10:00:00.000001Z"),
        ("2015-10-01", datetime(2015, 11, 5, 1, tzinfo=timezone(timedelta(hours=2))), "2015-11-04T23:00:00Z"),
    ],
)
def test_the_written_form(file: Path, old: str, new: datetime, written: str) -> None:
    """A date stays a date while it says the same; else it is a moment in UTC, exact to the microsecond."""
    text = rewritten(file, f"a:\n  modified: {old}\n  void: x\n", new, OLD if old else None)
    assert text == f"a:\n  modified: {written}\n  void: x\n"


@pytest.mark.parametrize(
    "text",
    [
        "a: {modified: 2015-10-02, void: x}\n",
        "a: {void: x}\n",
        "a: {modified: [2015-10-01]}\n",
        "a: {modified: soon}\n",
        "a: {modified: 2015-10-01, modified: 2015-10-01}\n",
        "b: {modified: 2015-10-01}\n",
        "a: {modified: 2015-10-01}\na: {modified: 2015-10-01}\n",
        "a: x\n",
        "",
        "a: {modified: 2015-10-01\n",
        "a: {modified: &x 2015-10-01}\nb: *x\n",
        b"a: {modified: 2015-10-01} # \xff\n",
    ],
)
def test_nothing_is_written_when_the_file_says_otherwise(file: Path, text: str | bytes) -> None:
    """Somebody changed the entry, or is just changing the file, and what they write counts."""
    before = text.encode() if isinstance(text, str) else text
    file.write_bytes(before)
    assert not write_modified(file, "a", NEW, OLD)
    assert file.read_bytes() == before
    assert os.listdir(file.parent) == [file.name]


def test_a_mistake_in_another_entry_does_not_matter(file: Path) -> None:
    """One provider's trouble never stops another's."""
    assert (
        rewritten(file, "b_: {viod: 5}\na: {modified: 2015-10-01}\n")
        == f"b_: {{viod: 5}}\na: {{modified: {WRITTEN}}}\n"
    )


def test_a_layout_that_cannot_be_edited_is_left_alone(file: Path) -> None:
    """The result is read again before it takes the file's place."""
    text = "a:\n  ? modified\n  void: x\n"
    file.write_text(text)
    with pytest.raises(RegistryError, match=r"registry\.yaml:2: the date of 'a' cannot be replaced alone"):
        write_modified(file, "a", NEW, None)
    assert file.read_text() == text
    assert os.listdir(file.parent) == [file.name]


def test_a_symbolic_link_and_the_mode_stay(file: Path, tmp_path: Path) -> None:
    """A registry may be a link into a repository, and unreadable for others."""
    target = tmp_path / "elsewhere" / "real.yaml"
    target.parent.mkdir()
    target.write_text("a: {modified: 2015-10-01, void: http://h/}\n")
    target.chmod(0o640)
    file.symlink_to(Path("elsewhere") / "real.yaml")
    assert write_modified(file, "a", NEW, OLD)
    assert file.is_symlink()
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert load_registry(file).providers[0].modified == NEW
    assert os.listdir(target.parent) == ["real.yaml"]


def test_a_file_that_changes_meanwhile_is_left_alone(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An editor that saves between our reading and our writing keeps what it saved."""
    file.write_text("a: {modified: 2015-10-01}\n")
    sync = os.fsync

    def save_meanwhile(handle: int) -> None:
        sync(handle)
        file.write_text("a: {modified: 2015-10-01} # edited\n")

    monkeypatch.setattr(os, "fsync", save_meanwhile)
    assert not write_modified(file, "a", NEW, OLD)
    assert file.read_text() == "a: {modified: 2015-10-01} # edited\n"
    assert os.listdir(file.parent) == [file.name]


def test_a_full_disk_loses_nothing(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is replaced by a whole one or not at all."""

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    file.write_text("a: {modified: 2015-10-01}\n")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageError, match="No space left on device; `modified` of 'a' stays"):
        write_modified(file, "a", NEW, OLD)
    assert file.read_text() == "a: {modified: 2015-10-01}\n"
    assert os.listdir(file.parent) == [file.name]


def test_a_missing_registry_is_an_error(file: Path) -> None:
    """The harvest is in the ledger, and the error says that the date is not in the file."""
    with pytest.raises(StorageError, match="cannot be rewritten: No such file"):
        write_modified(file, "a", NEW, OLD)


def test_a_large_registry_is_rewritten_quickly(file: Path) -> None:
    """A first look at a thousand providers writes a thousand times."""
    file.write_text("".join(f"p{n}:\n  modified: 2015-10-01\n  void: http://h/{n}\n" for n in range(1000)))
    started = time.process_time()
    assert write_modified(file, "p999", NEW, OLD)
    assert time.process_time() - started < 30  # half a second where nothing else runs; minutes if it were quadratic


COMMENT = st.text("abc: {}#'\"ü😀-", max_size=12)
BREAK = st.sampled_from(["\n", "\r\n"])
MOMENT = st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))


@st.composite
def dates(draw: st.DrawFn) -> tuple[str, bool]:
    """A `modified` as it may be written, and whether it says OLD; else it says nothing."""
    form = draw(st.sampled_from(["2015-10-01", "2015-10-01T00:00:00Z", "2015-10-01 02:00:00+02:00", "", "~", "null"]))
    if form.startswith("2"):
        quote = draw(st.sampled_from(["", "'", '"']))
        return quote + form + quote, True
    return form, False


@st.composite
def entries(draw: st.DrawFn, name: str, eol: str) -> tuple[str, bool]:
    """One entry in some layout, and whether its date is OLD; else it has none."""
    date, dated = draw(dates())
    lines = draw(st.permutations([("modified", date), ("void", "http://h/" + name), ("interval", "5m")]))
    lines = [line for line in lines if line[0] != "modified" or dated or draw(st.booleans())]
    name = draw(st.sampled_from([name, f"'{name}'", f'"{name}"']))
    if draw(st.booleans()):
        gap = draw(st.sampled_from([" ", "  ", f"{eol}    "]))
        return f"{name}: {{{gap}{f',{gap}'.join(f'{key}: {value}' for key, value in lines)} }}{eol}", dated
    indent = " " * draw(st.integers(1, 8))
    text = f"{name}:{draw(remarks(eol))}"
    for key, value in lines:
        if draw(st.integers(0, 3)) == 0:
            text += draw(st.sampled_from([eol, indent + "# " + draw(COMMENT) + eol, "#" + draw(COMMENT) + eol]))
        spaces = " " * draw(st.integers(1, 3))
        text += f"{indent}{key}:{spaces}{value}{draw(remarks(eol))}"
    return text, dated


@st.composite
def remarks(draw: st.DrawFn, eol: str) -> str:
    """The end of a line, with or without a comment."""
    return draw(st.sampled_from(["", " ", f" # {draw(COMMENT)}"])) + eol


@st.composite
def registries(draw: st.DrawFn) -> tuple[str, dict[str, bool]]:
    """A registry in some layout, and for each provider whether its date is OLD; else it has none."""
    eol = draw(BREAK)
    text = draw(st.sampled_from(["", "\ufeff"])) + draw(st.sampled_from(["", f"# {draw(COMMENT)}{eol}", f"---{eol}"]))
    names = draw(st.lists(st.from_regex("[a-z]{1,3}[0-9]", fullmatch=True), min_size=1, max_size=4, unique=True))
    dated = {}
    for name in names:
        entry, dated[name] = draw(entries(name, eol))
        text += entry + draw(st.sampled_from(["", eol, f"# {draw(COMMENT)}{eol}"]))
    return (text.rstrip("\r\n") if draw(st.booleans()) else text), dated


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One folder for all examples of a property."""
    yield tmp_path_factory.mktemp("layouts")


def _check_one_edit(file: Path, text: str, dated: dict[str, bool], new: datetime) -> None:
    """Each provider's date can be replaced, and nothing else changes by that."""
    file.write_bytes(text.encode())
    before = {p.name: p for p in load_registry(file).providers}
    for name, has_date in dated.items():
        file.write_bytes(text.encode())
        assert write_modified(file, name, new, OLD if has_date else None)
        after = {p.name: p for p in load_registry(file).providers}
        assert after.pop(name) == replace(before[name], modified=new, line=before[name].line)
        assert {n: replace(p, line=0) for n, p in after.items()} == {
            n: replace(p, line=0) for n, p in before.items() if n != name
        }
        _check_bytes(text, file.read_bytes().decode())


def _common(one: str, other: str) -> int:
    """How many characters two texts have in common at their beginning."""
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _check_bytes(before: str, after: str) -> None:
    """What was added or replaced is in one place and no longer than a key with a date."""
    start = _common(before, after)
    end = _common(before[start:][::-1], after[start:][::-1])
    removed, added = before[start : len(before) - end], after[start : len(after) - end]
    assert len(removed) <= len("2015-10-01 02:00:00+02:00")
    assert len(added) <= len("modified: 2015-10-01T00:00:00.000000Z, ") + 10
    assert before.count("#") == after.count("#")


@pytest.mark.sampled(1)
@settings(max_examples=40)
@given(registries(), MOMENT)
def test_in_any_layout_nothing_but_the_date_changes(
    folder: Path, registry: tuple[str, dict[str, bool]], new: datetime
) -> None:
    """People lay out their files as they like, and find them again so."""
    _check_one_edit(folder / "registry.yaml", *registry, new)
