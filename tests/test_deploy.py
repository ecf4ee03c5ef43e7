"""The compose files and the units of `deploy/`: read as data, and their very commands run as processes."""

from __future__ import annotations

import configparser
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import click
import pytest
import yaml

from harvest.cli.main import main
from harvest.config.loader import load_settings
from tests.engines import ENGINES, Fuseki
from tests.engines import serving as engine_serving
from tests.pipeline.test_semantics import A1, A2, B1, release
from tests.ports import free_port
from tests.provider import ProviderServer, serving
from tests.split import entry, subjects
from tests.test_serve import REPOSITORY, WAIT_S, Served

DEPLOY = REPOSITORY / "deploy"
ALONE, SPLIT = DEPLOY / "docker-compose.yml", DEPLOY / "docker-compose.split.yml"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))


@dataclass(frozen=True, slots=True)
class Mount:
    """A volume of a service: its name or its folder on the host, where the container has it, and whether read-only."""

    source: str
    target: str
    read_only: bool


@dataclass(frozen=True, slots=True)
class Service:
    """A service of a compose file; `environment` is that of the image, too."""

    name: str
    words: tuple[str, ...]
    environment: dict[str, str]
    mounts: tuple[Mount, ...]
    raw: dict[str, Any]


def image_environment() -> dict[str, str]:
    """What the image sets, of the Dockerfile's last stage."""
    text = (REPOSITORY / "Dockerfile").read_text("utf-8").rpartition("\nFROM ")[2].replace("\\\n", " ")
    [line] = [line for line in text.splitlines() if line.startswith("ENV ")]
    return dict(word.split("=", 1) for word in shlex.split(line)[1:] if word.startswith("HARVEST_"))


def services(file: Path) -> dict[str, Service]:
    """The services of a compose file."""
    return {name: _service(name, raw) for name, raw in yaml.safe_load(file.read_text("utf-8"))["services"].items()}


def _service(name: str, raw: dict[str, Any]) -> Service:
    mounts = tuple(Mount(*text.split(":")[:2], text.endswith(":ro")) for text in raw["volumes"])
    environment = image_environment() if raw["build"] == ".." else {}
    words = tuple(map(str, raw["command"]))
    return Service(name, words, environment | raw.get("environment", {}), mounts, raw)


def parsed(words: Iterable[str]) -> None:
    """Have the command line read the words of a command as it would; fails where it would."""
    command: click.Command = main
    rest = list(words)
    while isinstance(command, click.Group):
        command, rest = command.commands[rest[0]], rest[1:]
    command.make_parser(click.Context(command)).parse_args(rest)


def is_below(path: str, folder: str) -> bool:
    return PurePosixPath(path).is_relative_to(folder)


@pytest.mark.parametrize("file", [ALONE, SPLIT], ids=lambda file: file.name)
def test_a_compose_file_names_what_there_is(file: Path) -> None:
    """Commands, build contexts, folders, volumes and variables; no root file system can be written."""
    declared = set(yaml.safe_load(file.read_text("utf-8"))["volumes"])
    used = set()
    for service in services(file).values():
        assert service.raw["read_only"] is True and service.raw["tmpfs"] == ["/tmp"], service.name
        assert (DEPLOY / service.raw["build"] / "Dockerfile").is_file()
        for mount in service.mounts:
            if mount.source.startswith("."):
                assert (DEPLOY / mount.source).is_dir() and mount.read_only, mount
            else:
                used.add(mount.source)
    assert used == declared


@pytest.mark.parametrize("file", [ALONE, SPLIT], ids=lambda file: file.name)
def test_the_paths_of_a_harvest_container_are_on_volumes(file: Path) -> None:
    """What the settings place elsewhere could not be written, or would be lost with the container."""
    for service in services(file).values():
        if service.raw["build"] != "..":
            continue
        parsed(service.words)
        load_settings(None, service.environment)
        writable = [mount.target for mount in service.mounts if not mount.read_only]
        written = {"HARVEST_SCRATCH_DIR"} if "web" in service.words else {"HARVEST_DATA_DIR", "HARVEST_EXPORTS_DIR"}
        for key in written:
            assert any(is_below(service.environment[key], target) for target in writable), (service.name, key)
        for key in ("HARVEST_CONFIG", "HARVEST_DATA_DIR", "HARVEST_EXPORTS_DIR"):
            assert any(is_below(service.environment[key], mount.target) for mount in service.mounts), key
        # A new volume has the owner of the folder that the image has there.
        made = re.findall(r"--home-dir (\S+)|--owner=harvest (\S+)", (REPOSITORY / "Dockerfile").read_text("utf-8"))
        assert set(writable) <= {folder for pair in made for folder in pair}
        assert service.raw.get("healthcheck", {}).get("disable", False) is ("schedule" in service.words)


def test_fuseki_is_started_as_in_the_tests_of_engines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same release, options and addresses; `--localhost` alone is not for a container."""
    monkeypatch.setenv("FUSEKI_JAR", "fuseki.jar")
    server = Fuseki(tmp_path)
    service = services(SPLIT)["fuseki"]
    tested = [str(word).replace(str(server.port), "3030") for word in server.command()]
    assert list(service.words) == [word for word in tested[tested.index("--port") :] if word != "--localhost"]
    makefile, image = (
        (REPOSITORY / "Makefile").read_text("utf-8"),
        (DEPLOY / "fuseki" / "Dockerfile").read_text("utf-8"),
    )
    [number] = set(re.findall(r"jena-fuseki-server:([\d.]+)", makefile))
    assert f"jena-fuseki-server:{number} " in image and f"jena-fuseki-server-{number}.jar" in image
    store = yaml.safe_load((DEPLOY / "split" / "harvest.yaml").read_text("utf-8"))["store"]
    at = server.address
    expected = [url.replace(f"127.0.0.1:{server.port}", "fuseki:3030") for url in (at.query, at.update, at.graph_store)]
    assert [store["query"], store["update"], store["graph_store"]] == expected


class Deployed:
    """Commands of services and units as processes of this machine: their paths lead below a folder."""

    def __init__(self, folder: Path, provider: ProviderServer) -> None:
        self.folder = folder
        self.port = free_port()
        self.provider = provider
        self._processes: list[subprocess.Popen[str]] = []

    def place(self, path: str) -> Path:
        """Where a path of a container, or of a machine with units, is here."""
        return self.folder / "root" / path.lstrip("/")

    def configure(self, target: str, source: Path, *replaced: tuple[str, str]) -> None:
        """Copy a folder of settings to where it is mounted; the registry has the provider of the test."""
        place = self.place(target)
        if place.exists():
            return
        shutil.copytree(source, place)
        for file in place.glob("*.yaml"):
            text = file.read_text("utf-8").replace("/etc/harvest/", f"{self.place('/etc/harvest')}/")
            for before, after in replaced:
                text = text.replace(before, after)
            file.write_text(entry(self.provider.url) if file.name == "registry.yaml" else text)

    def start(self, words: Iterable[str], environment: dict[str, str], *paths: str) -> Served:
        """Start a command with an environment in which the values below `paths` are moved."""
        for path in paths:
            self.place(path).mkdir(parents=True, exist_ok=True)
        moved = {
            key: str(self.place(value)) if any(is_below(value, path) for path in paths) else value
            for key, value in environment.items()
        }
        own = {
            "HARVEST_BIND": f"127.0.0.1:{self.port}",
            "HARVEST_HTTP__ALLOW_LOOPBACK": "true",
            "HARVEST_SCHEDULE__UPDATE": "1",
            "HARVEST_SCHEDULE__EXPORT": "1",
            "HARVEST_QUERY__WORKERS": "1",
            "PYTHONPATH": str(REPOSITORY),
        }
        inherited = {key: value for key, value in os.environ.items() if not key.startswith("HARVEST_")}
        with (self.folder / "log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-c", "from harvest.cli.main import main; main()", *words],
                cwd=self.folder,
                env=inherited | moved | own,
                stdout=log,
                stderr=log,
                text=True,
            )
        self._processes.append(process)
        return Served(self.folder, self.port, process)

    def end(self) -> None:
        """Send SIGTERM to all; each ends with 0."""
        for process in reversed(self._processes):
            process.send_signal(signal.SIGTERM)
            assert process.wait(WAIT_S) == 0, (self.folder / "log").read_text("utf-8")

    def close(self) -> None:
        for process in self._processes:
            process.kill()
            process.wait()


@pytest.fixture
def deployed(tmp_path: Path) -> Iterator[Deployed]:
    with serving() as provider:
        release(provider, 1, A1)
        made = Deployed(tmp_path, provider)
        try:
            yield made
        finally:
            made.close()


def harvested(front: Served, provider: ProviderServer) -> None:
    """Return once the first version is answered for, and then the second."""
    graph = "http://localhost:8080/graph/p"
    front.until(lambda: subjects(front, graph) == ["http://x/a"], "the first version")
    release(provider, 2, A2, B1)
    front.until(lambda: subjects(front, graph) == ["http://x/a", "http://x/b"], "the second version")
    front.until(lambda: front.get("/healthz") != b"", "a front is ready; one that just began says 503")


def run(deployed: Deployed, service: Service, *replaced: tuple[str, str]) -> Served:
    """The command of a service, with its mounts."""
    for mount in service.mounts:
        if mount.source.startswith("."):
            deployed.configure(mount.target, DEPLOY / mount.source, *replaced if "split" in mount.source else ())
    return deployed.start(service.words, service.environment, *(mount.target for mount in service.mounts))


def test_the_command_of_the_one_container_harvests_and_answers(deployed: Deployed) -> None:
    """The container has the settings of `config/`, the environment of image and service, and the volumes as folders."""
    harvested(run(deployed, services(ALONE)["harvest"]), deployed.provider)
    assert deployed.place("/scratch/reading").is_dir() and not deployed.place("/data/var/reading").exists()
    deployed.end()


@pytest.mark.parametrize("name", [name for name in ENGINES if name != "virtuoso"])  # It has no `graph_store`.
def test_the_commands_of_the_split_harvest_and_answer(name: str, deployed: Deployed) -> None:
    """Over an engine at another address, and in `make test-engines` over Fuseki."""
    with engine_serving(name, deployed.folder / "engine") as engine:
        at = engine.address
        replaced = tuple(
            (f"http://fuseki:3030/ds/{path}", url)
            for path, url in (("query", at.query), ("update", at.update), ("data", at.graph_store))
        )
        replaced += () if name == "fuseki" else (("dialect: fuseki", "dialect: auto"),)
        parts = services(SPLIT)
        front = run(deployed, parts["web"], *replaced)
        run(deployed, parts["schedule"], *replaced)
        harvested(front, deployed.provider)
        deployed.end()


class Unit(configparser.RawConfigParser):
    """A unit file, whose keys have capitals and may stand several times."""

    def __init__(self, path: Path) -> None:
        super().__init__(strict=False)
        self.read(path, "utf-8")
        lines = [line.removeprefix("Environment=") for line in path.read_text("utf-8").splitlines()]
        self.environment = dict(line.split("=", 1) for line in lines if line.startswith("HARVEST_"))
        program, *self.words = shlex.split(self["Service"]["ExecStart"])
        self.program = program

    def optionxform(self, optionstr: str) -> str:
        return optionstr


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_a_unit_is_hardened_and_names_what_there_is(path: Path, tmp_path: Path) -> None:
    """Where systemd is, it reads the unit, too."""
    unit = Unit(path)
    parsed(unit.words)
    load_settings(None, unit.environment)
    service = unit["Service"]
    assert unit.program == "/opt/harvest/bin/harvest"  # `make install PREFIX=/opt/harvest`
    assert (service["ProtectSystem"], service["NoNewPrivileges"]) == ("strict", "yes")
    writable = [service.get("ReadWritePaths", "/none"), f"/var/cache/{service.get('CacheDirectory', 'none')}"]
    writes = {"web": ("SCRATCH",), "schedule": ("DATA", "EXPORTS"), "serve": ("SCRATCH", "DATA", "EXPORTS")}
    for key in ("DATA", "EXPORTS", "SCRATCH"):
        place = unit.environment.get(f"HARVEST_{key}_DIR", "/")
        assert any(is_below(place, folder) for folder in writable) is (key in writes[unit.words[0]]), key
    if (analyze := shutil.which("systemd-analyze")) is None:
        return
    copied = tmp_path / path.name.replace("@", "@1")
    copied.write_text(path.read_text("utf-8").replace(unit.program, sys.executable))
    command: list[str | Path] = [analyze, "verify", "--man=no", copied]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert [line for line in done.stderr.splitlines() if path.stem in line] == []


def test_the_commands_of_the_units_harvest_and_answer(deployed: Deployed) -> None:
    """The schedule and two fronts that share an address, as `systemctl start` of three units has them."""
    deployed.configure("/etc/harvest", REPOSITORY / "config")
    units = {path.name: Unit(path) for path in UNITS}
    paths = ("/etc/harvest", "/var/lib/harvest", "/var/cache")
    schedule, web = units["harvest-schedule.service"], units["harvest-web@.service"]
    deployed.start(schedule.words, schedule.environment, *paths)
    for _ in range(2):
        front = deployed.start(web.words, web.environment, *paths)
    harvested(front, deployed.provider)
    deployed.end()
