"""
What is reported of an instance to people and programs, as frozen values.

Whoever keeps the instance makes them, each kind in one place; pages show them, and JSON and RDF are written from them.
The names of the fields are the keys of the JSON, in their order. Times are aware and in UTC.
"""

from sparql.reports.documents import (
    CleanReport,
    ContentReport,
    DirtyReport,
    DocumentPage,
    DocumentReport,
    DocumentSummary,
    DownloadTotals,
    ExchangeReport,
    HttpVersion,
    ProblemReport,
)
from sparql.reports.filesets import IngestReport, ManifestFileReport
from sparql.reports.providers import (
    LEDGER,
    AboutReport,
    DatasetFinding,
    DatasetReport,
    ProviderReport,
    ProviderSummary,
    RunSummary,
    TotalsReport,
    TroubleReport,
    WaitingReport,
)
from sparql.reports.queue import (
    FailingEntry,
    HarvestingEntry,
    HeldEntry,
    QueueEntry,
    QueueReport,
    StatusReport,
    WaitingEntry,
)
from sparql.reports.runs import (
    DumpReport,
    Finding,
    PackedFile,
    PublishedVersion,
    RunPage,
    RunReport,
    StepReport,
    VersionPage,
    VersionReport,
)
from sparql.reports.seeds import LatestReport, RemovedSeed, SeedList, SeedPage, SeedReport, SeedResult, SitemapReport
from sparql.reports.statistics import ClassCount, PropertyCount, StatisticsReport
from sparql.reports.writing import iso, to_json

__all__ = [
    "LEDGER",
    "AboutReport",
    "ClassCount",
    "CleanReport",
    "ContentReport",
    "DatasetFinding",
    "DatasetReport",
    "DirtyReport",
    "DocumentPage",
    "DocumentReport",
    "DocumentSummary",
    "DownloadTotals",
    "DumpReport",
    "ExchangeReport",
    "FailingEntry",
    "Finding",
    "HarvestingEntry",
    "HeldEntry",
    "HttpVersion",
    "IngestReport",
    "LatestReport",
    "ManifestFileReport",
    "PackedFile",
    "ProblemReport",
    "PropertyCount",
    "ProviderReport",
    "ProviderSummary",
    "PublishedVersion",
    "QueueEntry",
    "QueueReport",
    "RemovedSeed",
    "RunPage",
    "RunReport",
    "RunSummary",
    "SeedList",
    "SeedPage",
    "SeedReport",
    "SeedResult",
    "SitemapReport",
    "StatisticsReport",
    "StatusReport",
    "StepReport",
    "TotalsReport",
    "TroubleReport",
    "VersionPage",
    "VersionReport",
    "WaitingEntry",
    "WaitingReport",
    "iso",
    "to_json",
]
