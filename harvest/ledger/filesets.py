"""
Filesets whose platform is known: a row for each landing page that was ingested.

Source: fileset ingest document, "New SQL Tables"; the columns that its checks name do not exist, so they are mended.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Final

from harvest.ledger.database import Database
from harvest.ledger.records import moment, stamp
from harvest.model import EXISTS, Manifest, ManifestFile

FAILURE: Final = ("error", "status_code")
"""What `extra` of a file has of why it could not be had."""

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
        before = self.at(base_url)
        values = _values(base_url, replace(manifest, files=_kept(manifest.files, before)), *came)
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

    def came(self, base_url: str, asked: ManifestFile, came: ManifestFile, now: datetime) -> bool:
        """
        File what came of a file of a manifest; False where that is what is filed.

        Nothing is filed where another look found another manifest meanwhile, in which the file is not `asked` any more.
        """
        if came == asked:
            return False
        where = "ingest_type = ? AND base_url = ?"
        with self.database.transaction() as db:
            row = db.execute(
                f"SELECT manifest FROM ingest_fileset_platform WHERE {where}", (DATASET, base_url)
            ).fetchone()
            files = _load(row["manifest"]) if row else ()
            if asked not in files:
                return False
            text = _dump(came if file == asked else file for file in files)
            sql = f"UPDATE ingest_fileset_platform SET manifest = ?, updated = ? WHERE {where}"
            db.execute(sql, (text, stamp(now), DATASET, base_url))
        return True

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
            _load(row["manifest"]),
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
        "manifest": _dump(manifest.files),
    }


def _dump(files: Iterable[ManifestFile]) -> str:
    return json.dumps([asdict(file) for file in files])


def _load(text: str) -> tuple[ManifestFile, ...]:
    return tuple(ManifestFile(**item) for item in json.loads(text))


def _kept(files: Iterable[ManifestFile], before: FilesetRecord | None) -> tuple[ManifestFile, ...]:
    """The files of a manifest, those with what came of them before that are the same in the one before."""
    known = {file.path: file for file in before.manifest} if before else {}
    return tuple(_as_before(file, known.get(file.path)) for file in files)


def _as_before(file: ManifestFile, before: ManifestFile | None) -> ManifestFile:
    """A file with what came of it, where it is the same: by size and checksums, or address where it has none."""
    if before is None or before.status is None or file.status is not None or file.size != before.size:
        return file
    moved = file.platform_url != before.platform_url
    if not set(file.hashes) <= set(before.hashes) or (moved and not (file.hashes and before.status == EXISTS)):
        return file
    if not file.hashes and before.hashes:  # checksums that are no longer said
        return file
    return replace(
        file,
        status=before.status,
        sha256=file.sha256 or before.sha256,
        extra={**file.extra, **{name: before.extra[name] for name in FAILURE if name in before.extra}},
        terminal_url=before.terminal_url,
        terminal_dt=before.terminal_dt,
    )
