"""The files of the kernel that processes see: devices, /proc, and /sys. None of them can be changed for this machine.

Their modes, owners, and times are those of the whole machine, and a job whose root is that of the machine could change
them. `smspec check` shows them like `smspec run`.
"""

from __future__ import annotations

import os

from . import kernel

DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
MASKED_OF_SYS = ("firmware", "devices/virtual/powercap")
_SAFE = kernel.NO_SUID | kernel.NO_DEVICES

_MASKED = (
    *("acpi", "asound", "interrupts", "kallsyms", "kcore", "key-users", "keys", "kpagecgroup", "kpagecount"),
    *("kpageflags", "latency_stats", "modules", "sched_debug", "scsi", "slabinfo", "timer_list", "vmallocinfo"),
)
"""What processes do not see of /proc: facts about this machine and its other processes, most of them for root alone."""


def show_device(path: str, target: str) -> None:
    """Show a device at an existing file. It can be written to, although its mount is read-only."""
    kernel.bind(path, target, flags=kernel.NO_SUID)


def protect_proc(directory: str, null: str, *, with_processes: bool = False) -> None:
    """Hide entries of a /proc, and make all others read-only. ``null``: /dev/null.

    ``with_processes``: also the entries of processes. What /proc/PID/net has belongs to a network, and its owner could
    change modes for all that share it. No mount covers the entries of later processes.
    """
    for name in _MASKED:
        hide(f"{directory}/{name}", null)
    for name in os.listdir(directory):
        path = f"{directory}/{name}"
        if not name.isdigit() and name not in _MASKED and not os.path.islink(path):
            kernel.bind(path, path, flags=_SAFE | kernel.NO_PROGRAMS)
    if with_processes:
        kernel.protect(directory, kernel.READ_ONLY)


def hide(path: str, null: str = "/dev/null") -> None:
    """Show an empty directory or file instead of one, if it is there."""
    if os.path.isdir(path):
        kernel.mount("tmpfs", path, _SAFE | kernel.READ_ONLY, "mode=755")
    elif os.path.exists(path):
        kernel.bind(null, path, flags=kernel.NO_SUID)
