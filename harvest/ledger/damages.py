"""What is known to be damaged of a provider's files, until it is mended."""

from __future__ import annotations

import json
from collections.abc import Iterable

from harvest.ledger.database import Database
from harvest.ledger.records import dump_findings
from harvest.model import Finding


class Damages:
    """The damage that was found, a finding a file."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def add(self, name: str, finding: Finding) -> None:
        """File that something of a provider is damaged, once a file."""
        if finding not in self.of(name):
            [text] = json.loads(dump_findings((finding,)))
            self.database.write(
                "INSERT OR REPLACE INTO damage SELECT name, ?, ? FROM provider WHERE name = ?",
                finding.url or "",
                json.dumps(text),
                name,
            )

    def set(self, name: str, findings: Iterable[Finding]) -> None:
        """File that this is damaged of a provider, and nothing else."""
        held, found = self.of(name), list(findings)
        if held != found:
            self.database.write("DELETE FROM damage WHERE provider = ?", name)
            for finding in found:
                self.add(name, finding)

    def of(self, name: str) -> list[Finding]:
        """What is damaged of a provider."""
        rows = self.database.rows("SELECT finding FROM damage WHERE provider = ? ORDER BY rowid", name)
        return [Finding(**json.loads(row["finding"])) for row in rows]
