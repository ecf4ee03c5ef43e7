"""
Load by `wrk`: as many requests a second as the connections of one thread get answered.

Source: the manual of wrk 4.1, "wrk - a HTTP benchmarking tool", and its SCRIPTING file.
"""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.errors import BenchError

CONNECTIONS = 8
FOR_EVER_S = 3600

_SCRIPT = Path(__file__).with_name("requests.lua")
_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0}


@dataclass(frozen=True, slots=True)
class Load:
    """
    What is asked, again and again.

    Attributes:
        template: Path and query string of the request; `{item}` in it is the eight digits of an item.
        items: The numbers are below this one.
        first: Where to begin; requests of one load ask for different items until all had their turn.
        accept: The Accept header.
        connections: Requests at once.
    """

    template: str
    items: int
    first: int = 0
    accept: str = "application/sparql-results+json"
    connections: int = CONNECTIONS


@dataclass(frozen=True, slots=True)
class Answered:
    """
    What came of a load.

    Attributes:
        rate: Requests a second.
        median_s: Time of an answer.
        p99_s: Of a hundred answers, one took longer.
        requests: Answers, all of them.
        errors: Answers that were no success, connections that failed, and time-outs.
    """

    rate: float
    median_s: float
    p99_s: float
    requests: int
    errors: int


def run(url: str, load: Load, seconds: float) -> Answered:
    """Put a load on a server for some whole seconds."""
    done = subprocess.run(_command(url, load, seconds), check=False, capture_output=True, text=True)
    return read(done.stdout, done.stderr)


class Running:
    """
    A load that goes on until the block ends.

    Attributes:
        answered: What came of it; there after the block.
    """

    answered: Answered


@contextmanager
def running(url: str, load: Load) -> Iterator[Running]:
    """A load on a server for as long as the block takes."""
    found = Running()
    command = _command(url, load, FOR_EVER_S)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        # It ignores the interrupt until its threads run.
        time.sleep(0.2)
        try:
            yield found
            process.send_signal(signal.SIGINT)
            found.answered = read(*process.communicate(timeout=30))
        finally:
            process.kill()


def command() -> str:
    """
    The path of `wrk`.

    Raises:
        BenchError: It is not installed.
    """
    path = shutil.which("wrk")
    if path is None:
        raise BenchError("`wrk` is not installed, which makes the load; on Debian: apt-get install wrk")
    return path


def _command(url: str, load: Load, seconds: float) -> list[str]:
    shape = [command(), "--threads", "1", "--connections", str(load.connections), "--duration", f"{seconds:g}s"]
    options = ["--latency", "--timeout", "60s", "--script", str(_SCRIPT), "--header", f"Accept: {load.accept}"]
    return [*shape, *options, url, "--", load.template, str(load.items), str(load.first)]


def read(output: str, said: str) -> Answered:
    """
    The figures in what `wrk` printed.

    Raises:
        BenchError: It printed something else; `said` is what it complained of.
    """
    rate = re.search(r"^Requests/sec: +([\d.]+)", output, re.MULTILINE)
    requests = re.search(r"^ +(\d+) requests in ", output, re.MULTILINE)
    shares = {share: _seconds(time) for share, time in re.findall(r"^ +(50|99)% +([\d.]+[a-z]+)", output, re.MULTILINE)}
    if rate is None or requests is None or len(shares) != 2:
        raise BenchError(f"`wrk` said nothing that is understood: {(said or output).strip()[-500:]}")
    refused = re.findall(r"Non-2xx or 3xx responses: (\d+)", output)
    for failed in re.findall(r"Socket errors: (.*)", output):
        refused += re.findall(r"\d+", failed)
    return Answered(float(rate[1]), shares["50"], shares["99"], int(requests[1]), sum(map(int, refused)))


def _seconds(duration: str) -> float:
    found = re.fullmatch(r"([\d.]+)([a-z]+)", duration)
    assert found is not None
    return float(found[1]) * _UNITS[found[2]]
