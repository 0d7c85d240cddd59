"""The cell: it moves to new namespaces, starts the hosts, and reports how they end.

Commands arrive as lines on stdin, and its end ends everything. Events leave as lines of JSON on stdout.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
from contextlib import suppress
from typing import NoReturn

from . import kernel, netlink
from .host import BRIDGE, Inner, StartingHost
from .plan import CellPlan, decode_plan
from .rights import filters_calls
from .root import keep_content, mount_volume
from .users import become_inner_root, can_shift, enter_user_namespace, is_machine_root, open_inner
from .written_files import DIRECTORY, take_back

_TAP = "tap0"
_ANY_DIRECTORY = "/etc"
"""Every machine has it, and only this process sees what is mounted there."""


def main(words: list[str]) -> NoReturn:
    """Run one command: ``probe``, ``run PLAN``, or ``give-back DIRECTORY…``."""
    verb, *rest = words
    if verb == "probe":
        _report(probe())
        sys.exit()
    try:
        if verb == "give-back":
            enter_user_namespace(_is_mapped)
            for path in rest:
                take_back(os.open(path, DIRECTORY), 0, 0)
            sys.exit()
        with open(rest[0], encoding="utf-8") as file:
            sys.exit(_run(decode_plan(file.read())))
    except kernel.StepFailed as fault:
        _report({"event": "failed", "step": fault.step, "errno": fault.number})
    except OSError as fault:  # the plan is gone: the next command has removed what a killed smspec left
        _report({"event": "failed", "step": fault.filename or "start", "errno": fault.errno})
    sys.exit(1)


def _run(plan: CellPlan) -> int:
    inner = _enter(plan)
    network = kernel.NEW_NETWORK if plan.has_network else 0
    kernel.unshare(kernel.NEW_MOUNTS | kernel.NEW_PROCESSES | network, "unshare")
    first = os.fork()
    if not first:
        _be_first(plan, inner)
    _report({"event": "started", "pid": first})
    os.close(0)
    os.close(1)
    return os.waitstatus_to_exitcode(os.waitpid(first, 0)[1])


def _enter(plan: CellPlan) -> Inner:
    """Move to an outer user namespace, and return the inner one.

    Root of this machine needs no outer one. Its jobs have users of their own, which see its files as theirs, if every
    file system among them can do that.
    """
    is_root = is_machine_root()
    if is_root:
        inner = open_inner(shifted=True)
        if can_shift(inner, [*plan.shown(), *(["/dev/shm"] if plan.volumes else [])]):
            return Inner(inner, is_shifted=True, is_machine_root=False)
        os.close(inner)
    enter_user_namespace(_is_mapped if plan.has_range else bool)
    return Inner(open_inner(), is_shifted=False, is_machine_root=is_root)


def _be_first(plan: CellPlan, inner: Inner) -> NoReturn:
    """Be the first process of the run: when it ends, the kernel kills all others."""
    try:
        kernel.die_with_parent()
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        command = _line()
        if not command:
            os._exit(1)
        kernel.make_private()
        if plan.has_network:
            netlink.activate("lo")
            netlink.add_bridge(BRIDGE)
            if command == "start connected":
                netlink.join(_TAP, BRIDGE)
        # smspec may be killed, and the next run may move these directories.
        hosts = os.open(os.path.dirname(plan.owned[0]), DIRECTORY)
        places = [os.open(path, DIRECTORY) for path in plan.owned]
        if plan.volumes:
            _supervise_with_volumes(plan, inner)
        else:
            _supervise(plan, inner)
        is_complete = True
        for place in places:
            is_complete &= take_back(place, 0, 0)
            _remove_temporary(place, plan)
        if is_complete:
            os.fchmod(hosts, plan.mode)
    except kernel.StepFailed as fault:
        _report({"event": "failed", "step": fault.step, "errno": fault.number})
    except OSError as fault:
        _report({"event": "failed", "step": fault.filename or "start", "errno": fault.errno})
    finally:
        os._exit(0)


def _remove_temporary(place: int, plan: CellPlan) -> None:
    """Remove the /tmp of a host from its open directory, however deep it is."""
    os.fchdir(place)
    names = {os.path.basename(bind.source) for host in plan.hosts for bind in host.binds if bind.target == "/tmp"}
    for name in tuple(names):
        with suppress(OSError):  # most jobs leave nothing there
            os.rmdir(name)
            names.remove(name)
    if not names:
        return
    quiet = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_WRONLY, 0) for number in (1, 2)]
    with suppress(OSError):  # there is no such program
        os.waitpid(os.posix_spawn("/bin/rm", ["rm", "-rf", "--", *names], {}, file_actions=quiet), 0)


def _supervise_with_volumes(plan: CellPlan, inner: Inner) -> None:
    for volume in plan.volumes:
        mount_volume(volume)
    try:
        _supervise(plan, inner)
    finally:
        for volume in plan.volumes:
            keep_content(volume)


def _supervise(plan: CellPlan, inner: Inner) -> None:
    own = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
    wake, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    hosts = [StartingHost(host, plan, inner, own) for host in plan.hosts]
    for number, host in enumerate(hosts):
        host.connect(number)
    for host in hosts:
        reason, _, step = host.failure().partition(" ")
        if step:
            _report({"event": "failed", "step": step, "errno": int(reason), "host": host.host.name})
            return
    for plan_of_host in plan.hosts:
        for stream in plan_of_host.streams:
            os.close(stream)
    _report({"event": "running", "is_machine_root": inner.is_machine_root, "filters_calls": filters_calls()})
    running = {host.pid: host.host.name for host in hosts}
    while running:
        ready = select.select([0, wake], [], [])[0]
        if wake in ready:
            os.read(wake, 4096)
        _report_ended(running)
        if 0 in ready:
            command = _line()
            if not command:
                _end(running)
                return
            _obey(command, running)


def _report_ended(running: dict[int, str]) -> None:
    while True:
        try:
            process, status, usage = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not process:
            return
        if process in running:
            code = os.waitstatus_to_exitcode(status)
            ended = {"event": "ended", "host": running.pop(process), "status": code if code >= 0 else 128 - code}
            _report({**ended, "cpu": round(usage.ru_utime + usage.ru_stime, 3), "memory": usage.ru_maxrss * 1024})


def _obey(command: str, running: dict[int, str]) -> None:
    """Send a signal to the first process of a host: ``terminate HOST`` or ``kill HOST``."""
    verb, _, name = command.partition(" ")
    for process, host in running.items():
        if host == name:
            os.kill(process, signal.SIGTERM if verb == "terminate" else signal.SIGKILL)


def _end(running: dict[int, str]) -> None:
    """Kill every host: the kernel ends a first process only after all others of its namespace."""
    for process in running:
        os.kill(process, signal.SIGKILL)
    for process in running:
        os.waitpid(process, 0)


def _is_mapped() -> bool:
    """Let smspec map the users of this process: that needs a program with more rights."""
    _report({"event": "mapping"})
    return _line() == "mapped"


def _line() -> str:
    """Read one line, byte by byte: the next one may be for a different process. Empty at the end."""
    line = b""
    while not line.endswith(b"\n"):
        data = os.read(0, 1)
        if not data:
            return ""
        line += data
    return line.decode().strip()


def _report(event: dict[str, object]) -> None:
    # Without a reader, smspec has been killed. The end of stdin is what ends the hosts then, in good order.
    with suppress(BrokenPipeError):
        os.write(1, (json.dumps(event) + "\n").encode())


def probe() -> dict[str, object]:
    """Return ``step`` and ``errno`` of the first failure; ``network`` is whether hosts can have one of their own."""
    if not sys.platform.startswith("linux"):
        return {"step": "linux", "errno": 0}
    try:
        enter_user_namespace()
        inner = open_inner()
        kernel.unshare(kernel.NEW_MOUNTS | kernel.NEW_PROCESSES | kernel.NEW_NAME | kernel.NEW_IPC, "unshare")
        answer, result = os.pipe()
        child = os.fork()
    except kernel.StepFailed as fault:
        return _described(fault)
    except OSError as fault:
        return {"step": "start", "errno": fault.errno}
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
