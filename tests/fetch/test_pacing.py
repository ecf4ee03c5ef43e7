"""How long to wait, and how many at once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from harvest.errors import TransferError
from harvest.fetch.pacing import BACK_OFF_S, Lane, back_off_s, http_date, now_utc, retry_after_s

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_the_wait_doubles_up_to_a_limit() -> None:
    """A server in trouble is asked ever more rarely."""
    assert [back_off_s(tries, lambda: 1.0) for tries in (1, 2, 3, 7, 50)] == [1, 2, 4, BACK_OFF_S, BACK_OFF_S]


def test_the_wait_is_a_random_share_of_the_whole() -> None:
    """Clients that failed together must not come back together."""
    assert (back_off_s(3, lambda: 0.0), back_off_s(3, lambda: 0.25)) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("120", 120.0),
        (" 0 ", 0.0),
        ("Sun, 01 Mar 2026 12:02:00 GMT", 120.0),
        ("Sunday, 01-Mar-26 12:02:00 GMT", 120.0),
        ("Sun, 01 Mar 2026 11:00:00 GMT", 0.0),
        ("Sun, 01 Mar 2026 12:02:00 -0000", 120.0),
        ("soon", None),
        ("-5", None),
        ("1.5", None),
        ("\xb2", None),
        ("", None),
        (None, None),
    ],
)
def test_retry_after_is_read(header: str | None, seconds: float | None) -> None:
    """It is seconds or a date."""
    assert retry_after_s(header, NOW) == seconds


def test_a_date_without_zone_is_utc() -> None:
    """HTTP knows no other."""
    assert http_date("Sun, 01 Mar 2026 12:00:00") == NOW


def test_now_is_aware() -> None:
    """Times without zone would compare wrongly in the ledger."""
    assert now_utc().utcoffset() == timedelta(0)


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
            return waited

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
