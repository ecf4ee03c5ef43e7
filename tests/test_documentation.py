"""The documents name every setting, command, address and error, and nothing that is not there."""

from __future__ import annotations

import dataclasses
import inspect
import itertools
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import click
import pytest

import harvest.errors
import sparql.errors
from harvest.cli.main import main
from harvest.config.settings import Settings
from sparql.web.app import create_pages
from sparql.web.catalog import Catalog, Site
from sparql.web.site import Context
from sparql.worker.limits import QueryLimits

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *sorted(ROOT.glob("docs/**/*.md"))]
DOCUMENTED = "\n".join(path.read_text("utf-8") for path in DOCUMENTS if path.exists())
SHELL = {"|", "||", "&", "&&", ";", ">", ">>", "<"}
BLOCK = re.compile(r"^```(?:bash|console|sh|shell|text)?\n(.*?)^```", re.DOTALL | re.MULTILINE)


def _settings(group: type, prefix: str = "") -> Iterator[str]:
    """The keys of harvest.yaml, dotted, as the settings classes have them."""
    for field in dataclasses.fields(group):
        default = field.default
        if dataclasses.is_dataclass(default):
            yield from _settings(type(default), f"{prefix}{field.name}.")
        elif field.name != "file":
            yield prefix + field.name


def _commands(group: click.Group, prefix: str = "harvest") -> Iterator[tuple[str, click.Command]]:
    """Every command with the words that call it."""
    for name, command in sorted(group.commands.items()):
        if isinstance(command, click.Group):
            yield from _commands(command, f"{prefix} {name}")
        else:
            yield f"{prefix} {name}", command


def _addresses() -> Iterator[str]:
    """The addresses of the front, with `{}` around what varies; without Flask's own for static files."""
    unused = cast(Catalog, None)  # no page is asked for
    app = create_pages(Context(unused, Site("http://localhost"), QueryLimits(), lambda: 0))
    rules = {
        re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule)
        for rule in app.url_map.iter_rules()
        if rule.endpoint != "static"
    }
    yield from sorted(rule for rule in rules if rule == "/" or rule.rstrip("/") not in rules - {rule})


def _errors() -> Iterator[str]:
    """The names of all error classes of both sides."""
    for module in (harvest.errors, sparql.errors):
        for name, value in inspect.getmembers(module, inspect.isclass):
            if issubclass(value, Exception) and value.__module__ == module.__name__:
                yield name


def _sessions() -> Iterator[str]:
    """The lines of the documents that call `harvest` or `make`, without prompt and comment."""
    for path in [*DOCUMENTS, ROOT / "CONTRIBUTING.md"]:
        for block in BLOCK.findall(path.read_text("utf-8") if path.exists() else ""):
            for line in re.sub(r"\\\n\s*", "", block).splitlines():
                bare = line.strip().removeprefix("$ ")
                if bare.startswith(("harvest ", "make ")):
                    yield bare


COMMANDS = dict(_commands(main))


@pytest.mark.parametrize("key", list(_settings(Settings)))
def test_a_setting_is_documented(key: str) -> None:
    """A setting that nobody knows is a constant."""
    assert f"`{key}`" in DOCUMENTED, f"no document names the setting `{key}`"


@pytest.mark.parametrize("words", COMMANDS)
def test_a_command_and_its_options_are_documented(words: str) -> None:
    """What the help text says to those who ask, the documents say to those who look for it."""
    assert re.search(rf"\b{words}\b", DOCUMENTED), f"no document names the command {words}"
    options = [o for p in COMMANDS[words].params if isinstance(p, click.Option) for o in p.opts if o.startswith("--")]
    assert [option for option in options if option not in DOCUMENTED] == []


@pytest.mark.parametrize("address", list(_addresses()))
def test_an_address_is_documented(address: str) -> None:
    """People and programs open addresses that they read somewhere."""
    assert f"`{address}`" in DOCUMENTED, f"no document names the address `{address}`"


@pytest.mark.parametrize("name", list(_errors()))
def test_an_error_is_documented(name: str) -> None:
    """Who meets an error can read what it means and what to do."""
    assert re.search(rf"\b{name}\b", DOCUMENTED), f"no document names the error {name}"


@pytest.mark.parametrize("line", sorted(set(_sessions())))
def test_a_command_in_the_documents_exists(line: str) -> None:
    """A reader copies it, and it must not answer that there is no such command or option."""
    words = list(itertools.takewhile(lambda word: word not in SHELL, shlex.split(line, comments=True)))
    if words[0] == "make":
        targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
        assert {word for word in words[1:] if "=" not in word} <= set(targets)
        return
    command: click.Command = main
    rest = words[1:]
    while isinstance(command, click.Group):
        _, rest, _ = command.make_parser(click.Context(command)).parse_args(rest)
        if not rest:
            return
        assert rest[0] in command.commands, f"{line}: there is no command {rest[0]}"
        command, rest = command.commands[rest[0]], rest[1:]
    command.make_parser(click.Context(command)).parse_args(rest)
