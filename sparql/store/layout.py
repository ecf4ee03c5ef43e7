"""The paths of a store below its folder: no other module puts them together."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class StoreLayout:
    """
    The paths of a store.

    Attributes:
        root: The folder of the store.

    Source: ARCHITECTURE, "On disk".
    """

    root: Path

    @property
    def lock(self) -> Path:
        """Locked by the writer; holds its process id."""
        return self.root / "writer.lock"

    @property
    def changing(self) -> Path:
        """A file that is there while the working store is not what a generation holds or is about to hold."""
        return self.root / "changing"

    @property
    def engine(self) -> Path:
        """The address of the engine that is the store, where the store is one."""
        return self.root / "engine.json"

    @property
    def held(self) -> Path:
        """The folder of what is held back until it is sent to the engine."""
        return self.root / "held"

    @property
    def unsettled(self) -> Path:
        """The note of the engine's graphs that may be between two versions."""
        return self.root / "unsettled.json"

    @property
    def working(self) -> Path:
        """The link to the writer's RocksDB."""
        return self.root / "working"

    def working_folder(self, number: int) -> Path:
        """One of the folders that `working` may lead to."""
        return self.root / f"working-{number:06d}"

    @property
    def current(self) -> Path:
        """The link to the generation that readers open."""
        return self.root / "current"

    @property
    def generations(self) -> Path:
        """The folder of the generations."""
        return self.root / "generations"

    def generation(self, number: int) -> Path:
        """The folder of a generation; its lock and its digests are files beside it."""
        return self.generations / f"{number:06d}"
