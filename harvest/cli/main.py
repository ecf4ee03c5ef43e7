"""
The `harvest` command: parse, call, print.

Exit codes: 0 done, 1 something failed (said which), 2 wrong use, 130 ended by Ctrl-C.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import click

from harvest.cli import archive as cli_archive
from harvest.cli import files as cli_files
from harvest.cli import ingest as cli_ingest
from harvest.cli import output as show
from harvest.cli import output_queue as show_queue
from harvest.cli import seeds as cli_seeds
from harvest.cli import track as cli_track
from harvest.cli import update as cli_update
from harvest.cli import wash as cli_wash
from harvest.cli.command import Commands, Failed, as_json, configured, order, settings_of
from harvest.config.loader import load_settings
from harvest.config.settings import Settings
from harvest.config.values import is_web_address
from harvest.errors import HarvestError
from sparql.errors import SparqlError
from sparql.reports import to_json


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="sparql-harvest")
def main() -> None:
    """Harvest linked open data, and serve it by SPARQL, exports and change files."""


@main.command()
@click.option("--follow", metavar="URL", help="Be a read-only replica of the instance at this address.")
@configured
def serve(follow: str | None, config: Path | None) -> None:
    """Run the instance: the schedule in this process, the web front in others. Ends with Ctrl-C or SIGTERM."""
    from harvest.service.serve import serve as run  # the web front is needed by this command alone

    run(_following(settings_of(config), follow))


@main.command()
@click.option("--follow", metavar="URL", help="Be a read-only replica of the instance at this address.")
@configured
def schedule(follow: str | None, config: Path | None) -> None:
    """Run the schedule of the instance without a web front, for which there is `harvest web`."""
    from harvest.service.serve import schedule as run

    run(_following(settings_of(config), follow))


def _following(settings: Settings, url: str | None) -> Settings:
    """The settings, of a replica of the instance at a URL where one is given."""
    if url is None:
        return settings
    if not is_web_address(url):
        raise click.UsageError(f"--follow is the http or https address of an instance, not {url!r}")
    return replace(settings, follow=url.rstrip("/"))


@main.command()
@click.option("--shared", is_flag=True, help="Let other `harvest web --shared` listen on the same address.")
@configured
def web(shared: bool, config: Path | None) -> None:
    """Answer for an instance that `harvest schedule` or `harvest serve` harvests, and write nothing of it."""
    from harvest.service.web import web as run

    run(settings_of(config), shared=shared)


@main.command()
@click.argument("names", nargs=-1)
@as_json
@configured
def run(names: tuple[str, ...], config: Path | None, as_json: bool) -> None:
    """Harvest providers now and once: those NAMED whatever their dates, or all that are due."""
    order(settings_of(config), "run", names, as_json, show.results)


@main.command()
@click.argument("name")
@as_json
@configured
def approve(name: str, config: Path | None, as_json: bool) -> None:
    """Let through what the shrink guard holds for provider NAME."""
    order(settings_of(config), "approve", (name,), as_json, show.results)


@main.command()
@click.argument("name")
@click.argument("number", type=int, required=False)
@as_json
@configured
def skip(name: str, number: int | None, config: Path | None, as_json: bool) -> None:
    """Drop what blocks provider NAME: its oldest dump that fails or is held, or announcement NUMBER of `status`."""
    words = (name,) if number is None else (name, str(number))
    order(settings_of(config), "skip", words, as_json, show.results)


@main.command()
@click.argument("name")
@as_json
@configured
def forget(name: str, config: Path | None, as_json: bool) -> None:
    """Remove graph, files and history of provider NAME, which no longer stands in the registry."""
    order(settings_of(config), "forget", (name,), as_json, show.results)


@main.command()
@as_json
@configured
def export(config: Path | None, as_json: bool) -> None:
    """Bring the exports to the current versions now."""
    order(settings_of(config), "export", (), as_json, show.files)


@main.command()
@click.argument("names", nargs=-1)
@click.option("--store", is_flag=True, help="Compare the store alone, also while an engine is it.")
@click.option("--sample", type=click.IntRange(1), help="With --store: the number of triples, and so many subjects.")
@click.option("--repair", is_flag=True, help="With --store: write what differs again, and nothing else.")
@as_json
@configured
def verify(names: tuple[str, ...], store: bool, config: Path | None, as_json: bool, **options: int | None) -> None:
    """Prove that filed bytes, changes, snapshot, store and export agree, for all providers or those NAMED."""
    if store:
        given = json.dumps({"sample": options["sample"] or 0, "repair": bool(options["repair"])})
        order(settings_of(config), "verify --store", (given, *names), as_json, show.proofs)
        return
    for name in (name for name, value in options.items() if value):
        raise click.UsageError(f"--{name} goes with --store")
    order(settings_of(config), "verify", names, as_json, show.proofs)


@main.command()
@click.argument("registry", required=False, type=click.Path(path_type=Path))
@click.option(
    "--online", is_flag=True, help="Also fetch each description, ask for each dump, and say what is harvested."
)
@click.option(
    "--all", "everything", is_flag=True, help="Print every dataset and finding, not the first of each provider."
)
@as_json
@configured
def check(registry: Path | None, online: bool, everything: bool, config: Path | None, as_json: bool) -> None:
    """Check a registry file, as for a pull request; nothing is written. Exit code: 1 if not all would be harvested."""
    from harvest.cli.check import check_offline, check_online

    settings = load_settings(None, os.environ) if registry and config is None else settings_of(config)
    path = registry or settings.registry
    report = check_online(path, settings) if online else check_offline(path, settings)
    if as_json:
        click.echo(json.dumps(report.as_json(), indent=2))
    else:
        show.check(report, everything)
    if not report.ok:
        sys.exit(1)


@main.command()
@click.argument("names", nargs=-1)
@click.option("--check", is_flag=True, help="Compare only; put nothing in place.")
@as_json
@configured
def rebuild(names: tuple[str, ...], check: bool, config: Path | None, as_json: bool) -> None:
    """
    Mend all that `harvest verify` finds damaged, the ledger included.

    With NAMES: make the versions of these providers again from the archive alone, compare, and put them in place.
    """
    if check and not names:
        raise click.UsageError("--check goes with names")
    words = "rebuild --check" if check else "rebuild"
    order(settings_of(config), words, names, as_json, show.rebuilt if names else show.mended)


@main.command()
@click.argument("name")
@click.option("--keep", type=click.IntRange(1), required=True, help="How many versions to keep, the newest.")
@as_json
@configured
def compact(name: str, keep: int, config: Path | None, as_json: bool) -> None:
    """Drop all versions of provider NAME but the newest: the oldest that is kept becomes the baseline."""
    order(settings_of(config), "compact", (name, str(keep)), as_json, show.compacted)


@main.command()
@as_json
@configured
def status(config: Path | None, as_json: bool) -> None:
    """Report the state of every provider."""
    from harvest.catalog.instance import InstanceCatalog

    reading = InstanceCatalog(settings_of(config))
    providers = reading.providers()
    if as_json:
        click.echo(json.dumps(to_json(providers), indent=2))
    else:
        show.status(providers)
        show_queue.queue(reading.queue(), reading.ledger_problem())


@main.command()
@click.argument("name")
@as_json
@configured
def history(name: str, config: Path | None, as_json: bool) -> None:
    """List the versions of provider NAME, and the runs that made none."""
    from harvest.catalog.instance import InstanceCatalog

    reading = InstanceCatalog(settings_of(config))
    provider = reading.provider(name)
    if provider is None:
        raise Failed(f"no provider {name}; `harvest status` lists them")
    versions, runs, findings = reading.versions(name), reading.runs(name), provider.findings
    if as_json:
        click.echo(json.dumps(to_json({"versions": versions, "runs": runs, "findings": findings}), indent=2))
    else:
        show.history(versions, runs, findings)


@main.command()
@click.argument("sparql")
@click.option("--format", "format_", default=None, help="json, xml, csv, tsv; nt, ttl, rdf for CONSTRUCT and DESCRIBE.")
@click.option("--endpoint", metavar="URL", help="Ask this SPARQL endpoint, not the instance; no settings are needed.")
@click.option("--timeout", type=click.IntRange(1), help="Seconds to wait for an endpoint.  [default: 120]")
@configured
def query(sparql: str, format_: str | None, endpoint: str | None, timeout: int | None, config: Path | None) -> None:
    """Answer a SPARQL query (or @FILE) over the current generation, or have another endpoint answer it."""
    if timeout is not None and endpoint is None:
        raise click.UsageError("--timeout goes with --endpoint; what the instance is asked here has no time limit")
    text = _query_text(sparql)
    if endpoint is not None:
        from harvest.cli import remote as ask_remote

        found = ask_remote.answer(ask_remote.Remote(endpoint, timeout or ask_remote.TIMEOUT_S), text, format_)
    else:
        from harvest.cli import query as ask

        found = ask.answer(settings_of(config), text, format_)
    for chunk in found:
        sys.stdout.buffer.write(chunk)
    sys.stdout.buffer.flush()


def _query_text(sparql: str) -> str:
    """The query itself, or what the file behind an @ says."""
    if not sparql.startswith("@"):
        return sparql
    try:
        return Path(sparql[1:]).read_text("utf-8-sig")
    except OSError as error:
        raise Failed(f"{sparql[1:]} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise Failed(f"{sparql[1:]} is not UTF-8: byte {error.start}") from error


@main.command()
@click.option("--seconds", type=float, default=None, help="End by itself after so many seconds.")
@click.option("--port", type=int, default=8080, show_default=True, help="Port of the web front; 0 takes a free one.")
def demo(seconds: float | None, port: int) -> None:
    """Show the platform: a provider on loopback that changes its data, and an instance that harvests it."""
    from harvest.cli.demo import demo as play

    try:
        play(seconds, port)
    except (HarvestError, SparqlError) as error:
        raise Failed(error.message) from error


main.add_command(cli_archive.archive)
cli_archive.archive.add_command(cli_track.track)
main.add_command(cli_files.diff)
main.add_command(cli_files.patch)
main.add_command(cli_seeds.seeds)
main.add_command(cli_update.update)
main.add_command(cli_wash.wash)
main.add_command(cli_ingest.ingest)
