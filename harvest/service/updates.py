"""SPARQL updates from the web front: handed to the process that has the data directory, and its answer waited for."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from typing import Any, Final

import harvest.errors
import sparql.errors
from harvest.config.settings import Settings
from harvest.errors import HarvestError
from harvest.ledger import Database, Ledger
from harvest.ledger.requests import UPDATE
from harvest.pipeline import now_utc
from harvest.service.orders import Patience, awaited
from sparql.errors import SparqlError, StoreError, UpdateNotTaken, UpdateUnanswered

POLL_S: Final = 0.05
TAKEN_S: Final = 10.0
"""Seconds in which the other process must take an update; it looks every half second."""
SPARE_S: Final = 60.0
"""Seconds beyond the limit of evaluation, for loading what it gave."""


class Updates:
    """Has updates carried out; may be called by several threads."""

    def __init__(self, settings: Settings) -> None:
        self._path = settings.layout.ledger
        # An update before this one may take its time, too.
        self._patience = Patience(TAKEN_S, POLL_S, 2 * settings.query.update_timeout_s + SPARE_S)
        self._base_url = settings.base_url

    def change(self, graph: str, data: bytes) -> dict[str, Any]:
        """
        The outcome of applying an N-Quads unified diff to a graph; the rest as for an update.

        Raises:
            SparqlError: It was refused, does not fit, or failed; UpdateUnanswered where that is not known.
        """
        return self._sent(graph, b64encode(data).decode())

    def __call__(self, text: str) -> dict[str, Any]:
        """
        The outcome of an update, as JSON: the fields of `harvest.pipeline.update.updating.Written`.

        Raises:
            SparqlError: It was refused or failed; UpdateUnanswered where that is not known.
        """
        return self._sent(text)

    def _sent(self, *words: str) -> dict[str, Any]:
        database = Database(self._path)
        try:
            return _result(self._answer(Ledger(database), words))
        finally:
            database.close()

    def _answer(self, ledger: Ledger, words: Sequence[str]) -> dict[str, Any]:
        id = ledger.requests.ask(UPDATE, words, now_utc())
        try:
            answer = awaited(ledger, id, self._patience)
        except TimeoutError as error:
            raise UpdateUnanswered(
                f"The update goes on after {self._patience.answered_s:.0f} s. What becomes of it will stand on the "
                f"page of its graph ({self._base_url}/providers/); do not send it again before."
            ) from error
        if answer is None:
            raise UpdateNotTaken(
                f"The process that harvests did not take the update within {TAKEN_S:g} s; nothing was changed."
            )
        return answer


def _result(answer: dict[str, Any]) -> dict[str, Any]:
    """What was done, or the error that the other process had."""
    if answer["ok"]:
        return dict(answer["results"][0])
    name = str(answer.get("kind"))
    kind = getattr(sparql.errors, name, None)
    if kind is None:
        later = getattr(harvest.errors, name, HarvestError).retriable
        kind = StoreError if later else SparqlError
    raise kind(answer["error"])
