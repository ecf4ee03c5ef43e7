"""What the schedule has begun is not begun twice, and nothing that comes meanwhile is forgotten."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

import pytest
from structlog.testing import capture_logs

from harvest.service.ongoing import Harvests, HarvestState, Ongoing

IDLE, HARVESTING, AGAIN = HarvestState


class Provider:
    """A provider whose harvests end when the test says so."""

    def __init__(self) -> None:
        self.ready = True
        self.begun: list[Future[Any]] = []
        self.harvests = Harvests(lambda name: self.ready, self.submit)

    def submit(self, name: str) -> Future[Any]:
        self.begun.append(Future())
        return self.begun[-1]

    @property
    def state(self) -> HarvestState:
        return self.harvests.state("p")


@pytest.mark.parametrize(
    ("events", "ready", "state", "begun"),
    [
        ("", True, IDLE, 0),
        ("came", False, IDLE, 0),
        ("came", True, HARVESTING, 1),
        ("came came", True, AGAIN, 1),
        ("came came came", True, AGAIN, 1),
        ("came ended", True, IDLE, 1),
        ("came came ended", True, HARVESTING, 2),
        ("came came ended ended", True, IDLE, 2),
        ("came came nothing ended", True, IDLE, 1),
        ("came came cancelled", True, IDLE, 1),
        ("came came failed", True, HARVESTING, 2),
    ],
)
def test_the_states_of_a_provider_follow_the_table(events: str, ready: bool, state: HarvestState, begun: int) -> None:
    """One harvest at a time, and another one for what came while it went on."""
    provider = Provider()
    provider.ready = ready
    actions = {
        "came": lambda: provider.harvests.came("p"),
        "ended": lambda: provider.begun[-1].set_result(None),
        "failed": lambda: provider.begun[-1].set_exception(ValueError("a fault")),
        "cancelled": lambda: (provider.begun[-1].cancel(), provider.begun[-1].set_running_or_notify_cancel()),
        "nothing": lambda: setattr(provider, "ready", False),
    }
    with capture_logs() as logged:
        for event in events.split():
            actions[event]()
    assert (provider.state, len(provider.begun)) == (state, begun)
    failure = {"event": "harvest failed", "provider": "p", "reason": "ValueError('a fault')", "log_level": "error"}
    assert logged == ([failure] if "failed" in events else [])


def test_providers_do_not_wait_for_each_other() -> None:
    """Each has a state of its own."""
    provider = Provider()
    provider.harvests.came("p")
    provider.harvests.came("q")
    assert len(provider.begun) == 2


def test_work_of_a_name_is_begun_again_once_it_has_ended() -> None:
    """A look that still waits for its provider is not begun by the next tick."""
    futures: list[Future[None]] = []

    def submit() -> Future[None]:
        futures.append(Future())
        return futures[-1]

    looks = Ongoing("look")
    for name in ("p", "p", "q"):
        looks.begin(name, submit)
    assert (len(futures), len(looks), "p" in looks) == (2, 2, True)
    with capture_logs() as logged:
        futures[0].set_exception(ValueError("a fault"))
    assert [(event["event"], event["provider"]) for event in logged] == [("look failed", "p")]
    assert "p" not in looks
    looks.begin("p", submit)
    for future in futures[1:]:
        future.set_result(None)
    looks.wait()
    assert (len(futures), len(looks)) == (3, 0)
