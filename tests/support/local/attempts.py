"""Attempts to leave a host of `smspec run`, from which `ways_out` is made: functions that return an attempt.

An attempt raises OSError or returns a false value where it is refused. It must be harmless where it is not: a system
call gets arguments that would do nothing, and ``called`` tells its refusal from the complaint about them.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import signal
import socket
import struct

X86 = os.uname().machine == "x86_64"
LIBC = ctypes.CDLL(None, use_errno=True)
FACTS = json.loads(os.environ.get("FACTS", "{}"))
"""Of the machine: places of the author, sockets, and processes."""

TRAIN = "/opt/ml/input/data/train"
CREDENTIALS = "/root/.aws/credentials"
READ_ONLY, REMOUNT, BIND, MOVE, SHARED = 1, 32, 4096, 8192, 1 << 20


def checked(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return True


def mount(source, target, kind=None, flags=0, data=None):
    words = [word and os.fsencode(word) for word in (source, target, kind)]
    return checked(LIBC.mount(*words, ctypes.c_ulong(flags), data and data.encode()))


def called(on_x86, elsewhere, *words):
    """Call the kernel with arguments that do nothing; return whether it looked at them."""
    arguments = [ctypes.c_long(word) if isinstance(word, int) else word for word in words]
    if LIBC.syscall(ctypes.c_long(on_x86 if X86 else elsewhere), *arguments) >= 0:
        return True
    return ctypes.get_errno() not in (errno.EPERM, errno.ENOSYS, errno.EACCES)


def remount(place, flags=REMOUNT | BIND):
    return lambda: mount(None, place, None, flags)


def unmount(place, flags=0):
    return lambda: checked(LIBC.umount2(place.encode(), flags))


def unprotected(place):
    """Remove the flag with mount_setattr, from everything below as well."""
    attributes = struct.pack("QQQQ", 0, 1, 0, 0)
    return lambda: checked(LIBC.syscall(442, -100, place.encode(), 0x8000, attributes, ctypes.c_size_t(32)))


def mounted(kind, data=None):
    def way():
        os.makedirs("/tmp/mounted", exist_ok=True)
        return mount(kind, "/tmp/mounted", kind, 0, data)

    return way


def unshared(kinds, then=lambda: True):
    """Try that in a child: a process with new namespaces is of no use for what follows."""

    def way():
        child = os.fork()
        if not child:
            try:
                checked(LIBC.unshare(kinds))
                os._exit(0 if then() else 1)
            finally:
                os._exit(1)
        return os.waitpid(child, 0)[1] == 0

    return way


def cloned(kinds):
    def way():
        child = LIBC.syscall(ctypes.c_long(56 if X86 else 220), ctypes.c_ulong(kinds | signal.SIGCHLD), 0, 0, 0, 0)
        if child == 0:
            os._exit(0)
        return checked(child) and os.waitpid(child, 0)

    return way


def joined(kind):
    return lambda: checked(LIBC.setns(os.open(f"/proc/1/ns/{kind}", os.O_RDONLY), 0))


def written(path):
    """Open without writing: what such a file does happens with the first byte."""
    return lambda: os.close(os.open(path, os.O_WRONLY)) or True


def created(directory):
    return lambda: os.close(os.open(os.path.join(directory, "smspec-was-here"), os.O_WRONLY | os.O_CREAT)) or True


def seen(path):
    return lambda: os.path.lexists(path)


def filled(path):
    return lambda: open(path, "rb").read(1) != b""


def made(kind, number):
    def way():
        path = f"/tmp/device-{number}"
        os.mknod(path, kind | 0o600, number)
        return os.open(path, os.O_RDONLY)

    return way


def connected(family, address):
    def way():
        with socket.socket(family, socket.SOCK_STREAM) as client:
            client.settimeout(2)
            client.connect(address)
            return True

    return way


def network_changed():
    """Ask for a new interface: RTM_NEWLINK of a dummy, which needs rights on the network."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as channel:
        kind = struct.pack("=HH5sxxx", 9, 1, b"dummy")
        body = struct.pack("=BxHiII", 0, 0, 0, 0, 0) + struct.pack("=HH", 4 + len(kind), 18) + kind
        channel.send(struct.pack("=IHHII", 16 + len(body), 16, 0x605, 1, 0) + body)
        answer = channel.recv(1 << 16)
        return struct.unpack_from("=i", answer, 16)[0] == 0


def by_handle():
    """Open a file of the same disk by its number, past every directory."""
    handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128))
    number = ctypes.c_int()
    checked(LIBC.name_to_handle_at(-100, b"/opt/ml/model", handle, ctypes.byref(number), 0))
    return checked(LIBC.open_by_handle_at(os.open("/opt/ml/model", os.O_RDONLY), handle, os.O_RDONLY))
