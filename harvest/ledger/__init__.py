"""
The ledger: what was seen, run and committed, in SQLite.

It is the one place that says which version a provider is at. Tables and their columns are in `schema.py`.
"""

from harvest.ledger.database import Database
from harvest.ledger.described import Decided, Described
from harvest.ledger.document_rows import Clean, DocumentRecord, hashes_of
from harvest.ledger.ledger import Ledger
from harvest.ledger.notifications import Event, Notification
from harvest.ledger.overview import Known, ProviderOutline
from harvest.ledger.records import DatasetRecord, ProviderRecord, Request, VersionRecord
from harvest.ledger.run_records import RunFacts
from harvest.ledger.seeds import SeedRecord
from harvest.ledger.sitemaps import SitemapReading, SitemapRecord
from harvest.ledger.standing import DatasetNow, Waiting
from harvest.ledger.states import Standing

__all__ = [
    "Clean",
    "Database",
    "DatasetNow",
    "DatasetRecord",
    "Decided",
    "Described",
    "DocumentRecord",
    "Event",
    "Known",
    "Ledger",
    "Notification",
    "ProviderOutline",
    "ProviderRecord",
    "Request",
    "RunFacts",
    "SeedRecord",
    "SitemapReading",
    "SitemapRecord",
    "Standing",
    "VersionRecord",
    "Waiting",
    "hashes_of",
]
