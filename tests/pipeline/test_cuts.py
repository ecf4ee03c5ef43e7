"""An instance that is killed at any operation on its disk, or refused it, ends where it would have: all are tried."""

from __future__ import annotations

import json
import multiprocessing
import os
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tests.pipeline import cuts
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.disk import FATES
from tests.pipeline.scenario import PHASES, SCENARIO, Phase
from tests.provider import ProviderServer


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where there is one: thousands of instances are copied, and no power is cut."""
    memory = Path("/dev/shm")
    with TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else tmp_path) as folder:
        yield Path(folder)


def played(
    room: Path, provider: ProviderServer, phase: Phase, fates: tuple[str, ...] = (), turns: bool = False
) -> dict[str, Any]:
    """Play a phase on the state that the ones before left, with every cut; the fork server's process does it."""
    base = room / "base"
    base.mkdir(exist_ok=True)
    phase.publish(provider, TemporaryInstance(base))
    result = room / "result.json"
    process = multiprocessing.get_context("forkserver").Process(
        target=cuts.run, args=(room, phase.name, fates, turns, result)
    )
    process.start()
    try:
        process.join(7200)
        assert process.exitcode == 0
    finally:
        process.kill()
    found: dict[str, Any] = json.loads(result.read_text())
    return found


def tried(
    room: Path, provider: ProviderServer, name: str, fates: tuple[str, ...], *, turns: bool = False
) -> dict[str, Any]:
    """Play a phase with its cuts, after those before it without any."""
    for phase in PHASES:
        if phase.name == name:
            break
        played(room, provider, phase)
    found = played(room, provider, SCENARIO[name], fates, turns)
    operations = Counter(operation.split(" ")[0] for operation in found["operations"])
    print(f"{name}: {sum(found['cuts'].values())} cuts, {found['cuts']}, at {dict(operations)}")
    return found


def test_a_harvest_that_is_killed_between_two_states_ends_in_the_later_one(
    room: Path, provider: ProviderServer, record_property: Callable[[str, object], None]
) -> None:
    """Each rename, link and write of the store in a partial harvest, and the ledger commit after it, is not done."""
    found = tried(room, provider, "partial", ("before",), turns=True)
    record_property("cuts", found["cuts"])
    assert found["wrong"] == []
    assert found["cuts"]["before"] > 25


@pytest.mark.long
@pytest.mark.parametrize("phase", [phase.name for phase in PHASES])
def test_a_process_that_ends_anywhere_loses_nothing(
    phase: str, room: Path, provider: ProviderServer, record_property: Callable[[str, object], None]
) -> None:
    """Each operation of each phase of the scenario, killed before it and after it, and refused."""
    found = tried(room, provider, phase, FATES)
    record_property("cuts", found["cuts"])
    assert found["wrong"] == []
    assert all(found["cuts"].values())
