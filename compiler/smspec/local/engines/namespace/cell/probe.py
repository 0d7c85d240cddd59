"""Try every step that a run needs, in a child, and name the first that fails."""

from __future__ import annotations

import json
import os
import sys

from . import kernel, netlink
from .users import become_inner_root, enter_user_namespace, open_inner

_ANY_DIRECTORY = "/etc"
"""Every machine has it, and only this process sees what is mounted there."""


def probe() -> dict[str, object]:
    """Return ``step`` and ``errno`` of the first failure; ``network`` is whether hosts can have one of their own."""
    if not sys.platform.startswith("linux"):
        return {"step": "linux", "errno": 0}
    try:
        enter_user_namespace()
        inner = open_inner()
        kernel.unshare(kernel.NEW_MOUNTS | kernel.NEW_PROCESSES | kernel.NEW_NAME | kernel.NEW_IPC, "unshare")
    except kernel.StepFailed as fault:
        return _described(fault)
    answer, result = os.pipe()
    child = os.fork()
    if not child:
        os.write(result, json.dumps(_tried(inner)).encode())
        os._exit(0)
    os.close(result)
    os.waitpid(child, 0)
    found = json.loads(os.read(answer, 4096) or b"{}")
    return found if isinstance(found, dict) else {}


def _tried(inner: int) -> dict[str, object]:
    """Try the steps of a host; this is the first process of its namespace."""
    found: dict[str, object]
    try:
        kernel.make_private()
        kernel.mount("tmpfs", _ANY_DIRECTORY)
        for name in ("proc", "usr"):
            os.makedirs(f"{_ANY_DIRECTORY}/{name}")
        kernel.mount("proc", f"{_ANY_DIRECTORY}/proc")
        kernel.bind("/usr", f"{_ANY_DIRECTORY}/usr")
        kernel.change_root(_ANY_DIRECTORY)
        found = {"network": _has_network()}
        become_inner_root(inner, shifted=False)
        kernel.unshare(kernel.NEW_MOUNTS | kernel.NEW_NAME | kernel.NEW_IPC, "unshare inner")
    except kernel.StepFailed as fault:
        return _described(fault)
    except OSError as fault:
        return {"step": str(fault.filename), "errno": fault.errno}
    return found


def _has_network() -> bool:
    try:
        kernel.unshare(kernel.NEW_NETWORK, "unshare network")
        netlink.add_bridge("br0")
        netlink.add_pair("host0", "eth0", os.getpid())
        netlink.join("host0", "br0")
    except (kernel.StepFailed, OSError):
        return False
    return True


def _described(fault: kernel.StepFailed) -> dict[str, object]:
    return {"step": fault.step, "errno": fault.number}
