"""An instance on loopback whose schedule and whose fronts are processes of their own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

from tests.ports import free_port
from tests.processes import descendants, is_running
from tests.test_serve import REPOSITORY, WAIT_S, Served

TOKEN = "0123456789abcdef"


class Split:
    """
    An instance whose parts are started one by one.

    Attributes:
        folder: With the settings, `var`, `exports` and `front`, the folder that fronts write.
        url: Address of the fronts.
    """

    def __init__(self, folder: Path, registry: str, settings: str = "") -> None:
        self.folder = folder
        self._port = free_port()
        self.url = f"http://127.0.0.1:{self._port}"
        self._processes: list[subprocess.Popen[str]] = []
        (folder / "harvest.yaml").write_text(
            f"base_url: {self.url}\nbind: 127.0.0.1:{self._port}\ngraph_base: http://h.example/graph/\n"
            "data_dir: var\nexports_dir: exports\nscratch_dir: front\nhttp: {allow_loopback: true}\n"
            f"schedule: {{update: 1, export: 1}}\nquery: {{workers: 1, operator_token: '{TOKEN}'}}\n{settings}"
        )
        (folder / "registry.yaml").write_text(registry)

    def start(self, *words: str, before: tuple[str, ...] = ()) -> subprocess.Popen[str]:
        """Start a command of the instance."""
        command = [*before, sys.executable, "-c", "from harvest.cli.main import main; main()", *words]
        inherited = {key: value for key, value in os.environ.items() if not key.startswith("HARVEST_")}
        with (self.folder / "log").open("ab") as log:
            process = subprocess.Popen(
                [*command, "--config", self.folder / "harvest.yaml"],
                cwd=REPOSITORY,
                env=inherited | {"PYTHONPATH": str(REPOSITORY)},
                stdout=log,
                stderr=log,
                text=True,
            )
        self._processes.append(process)
        return process

    def served(self, process: subprocess.Popen[str]) -> Served:
        """What a front answers, as long as its process is there."""
        return Served(self.folder, self._port, process)

    def end(self, process: subprocess.Popen[str], number: signal.Signals) -> int:
        """Send a signal to a process; its exit status, once all processes below it are gone, too."""
        below = descendants(process.pid)
        process.send_signal(number)
        process.wait(WAIT_S)
        self.served(process).until(lambda: not any(map(is_running, below)), "what it started is gone")
        return process.returncode

    def listeners(self) -> int:
        """Sockets that listen on the port. Source: proc_net(5); state 0A is TCP_LISTEN."""
        lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
        return sum(found[1].endswith(f":{self._port:04X}") and found[3] == "0A" for found in lines)

    def log(self) -> str:
        return (self.folder / "log").read_text("utf-8")

    def close(self) -> None:
        for process in self._processes:
            process.kill()
            process.wait()


def entry(url: str) -> str:
    """The registry with a provider `p` at an address."""
    return f"p:\n  void: {url}/void.ttl\n  removals: mirror\n"


def subjects(served: Served, graph: str = "http://h.example/graph/p") -> list[str]:
    """What is in the provider's graph, as readers see it by SPARQL."""
    query = quote(f"SELECT DISTINCT ?s {{ GRAPH <{graph}> {{ ?s ?p ?o }} }} ORDER BY ?s")
    return served.get(f"/sparql?query={query}", "text/csv").decode().split()[1:]
