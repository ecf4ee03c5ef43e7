"""
Engines on loopback, for tests of the store on an engine.

`make test` has Oxigraph's server, from PyPI. `make test-engines` names more in TESTED_ENGINES, where Fuseki is in
FUSEKI_JAR, and where Jetty and RDF4J's server are in RDF4J_FILES, with a colon between.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sparql.store.address import EngineAddress
from tests.ports import free_port

ENGINES = os.environ.get("TESTED_ENGINES", "oxigraph").split()
STARTED_S = 120


class EngineServer:
    """
    A server that can be killed and started again on the same data.

    Attributes:
        address: Where it takes queries and updates.
    """

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> EngineAddress:
        url = f"http://127.0.0.1:{self.port}"
        return EngineAddress(f"{url}/query", f"{url}/update", f"{url}/store")

    def command(self) -> list[str | Path]:
        """What starts it."""
        program = Path(sys.executable).with_name("oxigraph")
        return [program, "serve", "--location", self._folder, "--bind", f"127.0.0.1:{self.port}"]

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self._run(f"{self.address.query}?query=ASK%20%7B%7D")

    def _run(self, url: str) -> None:
        with (self._folder.parent / f"{self._folder.name}.log").open("ab") as log:
            self._process = subprocess.Popen(self.command(), stdout=log, stderr=log, cwd=self._folder)
        until = time.monotonic() + STARTED_S
        while time.monotonic() < until:
            try:
                with urllib.request.urlopen(url, timeout=STARTED_S):
                    return
            except urllib.error.URLError:
                time.sleep(0.05)
        raise TimeoutError(f"{url} does not answer")

    def kill(self) -> None:
        """End it as a power cut would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


class Fuseki(EngineServer):
    """Apache Jena Fuseki over TDB2."""

    @property
    def address(self) -> EngineAddress:
        url = f"http://127.0.0.1:{self.port}/ds"
        return EngineAddress(f"{url}/query", f"{url}/update", f"{url}/data")

    def command(self) -> list[str | Path]:
        """What starts it."""
        jar, port = os.environ["FUSEKI_JAR"], str(self.port)
        return ["java", "-Xmx1g", "-jar", jar, "--port", port, "--localhost", "--update", "--tdb2", "--loc", ".", "/ds"]


REPOSITORY = """
@prefix config: <tag:rdf4j.org,2023:config/> .
[] a config:Repository ; config:rep.id "harvest" ; config:rep.impl [
    config:rep.type "openrdf:SailRepository" ; config:sail.impl [
        config:sail.type "openrdf:NativeStore" ; config:native.tripleIndexes "spoc,posc,cspo" ] ] .
"""


class RDF4J(EngineServer):
    """Eclipse RDF4J's server with a native store, in Jetty."""

    @property
    def address(self) -> EngineAddress:
        url = f"{self._server}/repositories/harvest"
        return EngineAddress(url, f"{url}/statements", f"{url}/rdf-graphs/service")

    @property
    def _server(self) -> str:
        return f"http://127.0.0.1:{self.port}/rdf4j-server"

    def command(self) -> list[str | Path]:
        """What starts it."""
        jetty, war = os.environ["RDF4J_FILES"].split(":")
        place = f"-Dorg.eclipse.rdf4j.appdata.basedir={self._folder}"
        served = ["--host", "127.0.0.1", "--port", str(self.port), "--path", "/rdf4j-server", war]
        return ["java", "-Xmx1g", place, "-jar", jetty, *served]

    def start(self) -> None:
        """Start it, and make its repository the first time."""
        self._run(f"{self._server}/protocol")
        kind = {"Content-Type": "text/turtle"}
        made = urllib.request.Request(f"{self._server}/repositories/harvest", REPOSITORY.encode(), kind, method="PUT")
        try:
            urllib.request.urlopen(made, timeout=STARTED_S).close()
        except urllib.error.HTTPError as error:
            if error.code != 409:  # it is there
                raise


VIRTUOSO = """
[Database]
DatabaseFile = virtuoso.db
ErrorLogFile = virtuoso.log
LockFile = virtuoso.lck
TransactionFile = virtuoso.trx
xa_persistent_file = virtuoso.pxa
FileExtend = 200
[TempDatabase]
DatabaseFile = virtuoso-temp.db
TransactionFile = virtuoso-temp.trx
[Parameters]
ServerPort = 127.0.0.1:{sql}
ServerThreads = 50
CheckpointInterval = 0
NumberOfBuffers = 20000
MaxDirtyBuffers = 15000
[HTTPServer]
ServerPort = 127.0.0.1:{http}
ServerThreads = 50
[Client]
SQL_QUERY_TIMEOUT = 0
[SPARQL]
DefaultGraph = http://nobody.example/
"""
"""With 10 threads four readers blocked for a minute."""


class Virtuoso(EngineServer):
    """OpenLink Virtuoso 7, whose endpoint may write what it likes."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._sql = free_port()

    @property
    def address(self) -> EngineAddress:
        url = f"http://127.0.0.1:{self.port}/sparql"
        return EngineAddress(url, url, f"{url}-graph-crud")

    def command(self) -> list[str | Path]:
        """What starts it."""
        settings = self._folder / "virtuoso.ini"
        settings.write_text(VIRTUOSO.format(sql=self._sql, http=self.port))
        (self._folder / "virtuoso.lck").unlink(missing_ok=True)
        return ["virtuoso-t", "+configfile", settings, "+foreground"]

    def start(self) -> None:
        """Start it, and let its endpoint write."""
        super().start()
        grant = 'GRANT SPARQL_UPDATE TO "SPARQL"; checkpoint;'
        subprocess.run(
            ["isql-vt", f"127.0.0.1:{self._sql}", "dba", "dba", f"exec={grant}"],
            check=True, capture_output=True, timeout=STARTED_S,
        )  # fmt: skip


SERVERS = {"oxigraph": EngineServer, "fuseki": Fuseki, "virtuoso": Virtuoso, "rdf4j": RDF4J}


@contextmanager
def serving(name: str, folder: Path) -> Iterator[EngineServer]:
    """A running server of an engine, with an empty folder."""
    server = SERVERS[name](folder)
    try:
        server.start()
        yield server
    finally:
        server.kill()
