"""
A provider's files: the snapshot and the changes.

    providers/<name>/snapshot.nq -> snapshot-000004.nq      a whole version, here the 4th
    providers/<name>/changes/000001.nqud.gz ...             what each version changed
    providers/<name>/baseline-000003.nqud.gz                the 3rd as a change from nothing; those before were dropped
    providers/<name>/since-000004-000007/                   the changes 5 to 7 as one, kept to save folding them again

A full harvest leaves a snapshot of its own version. A partial one leaves its change alone, so that it costs what it
holds and not what the graph holds; `fold` makes the changes that came since into a new snapshot when somebody
needs the whole: an export, a full harvest, a rebuilt store.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from harvest.errors import DamageError, UnknownName
from harvest.model import Delta, ProviderLayout, Snapshot
from harvest.revise import delta as deltas
from harvest.revise import lines

_SNAPSHOT = re.compile(r"snapshot-(\d{6,})\.nq")
_BASELINE = re.compile(r"baseline-(\d{6,})\.nqud\.gz")


class GraphFiles:
    """The files of one provider. Only one thread may call what writes."""

    def __init__(self, layout: ProviderLayout) -> None:
        self.layout = layout
        self.folder = layout.folder
        self.link = layout.snapshot

    def prepare(self) -> None:
        """Make the folders."""
        self.layout.changes.mkdir(parents=True, exist_ok=True)

    def change(self, n: int) -> Path:
        """Where the change of version `n` is filed."""
        return self.layout.change(n)

    def snapshot_file(self, n: int) -> Path:
        """Where a snapshot of version `n` stands, if there is one."""
        return self.layout.snapshot_of(n)

    def base(self) -> int:
        """The version that `snapshot.nq` holds; 0 when there is none: then the changes alone make it."""
        try:
            match = _SNAPSHOT.fullmatch(os.readlink(self.link))
        except OSError:
            return 0
        return int(match.group(1)) if match and self.link.is_file() else 0

    def first(self) -> int:
        """The baseline, with which the files begin; 0 where they begin with version 1."""
        found = (_BASELINE.fullmatch(path.name) for path in self.folder.glob("baseline-*"))
        return max((int(match[1]) for match in found if match), default=0)

    def file_baseline(self, n: int, graph: Path, room: Path) -> None:
        """File version `n`, which `graph` holds, as the baseline, durably; what is before stays until `drop_before`."""
        (nothing := room / "nothing-removed.nq").touch()
        deltas.write(Delta(nothing, graph, 0, lines.count(graph)), self.layout.baseline(n))

    def drop_before(self, n: int) -> None:
        """Remove what the baseline `n` stands for, and other baselines; 0 removes all baselines."""
        for path in self.folder.glob("baseline-*"):
            if path != self.layout.baseline(n):
                path.unlink()
        for path in self.layout.changes.glob("*.nqud.gz"):
            if int(path.name.split(".")[0]) <= n:
                path.unlink()

    def adopt(self, n: int) -> None:
        """Make the snapshot of version `n`, which must stand there, the current one, and remove the others."""
        temporary = self.link.with_name(f"{self.link.name}.tmp")
        temporary.unlink(missing_ok=True)
        temporary.symlink_to(self.snapshot_file(n).name)
        temporary.replace(self.link)
        self._sweep_snapshots(n)

    def sweep(self, version: int) -> None:
        """Remove what a crash or an older version left: other snapshots, and changes after `version`."""
        self._sweep_snapshots(version)
        for path in self.layout.changes.iterdir():
            if not path.name[:6].isdigit() or int(path.name.split(".")[0]) > version or path.suffix == ".tmp":
                path.unlink()

    def _sweep_snapshots(self, version: int) -> None:
        """Remove the snapshots of other versions than this and the current one."""
        base = self.base()
        for path in self.folder.glob("snapshot-*"):
            if path not in (self.snapshot_file(base), self.snapshot_file(version)):
                path.unlink()
        for path in self.folder.glob("since-*"):
            if not path.name.startswith(f"since-{base:06d}-"):
                shutil.rmtree(path)

    def fold(self, version: int, room: Path, digest: str | None = None) -> Snapshot | None:
        """
        Make a snapshot of `version`, the current one, and adopt it; None where it stands already.

        Raises:
            DamageError: It has another SHA-256 than `digest`, where that is known; nothing is adopted.
        """
        if self.base() == version:
            return None
        snapshot = self._folded(self.base(), version, room)
        if digest not in (None, snapshot.digest):
            message = f"version {version} comes to SHA-256 {snapshot.digest}, and it was committed as {digest}"
            raise DamageError(message, url=str(self.folder))
        snapshot.path.replace(self.snapshot_file(version))
        self.adopt(version)
        return snapshot

    def _folded(self, base: int, version: int, room: Path) -> Snapshot:
        """The base with all changes since, in one pass over it."""
        net = self.since(version, room)
        assert net is not None
        start = self.snapshot_file(base)
        if base == 0:
            start = room / "nothing.nq"
            start.touch()
        return deltas.apply(start, net, room / "folded.nq")

    def net(self, base: int, version: int, room: Path) -> Delta | None:
        """The changes after `base` up to `version` as one, or None when there are none."""
        net: Delta | None = None
        for n, path in self._steps(base, version):
            later = deltas.read(path, _made(room / f"change-{n}"))
            net = later if net is None else deltas.compose(net, later, _made(room / f"net-{n}"))
        return net

    def since(self, version: int, room: Path) -> Delta | None:
        """
        The changes after the snapshot up to `version`, the current one, as one delta, or None when there are none.

        It is kept for the next time, which then adds what came since: many partial dumps between two exports would
        else each fold all of those before.
        """
        base = self.base()
        known = max((n for n in self._kept(base) if n <= version), default=base)
        if known == version:
            return None if version == base else self._delta(base, version)
        net = None if known == base else self._delta(base, known)
        later = self.net(known, version, room)
        assert later is not None
        joint = _made(room / "since")
        if net is None:
            later.removed.replace(joint / "removed.nq")
            later.added.replace(joint / "added.nq")
        else:
            deltas.compose(net, later, joint)
        joint.rename(self.layout.since(base, version))
        if known != base:
            shutil.rmtree(self.layout.since(base, known))
        return self._delta(base, version)

    def drop_since(self) -> None:
        """Forget what `since` keeps: it is not written durably, so it must not outlive a crash."""
        for path in self.folder.glob("since-*"):
            shutil.rmtree(path)

    def _kept(self, base: int) -> list[int]:
        """The versions up to which changes after the snapshot are kept as one."""
        return [int(path.name.rsplit("-", 1)[1]) for path in self.folder.glob(f"since-{base:06d}-*")]

    def _delta(self, base: int, version: int) -> Delta:
        removed, added = (self.layout.since(base, version) / name for name in ("removed.nq", "added.nq"))
        return Delta(removed, added, lines.count(removed), lines.count(added))

    def at(self, n: int, version: int, room: Path) -> Path:
        """
        The graph as it was at version `n`, in `room`; `version` is the current one.

        Raises:
            UnknownName: There is no such version.
        """
        first = self.first() or 1
        if not first <= n <= version:
            raise UnknownName(f"there is no version {n}; versions {first} to {version} are there")
        target = room / f"version-{n}.nq"
        base = self.base()
        if base >= n and base - n <= n - first:
            self._walked(range(base, n, -1), self.snapshot_file(base), target, room, back=True)
        elif base and base < n:
            self._walked(range(base + 1, n + 1), self.snapshot_file(base), target, room, back=False)
        else:
            deltas.replay(self.changes(n), target, room)
        return target

    def _walked(self, steps: range, start: Path, target: Path, room: Path, *, back: bool) -> None:
        """Apply changes one after the other, or undo them."""
        current = start
        for i in steps:
            here = _made(room / f"step-{i}")
            step = deltas.read(self.change(i), here)
            current = deltas.apply(current, deltas.invert(step) if back else step, here / "graph.nq").path
        target.unlink(missing_ok=True)
        try:
            os.link(current, target)
        except OSError:  # `room` is on another file system, or the file is of another user
            shutil.copyfile(current, target)

    def between(self, a: int, b: int, version: int, room: Path) -> Iterator[bytes]:
        """
        What takes version `a` to version `b`, composed of the changes between them, as N-Quads unified diff lines.

        Raises:
            UnknownName: There is no such version; version 0 is empty.
        """
        first = self.first() or 1
        for n in (a, b):
            if n and not first <= n <= version:
                raise UnknownName(f"there is no version {n}; versions {first} to {version} are there, and 0 (empty)")
        net = self.net(min(a, b), max(a, b), room)
        if net is None:
            return
        if a > b:
            net = deltas.invert(net)
        for sign, path in ((b"-", net.removed), (b"+", net.added)):
            with path.open("rb") as statements:
                yield from (sign + line for line in statements)

    def changes(self, version: int) -> Iterator[Path]:
        """The files that make a version from nothing, in order: the baseline, where there is one, and the changes."""
        return (path for _, path in self._steps(0, version))

    def _steps(self, base: int, version: int) -> Iterator[tuple[int, Path]]:
        """The files that take version `base`, or nothing, to `version`, each with the version that it makes."""
        first = self.first()
        if first and base == 0:
            yield first, self.layout.baseline(first)
            base = first
        for n in range(base + 1, version + 1):
            yield n, self.change(n)


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder
