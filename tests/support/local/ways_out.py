"""Ways out of a host of `smspec run`: a script that tries each of them, and prints which ones led somewhere."""

from __future__ import annotations

import fcntl
import functools
import json
import os
import resource
import signal
import socket
import struct

from support.local.attempts import (
    BIND,
    CREDENTIALS,
    FACTS,
    LIBC,
    MOVE,
    REMOUNT,
    SHARED,
    TRAIN,
    X86,
    by_handle,
    called,
    checked,
    cloned,
    connected,
    created,
    filled,
    joined,
    made,
    mount,
    mounted,
    network_changed,
    remount,
    seen,
    unmount,
    unprotected,
    unshared,
    written,
)


def left_root():
    """Leave a root directory by one that is open outside of it, the oldest way out of chroot."""
    child = os.fork()
    if not child:
        try:
            top = os.open("/", os.O_RDONLY)
            os.makedirs("/tmp/jail", exist_ok=True)
            os.chroot("/tmp/jail")
            os.fchdir(top)
            for _ in range(50):
                os.chdir("..")
            os.chroot(".")
            os._exit(0 if os.path.lexists(FACTS["author"]) else 1)
        finally:
            os._exit(1)
    return os.waitpid(child, 0)[1] == 0


def leased(path):
    """Let every other program wait that opens a file: the machine's for writing, an own one at all."""

    def lease():
        with open(path, "a" if path.startswith("/opt/ml/model") else "r"):
            pass
        return fcntl.fcntl(os.open(path, os.O_RDONLY), fcntl.F_SETLEASE, fcntl.F_RDLCK) == 0

    return lease


def regained():
    """Ask for every capability again."""
    header = struct.pack("Ii", 0x20080522, 0)
    return checked(LIBC.capset(header, struct.pack("6I", 0xFFFFFFFF, 0xFFFFFFFF, 0, 0x1FF, 0x1FF, 0)))


def capabilities():
    """Return whether a program that root starts has more of them than in a container."""
    names = ("CapPrm", "CapEff", "CapBnd", "CapInh", "CapAmb")
    pipe = os.popen("cat /proc/self/status")
    found = [int(line.split()[1], 16) for line in pipe if line.startswith(names)]
    return any(held & ~0xA80405FB for held in found)


def opened():
    """Return the open files of the first process that are not its own."""
    own = ("pipe:", "/dev/null", "/opt/ml", "/proc", "anon_inode:", "socket:")
    return [path for entry in os.scandir("/proc/1/fd") if not (path := os.readlink(entry.path)).startswith(own)]


def foreign():
    """Return processes that are not below the first one of this host."""
    parents = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with open(f"/proc/{name}/stat") as file:
            parents[int(name)] = int(file.read().rpartition(")")[2].split()[1])
    return [number for number, parent in parents.items() if number != 1 and parent not in parents]


def traced():
    """Attach to the process of the author, whose number is another process here or none."""
    return checked(LIBC.ptrace(16, FACTS["victim"], 0, 0))


def terminal():
    """Type into the terminal of the author, if one is inherited."""
    return fcntl.ioctl(os.open("/dev/tty", os.O_RDWR), 0x5412, b"x") or True


def typed():
    """Do that with a terminal of the job itself: then the call is refused, not the terminal."""
    leader, follower = os.openpty()
    fcntl.ioctl(follower, 0x5412, b"x")
    return leader


def shared_segment():
    """Find the shared memory of the author by its key."""
    return checked(LIBC.shmget(FACTS["segment"], 0, 0))


def raised_limit():
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most + 1))
    return True


def mapped():
    with open("/proc/self/uid_map", "w") as file:
        file.write("0 0 4294967295")
    return True


def packages():
    """Return the directory of the job's packages that runs share."""
    import shared_package

    return os.path.dirname(shared_package.__file__)


def of_packages(action):
    def way():
        directory = packages()
        return action(next(entry.path for entry in os.scandir(directory) if entry.name != "__pycache__"))

    return way


NAMESPACES = {"mounts": 0x20000, "users": 0x10000000, "network": 0x40000000, "names": 0x4000000, "groups": 0x2000000}

CALLS = {
    "change root": (155, 41, b"/tmp", b"/tmp"),
    "open a tree": (428, 428, -100, b"/usr", 1),
    "move an open mount": (429, 429, -1, b"", -100, b"/mnt", 4),
    "open a file system": (430, 430, b"tmpfs", 0),
    "pick a file system": (433, 433, -100, b"/usr", 0),
    "clone3 users": (435, 435, struct.pack("11Q", 0x10000000, *[0] * 3, 17, *[0] * 6), 88),
    "bpf": (321, 280, 0, None, 0),
    "perf": (298, 241, None, 0, -1, -1, 0),
    "io_uring": (425, 425, 0, None),
    "userfaultfd": (323, 282, 1 << 30),
    "keyctl": (250, 219, 0, -3, 0),
    "add_key": (248, 217, b"user", b"smspec", b"x", 1, -3),
    "request_key": (249, 218, b"user", b"smspec", None, 0),
    "kexec": (246, 104, 0, -1, None, 0),
    "kexec of a file": (320, 294, -1, -1, 0, None, 0),
    "load a module": (175, 105, None, 0, None),
    "load a module of a file": (313, 273, -1, None, 0),
    "remove a module": (176, 106, b"smspec-none", 0),
    "swap": (167, 224, b"/nothing", 0),
    "accounting": (163, 89, b"/nothing"),
    "quotas": (179, 60, 0x800007, b"/nothing", 0, None),
    "set the clock": (227, 112, 99, None),
    "set the time": (164, 170, None, None),
    "kernel log": (103, 116, 3, None, 0),
    "reboot": (169, 142, 0xFEE1DEAD, 672274793, 0x12345, None),
    "fanotify": (300, 262, 0, 0),
}
"""Name → number of the call on x86-64, its number elsewhere, and its arguments."""

OF_THE_KERNEL = (
    *(f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom", "tty")),
    *(
        f"/proc/{name}"
        for name in ("swaps", "cpuinfo", "uptime", "slabinfo", "pressure/cpu", "tty/drivers", "sys", "fs")
    ),
)
"""Their modes and times are those of the whole machine."""


def kept_mode(path):
    return lambda: os.chmod(path, os.stat(path).st_mode & 0o7777) or True


def kept_time(path):
    return lambda: os.utime(path, ns=(os.stat(path).st_atime_ns, os.stat(path).st_mtime_ns)) or True


WAYS = {
    **{name: functools.partial(called, *words) for name, words in CALLS.items()},
    **{f"remount {path} writable": remount(path) for path in ("/usr", "/opt/ml/input", TRAIN, "/proc/sys", "/sys")},
    "remount credentials writable": remount("/root/.aws"),
    "remount packages writable": lambda: remount(packages())(),
    "remount the file system of packages": lambda: remount("/usr", REMOUNT)(),
    "remount root with devices": remount("/"),
    **{f"unprotect {path}": unprotected(path) for path in ("/", "/usr", TRAIN, "/proc", "/root/.aws")},
    **{f"unmount {path}": unmount(path) for path in ("/opt/ml/input", TRAIN, "/proc/sys", "/proc/kcore", "/sys")},
    "unmount credentials": unmount("/root/.aws"),
    "unmount /usr lazily": unmount("/usr", 2),
    "unmount / lazily": unmount("/", 2),
    "mount over /usr/bin": lambda: mount("/opt/ml/model", "/usr/bin", None, BIND),
    "mount / elsewhere": lambda: mount("/", "/mnt", None, BIND | 16384),
    "move a mount": lambda: mount("/usr", "/mnt", None, MOVE),
    "share mounts": lambda: mount(None, "/", None, SHARED | 16384),
    "mount the disk": lambda: mount(FACTS["disk"], "/mnt", "ext4"),
    **{f"mount {kind}": mounted(kind) for kind in ("tmpfs", "proc", "sysfs", "cgroup2", "devtmpfs", "devpts")},
    "mount cgroup": mounted("cgroup", "devices"),
    "mount overlay": mounted("overlay", "lowerdir=/usr:/etc"),
    "mount debugfs": mounted("debugfs"),
    **{f"unshare {name}": unshared(kinds) for name, kinds in NAMESPACES.items()},
    **{f"clone {name}": cloned(kinds) for name, kinds in NAMESPACES.items()},
    "nested namespace, then remount": unshared(0x10020000, lambda: remount("/usr")() and created("/usr")()),
    "nested namespace, then unmount": unshared(0x10020000, unmount("/usr", 2)),
    "nested namespace, then proc": unshared(0x30020000, mounted("proc")),
    **{f"join {kind} of process 1": joined(kind) for kind in ("user", "mnt", "pid", "net")},
    "map every user": mapped,
    "leave a root directory": left_root,
    "root of process 1": lambda: seen("/proc/1/root" + FACTS["author"])(),
    "directory of process 1": lambda: seen("/proc/1/cwd/../../../../.." + FACTS["author"])(),
    "write to a program": created("/usr/bin"),
    "write to a library": created("/usr/lib"),
    "write to settings": lambda: written("/etc/ld.so.cache")(),
    "change Python": created(os.path.dirname(os.__file__)),
    "add a package": lambda: created(packages())(),
    "change a package": of_packages(lambda path: os.utime(path) or True),
    "remove a package": of_packages(lambda path: os.rename(path, path + "-") or True),
    "change credentials": written(CREDENTIALS),
    "add credentials": created("/root/.aws"),
    "remove credentials": lambda: os.unlink(CREDENTIALS) or True,
    "replace credentials": lambda: os.rename("/root/.aws", "/root/aws") or True,
    "mode of credentials": lambda: os.chmod(CREDENTIALS, 0o777) or True,
    "change data": written(f"{TRAIN}/a"),
    "truncate data": lambda: os.truncate(f"{TRAIN}/a", 0) or True,
    "add data": created(TRAIN),
    "remove data": lambda: os.unlink(f"{TRAIN}/a") or True,
    "move data": lambda: os.rename(f"{TRAIN}/a", f"{TRAIN}/z") or True,
    "mode of data": lambda: os.chmod(f"{TRAIN}/a", 0o777) or True,
    "owner of data": lambda: os.chown(f"{TRAIN}/a", 1, 1) or True,
    "time of data": lambda: os.utime(f"{TRAIN}/a") or True,
    "attribute of data": lambda: os.setxattr(f"{TRAIN}/a", "user.x", b"x") or True,
    "link to data": lambda: os.link(f"{TRAIN}/a", "/opt/ml/model/linked") or True,
    "open data through a descriptor": lambda: os.open(f"/proc/self/fd/{os.open(f'{TRAIN}/a', os.O_RDONLY)}", os.O_RDWR),
    "change listed data": written("/opt/ml/input/data/listed/a"),
    "add listed data": created("/opt/ml/input/data/listed"),
    "remove listed data": lambda: os.unlink("/opt/ml/input/data/listed/a") or True,
    "change configuration": written("/opt/ml/input/config/resourceconfig.json"),
    "directory of the author": lambda: seen(FACTS["author"])(),
    "home directories": lambda: os.listdir("/home"),
    "run of the other host": lambda: seen(FACTS["other"])(),
    "temporary files of the author": lambda: seen(FACTS["temporary"])(),
    "shared memory file of the author": lambda: seen("/dev/shm/" + FACTS["shared"])(),
    "shared memory segment of the author": shared_segment,
    "swappiness": written("/proc/sys/vm/swappiness"),
    "core_pattern": written("/proc/sys/kernel/core_pattern"),
    "modprobe": written("/proc/sys/kernel/modprobe"),
    "host name of the machine": written("/proc/sys/kernel/hostname"),
    "binfmt_misc": lambda: written("/proc/sys/fs/binfmt_misc/register")(),
    "sysrq-trigger": written("/proc/sysrq-trigger"),
    "interrupts": written("/proc/irq/default_smp_affinity"),
    "kcore": filled("/proc/kcore"),
    "keys": filled("/proc/keys"),
    "timer_list": filled("/proc/timer_list"),
    **{name: filled(f"/proc/{name}") for name in ("kallsyms", "kpageflags", "slabinfo", "vmallocinfo")},
    **{f"mode of {path}": kept_mode(path) for path in OF_THE_KERNEL},
    **{f"time of {path}": kept_time(path) for path in OF_THE_KERNEL},
    "uevent_helper": written("/sys/kernel/uevent_helper"),
    "power": written("/sys/power/state"),
    "parameters of modules": created("/sys/module"),
    "firmware": lambda: os.listdir("/sys/firmware"),
    "release_agent": lambda: written("/sys/fs/cgroup/release_agent")(),
    "control groups": lambda: os.makedirs("/sys/fs/cgroup/smspec-was-here") or True,
    "make a disk": made(0o060000, os.makedev(254, 0)),
    "make memory": made(0o020000, os.makedev(1, 1)),
    **{f"/dev/{name}": seen(f"/dev/{name}") for name in ("mem", "kmsg", "fuse", "loop-control", "net/tun", "kvm")},
    "disks": lambda: [name for name in os.listdir("/dev") if name.startswith(("vd", "sd", "nvme", "loop", "dm"))],
    "file by its handle": by_handle,
    "ports of the processor": lambda: X86 and called(172, -1, 0),
    "32-bit numbers": lambda: X86 and called(0x40000000 + 39, -1),
    "host name": lambda: socket.sethostname("changed") or True,
    "priority": lambda: os.setpriority(os.PRIO_PROCESS, 0, -20) or True,
    "real-time priority": lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)) or True,
    "raise a limit": raised_limit,
    "regain capabilities": regained,
    "capabilities of programs": capabilities,
    "trace a process": traced,
    "signal a process": lambda: os.kill(FACTS["victim"], 0) or True,
    "processes of others": foreign,
    "inherited files": opened,
    **{
        f"lease {path}": leased(path)
        for path in ("/opt/ml/model/leased", "/usr/bin/env", "/etc/passwd", TRAIN + "/a", CREDENTIALS)
    },
    "notice changes": lambda: fcntl.fcntl(os.open("/usr", os.O_RDONLY), fcntl.F_NOTIFY, fcntl.DN_ACCESS) == 0,
    "command of a later kernel": lambda: fcntl.fcntl(os.open("/usr", os.O_RDONLY), 1040, bytes(8)),
    "terminal of the author": terminal,
    "type into a terminal": typed,
    "variables of the author": lambda: (
        "OF_THE_AUTHOR" in os.environ or b"OF_THE_AUTHOR" in open("/proc/1/environ", "rb").read()
    ),
    "server on this machine": lambda: connected(socket.AF_INET, ("127.0.0.1", FACTS["port"]))(),
    "server through the gateway": lambda: connected(socket.AF_INET, ("10.0.2.2", FACTS["port"]))(),
    "internet": connected(socket.AF_INET, ("192.0.2.1", 80)),
    "internet, version 6": connected(socket.AF_INET6, ("2001:db8::1", 80)),
    "abstract socket": lambda: connected(socket.AF_UNIX, "\0" + FACTS["abstract"])(),
    "socket of the author": lambda: connected(socket.AF_UNIX, FACTS["socket"])(),
    **{f"socket {path}": connected(socket.AF_UNIX, path) for path in ("/run/docker.sock", "/tmp/.X11-unix/X0")},
    "socket of the virtual machine": lambda: socket.socket(40, socket.SOCK_STREAM),
    "new interface": network_changed,
    "interfaces of the machine": lambda: {name for _, name in socket.if_nameindex()} - {"lo", "eth0"},
}


def outcome(way) -> str:
    """Return how a way ended: empty if it was refused."""
    try:
        found = way()
    except (OSError, ValueError):
        return ""
    return repr(found) if found else ""


def write_programs(directory) -> None:
    """Write programs that would give others rights: also below a path that is longer than the system takes."""
    os.chdir(directory)
    os.makedirs("closed")
    for depth in range(21):
        for name, mode in (("program", 0o6755), ("later", 0o6644), ("unreadable", 0o4111), ("closed/one", 0o4755)):
            if depth == 0 or "/" not in name:
                os.close(os.open(name, os.O_CREAT | os.O_WRONLY))
                os.chmod(name, mode)
        os.makedirs("d" * 240)
        os.chdir("d" * 240)
    os.chdir("/")
    os.chmod(f"{directory}/closed", 0)


def main() -> None:
    results = {name: outcome(way) for name, way in WAYS.items()}
    print("WAYS " + json.dumps(results), flush=True)
    write_programs("/opt/ml/model")
    write_programs("/opt/ml/output/data")
    if os.fork() == 0:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while os.fork() == 0:
            signal.pause()
        os._exit(0)


if __name__ == "__main__":
    main()
