"""
The ledger: what was seen, run and committed, in SQLite.

It is the one place that says which version a provider is at. Tables and their columns are told in `schema.py`.
"""

from harvest.ledger.database import Database
from harvest.ledger.ledger import Ledger
from harvest.ledger.outline import Outline
from harvest.ledger.overview import Known
from harvest.ledger.papers import Clean, DocumentRecord, hashes_of
from harvest.ledger.records import DatasetRecord, Described, ProviderRecord, Request, Run, Step, VersionRecord
from harvest.ledger.seeds import SeedRecord

__all__ = [
    "Clean",
    "Database",
    "DatasetRecord",
    "Described",
    "DocumentRecord",
    "Known",
    "Ledger",
    "Outline",
    "ProviderRecord",
    "Request",
    "Run",
    "SeedRecord",
    "Step",
    "VersionRecord",
    "hashes_of",
]
