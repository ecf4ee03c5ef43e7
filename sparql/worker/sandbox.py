"""
What a query worker gives up when it starts: the network, outliving its parent, and being spared when memory runs out.

Source: Linux, prctl(2), seccomp(2) and proc(5).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import resource
import signal
import struct
import sys
from typing import Final

_PR_SET_PDEATHSIG: Final = 1
_PR_SET_NO_NEW_PRIVS: Final = 38
_PR_SET_SECCOMP: Final = 22
_SECCOMP_MODE_FILTER: Final = 2

_ALLOW: Final = 0x7FFF0000
_ERRNO: Final = 0x00050000
_KILL: Final = 0x80000000
_LOAD_WORD: Final = 0x20
_JUMP_EQUAL: Final = 0x15
_RETURN: Final = 0x06

_EACCES: Final = 13
_SYSCALLS: Final = {
    # Machine: the audit architecture, then socket, connect, io_uring_setup.
    "x86_64": (0xC000003E, 41, 42, 425),
    "aarch64": (0xC00000B7, 198, 203, 425),
}


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def die_with_parent(parent: int) -> None:
    """
    Have the kernel kill this process when the thread that started it ends.

    A query that never ends would otherwise go on after a parent that was itself killed.
    """
    if sys.platform == "linux":
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)


def name_process(name: str) -> None:
    """Have the system's lists show this process by a name, of at most 15 bytes."""
    with contextlib.suppress(OSError), open("/proc/self/comm", "w", encoding="ascii") as comm:  # Linux alone has it.
        comm.write(name)


def offer_to_oom_killer() -> None:
    """Have the kernel end this process before its parent when memory runs out, and write no core dump."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as score:
            score.write("500")
    except OSError:
        return  # Not Linux, or a container that forbids it: the limit that the parent watches remains.


def close_network() -> bool:
    """
    Take the network away from this process and its threads for good; whether that worked.

    SERVICE is refused by parsing; this holds if a spelling of it ever slips through. Sockets that are open stay usable.
    """
    numbers = _SYSCALLS.get(platform.machine())
    if sys.platform != "linux" or numbers is None:
        return False
    architecture, *refused = numbers
    code = _instructions(architecture, refused)
    buffer = ctypes.create_string_buffer(code, len(code))
    program = _Program(len(code) // 8, ctypes.cast(buffer, ctypes.c_void_p).value)
    if _prctl(_PR_SET_NO_NEW_PRIVS, 1) != 0:
        return False
    return _prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(program)) == 0


def _instructions(architecture: int, refused: list[int]) -> bytes:
    """A BPF program over `struct seccomp_data`, whose first word is the call and whose second is the architecture."""
    jumps = [struct.pack("=HBBI", _JUMP_EQUAL, len(refused) - place, 0, number) for place, number in enumerate(refused)]
    return b"".join(
        [
            struct.pack("=HBBI", _LOAD_WORD, 0, 0, 4),
            struct.pack("=HBBI", _JUMP_EQUAL, 1, 0, architecture),
            struct.pack("=HBBI", _RETURN, 0, 0, _KILL),
            struct.pack("=HBBI", _LOAD_WORD, 0, 0, 0),
            *jumps,
            struct.pack("=HBBI", _RETURN, 0, 0, _ALLOW),
            struct.pack("=HBBI", _RETURN, 0, 0, _ERRNO | _EACCES),
        ]
    )


def _prctl(option: int, *arguments: object) -> int:
    given = [*arguments, 0, 0, 0, 0][:4]
    libc = ctypes.CDLL(None, use_errno=True)
    return int(libc.prctl(option, *(a if not isinstance(a, int) else ctypes.c_ulong(a) for a in given)))
