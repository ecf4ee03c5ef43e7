"""What is asked of this package, what it gives, and what its requests share."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from harvest.config.settings import HttpSettings
from harvest.fetch.guard import Resolver, look_up
from harvest.fetch.lanes import Lane
from harvest.fetch.recording import Recorder
from harvest.fetch.transfer import Floor
from harvest.fetch.transport import Transport
from harvest.model import Capture, Finding, Hop, Limits, Validators

NO_VALIDATORS: Final = Validators()
NO_LIMITS: Final = Limits()


@dataclass(frozen=True, slots=True)
class Surroundings:
    """
    Chance, waiting, names and trust, as the machine gives them; tests give their own.

    Attributes:
        pause: Waits so many seconds, or less when the event is set.
        chance: A number from 0 to 1.
        resolve: Looks a host up.
        ca_bundle: PEM file of the authorities whose certificates are trusted; None takes those of certifi.
    """

    pause: Callable[[threading.Event, float], object] = threading.Event.wait
    chance: Callable[[], float] = random.random
    resolve: Resolver = look_up
    ca_bundle: Path | None = None


THE_MACHINE: Final = Surroundings()


@dataclass(frozen=True, slots=True)
class Order:
    """
    One document that is wanted.

    Attributes:
        url: http or https; a user and password in it are sent to its own origin alone.
        into: The folder of the temporary file.
        lane: How many of its kind may run at once.
        stop: When set, the transfer ends with an error.
        validators: Of the version that is there already.
        limits: The provider's own.
        accept: The Accept header; None takes anything.
        method: GET, or HEAD where the body is not wanted.
    """

    url: str
    into: Path
    lane: Lane
    stop: threading.Event
    validators: Validators = NO_VALIDATORS
    limits: Limits = NO_LIMITS
    accept: str | None = None
    method: str = "GET"


@dataclass(frozen=True, slots=True)
class Means:
    """
    What all exchanges of a client share.

    Attributes:
        settings: Time-outs, limits and tries.
        user_agent: The User-Agent header.
        clock: Gives the time (aware, UTC).
        around: Pausing and chance.
        transport: Sends requests.
        floor: What each transfer must bring.
        recorder: Keeps each exchange as it went over the wire, or None.
    """

    settings: HttpSettings
    user_agent: str
    clock: Callable[[], datetime]
    around: Surroundings
    transport: Transport
    floor: Floor
    recorder: Recorder | None = None


@dataclass(frozen=True, slots=True)
class Fetched:
    """
    An answered order.

    Attributes:
        capture: What was answered. Of a resumed body, the status and headers of the answer that began it.
        path: Temporary file that holds the decoded body, to be renamed or deleted by the caller; None when the server
            answered 304. It is complete, but not fsynced.
        tries: Requests for the URL, redirects not counted.
        wall_s: Seconds from the order to the end, waiting for a turn included.
        notes: What should be known of how it went: `moved-permanently`, `insecure-redirect`, `resumed`,
            `unframed-body` (a truncation could not be noticed), `unusual-status` (2xx, but not 200 or 203).
        http: Every request that was answered, tries and redirects included, in order.
    """

    capture: Capture
    path: Path | None
    tries: int
    wall_s: float
    notes: tuple[Finding, ...] = ()
    http: tuple[Hop, ...] = ()
