"""The `harvest archive` commands: the bytes that were ever downloaded, and the logs that describe them."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec

import click

from harvest.cli.command import Failed, as_json, configured, print_list, settings_of
from harvest.cli.output import counted
from harvest.errors import HarvestError
from harvest.service.log import quiet_log
from sparql.reports import to_json

if TYPE_CHECKING:  # it loads stores; `--help` need not wait for that
    from harvest.catalog.archived import Archived

P = ParamSpec("P")

_folder = click.option(
    "--dir", "folder", type=click.Path(path_type=Path, file_okay=False), help="Any archive in Preston's layout."
)
_log = click.option("--log", "log", help="Hash of the newest log, for a --dir without an index.")


def _from(function: Callable[P, None]) -> Callable[P, None]:
    """The options that say which archive."""
    return _folder(_log(function))


@click.group()
def archive() -> None:
    """Read, verify, copy and prune what was ever downloaded."""


@archive.command()
@_from
@as_json
@configured
def ls(folder: Path | None, log: str | None, config: Path | None, as_json: bool) -> None:
    """Print the statements of the provenance logs, the newest log first, as N-Quads."""
    found = _opened(folder, log, config)
    if as_json:
        print_list(found.objects(found.statements()))
    else:
        _print_bytes(found.lines(found.statements()))


@archive.command()
@click.argument("hash")
@click.option("--verify", "verified", is_flag=True, help="Print nothing that no longer has its hash.")
@_from
@configured
def cat(hash: str, verified: bool, folder: Path | None, log: str | None, config: Path | None) -> None:
    """Print the bytes of HASH: 64 hex digits or hash://sha256/...; an index entry has its query hash."""
    _print_bytes(_opened(folder, log, config).bytes(hash, verified=verified))


@archive.command()
@click.argument("url", required=False)
@_from
@as_json
@configured
def history(url: str | None, folder: Path | None, log: str | None, config: Path | None, as_json: bool) -> None:
    """List what URL gave and when, newest first; without URL, the provenance logs."""
    found = _opened(folder, log, config)
    if url is None:
        if as_json:
            print_list(found.objects(found.history()))
        else:
            _print_bytes(found.lines(found.history()))
        return
    versions = found.versions(url)
    if as_json:
        click.echo(json.dumps([to_json(version) | {"at": _stamp(version.at)} for version in versions], indent=2))
        return
    for version in versions:
        outcome = version.hash or f"failed: {version.reason or 'the log does not say why'}"
        click.echo(f"{_stamp(version.at) or ''}\t{outcome}\t{version.media_type or ''}")


def _stamp(moment: datetime | None) -> str | None:
    """A time with milliseconds, as logs have it."""
    return None if moment is None else moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


@archive.command()
@click.argument("url")
@click.option("--at", "at", help="Time, like 2026-01-31 or 2026-01-31T12:00:00Z; UTC unless it says otherwise.")
@_from
@configured
def get(url: str, at: str | None, folder: Path | None, log: str | None, config: Path | None) -> None:
    """Print the bytes that URL last gave, or those that it had given by the time --at."""
    found = _opened(folder, log, config)
    _print_bytes(found.bytes(found.at(url, _time(at))))


@archive.command()
@click.option("--skip-hash-verification", is_flag=True, help="Only look whether the bytes are there.")
@_from
@as_json
@configured
def verify(
    skip_hash_verification: bool, folder: Path | None, log: str | None, config: Path | None, as_json: bool
) -> None:
    """Check all that the logs name: hash, path, OK|SKIP|FAIL, state, bytes, computed hash, tab-separated."""
    failed = 0

    def counted() -> Iterator[Any]:
        nonlocal failed
        for check in _opened(folder, log, config).verify(hashing=not skip_hash_verification):
            failed += check.verdict == "FAIL"
            yield check

    if as_json:
        print_list(check.json() for check in counted())
    else:
        for check in counted():
            click.echo("\t".join(check.columns()))
    if failed:
        sys.exit(1)


@archive.command()
@click.argument("target", metavar="DIR", type=click.Path(path_type=Path, file_okay=False))
@_from
@as_json
@configured
def copy(target: Path, folder: Path | None, log: str | None, config: Path | None, as_json: bool) -> None:
    """Copy everything to DIR, checked on the way, so that Preston can read it too; goes on where it was ended."""
    counts = {"copied": 0, "there": 0, "damaged": 0, "bytes": 0}
    damaged = []
    for item in _opened(folder, log, config).copy(target):
        counts[item.outcome] += 1
        counts["bytes"] += item.bytes if item.outcome == "copied" else 0
        if item.outcome == "damaged":
            damaged.append(item.uri)
    if as_json:
        click.echo(json.dumps(counts | {"damaged": damaged}, indent=2))
    else:
        click.echo(
            f"{counted(counts['copied'], 'file')} copied ({counted(counts['bytes'], 'byte')}), "
            f"{counts['there']:,} {'was' if counts['there'] == 1 else 'were'} there already"
        )
    if damaged:
        raise Failed(
            f"{counted(len(damaged), 'file is', 'files are')} damaged and not copied: {', '.join(damaged[:10])}"
        )


@archive.command()
@click.option("--keep-days", type=click.FloatRange(min=0), help="Keep what was captured in the last so many days.")
@click.option("--keep-versions", type=click.IntRange(min=1), help="Keep so many versions of each URL.")
@click.option("--dry-run", is_flag=True, help="Only print what would go.")
@as_json
@configured
def prune(
    keep_days: float | None, keep_versions: int | None, dry_run: bool, config: Path | None, as_json: bool
) -> None:
    """Remove old captures that neither rule keeps and no version, dataset, announcement, log or seed needs."""
    from harvest.service.orders import carry_out  # opens stores; `--help` need not wait for that

    if keep_days is None and keep_versions is None:
        raise click.UsageError("say what is to be kept: --keep-days or --keep-versions")
    quiet_log()
    since = "" if keep_days is None else (datetime.now(UTC) - timedelta(days=keep_days)).isoformat()
    words = [str(keep_versions or ""), since, *(["dry run"] if dry_run else [])]
    answer = carry_out(settings_of(config), "prune", words, lambda provider, step: None)
    if not answer["ok"]:
        raise Failed(answer["error"])
    gone = answer["results"]
    if as_json:
        click.echo(json.dumps(gone, indent=2))
        return
    for item in gone:
        click.echo(f"{item['uri']}\t{item['bytes']}")
    verb = "would be removed" if dry_run else "removed"
    click.echo(f"{counted(len(gone), 'capture')} {verb}, {counted(sum(item['bytes'] for item in gone), 'byte')}")


def _opened(folder: Path | None, log: str | None, config: Path | None) -> Archived:
    from harvest.catalog import archived

    if log is not None and folder is None:
        raise click.UsageError("--log goes with --dir; an instance has an index")
    return archived.of_folder(folder, log) if folder is not None else archived.of_instance(settings_of(config))


def _time(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        raise HarvestError(f"--at {text} is no time; write it like 2026-01-31 or 2026-01-31T12:00:00Z") from None
    return read if read.tzinfo else read.replace(tzinfo=UTC)


def _print_bytes(chunks: Iterable[bytes]) -> None:
    out = sys.stdout.buffer
    for chunk in chunks:
        out.write(chunk)
    out.flush()
