"""
The ledger: what was seen, run and committed, in SQLite.

It is the one place that says which version a provider is at. Tables and their columns are told in `schema.py`.
"""

from harvest.ledger.database import Database
from harvest.ledger.ledger import Ledger
from harvest.ledger.records import DatasetRecord, ProviderRecord, Request, Run, VersionRecord

__all__ = ["Database", "DatasetRecord", "Ledger", "ProviderRecord", "Request", "Run", "VersionRecord"]
