"""
Immutable copies of the store for readers, one of them current.

    current -> generations/000042      what readers open
    generations/000042/                hard-linked, read only
    generations/000042.lock            locked shared by every reader
    generations/000042.sha256          digests of its files
    generations/000043.tmp/            one that is being made, or being removed

Readers are other processes. Each holds a shared lock, which the kernel ends with it, so a reader that crashed keeps
nothing back. Whoever wants to remove a generation needs the exclusive lock.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Protocol

from sparql.errors import StoreError
from sparql.store import digests, files
from sparql.store.layout import StoreLayout

_NAME: Final = re.compile(r"\d{6,}")
TRIES: Final = 5
"""How often a generation may be collected between looking it up and holding it."""


class Publishable(Protocol):
    """What can make a whole consistent copy of itself."""

    def publish(self, target: Path) -> None:
        """Make `target`, which must not exist, the copy."""


@dataclass(frozen=True, slots=True)
class Generation:
    """
    One immutable copy.

    Attributes:
        number: From 1; a later one is higher.
        path: Its folder; only what `hold` gave a lease for is sure to stay.
    """

    number: int
    path: Path


class Lease:
    """
    A generation that stays until `release`, the end of the `with` block, or the end of the process.

    A process forked meanwhile has a part in the lease until it ends.

    Attributes:
        generation: What is held.
    """

    def __init__(self, generation: Generation, descriptor: int) -> None:
        self.generation = generation
        self._descriptor = descriptor

    def release(self) -> None:
        """Let the generation go; again does nothing."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> Lease:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


class Generations:
    """
    The generations below a folder.

    `publish`, `collect` and `recover` are for the one process that writes the store; the others are for everybody, and
    write nothing.
    """

    def __init__(self, root: Path, keep: int = 3) -> None:
        """
        Look at the generations below `root`, which need not exist.

        Args:
            root: The folder of the store.
            keep: How many of the newest are never collected.
        """
        self._layout = StoreLayout(root)
        self._folder = self._layout.generations
        self._link = self._layout.current
        self._keep = keep

    def publish(self, store: Publishable) -> Generation:
        """
        Copy the store and make the copy the current generation.

        Raises:
            StoreError: It could not be copied; the current generation is what it was.
        """
        new = self._generation(max(self._numbers(), default=0) + 1)
        making = self._making(new)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            shutil.rmtree(making, ignore_errors=True)
            store.publish(making)
            files.sync_tree(making)
            before = self.current()
            known = digests.by_inode(before.path, self._digests_path(before)) if before else {}
            digests.write(making, self._digests_path(new), known)
            self._lock_path(new).touch()
            making.rename(new.path)
            files.sync(self._folder)
            self._make_current(new)
        except OSError as error:
            raise StoreError(f"No generation could be made in {self._folder}: {error}.") from error
        finally:
            shutil.rmtree(making, ignore_errors=True)
        return new

    def damaged(self, generation: Generation) -> list[Path]:
        """The files of a generation that are gone or not what they were; none where it has no digests."""
        return digests.damaged(generation.path, self._digests_path(generation))

    def current(self) -> Generation | None:
        """The generation that readers are to open, or None before the first."""
        name = Path(files.target(self._link) or "").name
        if not _NAME.fullmatch(name):
            return None
        generation = self._generation(int(name))
        return generation if generation.path.is_dir() else None

    def hold(self, generation: Generation) -> Lease:
        """
        Keep a generation from being collected.

        Raises:
            FileNotFoundError: It is gone; there is a newer one.
        """
        descriptor = os.open(self._lock_path(generation), os.O_RDONLY)
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        if self._is_lock_of(descriptor, generation) and generation.path.is_dir():
            return Lease(generation, descriptor)
        os.close(descriptor)
        raise FileNotFoundError(f"Generation {generation.number} was collected: {generation.path}")

    def hold_current(self) -> Lease | None:
        """
        Keep the current generation from being collected; None before the first.

        Raises:
            StoreError: It cannot be held.
        """
        generation = None
        for _ in range(TRIES):
            generation = self.current()
            if generation is None:
                return None
            try:
                return self.hold(generation)
            except FileNotFoundError:  # Another one was published, and this one collected.
                continue
            except OSError as error:
                raise StoreError(f"Generation {generation.number} cannot be held: {error}.") from error
        path = generation.path if generation else self._link
        raise StoreError(f"{path} cannot be held: it or its lock file is missing.")

    def collect(self) -> list[int]:
        """Remove the generations that nobody needs; returns their numbers, oldest first."""
        numbers = self._numbers()
        current = self.current()
        kept = {*numbers[-self._keep :]} if self._keep else set()
        if current is not None:
            kept.add(current.number)
        return [number for number in numbers if number not in kept and self._remove(self._generation(number))]

    def recover(self) -> None:
        """Remove what a crash left unfinished, and point `current` to the newest generation if it points nowhere."""
        if not self._folder.is_dir():
            self._link.unlink(missing_ok=True)
            return
        for making in self._folder.glob("*.tmp"):
            shutil.rmtree(making)
        for lock in self._folder.glob("*.lock"):
            if not lock.with_suffix("").is_dir():
                lock.unlink()
                lock.with_suffix(".sha256").unlink(missing_ok=True)
        if self.current() is None:
            self._link.unlink(missing_ok=True)
            if numbers := self._numbers():
                self._make_current(self._generation(numbers[-1]))

    def _remove(self, generation: Generation) -> bool:
        """Remove the generation unless somebody holds it; says whether it is gone."""
        descriptor = os.open(self._lock_path(generation), os.O_RDWR | os.O_CREAT, 0o644)
        try:
            if not files.locked(descriptor, fcntl.LOCK_EX):
                return False
            making = self._making(generation)
            generation.path.rename(making)
            self._lock_path(generation).unlink()
            self._digests_path(generation).unlink(missing_ok=True)
            shutil.rmtree(making)
        finally:
            os.close(descriptor)
        return True

    def _make_current(self, generation: Generation) -> None:
        files.point(self._link, f"{self._folder.name}/{generation.path.name}")

    def _numbers(self) -> list[int]:
        if not self._folder.is_dir():
            return []
        return sorted(int(path.name) for path in self._folder.iterdir() if _NAME.fullmatch(path.name))

    def _generation(self, number: int) -> Generation:
        return Generation(number, self._layout.generation(number))

    def _making(self, generation: Generation) -> Path:
        return generation.path.with_name(f"{generation.path.name}.tmp")

    def _lock_path(self, generation: Generation) -> Path:
        return generation.path.with_name(f"{generation.path.name}.lock")

    def _digests_path(self, generation: Generation) -> Path:
        return generation.path.with_name(f"{generation.path.name}.sha256")

    def _is_lock_of(self, descriptor: int, generation: Generation) -> bool:
        """Whether the lock file still has its name: one that was removed guards nothing."""
        try:
            return os.path.samestat(os.fstat(descriptor), self._lock_path(generation).stat())
        except FileNotFoundError:
            return False
