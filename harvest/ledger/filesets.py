"""
Filesets whose platform is known: a row for each landing page that was ingested.

Source: fileset ingest document, "New SQL Tables"; the columns that its checks name do not exist, so they are mended.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final

from harvest.ledger.database import Database
from harvest.ledger.records import moment, stamp
from harvest.model import Manifest, ManifestFile

DATASET: Final = "dataset"
"""The ingest type of landing pages."""


@dataclass(frozen=True, slots=True)
class FilesetRecord:
    """
    What was found at a landing page.

    Attributes:
        base_url: As it was asked for.
        updated: When something of this changed last.
        hit: Whether its files were had.
        status: What came of it, such as success or too-many-files.
        platform_name: As of the manifest.
        platform_domain: As of the manifest.
        platform_id: As of the manifest.
        ingest_strategy: How its files were captured, or None.
        total_size: Bytes of all files.
        file_count: Files.
        archiveorg_item_name: As of the manifest.
        manifest: The files.
    """

    base_url: str
    updated: datetime
    hit: bool
    status: str
    platform_name: str
    platform_domain: str
    platform_id: str
    ingest_strategy: str | None
    total_size: int
    file_count: int
    archiveorg_item_name: str | None
    manifest: tuple[ManifestFile, ...]


class Filesets:
    """The table `ingest_fileset_platform`."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def put(self, base_url: str, manifest: Manifest, now: datetime, came: tuple[str, str]) -> bool:
        """
        File what was found at a landing page; False where that is what is filed, and nothing was written.

        `came` is status and strategy.
        """
        values = _values(base_url, manifest, *came)
        names = ", ".join(values)
        known = self.database.row(
            f"SELECT {names} FROM ingest_fileset_platform WHERE ingest_type = ? AND base_url = ?", DATASET, base_url
        )
        if known is not None and dict(known) == values:
            return False
        rest = [name for name in (*values, "updated") if name not in ("ingest_type", "base_url")]
        changes = ", ".join(f"{name} = excluded.{name}" for name in rest)
        marks = ", ".join("?" * (len(values) + 1))
        with self.database.transaction() as db:
            db.execute(
                f"INSERT INTO ingest_fileset_platform ({names}, updated) VALUES ({marks})"
                f" ON CONFLICT DO UPDATE SET {changes}",
                (*values.values(), stamp(now)),
            )
        return True

    def fail(self, base_url: str, status: str, now: datetime) -> None:
        """File that a landing page whose platform was known leads to nothing now; without a row nothing is written."""
        same = "ingest_type = ? AND base_url = ? AND status IS NOT ?"
        if self.database.row(f"SELECT 1 FROM ingest_fileset_platform WHERE {same}", DATASET, base_url, status):
            sql = f"UPDATE ingest_fileset_platform SET hit = 0, status = ?, updated = ? WHERE {same}"
            self.database.write(sql, status, stamp(now), DATASET, base_url, status)

    def at(self, base_url: str) -> FilesetRecord | None:
        """What was found at a landing page, or None."""
        sql = "SELECT * FROM ingest_fileset_platform WHERE ingest_type = ? AND base_url = ?"
        row = self.database.row(sql, DATASET, base_url)
        if row is None:
            return None
        updated = moment(row["updated"])
        assert updated is not None
        return FilesetRecord(
            row["base_url"],
            updated,
            bool(row["hit"]),
            row["status"],
            row["platform_name"],
            row["platform_domain"],
            row["platform_id"],
            row["ingest_strategy"],
            row["total_size"],
            row["file_count"],
            row["archiveorg_item_name"],
            tuple(ManifestFile(**item) for item in json.loads(row["manifest"])),
        )


def _values(base_url: str, manifest: Manifest, status: str, strategy: str) -> dict[str, Any]:
    return {
        "ingest_type": DATASET,
        "base_url": base_url,
        "hit": int(status.startswith("success")),
        "status": status,
        "platform_name": manifest.platform_name,
        "platform_domain": manifest.platform_domain,
        "platform_id": manifest.platform_id,
        "ingest_strategy": strategy,
        "total_size": manifest.total_size,
        "file_count": len(manifest.files),
        "archiveorg_item_name": manifest.archiveorg_item_name,
        "web_bundle_url": manifest.web_bundle_url,
        "manifest": json.dumps([asdict(file) for file in manifest.files]),
    }
