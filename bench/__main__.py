"""`python -m bench`: measure, and print a table of ratios."""

from __future__ import annotations

import argparse
import json
import logging
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType

import structlog

from bench.errors import BenchError
from bench.ground import QUICK, Ground, Scale, millions
from bench.machine import check_disk, description
from bench.suite import CASES, OTHERWISE_LEFT_OUT, Failed, rows
from bench.table import Row, markdown

LARGE = 10_000_000
BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"

CAPTION = """\
Times are medians of wall time, ours and the peer's taken in turn. Generated catalogues: eight triples an item, in
shuffled order; 5 % of the items have an address as a blank node with two triples. The peer of imports is `oxigraph
load`, that of exports `oxigraph dump`, that of a full dump again the literal subject deletion of the GeoLink document,
that of queries `oxigraph serve-read-only` over the same generation (the ratio there is the median of those of runs that
followed one another), that of a lookup while importing the idle instance. Memory is what all processes of a stage hold
at once, pages that they share counted once. `others` is what other processes and the kernel's own took of the cores
meanwhile: figures beside a large share mean little."""


def main(arguments: Sequence[str]) -> int:
    """Measure; returns 0 when everything could be measured, also where a target is missed."""
    options = _parser().parse_args(arguments)
    scale = _scale(options)
    # Steps that went well are not logged: a terminal that scrolls takes time from what is measured.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    signal.signal(signal.SIGTERM, _end)
    began = time.monotonic()
    measured: list[Row] = []
    interrupted = False
    machine = ""
    try:
        with _folder(options.keep) as folder:
            check_disk(folder, sum(scale.sizes))
            machine = description(folder)
            ground = Ground(folder, scale, _progress(began), _realdata())
            for row in rows(ground, _names(options)):
                measured.append(row)
                ground.say(" | ".join(row.cells()))
    except KeyboardInterrupt:
        interrupted = True
    except BenchError as error:
        print(error, file=sys.stderr)
        return 1
    _print(measured, machine, options.json)
    if interrupted:
        print("Interrupted; what was measured before stands above.", file=sys.stderr)
        return 130
    return 1 if any(isinstance(row, Failed) for row in measured) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench", description="Measure speed and memory against the targets."
    )
    parser.add_argument("--quick", action="store_true", help=f"{millions(QUICK.triples)}: checks the machinery")
    parser.add_argument("--large", action="store_true", help=f"also graphs of {millions(LARGE)}")
    parser.add_argument("--load", action="store_true", help="also the load test, which takes minutes")
    parser.add_argument("--only", action="append", choices=CASES, metavar="CASE", help=", ".join(CASES))
    parser.add_argument("--runs", type=int, metavar="N", help="runs of what takes less than a minute")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="leave the data there, and use them next time")
    parser.add_argument("--harvests", type=int, metavar="N", help="of the soak, with ten ticks each; else 5000")
    parser.add_argument("--seconds", type=float, metavar="S", help="of the load test, for each way of asking; else 60")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    return parser


def _names(options: argparse.Namespace) -> list[str]:
    named = options.only or [name for name in CASES if name not in OTHERWISE_LEFT_OUT]
    return [*named, *(("load",) if options.load and "load" not in named else ())]


@contextmanager
def _folder(kept: Path | None) -> Iterator[Path]:
    if kept is not None:
        kept.mkdir(parents=True, exist_ok=True)
        yield kept.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="harvest-bench-") as folder:
        yield Path(folder)


def _scale(options: argparse.Namespace) -> Scale:
    scale = QUICK if options.quick else Scale()
    if options.large:
        scale = replace(scale, large=LARGE)
    if options.seconds is not None:
        scale = replace(scale, load_s=max(options.seconds, 1))
    if options.harvests is not None:
        scale = replace(scale, harvests=max(options.harvests, 2), ticks=10 * options.harvests)
    return scale if options.runs is None else replace(scale, runs=max(options.runs, 1))


def _progress(began: float) -> Callable[[str], None]:
    def say(text: str) -> None:
        print(f"{time.monotonic() - began:6.0f} s  {text}", file=sys.stderr, flush=True)

    return say


def _realdata() -> Path | None:
    folder = Path(os.environ.get("HARVEST_REALDATA") or BESIDE)
    return folder if (folder / "MANIFEST.tsv").is_file() else None


def _end(number: int, frame: FrameType | None) -> None:
    """A termination ends the blocks that remove files and processes, as Ctrl-C does."""
    raise KeyboardInterrupt


def _print(measured: Sequence[Row], machine: str, file: Path | None) -> None:
    print(f"{machine}\n\n{CAPTION}\n\n{markdown(measured)}")
    if file is not None:
        objects = [row.data_object() for row in measured]
        file.write_text(json.dumps({"machine": machine, "rows": objects}, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
