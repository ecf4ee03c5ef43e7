"""What happens where a client is not installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.clients.programs import Node, run


def test_a_missing_program_fails_the_test_and_names_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """A skip would hide that a client is no longer tried."""
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(pytest.fail.Exception, match="roqet is not there; on Debian: apt-get install rasqal-utils"):
        run("roqet", "--version", package="rasqal-utils")


def test_missing_packages_of_node_fail_the_test(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """They come with the set-up."""
    monkeypatch.setattr("tests.clients.programs.PACKAGES", tmp_path / "node_modules")
    with pytest.raises(pytest.fail.Exception, match="`make setup` installs it"):
        Node(tmp_path)
