"""An instance that is killed at any operation on its disk, or refused it, ends where it would have: all are tried."""

from __future__ import annotations

import json
import multiprocessing
import os
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import pytest

from tests.pipeline import cuts
from tests.pipeline.conftest import TemporaryInstance
from tests.pipeline.disk import FATES
from tests.pipeline.scenario import PHASES, SCENARIO, Phase
from tests.provider import ProviderServer

LONGEST_S: Final = 3600
"""What all cuts of one fate in a phase may take; a cut takes 0.3 s of processor time, and there are up to some 300."""


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
        process.join(LONGEST_S)
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


@pytest.mark.timeout(LONGEST_S + 60)
def test_a_harvest_that_is_killed_between_two_states_ends_in_the_later_one(
    room: Path, provider: ProviderServer, record_property: Callable[[str, object], None]
) -> None:
    """Each rename, link and write of the store in a partial harvest, and the ledger commit after it, is not done."""
    found = tried(room, provider, "partial", ("before",), turns=True)
    record_property("cuts", found["cuts"])
    assert found["wrong"] == []
    assert found["cuts"]["before"] > 25


def test_a_phase_whose_cuts_go_wrong_ends_after_a_few(tmp_path: Path) -> None:
    """Each of hundreds would wait for a process that hangs, which took hours and named nothing that five do not."""

    class Hanging(cuts.Trial):
        def _uncut(self) -> tuple[list[str], Any, Path]:
            (tmp_path / "base").mkdir()
            (tmp_path / "kept").mkdir()
            return ["commit"] * 50, {"graph": []}, tmp_path / "kept"

        def _cut(self, at: int, fate: str) -> Any:
            return {"error": "it hangs"} if at > 10 else {"graph": []}

    found = Hanging(tmp_path, SCENARIO["change"]).run(("before",))
    assert len(found["wrong"]) == cuts.MOST_WRONG
    assert found["cuts"]["before"] == 10 + cuts.MOST_WRONG
    assert "it hangs" in found["wrong"][0]


@pytest.mark.long
@pytest.mark.timeout(LONGEST_S + 60)
@pytest.mark.parametrize("fate", FATES)
@pytest.mark.parametrize("phase", [phase.name for phase in PHASES])
def test_a_process_that_ends_anywhere_loses_nothing(
    phase: str, fate: str, room: Path, provider: ProviderServer, record_property: Callable[[str, object], None]
) -> None:
    """Each operation of each phase of the scenario, killed before it, killed after it, or refused."""
    found = tried(room, provider, phase, (fate,))
    record_property("cuts", found["cuts"])
    assert found["wrong"] == []
    assert all(found["cuts"].values())
