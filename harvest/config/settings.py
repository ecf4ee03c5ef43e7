"""Settings: the frozen values that harvest.yaml and the environment give."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from harvest.config.engine import EngineSettings
from harvest.model import Layout

GIB = 1 << 30

METADATA = "harvest-metadata"
"""Last part of the metadata graph's IRI; no provider can have it, for names hold no hyphen."""

TOKEN = re.compile(r"(Authorization|X-[A-Za-z-]+): ((?:[A-Za-z]+ )?)\$([A-Za-z_]\w*)")
"""A header with a variable in place of its secret: name, scheme with a blank or nothing, variable."""


@dataclass(frozen=True, slots=True)
class ScheduleSettings:
    """
    Seconds between two runs of each job.

    Attributes:
        update: Looking at every provider's description.
        export: Rewriting what changed in the exports.
        status: Writing a status line to the log.
    """

    update: float = 60
    export: float = 60
    status: float = 60


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """
    How documents are fetched.

    Attributes:
        contact: Mail address or URL that the User-Agent names; empty names `base_url` alone.
        connect_s: Seconds to wait for a connection.
        read_s: Seconds to wait for the next bytes.
        total_s: Seconds that one document may take in all, retries included.
        min_rate: Bytes a second below which a transfer is given up; 0 takes any.
        min_rate_s: Seconds over which that is measured; never fewer than `read_s`.
        max_bytes: Largest body, in bytes as received and again as decoded.
        parallel: Downloads at once.
        per_host: Downloads at once from one host.
        retries: Tries after the first one.
        allow_loopback: Whether 127.0.0.0/8 and ::1 may be asked; for the demo and tests.
        robots: For what robots.txt is obeyed: `pages` of sitemaps and seeds, `all` requests, or `none`.
        tokens: Headers by host, or host and port, such as `Authorization: Bearer $NAME`; the secret is in the variable.
    """

    contact: str = ""
    connect_s: float = 10
    read_s: float = 60
    total_s: float = 86400
    min_rate: int = 1024
    min_rate_s: float = 120
    max_bytes: int = 64 * GIB
    parallel: int = 4
    per_host: int = 2
    retries: int = 5
    allow_loopback: bool = False
    robots: str = "pages"
    tokens: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GuardSettings:
    """
    The shrink guard: more removals than max(floor, share of the graph) hold a harvest.

    Attributes:
        floor: Triples.
        share: Share of the graph's triples, 0 to 1.
    """

    floor: int = 1000
    share: float = 0.2


@dataclass(frozen=True, slots=True)
class WashSettings:
    """
    Limits of turning one dataset's dumps into a snapshot.

    Attributes:
        timeout_s: Seconds for all dumps of a dataset.
        memory: Bytes of address space that sorting and labelling aim to stay under.
        threshold: Share of a dataset's triples, 0 to 1, that may be lost; with more, nothing of it is harvested.
        max_bytes: Unpacked bytes of one dump, all entries of an archive together.
        max_ratio: Unpacked to packed bytes of one dump.
        max_entries: Entries of one dump's archives.
        max_depth: Archives and compressions within one another.
    """

    timeout_s: float = 21600
    memory: int = GIB // 4
    threshold: float = 0.01
    max_bytes: int = 256 * GIB
    max_ratio: float = 200
    max_entries: int = 100_000
    max_depth: int = 8


@dataclass(frozen=True, slots=True)
class SeedSettings:
    """
    The seed list.

    Attributes:
        interval: Seconds after which a download of a seed is stale.
        max_parallel: Seeds that are worked on at once.

    Source: LOD Laundromat 2, "Downloading the file stream"; its default is 100 days.
    """

    interval: float = 100 * 86400
    max_parallel: int = 4


@dataclass(frozen=True, slots=True)
class FilesetSettings:
    """
    Datasets of repositories.

    Attributes:
        platform_hosts: Names of platforms by host, or host and port, where pages do not show them.
        doi_resolver: What a DOI is appended to.
        max_total_size: Bytes of all files of a fileset; one that has more is not taken.
        max_file_count: Files of a fileset; one that has more is not taken.
        preferred_file_size: Bytes of one file from which on an item on archive.org is preferred to a capture.
        archiveorg: Where archive.org is, its metadata API at `metadata/`.
        archiveorg_s3: Where its S3-like API is.

    Source: fileset ingest document, "Limits and Failure Modes".
    """

    platform_hosts: dict[str, str] = field(default_factory=dict)
    doi_resolver: str = "https://doi.org/"
    max_total_size: int = 64 * GIB
    max_file_count: int = 200
    preferred_file_size: int = 64 << 20
    archiveorg: str = "https://archive.org/"
    archiveorg_s3: str = "https://s3.us.archive.org/"


@dataclass(frozen=True, slots=True)
class KeepSettings:
    """
    What of the past stays in the ledger and in the metadata graph; versions and what they are made of always do.

    Attributes:
        age: Seconds after which runs that made no version, steps, answered requests, announcements, failed downloads
            and earlier documents may go.
        newest: Runs of each provider and documents of each seed that stay whatever their age.
    """

    age: float = 90 * 86400
    newest: int = 100


@dataclass(frozen=True, slots=True)
class NotifySettings:
    """
    How those are notified whom the registry's `notify` names.

    Attributes:
        secret: Key of the HMAC that signs what is posted; empty signs nothing.
        smtp: Host and port of the mail server; empty delivers no mail.
        sender: Mail address that mail comes from.
    """

    secret: str = field(default="", repr=False)
    smtp: str = ""
    sender: str = ""


@dataclass(frozen=True, slots=True)
class QuerySettings:
    """
    Limits of one SPARQL query.

    Attributes:
        timeout_s: Seconds of wall time.
        memory: Bytes of resident memory that one query may use; all together may use so many for each of `workers`.
        workers: Long queries that run at once; short ones do not wait for them.
        max_rows: Rows of a SELECT or triples of a CONSTRUCT.
        max_bytes: Bytes of one result.
        union_default_graph: Whether the default graph is the union of the graphs of providers.
        listed_graphs: Up to so many graphs of providers the metadata graph and those of seeds are not in that union.
        cache: Bytes on disk that remembered results may take; 0 remembers none.
        service: Endpoints that SERVICE may ask.
        operator_token: What a request must bear to write by SPARQL update; empty refuses all updates over HTTP.
        update_timeout_s: Seconds that evaluating an update may take.
    """

    timeout_s: float = 30
    memory: int = 2 * GIB
    workers: int = 2
    max_rows: int = 1_000_000
    max_bytes: int = GIB
    union_default_graph: bool = True
    listed_graphs: int = 32
    cache: int = GIB
    service: tuple[str, ...] = ()
    operator_token: str = field(default="", repr=False)
    update_timeout_s: float = 300


@dataclass(frozen=True, slots=True)
class Settings:
    """
    All settings of an instance; every path that `harvest.config.loader.load_settings` gives is absolute.

    Attributes:
        file: The settings file, or None when none was read.
        base_url: Public address, used in links; no slash at the end.
        bind: Host and port the web front listens on.
        proxies: Addresses and networks of the reverse proxies in front of it, which say whose a request is.
        graph_base: What a provider name is appended to, to give its graph IRI; never change it later.
        registry: The registry file.
        write_back: Whether the registry's `modified` is rewritten after a harvest.
        data_dir: Everything that must be kept.
        exports_dir: N-Quads downloads.
        exports_storage: Where copies of them are: `s3://bucket/prefix` or `file:///folder`; empty: nowhere else.
        exports_url: The address that readers of these copies are led to; empty: signed ones of the bucket.
        scratch_dir: Temporary files and remembered results of the web front; None has them in `data_dir`.
        resource_dumps: Whether each feed has its dataset as a ResourceSync resource dump, too.
        warc: Whether each exchange with a provider is written to WARC files, too.
        schedule: Seconds between runs.
        content: Where the archive's bytes are: `s3://bucket/prefix`, `file:///folder`; empty: the data directory.
        store: The engine that is the triple store; None for the embedded one.
        write: How a version is written to the store: `auto`, `delta` or `subjects`.
        workers: Who washes: `local` for this machine, or `dask://host:port` of a scheduler.
        http: Fetching.
        guard: The shrink guard.
        wash: Limits of washing.
        seeds: The seed list.
        filesets: Datasets of repositories.
        query: Limits of querying.
        keep: What of the past stays.
        notify: Notifications.
        features: Further void:feature IRIs, each mapped to `full` or `partial`.
        follow: Address of the instance whose replica this is; empty where it is none. No slash at the end.
    """

    file: Path | None = None
    base_url: str = "http://localhost:8080"
    bind: str = "127.0.0.1:8080"
    proxies: tuple[str, ...] = ()
    graph_base: str = "http://localhost:8080/graph/"
    registry: Path = Path("config/registry.yaml")
    write_back: bool = True
    data_dir: Path = Path("var")
    exports_dir: Path = Path("exports")
    exports_storage: str = ""
    exports_url: str = ""
    scratch_dir: Path | None = None
    resource_dumps: bool = False
    warc: bool = False
    schedule: ScheduleSettings = ScheduleSettings()
    content: str = ""
    store: EngineSettings | None = None
    write: str = "auto"
    workers: str = "local"
    http: HttpSettings = HttpSettings()
    guard: GuardSettings = GuardSettings()
    wash: WashSettings = WashSettings()
    seeds: SeedSettings = SeedSettings()
    filesets: FilesetSettings = FilesetSettings()
    query: QuerySettings = QuerySettings()
    keep: KeepSettings = KeepSettings()
    notify: NotifySettings = NotifySettings()
    features: dict[str, str] = field(default_factory=dict)
    follow: str = ""

    @property
    def layout(self) -> Layout:
        """The paths below the data directory."""
        return Layout(self.data_dir, self.scratch_dir)

    @property
    def own_graphs(self) -> tuple[str, ...]:
        """What the names of graphs begin with that are the platform's own: no provider's name has a hyphen."""
        return self.graph(METADATA), self.graph("seed-")

    def graph(self, name: str) -> str:
        """The graph IRI of a provider."""
        return self.graph_base + name
