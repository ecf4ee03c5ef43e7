"""The result of a query on its way from a worker to a client."""

from __future__ import annotations

from typing import Protocol, Self

import sparql.errors
from sparql.errors import QueryCrash, SparqlError
from sparql.protocol.results import FORMATS, ResultFormat
from sparql.worker.frames import HEAD, FrameKind


class AnswerRest(Protocol):
    """What follows the first frame of an answer in chunks."""

    async def read(self) -> tuple[int, bytes]:
        """
        The kind and payload of the next frame.

        Raises:
            SparqlError: There is none, and why.
        """

    def abandon(self) -> None:
        """End the query: nobody wants more of its answer."""


class QueryAnswer:
    """
    The result of one query: an asynchronous iterator over its bytes.

    One that raises gave a part only; whoever passes it on must not let the part look whole. One that is not read to its
    end has to be closed, which ends the query.

    Args:
        payload: What its first frame carries, a head and maybe all of it.
        since: Monotonic time at which a worker got the query.
        rest: What follows the first frame; None when that was all.

    Attributes:
        generation: Of the store that answered.
        since: Monotonic time at which a worker got the query.
        volatile: Whether asking again would give another one.
        remembered: False: it was made for this request.
        cut: Set when its end was reached: why that is not the end of the whole result, or None.
        form: How it is written.
        whole: All of it, when it is small; None when it comes in chunks.
    """

    def __init__(self, payload: bytes, since: float, rest: AnswerRest | None) -> None:
        self.generation, place, self.volatile = HEAD.unpack_from(payload)
        self.remembered = False
        self.cut: SparqlError | None = None
        self.form: ResultFormat = FORMATS[place]
        self.since = since
        self.whole = payload[HEAD.size :] if rest is None else None
        self._rest = rest

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        if self._rest is None:
            raise StopAsyncIteration
        kind, payload = await self._rest.read()
        if kind == FrameKind.CHUNK:
            return payload
        self._rest = None
        if kind == FrameKind.FAIL:
            raise read_failure(payload)
        if kind == FrameKind.CUT:
            self.cut = read_failure(payload)
            return trailer(self.cut)
        raise StopAsyncIteration

    def close(self) -> None:
        """End the query if it is still running."""
        rest, self._rest = self._rest, None
        if rest is not None:
            rest.abandon()


def trailer(error: SparqlError) -> bytes:
    """The comment that ends a result of which a part is missing."""
    return f"# truncated: {' '.join(error.message.split())}\n".encode(errors="replace")


def read_failure(payload: bytes) -> SparqlError:
    """The error in the payload of a FAIL frame."""
    name, _, message = payload.decode().partition("\0")
    kind = getattr(sparql.errors, name, QueryCrash)
    return kind(message) if isinstance(kind, type) and issubclass(kind, SparqlError) else QueryCrash(message)
