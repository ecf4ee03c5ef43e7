"""What `harvest wash` prints for people."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from rich.markup import escape
from rich.text import Text

from harvest.show import ERR

SHOWN: Final = 10
"""Problems of one part that are printed; `--json` has all that are kept."""

_OUTCOMES = {
    "clean": "[green]clean[/]",
    "dropped": "[yellow]washed, with statements left out[/]",
    "failed": "[red]failed[/]",
}


@contextmanager
def washing() -> Iterator[Callable[[Any], None]]:
    """A callback that shows which part is at which step, on a terminal alone."""
    if not ERR.is_terminal:
        yield lambda progress: None
        return
    with ERR.status("starting") as line:
        yield lambda progress: line.update(escape("!/".join((progress.url, *progress.names)) + f": {progress.status}"))


def wash(report: Mapping[str, Any]) -> None:
    """The report: the parts with what was wrong with them, then the whole."""
    for part in report["parts"]:
        _part(report["url"], part)
    figures = f"{report['triples']:,} triples from {report['statements']:,} statements"
    if report["blank_nodes"]:
        figures += f", {report['blank_nodes']:,} blank nodes named"
    if report["dropped"]:
        figures += f", {report['dropped']:,} statements left out"
    why = f", {report['why']}" if report["why"] else ""
    ERR.print(f"{_OUTCOMES[report['outcome']]}{why}: {figures}", soft_wrap=True)


def _part(url: str, part: Mapping[str, Any]) -> None:
    content = part["content"]
    facts = ["archive" if part["status"] == "depleted" else part["format"] or "no RDF"]
    if content and content["encoding"]:
        facts.append(content["encoding"])
    if part["format"]:
        facts.append(f"{part['statements']:,} statements")
    facts += [f"{count:,} {kind}" for kind, count in sorted(part["counts"].items())]
    title = "!/".join((url, *part["names"]))
    ERR.print(Text(title.removeprefix("file://"), style="bold"), Text("  " + ", ".join(facts)), sep="", soft_wrap=True)
    for problem in part["problems"][:SHOWN]:
        place = f"line {problem['line']}, column {problem['column']}: " if problem["line"] else ""
        message = problem["message"].replace(title, "it")
        ERR.print(Text(f"  {place}{problem['kind']}: {message}"), soft_wrap=True)
        if problem["excerpt"]:
            ERR.print(Text(f"    {problem['excerpt'].strip()}", style="dim"), soft_wrap=True)
    hidden = sum(part["counts"].values()) - min(SHOWN, len(part["problems"]))
    if hidden > 0:
        ERR.print(f"  and {hidden:,} more")
