"""
Where the `harvest` command starts.

Importing all that the commands need takes a second; this module imports next to nothing, so that Ctrl-C within that
second ends the command in one line as it does later.
"""

from __future__ import annotations

import os
import signal
from types import FrameType


def main() -> None:
    """Import the commands and run the one that was asked for; exit codes as in `harvest.cli.main`."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # It stays ignored where it was.
        signal.signal(signal.SIGINT, leave)
    from harvest.cli.main import main as command  # A second's worth of imports, during which Ctrl-C may come.

    command()


def leave(_number: int, _frame: FrameType | None) -> None:
    """
    End the process at once with exit code 130: nothing is open yet, and nobody waits for it.

    An exception would be printed or lost by whatever is being imported.
    """
    os.write(2, b"harvest: interrupted before it began\n")
    os._exit(128 + signal.SIGINT)


def interrupt_by_exception() -> None:
    """From here on Ctrl-C is a KeyboardInterrupt, as commands have something to close."""
    if signal.getsignal(signal.SIGINT) is leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)
