"""What a confined process must not reach: files, sockets, processes, and memory of the user who runs the tests.

A program, so that it can run as another user, in a container, and where the system refuses what a test names:
``world.py DIRECTORY REFUSED…`` confines a process, lets it try every way out, and prints what succeeds and what is
changed, as JSON. ``world.py DIRECTORY open`` does that without confinement, for what stays inside the world.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import pty
import shutil
import socket
import struct
import subprocess
import sys
import threading
from contextlib import ExitStack
from pathlib import Path

from smspec.proof.sandbox import Sandbox
from support.confinement import ways

VICTIM = """
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(0x59616d61, ctypes.c_ulong(-1), 0, 0, 0)  # any process may trace it, as on most systems
signal.signal(signal.SIGUSR2, lambda *_: open(sys.argv[1], "w").close())
secret = ctypes.create_string_buffer(b"secret")
print(ctypes.addressof(secret), flush=True)
while True:
    signal.pause()
"""
SECONDS = 300
MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
UNSHARE, MOUNT, CREATE_RULES = (272, 97), (165, 40), (444, 444)
REFUSED = {
    "namespaces": ((UNSHARE, 0x7E020000, errno.EPERM), (MOUNT, 0, errno.EPERM)),
    "users": ((UNSHARE, 0x10000000, errno.EPERM),),
    "processes": ((UNSHARE, 0x20000000, errno.EPERM),),
    "mounts": ((UNSHARE, 0x00020000, errno.EPERM),),
    "landlock": ((CREATE_RULES, 0, errno.ENOSYS),),
}
"""What containers and some distributions refuse, and what older systems lack: calls, flags of theirs, and the error."""

libc = ctypes.CDLL(None, use_errno=True)


def refuse(kinds: list[str]) -> None:
    """Let the system refuse calls from here on."""
    code, column = MACHINES[os.uname().machine]
    steps = [(0x20, 0, 0, 4), (0x15, 1, 0, code), (0x06, 0, 0, 0x7FFF0000), (0x20, 0, 0, 0)]
    for kind in kinds:
        for numbers, flags, fault in REFUSED[kind]:
            test = [(0x20, 0, 0, 16), (0x45, 0, 1, flags)] if flags else []
            steps += [(0x15, 0, len(test) + 1, numbers[column]), *test, (0x06, 0, 0, 0x00050000 | fault)]
            steps.append((0x20, 0, 0, 0))
    steps.append((0x06, 0, 0, 0x7FFF0000))
    text = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = struct.pack("HxxxxxxQ", len(steps), ctypes.addressof(text))
    libc.prctl(38, 1, 0, 0, 0)
    assert libc.prctl(22, 2, program, 0, 0) == 0


USES = """
import fcntl, multiprocessing, os, signal, socket, struct, subprocess, sys, tempfile, zoneinfo
from multiprocessing.shared_memory import SharedMemory
print(sorted(os.listdir("/proc/self/fd")), flush=True)
open(os.path.join(os.environ["HOME"], "file"), "w").close()
os.chmod(os.path.join(os.environ["HOME"], "file"), 0o600)
open(os.devnull, "w").write("x")
multiprocessing.Lock()
with multiprocessing.Pool(2) as pool:
    assert pool.map(abs, [-1, 2]) == [1, 2]
with tempfile.TemporaryDirectory() as place:
    os.symlink("a", os.path.join(place, "b"))
for directory in ("/tmp", "/var/tmp", "/dev/shm"):
    open(os.path.join(directory, "of-smspec-check"), "w").close()
memory = SharedMemory(create=True, size=4096)
memory.unlink()
server = socket.create_server(("127.0.0.1", 0))
socket.create_connection(server.getsockname(), 5).close()
with socket.socket(socket.AF_UNIX) as named, socket.socket(socket.AF_UNIX) as client:
    named.bind("own")
    named.listen()
    client.connect("own")
assert subprocess.run(["/bin/ls", "/usr"], stdout=subprocess.PIPE, check=True).stdout
assert socket.gethostname() and os.getuid() == int(sys.argv[1])
child = os.fork()
if not child:
    signal.pause()
os.kill(child, signal.SIGKILL)
os.wait()
assert os.path.isdir(f"/proc/{os.getpid()}") and os.getcwd().endswith("box")
open("relative", "w").close()
with open("locked", "w+") as file:
    fcntl.lockf(file, fcntl.LOCK_EX)
    fcntl.flock(file, fcntl.LOCK_EX)
    fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, 10)
    assert fcntl.fcntl(file, fcntl.F_GETLEASE) == fcntl.F_UNLCK
    fcntl.lockf(file, fcntl.LOCK_UN)
    for command in (36, 38):  # F_OFD_GETLK, F_OFD_SETLKW
        fcntl.fcntl(file, command, struct.pack("hhqqi4x", fcntl.F_RDLCK, 0, 0, 0, 0))
reader, writer = os.pipe()
assert fcntl.fcntl(writer, 1031, 1 << 16) == fcntl.fcntl(reader, 1032)  # the size of the pipe
sealed = os.memfd_create("memory", os.MFD_ALLOW_SEALING)
fcntl.fcntl(sealed, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)
fcntl.fcntl(sealed, 1036, struct.pack("Q", 2))  # a hint about how long its data is used
os.abort()
"""
"""What a confined process may do, a script. Its argument: the user that it must be."""


class World:
    """Lies below a directory, and lasts as long as a ``with`` statement."""

    def __init__(self, directory: Path) -> None:
        self.outside, self.box, self.answers = directory / "outside", directory / "box", directory / "answers"
        for path in (self.outside, self.box, self.answers):
            path.mkdir()
        home, project, cache = directory / "home", directory / "project", directory / "cache"
        for path in (home / ".aws", project / ".git" / "hooks", cache, self.outside / "directory"):
            path.mkdir(parents=True)
        for name in ("file", "victim", "removed", "moved", "renamed"):
            (self.outside / name).write_text("of the author")
        for path in (home / ".aws" / "credentials", home / ".profile", project / "job.yaml"):
            path.write_text("secret")
        os.mkfifo(self.outside / "pipe")
        self._open = ExitStack()
        self.places: dict[str, object] = {
            "outside": str(self.outside),
            "inside": str(self.box),
            "answers": str(self.answers),
            "signalled": str(self.answers / "signal"),
            "home": str(home),
            "secret": str(home / ".aws" / "credentials"),
            "project": str(project),
            "cache": str(cache),
            "fifo": str(self.outside / "pipe"),
            "handle": handle(self.outside / "file"),
            "network": os.readlink("/proc/self/ns/net"),
        }

    def __enter__(self) -> World:
        self._bind_sockets()
        self._start_victim()
        self._make_memory()
        leader, follower = pty.openpty()
        self.places["terminal"] = os.ttyname(follower)
        self._open.callback(os.close, leader)
        self._open.callback(os.close, follower)
        self._open.callback(os.close, os.open(self.outside / "pipe", os.O_RDONLY | os.O_NONBLOCK))
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def state(self) -> dict[str, object]:
        """Return everything of the world that a process could have changed."""
        found: dict[str, object] = {"victim": self.victim.poll()}
        for above, directories, files in os.walk(self.outside.parent):
            if Path(above) == self.outside.parent:
                directories.remove("box")
            for name in [*directories, *files]:
                path = os.path.join(above, name)
                status = os.lstat(path)
                text = Path(path).read_text() if name in files and os.path.isfile(path) else ""
                changes = [status.st_mode, status.st_uid, status.st_nlink, status.st_mtime_ns, status.st_ctime_ns]
                found[path] = [*changes, os.listxattr(path, follow_symlinks=False), text]
        return found

    def _bind_sockets(self) -> None:
        here, prefix = os.getcwd(), f"smspec-{os.getpid()}"
        os.chdir(self.outside)  # the path of a socket has about 100 characters
        docker = f"/run/{prefix}.socket" if os.access("/run", os.W_OK) else "d"
        for name, address, form in (
            ("named", "s", socket.SOCK_STREAM),
            ("relative", "./r", socket.SOCK_STREAM),
            ("newline", "new\nline", socket.SOCK_STREAM),
            ("datagram", "g", socket.SOCK_DGRAM),
            ("sequence", "q", socket.SOCK_SEQPACKET),
            ("docker", docker, socket.SOCK_STREAM),
        ):
            server = self._open.enter_context(socket.socket(socket.AF_UNIX, form))
            server.bind(address)
            if form != socket.SOCK_DGRAM:
                server.listen(64)
            self.places[name] = os.path.normpath(self.outside / address)
        if docker.startswith("/"):
            self._open.callback(os.unlink, docker)
        os.chdir(here)
        for name, form in (("abstract", socket.SOCK_STREAM), ("abstract_datagram", socket.SOCK_DGRAM)):
            server = self._open.enter_context(socket.socket(socket.AF_UNIX, form))
            server.bind(f"\0{prefix}-{name}")
            if form == socket.SOCK_STREAM:
                server.listen(64)
            self.places[name] = f"{prefix}-{name}"
        for name, family, host in (("tcp", socket.AF_INET, "127.0.0.1"), ("tcp6", socket.AF_INET6, "::1")):
            server = self._open.enter_context(socket.socket(family))
            self.places[name] = 0
            try:
                server.bind((host, 0))
            except OSError:
                continue  # there is no IPv6 here
            server.listen(64)
            self.places[name] = server.getsockname()[1]
        datagrams = self._open.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        datagrams.bind(("127.0.0.1", 0))
        self.places["udp"] = datagrams.getsockname()[1]
        threading.Thread(target=self._note, args=(datagrams,), daemon=True).start()

    def _note(self, datagrams: socket.socket) -> None:
        while True:
            try:
                name = "child" if datagrams.recv(64) == b"child" else "udp"
            except OSError:
                return
            (self.answers / name).touch()

    def _start_victim(self) -> None:
        self.victim = subprocess.Popen(
            [sys.executable, "-c", VICTIM, self.places["signalled"]],  # type: ignore[list-item]
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            cwd="/",
        )
        self._open.callback(self.victim.wait)
        self._open.callback(self.victim.kill)
        assert self.victim.stdout is not None
        self.places["address"] = int(self.victim.stdout.readline())
        self.places["victim"] = self.victim.pid

    def _make_memory(self) -> None:
        for name, words, remove in (
            ("memory", ("shmget", 0, ctypes.c_size_t(4096), 0o1600), ("shmctl", 0)),
            ("semaphore", ("semget", 0, 1, 0o1600), ("semctl", 0, 0)),
            ("messages", ("msgget", 0, 0o1600), ("msgctl", 0)),
        ):
            number = getattr(libc, words[0])(*words[1:])  # type: ignore[arg-type]
            self.places[name] = number
            rest = remove[1:]
            self._open.callback(getattr(libc, remove[0]), number, *rest, None)  # type: ignore[arg-type]
        path = f"/dev/shm/smspec-{os.getpid()}"
        Path(path).write_text("of the author")
        self._open.callback(os.unlink, path)
        queue = f"smspec-{os.getpid()}"
        self.places |= {"posix_memory": path, "queue": queue}
        libc.mq_open(f"/{queue}".encode(), os.O_CREAT | os.O_RDWR, 0o600, None)
        self._open.callback(libc.mq_unlink, f"/{queue}".encode())
        self.places["key"] = 0
        try:
            ways.call("keyctl", 1, None)
            words = (b"user", b"smspec-way-out", b"secret", ctypes.c_size_t(6))
            self.places["key"] = ways.call("add_key", *words, -3)
        except OSError:
            pass  # a container refuses keys to everyone


def handle(path: Path) -> str:
    """Return the handle of a file for `open_by_handle_at`, or nothing."""
    found = ctypes.create_string_buffer(struct.pack("Ii", 128, 0), 136)
    mount = ctypes.c_int()
    if libc.name_to_handle_at(-100, os.fsencode(path), found, ctypes.byref(mount), 0) != 0:
        return ""
    return found.raw.hex()


def places_of_python() -> tuple[str, ...]:
    """Return what the Python of the tests reads."""
    return tuple(dict.fromkeys([sys.prefix, sys.base_prefix, sys.executable, os.path.realpath(sys.executable)]))


def copy_ways(directory: Path) -> None:
    """Copy the ways to a place where a confined process can read them."""
    shutil.copytree(Path(ways.__file__).parent, directory / "ways", ignore=shutil.ignore_patterns("__pycache__"))


def main(directory: str, refused: list[str]) -> None:
    """Try every way out; print which succeed, what is changed, and what `smspec check` would warn of."""
    with World(Path(directory).resolve()) as world:
        copy_ways(world.box)
        variables = {"WORLD": json.dumps(world.places), "PATH": os.environ["PATH"]}
        before = world.state()
        warning = ""
        if refused == ["open"]:
            kept = [name for name in ways.WAYS if name not in ways.OF_THE_MACHINE]
            words = [sys.executable, "-m", "ways", *kept]
            done = subprocess.run(words, env=variables, cwd=world.box, capture_output=True, text=True)
            output = done.stdout
        else:
            if refused:
                refuse(refused)
            sandbox = Sandbox(directory=str(world.box), seconds=SECONDS, places=places_of_python())
            output = sandbox.run([sys.executable, "-m", "ways"], variables, str(world.box), recorded=True).output
            warning = sandbox.unconfined()
        after = world.state()
        changed = sorted(path for path in {**before, **after} if before.get(path) != after.get(path))
        lines = output.splitlines()
        found = next((json.loads(line[5:]) for line in lines if line.startswith("WAYS ")), None)
        faults = [line for line in lines if not line.startswith("WAYS ")]
        print(json.dumps({"ways": found, "changed": changed, "warning": warning, "faults": faults}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
