"""
Files of N-Triples or N-Quads of anybody, as sorted canonical lines; labels of blank nodes and graphs stay as they are.

A line that is canonical by its looks is not parsed. What `grep` finds not to be (escapes, IRIs of other characters than
ASCII, `^^xsd:string`, comments, other spaces) goes through the parser.

Source: RDF 1.1 N-Quads; RDF 1.1 N-Triples, section 4 (canonical form).
"""

from __future__ import annotations

import codecs
import os
import shutil
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from isal import igzip
from isal.igzip_lib import IsalError

from harvest.errors import StorageError, WashError
from harvest.model import Delta, Snapshot
from harvest.revise import delta as deltas
from harvest.revise import lines
from harvest.revise.nqud import SignedLine, canonical, read_changes

_IRI = r"<[a-zA-Z][a-zA-Z0-9+.-]*:[a-zA-Z0-9:/?#@!$&'()*+,;=._~-]*"
_NODE = rf"({_IRI}>|_:[a-zA-Z0-9]+)"
_TEXT = r'"([] !#-[^-~]|\\[nrt"\\])*"'
_WIDE: Final = _TEXT.replace("^-~", "^-~\x80-\xff")
# No datatype whose name ends in g: xsd:string is not written.
_LITERAL = rf"{_TEXT}(@[a-z]+(-[a-z0-9]+)*|\^\^{_IRI}[a-fh-zA-FH-Z0-9]>)?"
CANONICAL: Final = rf"^{_NODE} {_IRI}> ({_NODE}|{_LITERAL})( {_NODE})? \.$"
"""A line that is canonical for certain, as an extended regular expression."""
CANONICAL_UTF8: Final = CANONICAL.replace(_TEXT, _WIDE).encode("latin-1")
"""The same for a text that is UTF-8, in which literals may have other characters than ASCII."""

_ENVIRONMENT: Final = os.environ | {"LC_ALL": "C"}
_BUFFER: Final = "--buffer-size=1G"
_BATCH: Final = 10_000


def sorted_lines(source: Path, target: Path, folder: Path) -> None:
    """
    Write the statements of a file to `target` as canonical lines, sorted, without repeats.

    All lines are sorted while `grep` looks for those that have to be parsed.

    Raises:
        WashError: A line is no statement of N-Quads 1.1; `line` says which.
        StorageError: The disk is full, or the file cannot be read.
    """
    plain = unpacked(source, folder / f"{target.name}.text")
    odd = folder / f"{target.name}.odd"
    with ThreadPoolExecutor(1) as beside:
        left = beside.submit(find_odd, plain, odd)
        sort(plain, target, folder)
        left.result()
    if not odd.stat().st_size:
        return
    raw, sure, parsed = (folder / f"{target.name}.{name}" for name in ("raw", "sure", "parsed"))
    with odd.open("rb") as stream:
        write_sorted((line.partition(b":")[2] for line in stream), raw, folder)
    lines.minus(sure, target, raw)
    write_sorted(_parsed(odd, source), parsed, folder)
    lines.union(target, sure, parsed)


def write_sorted(unsorted: Iterator[bytes], target: Path, folder: Path) -> Snapshot:
    """Write lines in order, without repeats."""
    with lines.sorted_(unsorted, "-u", _BUFFER, f"--temporary-directory={folder}") as ordered:
        return lines.write(target, iter(lambda: ordered.read(1 << 20), b""))


def unpacked(source: Path, target: Path) -> Path:
    """The text of a file."""
    with source.open("rb") as raw:
        if raw.read(2) != b"\x1f\x8b":
            return source
        raw.seek(0)
        try:
            with igzip.IGzipFile(fileobj=raw) as packed, target.open("wb") as out:
                shutil.copyfileobj(packed, out, 1 << 20)
        except (EOFError, igzip.BadGzipFile, IsalError) as error:  # type: ignore[misc]  # its stub declares a value
            raise WashError(f"{source} is cut off or damaged: {error}", url=str(source)) from error
    return target


def sort(source: Path, target: Path, folder: Path) -> None:
    """Write the lines of a file in order, without repeats."""
    command = ("sort", "-u", _BUFFER, f"--temporary-directory={folder}", "-o", str(target), str(source))
    done = subprocess.run(command, stderr=subprocess.PIPE, env=_ENVIRONMENT, check=False)
    if done.returncode:
        raise StorageError(f"sorting {source} failed: {done.stderr.decode('utf-8', 'replace').strip()}")


def find_odd(source: Path, target: Path) -> None:
    """Write the lines of a file that may not be canonical, each behind its number and a colon."""
    pattern = CANONICAL_UTF8 if _is_utf8(source) else CANONICAL
    command = ("grep", "-a", "-n", "-v", "-E", pattern, str(source))
    with target.open("wb") as out:
        done = subprocess.run(command, stdout=out, stderr=subprocess.PIPE, env=_ENVIRONMENT, check=False)
    if done.returncode > 1:
        raise StorageError(f"{source} cannot be read: {done.stderr.decode('utf-8', 'replace').strip()}")


def _is_utf8(source: Path) -> bool:
    """Whether a text is UTF-8 without the two characters that canonical lines escape; 0.2 s for 200 MB."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    with source.open("rb") as stream:
        try:
            for chunk in iter(partial(stream.read, 1 << 20), b""):
                text = decoder.decode(chunk)
                if not text.isascii() and ("\ufffe" in text or "\uffff" in text):
                    return False
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return False
    return True


def _parsed(odd: Path, source: Path) -> Iterator[bytes]:
    """The canonical lines of what `grep -n` left."""
    batch: list[SignedLine] = []
    try:
        with odd.open("rb") as stream:
            for line in stream:
                number, _, text = line.partition(b":")
                text = text.removeprefix(b"\xef\xbb\xbf") if number == b"1" else text
                if text.strip() and not text.lstrip().startswith(b"#"):
                    batch.append(SignedLine(int(number), True, text))
                if len(batch) == _BATCH:
                    yield from (change.line for change in canonical(batch, ""))
                    batch = []
        yield from (change.line for change in canonical(batch, ""))
    except WashError as error:
        error.url = str(source)
        error.message = f"{source}, {error.message}"
        raise


def signed(delta: Delta) -> Iterator[bytes]:
    """The lines of a delta, each after its sign."""
    for sign, path in ((b"-", delta.removed), (b"+", delta.added)):
        with path.open("rb") as statements:
            yield from (sign + line for line in statements)


@dataclass(frozen=True, slots=True)
class Patched:
    """
    What a diff made of a file.

    Attributes:
        snapshot: What came out.
        removed: Statements that went.
        added: Statements that came.
        absent: Statements that were to go and were not there.
        present: Statements that were to come and were there.
    """

    snapshot: Snapshot
    removed: int
    added: int
    absent: int
    present: int


def patched(base: Path, change: Path, folder: Path) -> Patched:
    """
    A sorted file with an N-Quads unified diff applied, in `folder`; what the diff both removes and adds is there.

    Raises:
        WashError: A line with a sign is no statement, or the diff is cut off.
    """
    raw = folder / "goes.txt", folder / "comes.txt"
    try:
        with change.open("rb") as stream, raw[0].open("wb") as goes, raw[1].open("wb") as comes:
            files = goes, comes
            for each in read_changes(stream):
                files[each.added].write(each.line)
    except WashError as error:
        error.url, error.message = str(change), f"{change}: {error.message}"
        raise
    gone, come = (_in_order(path, folder) for path in raw)
    leaves = lines.minus(folder / "leaves.nq", gone.path, come.path)
    removed = lines.common(folder / "removed.nq", leaves.path, base)
    added = lines.minus(folder / "added.nq", come.path, base)
    delta = Delta(removed.path, added.path, removed.triples, added.triples)
    return Patched(
        deltas.apply(base, delta, folder / "patched.nq"),
        removed.triples,
        added.triples,
        leaves.triples - removed.triples,
        come.triples - added.triples - lines.common(folder / "both.nq", gone.path, come.path).triples,
    )


def _in_order(path: Path, folder: Path) -> Snapshot:
    with path.open("rb") as stream:
        return write_sorted(stream, path.with_suffix(".nq"), folder)
