"""The queue for workers: turns, the bound, places that were given up."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparql.errors import ClientGone
from sparql.query.fair import FairQueue
from sparql.query.ticket import QueryPlace, Ticket


@pytest.fixture(scope="module", autouse=True)
def loop() -> Iterator[None]:
    """Futures want a loop, which never has to run."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    asyncio.set_event_loop(None)
    loop.close()


def place(client: str) -> QueryPlace:
    first = asyncio.get_event_loop_policy().get_event_loop().create_future()
    return QueryPlace(Ticket(lambda: None, client), b"", 1, 1, "", 0, first)


def clients(queue: FairQueue) -> str:
    """Whose places come out, in order."""
    found = []
    while (taken := queue.pop()) is not None:
        found.append(taken.ticket.client)
    return "".join(found)


def filled(order: str, bound: int = 100) -> FairQueue:
    queue = FairQueue(bound)
    for client in order:
        queue.push(place(client))
    return queue


def test_clients_take_turns() -> None:
    """Whoever sends a hundred queries at once must not keep the others waiting for all of them."""
    assert clients(filled("aaaabbc")) == "abcabaa"


def test_one_client_is_served_in_order() -> None:
    """Among the queries of one client nothing is fairer than first come, first served."""
    queue, places = FairQueue(10), [place("a") for _ in range(5)]
    for each in places:
        queue.push(each)
    assert [queue.pop() for _ in range(6)] == [*places, None]


def test_a_full_queue_ousts_the_last_of_the_greediest() -> None:
    """The bound must not let one client keep all others out."""
    queue = filled("aaab", bound=4)
    ousted = queue.push(place("c"))
    assert ousted is not None and ousted.ticket.client == "a"
    assert clients(queue) == "abca"


def test_a_full_queue_of_one_client_refuses_its_next() -> None:
    """There is nobody to make room for; what came first keeps its place."""
    queue, late = filled("aaa", bound=3), place("a")
    assert queue.push(late) is late
    assert len(queue) == 3


def test_what_is_put_back_goes_first_and_ousts_nobody() -> None:
    """It was a worker's already: neither it nor another one may be refused when the worker does not get to it."""
    queue = filled("aab", bound=3)
    queue.put_back([place(client) for client in "bc"])
    assert len(queue) == 5
    assert clients(queue) == "bcaba"


def test_equals_do_not_oust_each_other() -> None:
    """A newcomer with as many places as all others is the one who comes too late."""
    queue = filled("ab", bound=2)
    ousted = queue.push(place("a"))
    assert ousted is not None and ousted.ticket.client == "a"
    queue = filled("aabb", bound=4)
    queue.pop()
    assert queue.push(place("a")) is None


def test_places_that_were_given_up_do_not_count() -> None:
    """A client that went away neither has a turn nor takes room."""
    queue = filled("", bound=2)
    first, second = place("a"), place("b")
    queue.push(first)
    queue.push(second)
    first.leave(ClientGone("gone"))
    assert len(queue) == 1
    assert queue.push(place("c")) is None
    assert clients(queue) == "bc"
    assert isinstance(first.first.exception(), ClientGone)


@given(st.text("abcd", max_size=40), st.integers(1, 12))
def test_nothing_is_lost_and_nobody_waits_two_rounds(order: str, bound: int) -> None:
    """For any arrivals: the bound holds, what is not ousted comes out, and a client has its turn in each round."""
    queue, ousted = FairQueue(bound), ""
    for client in order:
        gone = queue.push(place(client))
        ousted += gone.ticket.client if gone else ""
        assert len(queue) <= bound
    out = clients(queue)
    assert sorted(out + ousted) == sorted(order)
    for client in set(out):
        turns = [number for number, each in enumerate(out) if each == client]
        for start, end in itertools.pairwise(turns):
            between = out[start + 1 : end]
            assert len(set(between)) == len(between)
