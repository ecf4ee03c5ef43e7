"""What happens where the packages of Node.js are not installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.clients.programs import Node


def test_missing_packages_of_node_fail_the_test(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The packages come with the set-up; without them a test fails rather than being skipped."""
    monkeypatch.setattr("tests.clients.programs.PACKAGES", tmp_path / "node_modules")
    with pytest.raises(pytest.fail.Exception, match="`make setup` installs it"):
        Node(tmp_path)
