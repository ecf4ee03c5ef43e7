"""The queue for a free worker: bounded, and fair to the addresses that queries come from."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator, Sequence

from sparql.query.ticket import QueryPlace


class FairQueue:
    """
    Places that wait, given out in turns: one of each client, then the next of each.

    Whoever asks one query does not wait for the hundred of somebody else, but for one of them.

    Attributes:
        bound: How many may wait.
    """

    def __init__(self, bound: int) -> None:
        self.bound = bound
        self._waiting: OrderedDict[str, deque[QueryPlace]] = OrderedDict()

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __bool__(self) -> bool:
        return bool(self._waiting) and any(True for _ in self)

    def __iter__(self) -> Iterator[QueryPlace]:
        """Yield the places that still wait."""
        for places in self._waiting.values():
            yield from (place for place in places if not place.first.done())

    def push(self, place: QueryPlace) -> QueryPlace | None:
        """
        Add a place; the one that has to go for it when all are taken, or None.

        That is the last place of whoever has most of them, and the new one itself when that is its client.
        """
        self._waiting.setdefault(place.ticket.client, deque()).append(place)
        if len(self) <= self.bound:
            return None
        self.tidy()
        own = self._waiting[place.ticket.client]
        most = max(self._waiting.values(), key=lambda places: (len(places), places is own))
        return most.pop()

    def put_back(self, places: Sequence[QueryPlace]) -> None:
        """Let places that had been taken already go before all others, in their order, however many wait."""
        for place in reversed(places):
            client = place.ticket.client
            self._waiting.setdefault(client, deque()).appendleft(place)
            self._waiting.move_to_end(client, last=False)

    def pop(self) -> QueryPlace | None:
        """Take the place whose turn it is; None when nobody waits."""
        while self._waiting:
            client, places = self._waiting.popitem(last=False)
            while places:
                place = places.popleft()
                if not place.first.done():
                    if places:
                        self._waiting[client] = places  # At the end: it is the others' turn.
                    return place
        return None

    def tidy(self) -> None:
        """Forget the places that were given up."""
        for client, places in list(self._waiting.items()):
            left = deque(place for place in places if not place.first.done())
            if left:
                self._waiting[client] = left
            else:
                del self._waiting[client]
