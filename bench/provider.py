"""
A provider in a process of its own: `python -m bench.provider FOLDER` serves the files of a folder on loopback.

It prints its port, and ends when its standard input does: with whoever started it, whatever ended that. Dumps are
links to where the files are. The ETag is made of the file's size and the link's time of change.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path

MEDIA_TYPES = {".ttl": "text/turtle", ".nt": "application/n-triples", ".bz2": "application/x-bzip2"}

_VOID = """@prefix void: <http://rdfs.org/ns/void#> .
@prefix dcterms: <http://purl.org/dc/terms/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
<#catalogue> a void:Dataset ;
    void:feature <http://schema.geolink.org/dev/voc/harvester#{feature}> ;
    dcterms:modified "{modified}"^^xsd:dateTime ;
    void:dataDump <{dump}> .
"""
_FIRST = datetime(2020, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Provider:
    """
    What a served folder announces.

    Attributes:
        folder: What is served.
        url: Its address, without a slash at the end.
        dates: Days after the first date, each used once: every announcement is newer than all before.
    """

    folder: Path
    url: str
    dates: Iterator[int] = field(default_factory=count)

    def announce(self, name: str, dump: Path, *, partial: bool = False) -> None:
        """
        Describe a dataset in `/NAME.ttl`, with a newer date and `dump` as its dump.

        The dump gets a new ETag, so the server never answers 304 for it.
        """
        served = self.folder / (name + "".join(dump.suffixes[-2:] if dump.suffix == ".bz2" else dump.suffixes[-1:]))
        served.unlink(missing_ok=True)
        served.symlink_to(dump)
        feature = "PartialDump" if partial else "FullDump"
        modified = (_FIRST + timedelta(days=next(self.dates))).isoformat()
        void = _VOID.format(feature=feature, modified=modified, dump=served.name)
        (self.folder / f"{name}.ttl").write_text(void)


def catalogue(dump: str) -> str:
    """The IRI of the dataset that is described as having this dump."""
    folder, _, file = dump.rpartition("/")
    return f"{folder}/{file.split('.')[0]}.ttl#catalogue"


@contextmanager
def provider(folder: Path) -> Iterator[Provider]:
    """A provider that serves `folder`, which is made; ended with the block."""
    folder.mkdir(parents=True)
    command = [sys.executable, "-m", "bench.provider", str(folder)]
    here = Path(__file__).resolve().parents[1]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=here, text=True) as process:
        assert process.stdin is not None and process.stdout is not None
        try:
            yield Provider(folder, f"http://127.0.0.1:{int(process.stdout.readline())}")
        finally:
            process.stdin.close()
            process.wait()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    folder: Path

    def do_GET(self) -> None:
        """Answer with a file, or with 304 when its ETag is the one that was asked with."""
        path = self.folder / self.path.lstrip("/")
        try:
            stream = path.open("rb")
        except OSError:
            self.send_error(404)
            return
        with stream:
            found = os.fstat(stream.fileno())
            tag = f'"{path.lstat().st_mtime_ns:x}-{found.st_size:x}"'
            same = self.headers.get("If-None-Match") == tag
            self.send_response(304 if same else 200)
            self.send_header("ETag", tag)
            if not same:
                self.send_header("Content-Type", MEDIA_TYPES[path.suffix])
                self.send_header("Content-Length", str(found.st_size))
            self.end_headers()
            if not same:
                with suppress(ConnectionError):  # Whoever asked was ended on the way.
                    self.connection.sendfile(stream)

    def log_message(self, format: str, *args: object) -> None:
        """Requests are not logged."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256


def main(folder: Path) -> None:
    """Serve until standard input ends."""
    # Ctrl-C reaches every process of a terminal; the parent still asks while it ends, and then closes our input.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _Handler.folder = folder
    with _Server(("127.0.0.1", 0), _Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        print(server.server_port, flush=True)
        sys.stdin.read()
        server.shutdown()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
