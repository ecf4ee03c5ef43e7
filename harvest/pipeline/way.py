"""The way of a download through its states while it is washed, filed step by step."""

from __future__ import annotations

from typing import Final

from harvest.ledger import Ledger
from harvest.model import Status
from harvest.wash.leaves import Progress

_BEFORE: Final = {Status.GUESSING: Status.UNARCHIVED, Status.PARSING: Status.GUESSED}
"""States that are passed without anything being done in them; washing tells only what it does."""


class Way:
    """
    One download.

    Attributes:
        status: What it came to so far.
    """

    def __init__(self, ledger: Ledger, download: str) -> None:
        self.status = Status.FILED
        self._ledger = ledger
        self._download = download

    def hear(self, progress: Progress) -> None:
        """File the states that it passes; entries of archives are filed with the state that they come to."""
        if progress.names or progress.status is self.status:
            return
        self.status = progress.status
        for status in (_BEFORE.get(progress.status), progress.status):
            if status is not None:
                self._ledger.documents.advance(self._download, status)
