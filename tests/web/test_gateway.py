"""Requests that never come whole, and applications that fail: each client gets an error, in the form it reads."""

from __future__ import annotations

import asyncio
import json
from typing import Any, NoReturn

import pytest

from sparql.web import client as client_module
from sparql.web.client import MAX_BODY, Message, WebClient
from sparql.web.gateway import Gateway


def fails(environ: dict[str, Any], start: object) -> NoReturn:
    raise ZeroDivisionError


def answer(accept: str, *messages: Message) -> tuple[int, dict[str, str], bytes]:
    """What a gateway to an application that fails answers to a request whose body comes so, and then no further."""
    sent: list[Message] = []
    waiting = list(messages)

    async def receive() -> Message:
        if not waiting:
            await asyncio.Event().wait()
        return waiting.pop(0)

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {
        "method": "POST",
        "path": "/",
        "query_string": b"",
        "http_version": "1.1",
        "headers": [(b"accept", accept.encode())],
    }
    asyncio.run(Gateway(fails, 1)(scope, receive, send))  # type: ignore[arg-type]  # It takes what it gets.
    headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], headers, sent[1]["body"]


def test_a_body_that_does_not_come_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever announces a body and sends none would hold a connection for ever."""
    monkeypatch.setattr(client_module, "BODY_S", 0.2)
    status, _, body = answer("*/*", {"type": "http.request", "body": b"half", "more_body": True})
    assert (status, body) == (408, b"The body of the request did not come within 0.2 s.\n")


def test_a_body_that_is_too_large_is_refused_in_the_form_that_the_client_reads() -> None:
    """The error is the same JSON as that of every other error."""
    large = {"type": "http.request", "body": b"x" * (MAX_BODY + 1), "more_body": True}
    status, headers, body = answer("application/json", large)
    assert (status, headers["content-type"]) == (413, "application/json")
    assert json.loads(body) == {
        "error": "TooLarge",
        "message": f"A request body of more than {MAX_BODY:,} bytes is not taken.",
        "status": 413,
        "retriable": False,
    }


def test_a_mistake_of_ours_is_answered_without_its_details(caplog: pytest.LogCaptureFixture) -> None:
    """The details are for the log."""
    status, headers, body = answer("text/html", {"type": "http.request", "body": b"", "more_body": False})
    assert (status, body) == (500, b"The server made a mistake; its log says more.\n")
    assert headers["access-control-allow-origin"] == "*"
    assert "ZeroDivisionError" in caplog.text


def test_a_body_may_come_in_pieces() -> None:
    """Clients that do not know the length of a body send it in pieces."""
    pieces: list[Message] = [
        {"type": "http.request", "body": b"a", "more_body": True},
        {"type": "http.request", "body": b"b", "more_body": False},
    ]

    async def receive() -> Message:
        return pieces.pop(0)

    async def send(message: Message) -> None:
        raise AssertionError(message)

    assert asyncio.run(WebClient(receive, send).body()) == b"ab"
