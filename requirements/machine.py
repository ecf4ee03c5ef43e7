"""
What the machine must have beside the Python packages of the locks: `python3 requirements/machine.py run|test`.

Says what is missing and which Debian package has it, and exits with 1 if nothing works without it. `test` installs the
missing Debian packages first, where it may (as root, with apt-get). Without the others the tests that need them are
skipped. Needs no package, and says on any Python 3 that it is too old.
"""

import ctypes.util
import importlib.util
import os
import shutil
import subprocess
import sys

NEEDED = {"sort": "coreutils", "comm": "coreutils"}
"""Programs that harvesting calls, and their Debian packages."""

FOR_TESTS = {"chromium": "chromium", "curl": "curl", "roqet": "rasqal-utils"}
"""Programs that tests use, and their Debian packages."""

LIBARCHIVE = "libarchive13"
"""Debian package of the library that reads 7z, cpio, ar, ISO, lz4 and mixtures of archives; zip and tar need none."""


def missing_programs(programs):
    """The Debian packages of the programs that are not there, in order."""
    return sorted({package for program, package in programs.items() if shutil.which(program) is None})


def missing_for_tests():
    """The Debian packages without which some tests cannot run."""
    absent = missing_programs(FOR_TESTS)
    return absent if ctypes.util.find_library("archive") else sorted([*absent, LIBARCHIVE])


def lacks():
    """Sentences that say what nothing works without."""
    if not sys.platform.startswith("linux"):
        yield f"this is {sys.platform}: Linux is needed"
    if sys.version_info < (3, 11):
        version = ".".join(str(part) for part in sys.version_info[:3])
        yield f"Python {version} is too old: 3.11 or later is needed. Name another: make PYTHON=python3.12 ..."
    if importlib.util.find_spec("ensurepip") is None or importlib.util.find_spec("venv") is None:
        yield "Python cannot make virtual environments. On Debian: apt-get install python3-venv"
    for package in missing_programs(NEEDED):
        yield f"{package} is missing. On Debian: apt-get install {package}"


def install(packages):
    """Install Debian packages, where this process may; whether they were."""
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        return False
    print("Installing Debian packages that tests need: {}".format(" ".join(packages)), flush=True)
    quiet = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    steps = (["update"], ["install", "--yes", "--no-install-recommends", *packages])
    return all(subprocess.call(["apt-get", "--quiet", "--quiet", *step], env=quiet) == 0 for step in steps)


def main(purpose):
    """Check, say, and return the exit code."""
    found = list(lacks())
    for sentence in found:
        print(sentence, file=sys.stderr)
    if found:
        return 1
    if purpose == "test":
        absent = missing_for_tests()
        if absent and not install(absent):
            print("Tests that need {} will be skipped.".format(", ".join(absent)), file=sys.stderr)
    elif ctypes.util.find_library("archive") is None:
        print("Only zip, tar, gzip, bzip2 and xz will be unpacked; for the others: apt-get install " + LIBARCHIVE)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
