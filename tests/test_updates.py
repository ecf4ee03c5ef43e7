"""Updates between the web front and the process that has the data directory."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from harvest.config.settings import QuerySettings, Settings
from harvest.ledger import Database, Ledger
from harvest.ledger.requests import BROKEN_OFF, UPDATE
from harvest.pipeline import Harvester, now_utc
from harvest.service import updates
from harvest.service.orders import Inbox
from harvest.service.updates import Updates
from sparql.errors import ForbiddenError, RequestError, SparqlError, UpdateNotTaken, UpdateUnanswered
from tests.pipeline.conftest import TemporaryInstance

WAIT_S = 240


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[TemporaryInstance]:
    made = TemporaryInstance(tmp_path)
    made.register("notes:\n  updates: true\n")
    yield made
    made.close()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """The settings of an instance that nobody runs."""
    return Settings(data_dir=tmp_path, query=QuerySettings(update_timeout_s=0.1))


@contextmanager
def served(inbox: Inbox) -> Iterator[None]:
    """An inbox that is looked into until the block ends."""
    stop = threading.Event()

    def run() -> None:
        while not stop.wait(0.02):
            inbox.serve()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        inbox.stop()


def test_an_update_that_nobody_takes_is_withdrawn(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer to the sender says that nothing was changed, so nothing may do it later."""
    monkeypatch.setattr(updates, "TAKEN_S", 0.2)
    with pytest.raises(UpdateNotTaken, match=r"nothing was changed") as caught:
        Updates(settings)("CLEAR ALL")
    assert (caught.value.status, caught.value.retriable) == (503, True)
    assert Ledger(Database(settings.layout.ledger)).requests.take(now_utc()) is None


def test_an_update_that_goes_on_is_answered_with_that(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sent again, it might be done twice; so it is no error that asks for that."""
    monkeypatch.setattr(updates, "SPARE_S", 0.5)
    ledger = Ledger(Database(settings.layout.ledger))
    with ThreadPoolExecutor(1) as thread:
        asking = thread.submit(Updates(settings), "CLEAR ALL")
        end = time.monotonic() + WAIT_S
        while ledger.requests.take(now_utc()) is None:
            assert time.monotonic() < end
            time.sleep(0.01)
        error = asking.exception(WAIT_S)
    assert isinstance(error, UpdateUnanswered)
    assert (error.status, error.retriable) == (504, False)
    assert "do not send it again" in error.message


@pytest.mark.parametrize(
    ("text", "error"),
    [("CLEAR DEFAULT", RequestError), ("LOAD <x> INTO GRAPH <y>", ForbiddenError)],
)
def test_errors_cross_as_what_they_are(instance: TemporaryInstance, text: str, error: type[SparqlError]) -> None:
    """The front gives each its status."""
    inbox = Inbox(instance.harvester)
    with served(inbox), pytest.raises(error):
        Updates(instance.settings)(text)


def test_an_update_does_not_wait_for_commands_that_take_hours(instance: TemporaryInstance) -> None:
    """Its sender waits, and holds a connection."""
    gate, begun = threading.Event(), threading.Semaphore(0)

    class Slow(Harvester):
        def export(self) -> list[str]:
            begun.release()
            gate.wait(WAIT_S)
            return []

    inbox = Inbox(Slow(instance.harvester.instance))
    for _ in range(3):
        instance.harvester.instance.ledger.requests.ask("export", [], now_utc())
    with served(inbox):
        assert begun.acquire(timeout=WAIT_S) and begun.acquire(timeout=WAIT_S)
        text = f"INSERT DATA {{ GRAPH <{instance.settings.graph('notes')}> {{ <a> <b> <c> }} }}"
        assert Updates(instance.settings)(text)["added"] == 1
        gate.set()


def test_a_fault_of_ours_is_an_answer_too(instance: TemporaryInstance) -> None:
    """Whoever waits would wait for minutes, and learn nothing."""

    class Broken(Harvester):
        def update(self, text: str) -> None:  # type: ignore[override]  # it never returns
            raise ZeroDivisionError("a fault")

    with (
        served(Inbox(Broken(instance.harvester.instance))),
        pytest.raises(SparqlError, match="ZeroDivisionError: a fault"),
    ):
        Updates(instance.settings)("CLEAR ALL")


def test_an_update_that_a_crash_broke_off_is_answered_as_unknown(instance: TemporaryInstance) -> None:
    """The next start answers it, and does not do it again."""
    ledger = instance.harvester.instance.ledger
    id = ledger.requests.ask(UPDATE, ["CLEAR ALL"], now_utc())
    ledger.requests.take(now_utc())
    instance.close()
    assert instance.harvester.instance.ledger.requests.answer(id) == BROKEN_OFF
    assert BROKEN_OFF["kind"] == UpdateUnanswered.__name__
