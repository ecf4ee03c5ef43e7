"""How many requests run at once, and whose turn it is."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from harvest.errors import TransferError
from harvest.fetch.lanes import BRISK, LONG_S, MOST, YOUNG_S, Lane, Slot
from harvest.fetch.transfer import Transfer


def most_at_once(lane: Lane, hosts: list[str]) -> tuple[int, int]:
    """The most places held at once, in all and for one host, when one thread per entry asks for one."""
    lock = threading.Lock()
    held: list[str] = []
    peaks: list[tuple[int, int]] = []

    def hold(host: str) -> None:
        with lane.slot(host, f"http://{host}/", threading.Event()):
            with lock:
                held.append(host)
                peaks.append((len(held), max(map(held.count, held))))
            threading.Event().wait(0.005)
            with lock:
                held.remove(host)

    with ThreadPoolExecutor(len(hosts)) as threads:
        list(threads.map(hold, hosts))
    return max(all_ for all_, _ in peaks), max(one for _, one in peaks)


def test_a_lane_bounds_each_host() -> None:
    """A small server is not to be taken down by its largest fan."""
    assert most_at_once(Lane(2), ["a"] * 12) == (2, 2)


def test_a_lane_bounds_all_hosts_together() -> None:
    """The instance's own network and disk have limits too."""
    most, most_of_one = most_at_once(Lane(2, 3), ["a", "b", "c", "d"] * 4)
    assert most <= 3
    assert most_of_one <= 2


def test_waiting_for_a_busy_host_takes_no_place_from_others() -> None:
    """One slow host would otherwise stop every download."""
    lane, stop = Lane(1, 2), threading.Event()

    def take(host: str) -> float:
        with lane.slot(host, f"http://{host}/", stop) as waited:
            return waited.waited_s

    with ThreadPoolExecutor(1) as threads:
        with lane.slot("slow", "http://slow/", stop):
            waiting = threads.submit(take, "slow")
            take("other")
            assert not waiting.done()
        assert waiting.result() >= 0


def test_waiting_for_a_turn_can_be_stopped() -> None:
    """A failed dataset must not queue for its other dumps."""
    lane, stop = Lane(1), threading.Event()
    with lane.slot("a", "http://a/", stop):
        stop.set()
        with (
            pytest.raises(TransferError, match="http://a/: the transfer was stopped"),
            lane.slot("a", "http://a/", stop),
        ):
            pass


class Turns:
    """
    A lane, and those who have a place or wait for one.

    Attributes:
        now: The time; it stands until a test moves it.
        given: Who got a place, in order.
    """

    def __init__(self, per_host: int, parallel: int | None) -> None:
        self.now = 0.0
        self.given: list[str] = []
        self._lane = Lane(per_host, parallel, lambda: self.now)
        self._groups: dict[str, threading.Event] = {}
        self._ends: dict[str, threading.Event] = {}
        self._places: dict[str, Slot] = {}
        self._threads = ThreadPoolExecutor(200)

    def ask(self, host: str, group: str, *, at_once: bool = False) -> str:
        """Ask for a place, and return once it is given where it is `at_once`, else once it is waited for."""
        name = f"{host} {group} {len(self._ends)}"
        self._ends[name] = threading.Event()
        self._threads.submit(self._hold, name, host, self._groups.setdefault(group, threading.Event()))
        self.settle(lambda: name in self.given if at_once else self._known(name))
        return name

    def _known(self, name: str) -> bool:
        return name in self.given or len(self._lane._waiting) + len(self.given) == len(self._ends)

    def _hold(self, name: str, host: str, group: threading.Event) -> None:
        with self._lane.slot(host, f"http://{host}/", group) as place:
            self._places[name] = place
            self.given.append(name)
            self._ends[name].wait(30)

    def end(self, name: str) -> None:
        """End a request, and return once somebody else has its place or nobody waits."""
        self._ends[name].set()
        self.settle(lambda: self._places[name] not in self._lane._held)

    def brings(self, name: str, received: int) -> None:
        """A request has brought so many bytes."""
        transfer = Transfer("http://x/", "/", 0.0, threading.Event())
        transfer.received = received
        self._places[name].transfer = transfer

    def settle(self, condition: object) -> None:
        """Wait until something is so."""
        end = time.monotonic() + 30
        while not condition():  # type: ignore[operator]  # a function
            assert time.monotonic() < end, self.given
            time.sleep(0.001)

    def close(self) -> None:
        for end in (*self._ends.values(), *self._groups.values()):
            end.set()
        self._threads.shutdown(wait=True)


@pytest.mark.parametrize(("per_host", "parallel", "host"), [(2, 1, "b"), (1, 4, "a")], ids=["hosts", "groups"])
def test_the_many_take_turns_with_the_one(per_host: int, parallel: int, host: str) -> None:
    """Neither a host nor, on one host, a dataset that many wait for comes more often than one that one waits for."""
    with closing(Turns(per_host, parallel)) as lane:
        first = lane.ask("a", "A", at_once=True)
        for _ in range(5):
            lane.ask("a", "A")
        other = lane.ask(host, "B")
        lane.end(first)
        lane.settle(lambda: len(lane.given) == 2)
        assert lane.given[-1] == other


def test_what_hardly_brings_anything_makes_room() -> None:
    """Four servers that drip must not stop the downloads from all others; those that bring much still count."""
    with closing(Turns(2, 2)) as lane:
        drips, brisk = lane.ask("a", "A", at_once=True), lane.ask("b", "B", at_once=True)
        lane.now = YOUNG_S + 1
        lane.brings(drips, 3)
        lane.brings(brisk, round(BRISK * lane.now) + 1)
        third = lane.ask("c", "C", at_once=True)
        fourth = lane.ask("d", "D")
        time.sleep(0.5)
        assert lane.given == [drips, brisk, third]
        lane.now += YOUNG_S + 1
        lane.brings(brisk, round(BRISK * lane.now) + 1)
        lane.settle(lambda: lane.given[-1] == fourth)


def test_what_takes_long_makes_room() -> None:
    """However much it brings: others may be small."""
    with closing(Turns(2, 1)) as lane:
        long = lane.ask("a", "A", at_once=True)
        other = lane.ask("b", "B")
        lane.now = LONG_S + 1
        lane.brings(long, 1 << 40)
        lane.settle(lambda: lane.given[-1] == other)


def test_a_slow_host_is_asked_by_others_too_up_to_twice_its_bound() -> None:
    """Two providers share a host, and one of them has large files there."""
    with closing(Turns(2, 4)) as lane:
        for _ in range(4):
            lane.ask("a", "A", at_once=True) if len(lane.given) < 2 else lane.ask("a", "A")
        other = lane.ask("a", "B")
        lane.now = LONG_S + 1
        lane.settle(lambda: other in lane.given and len(lane.given) == 4)
        lane.now += LONG_S + 1
        time.sleep(0.5)
        assert len(lane.given) == 4


def test_there_are_never_more_than_so_many() -> None:
    """Each costs a connection and a thread."""
    with closing(Turns(1, 1)) as lane:
        for i in range(MOST):
            lane.ask(f"h{i}", str(i), at_once=True)
            lane.now += LONG_S + 1
        lane.ask("last", "last")
        time.sleep(0.5)
        assert len(lane.given) == MOST


def test_a_lane_remembers_nothing_of_those_who_are_gone() -> None:
    """Redirects can name any number of hosts, and there are many datasets."""
    lane = Lane(2, 4)
    for i in range(100):
        with lane.slot(f"h{i}", "http://h/", threading.Event()):
            pass
    assert (lane._held, lane._waiting, lane._served) == ([], [], {})
