"""`harvest diff` and `harvest patch`: what differs, as N-Quads unified diffs."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from harvest.cli.command import Failed, configured, settings_of
from harvest.cli.wash import settings_without_instance, write_whole

BASE = click.option("--base", help="Base IRI of files that hold relative ones.  [default: the file's own]")


@click.command()
@click.argument("words", nargs=-1, required=True, metavar="OLD NEW | NAME A B")
@BASE
@configured
def diff(words: tuple[str, ...], base: str | None, config: Path | None) -> None:
    """
    Print what takes file OLD to file NEW, or version A of provider NAME to version B, as an N-Quads unified diff.

    Files may be in any RDF format, and need no instance. Of N-Triples and N-Quads, statements are compared as they
    are, with graphs and labels of blank nodes. Version 0 is empty.
    """
    if len(words) == 2:
        from harvest.pipeline.comparing import difference  # needed by this module alone

        found = difference(settings_without_instance(config), Path(words[0]), Path(words[1]), base)
    elif len(words) == 3:
        from harvest.catalog.instance import InstanceCatalog

        a, b = map(_version, words[1:])
        found = InstanceCatalog(settings_of(config)).difference(words[0], a, b)
    else:
        raise click.UsageError("two files, or a provider and two versions")
    out = sys.stdout.buffer
    for line in found:
        out.write(line)
    out.flush()


def _version(word: str) -> int:
    try:
        return int(word)
    except ValueError:
        raise click.UsageError(f"{word!r} is no version: those are numbers from 0") from None


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("changes", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="NQUD...")
@BASE
@click.option("--output", "-o", type=click.Path(path_type=Path), help="File for what comes out.  [default: -]")
@configured
def patch(file: Path, changes: tuple[Path, ...], base: str | None, output: Path | None, config: Path | None) -> None:
    """
    Apply N-Quads unified diffs to FILE, one after the other, and print the statements, sorted; no instance is needed.

    What was so already is counted on standard error, and is no failure.
    """
    from harvest.pipeline.comparing import patched  # needed by this module alone

    for each in changes:
        if not each.is_file():
            raise Failed(f"{each} is no file")
    with patched(settings_without_instance(config), file, changes, base) as (path, done):
        with path.open("rb") as lines:
            write_whole(lines, output)
        for change, what in zip(changes, done, strict=True):
            said = f"{os.fspath(change)}: {what.removed:,} removed, {what.added:,} added"
            counts = (what.absent, "to be removed not there"), (what.present, "to be added there already")
            odd = [f"{count:,} {words}" for count, words in counts if count]
            click.echo("; ".join([said, *odd]), err=True)
