"""One host: its namespaces, its network, its root, and the program that becomes its first process."""

from __future__ import annotations

import errno
import os
import resource
import signal
import socket
from contextlib import suppress
from typing import NamedTuple, NoReturn

from . import kernel, netlink
from .plan import CellPlan, HostPlan
from .rights import confine
from .root import build_root, complete_root
from .users import SHIFT, become_inner_root

INTERFACE, BRIDGE = "eth0", "br0"
_PREFIX = 24
_PING = "net/ipv4/ping_group_range"
_MOST_FILES = 1 << 20
"""Programs that close every possible descriptor would take minutes with the limits of some machines."""

_DEFAULT = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


class Inner(NamedTuple):
    """The user namespace of the jobs, an open file.

    ``is_shifted``: its users are not those of this machine. ``is_machine_root``: its root is root of this machine.
    """

    users: int
    is_shifted: bool
    is_machine_root: bool


class StartingHost:
    """A host from its fork to its program. The methods are called in the order in which they are listed."""

    def __init__(self, host: HostPlan, plan: CellPlan, inner: Inner, own_processes: int) -> None:
        """Fork. ``own_processes``: the namespace of processes to which this process returns."""
        self.host = host
        self._has_network = plan.has_network
        is_moved, moved = os.pipe()
        may_go, go = os.pipe()
        reason, failed = os.pipe()
        kernel.unshare(kernel.NEW_PROCESSES, "unshare processes")
        self.pid = os.fork()
        if not self.pid:
            for descriptor in (is_moved, go, reason):
                os.close(descriptor)
            _become(host, plan, inner, moved, may_go, failed)
        kernel.enter(own_processes, kernel.NEW_PROCESSES)
        for descriptor in (moved, may_go, failed):
            os.close(descriptor)
        self._moved, self._go, self._reason = is_moved, go, reason

    def connect(self, number: int) -> None:
        """Connect the host to the bridge, as soon as it has a network of its own."""
        if os.read(self._moved, 1) and self._has_network:
            name = f"host{number}"
            netlink.add_pair(name, INTERFACE, self.pid)
            netlink.join(name, BRIDGE)
        with suppress(BrokenPipeError):  # it has failed, and says why
            os.write(self._go, b"1")
        os.close(self._go)
        os.close(self._moved)

    def failure(self) -> str:
        """Wait until its program is running; return why it is not, as ``NUMBER STEP``, or nothing."""
        text = b""
        while data := os.read(self._reason, 4096):
            text += data
        os.close(self._reason)
        return text.decode(errors="replace")


def _become(host: HostPlan, plan: CellPlan, inner: Inner, moved: int, may_go: int, failed: int) -> NoReturn:
    """Become the first process of a host."""
    try:
        kernel.die_with_parent()
        settings = os.open("/proc/sys", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)  # those of the host are read-only
        kernel.unshare(kernel.NEW_MOUNTS, "unshare host")
        build_root(host, plan, inner.users if inner.is_shifted else None)
        if inner.is_shifted:
            for stream in host.streams:
                os.fchown(stream, SHIFT, SHIFT)  # the job may open /dev/stdout
        become_inner_root(inner.users, shifted=inner.is_shifted)
        kinds = kernel.NEW_MOUNTS | kernel.NEW_NAME | kernel.NEW_IPC
        kernel.unshare(kinds | (kernel.NEW_NETWORK if plan.has_network else 0), "unshare host")
        with suppress(kernel.StepFailed):  # a kernel may have no control groups
            kernel.unshare(kernel.NEW_CONTROL_GROUPS, "unshare host")
        os.write(moved, b"1")
        if not os.read(may_go, 1):
            os._exit(1)  # the cell has died
        socket.sethostname(host.name)
        if plan.has_network:
            _configure_network(host, plan, settings)
        complete_root(has_network=plan.has_network)
        _execute(host, failed, shares_network=not plan.has_network)
    except kernel.StepFailed as fault:
        os.write(failed, f"{fault.number} {fault.step}".encode())
    except OSError as fault:
        os.write(failed, f"{fault.errno} {fault.filename or 'start'}".encode())
    finally:
        os._exit(1)


def _configure_network(host: HostPlan, plan: CellPlan, settings: int) -> None:
    netlink.activate("lo")
    netlink.add_address(INTERFACE, host.address, _PREFIX)
    netlink.activate(INTERFACE)
    with suppress(OSError):
        _let_root_ping(settings)
    if plan.gateway:
        netlink.add_default_route(INTERFACE, plan.gateway)
        netlink.refuse_route("127.0.0.0", 8)


def _let_root_ping(settings: int) -> None:
    """Allow sockets that only ping, for which containers need no capability. ``settings``: an open /proc/sys."""
    opened = os.open(_PING, os.O_WRONLY | os.O_CLOEXEC, dir_fd=settings)
    try:
        os.write(opened, b"0 0")
    finally:
        os.close(opened)


def _execute(host: HostPlan, failed: int, *, shares_network: bool) -> NoReturn:
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDONLY)
    for target, source in enumerate((nothing, *host.streams)):
        os.dup2(source, target)
    os.closerange(3, failed)
    os.closerange(failed + 1, _highest_descriptor() + 1)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _MOST_FILES if most == resource.RLIM_INFINITY else min(most, _MOST_FILES)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    for number in _DEFAULT:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    os.umask(0o022)
    os.chdir(host.directory)
    confine(shares_network=shares_network)
    try:
        os.execve(host.program, host.words, host.environment)
    except OSError as fault:
        raise kernel.StepFailed(f"start {host.program}", fault.errno or errno.ENOENT) from None


def _highest_descriptor() -> int:
    return max(map(int, os.listdir("/proc/self/fd")))
