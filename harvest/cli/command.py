"""What commands share: `--config`, `--json`, errors as one line, exit codes, orders to who has the data."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec

import click
from rich.markup import escape

from harvest.cli import output as show
from harvest.cli.entry import interrupt_by_exception
from harvest.config.loader import load_settings
from harvest.config.settings import Settings
from harvest.errors import HarvestError, unusable
from harvest.service.log import quiet_log
from sparql.errors import SparqlError

P = ParamSpec("P")

PLACES = (Path("config/harvest.yaml"), Path("harvest.yaml"))
"""Where the settings file is looked for when neither `--config` nor HARVEST_CONFIG names it."""


class Failed(click.ClickException):
    """A failure, printed in one line; exit code 1."""

    def show(self, file: Any = None) -> None:
        """Print the message, each sentence of a list on its own line."""
        click.secho(f"harvest: {self.message}", fg="red", err=True)


class Interrupted(Failed):
    """A command that was ended by Ctrl-C; exit code 130, as shells have it: 128 and the number of the signal."""

    exit_code = 128 + signal.SIGINT


class Commands(click.Group):
    """Commands that Ctrl-C ends in one line and with exit code 130, wherever they are."""

    def invoke(self, ctx: click.Context) -> Any:
        """
        Run the command that the context names, and return what it returns.

        Raises:
            Interrupted: Ctrl-C came while its words were read, or in a command that does not say more of it.
        """
        try:
            interrupt_by_exception()
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Interrupted("interrupted") from None


def configured(function: Callable[P, None]) -> Callable[P, None]:
    """Give a command `--config`, and turn errors into one line and exit code 1, Ctrl-C into one and 130."""

    @click.option("--config", "config", type=click.Path(path_type=Path), help="Settings file (harvest.yaml).")
    @wraps(function)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            function(*args, **kwargs)
        except (HarvestError, SparqlError) as error:
            raise Failed(error.message) from error
        except BrokenPipeError:
            raise  # whoever read the output has gone: click ends quietly
        except OSError as error:
            raise Failed(unusable(error)) from error
        except MemoryError as error:
            raise Failed("there is not enough memory for this") from error
        except KeyboardInterrupt as interrupt:
            raise Interrupted(f"interrupted; {str(interrupt) or 'what was done so far stays'}") from None

    return wrapped


as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def settings_of(config: Path | None) -> Settings:
    """The settings of `--config`, HARVEST_CONFIG, or the usual places, with the environment's overrides."""
    named = config or (Path(os.environ["HARVEST_CONFIG"]) if os.environ.get("HARVEST_CONFIG") else None)
    found = named or next((place for place in PLACES if place.is_file()), None)
    if found is None:
        raise HarvestError(
            f"no settings file: {' and '.join(map(str, PLACES))} are not here; name one with --config or HARVEST_CONFIG"
        )
    return load_settings(found, os.environ)


def print_list(items: Iterable[object]) -> None:
    """Print a JSON list as it comes, an item a line: a seed list or a log may have a million."""
    before = "[\n"
    for item in items:
        click.echo(before + json.dumps(item), nl=False)
        before = ",\n"
    click.echo("\n]" if before != "[\n" else "[]")


def order(
    settings: Settings, command: str, words: Iterable[str], as_json: bool, printed: Callable[[dict[str, Any]], None]
) -> None:
    """Carry out a command here or in the process that serves, and print its answer."""
    from harvest.service.orders import carry_out  # opens stores; `--help` need not wait for that

    quiet_log()
    with show.progress() as shown:
        # A URL may hold brackets, which are markup on a terminal, and fill many lines.
        answer = carry_out(settings, command, list(words), lambda name, step: shown(escape(name[:100]), step))
    if as_json:
        click.echo(json.dumps(answer, indent=2))
    elif "error" not in answer:
        printed(answer)
    if not answer["ok"]:
        if "error" in answer and not as_json:
            raise Failed(answer["error"])
        sys.exit(1)
