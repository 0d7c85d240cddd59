"""Accept commands from other hosts. Port 22 greets like OpenSSH: the runtime asks there whether a host is ready."""

from __future__ import annotations

import array
import json
import os
import pwd
import select
import signal
import socket

_DOORS = "/run/smspec/doors"
_GREETING = b"SSH-2.0-smspec\r\n"
_PORT = 22
_STREAMS = 3


def main() -> None:
    """Listen until this host ends."""
    path = os.path.join(_DOORS, socket.gethostname())
    door = socket.socket(socket.AF_UNIX)
    if os.path.exists(path):
        os.unlink(path)
    door.bind(path)
    door.listen(128)
    port = socket.socket(socket.AF_INET)
    port.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    port.bind(("", _PORT))
    port.listen(128)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        for listener in select.select([door, port], [], [])[0]:
            connection, _ = listener.accept()
            if listener is port:
                _greet(connection)
            elif os.fork() == 0:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                door.close()
                port.close()
                _serve(connection)
            connection.close()


def _greet(connection: socket.socket) -> None:
    try:
        connection.sendall(_GREETING)
    except OSError:
        pass  # it has asked enough


def _serve(connection: socket.socket) -> None:
    """Run one command to its end; stop it if its caller goes away."""
    streams, command = _request(connection)
    child = os.fork()
    if not child:
        os.setsid()
        for target, stream in enumerate(streams):
            os.dup2(stream, target)
        os.closerange(_STREAMS, max(*streams, connection.fileno()) + 1)
        variables = _environment()
        os.chdir(variables["HOME"])
        os.execve("/bin/sh", ["sh", "-c", command], variables)
    for stream in streams:
        os.close(stream)
    wake, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waker)
    is_stopped = False
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            break
        caller = [] if is_stopped else [connection.fileno()]
        if connection.fileno() in select.select([wake, *caller], [], [], 1)[0]:
            is_stopped = True
            os.killpg(child, signal.SIGHUP)
    code = 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
    try:
        connection.sendall(str(code).encode())
    except OSError:
        pass  # its caller has gone
    os._exit(0)


def _request(connection: socket.socket) -> tuple[list[int], str]:
    streams = array.array("i")
    _, rights, _, _ = connection.recvmsg(1, socket.CMSG_SPACE(_STREAMS * streams.itemsize))
    for _, _, data in rights:
        streams.frombytes(data)
    text = b""
    while not text.endswith(b"\n"):
        text += connection.recv(1 << 16) or b"\n"
    return list(streams), json.loads(text)


def _environment() -> dict[str, str]:
    """Return the variables of a login, and those in the file that sshd reads with `PermitUserEnvironment`."""
    user = pwd.getpwuid(os.getuid())
    found = {"HOME": user.pw_dir, "LOGNAME": user.pw_name, "USER": user.pw_name, "SHELL": user.pw_shell}
    found["PATH"] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    try:
        with open(os.path.join(user.pw_dir, ".ssh", "environment"), encoding="utf-8") as file:
            for line in file:
                name, equals, value = line.rstrip("\n").partition("=")
                if equals:
                    found[name] = value
    except OSError:
        pass
    return found


if __name__ == "__main__":
    main()
